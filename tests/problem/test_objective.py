from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.problem import (
    Holders,
    InputError,
    Problem,
    decomposition,
    marginals,
    objective_value,
    savings,
)
from tests import brute_force
from tests.strategies import problems


def mask(problem: Problem, data: st.DataObject) -> np.ndarray:
    """Any M x n mask: F is defined for sets that are not closed, too."""
    cells = data.draw(
        st.lists(st.booleans(), min_size=problem.m * problem.n, max_size=problem.m * problem.n)
    )
    return np.array(cells, dtype=bool).reshape(problem.m, problem.n)


def sets(held: np.ndarray) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(row).tolist()) for row in held]


@given(problems(), st.data())
def test_value_is_the_definition(problem: Problem, data: st.DataObject) -> None:
    held = mask(problem, data)
    exact = brute_force.value(brute_force.all_savings(problem), sets(held))
    # Whole numbers stay exact; links in Gb/s do not.
    assert objective_value(problem, held) == pytest.approx(float(exact), rel=1e-14)


@given(problems(), st.data())
def test_normal_form_has_the_same_value(problem: Problem, data: st.DataObject) -> None:
    held = mask(problem, data)
    form = savings(problem)
    assert form.value(held[:, problem.tree.order]) == pytest.approx(
        objective_value(problem, held), rel=1e-12
    )


@given(problems(objective="requester"), st.data())
def test_decomposition_is_exact(problem: Problem, data: st.DataObject) -> None:
    held = mask(problem, data)
    exact = brute_force.value(brute_force.all_savings(problem), sets(held))
    assert Fraction(decomposition(problem).value(held)) == exact


@given(problems(objective="requester", workers=1), st.data())
def test_one_worker_fetches_nothing(problem: Problem, data: st.DataObject) -> None:
    held = mask(problem, data)
    alone = (problem.demand.dense() * problem.recompute.values)[held].sum()  # type: ignore[union-attr]
    assert decomposition(problem).value(held) == objective_value(problem, held) == alone


@given(problems(objective="requester"), st.data())
def test_pairwise_with_equal_fetch_costs_is_requester_side(
    problem: Problem, data: st.DataObject
) -> None:
    held = mask(problem, data)
    pairwise = problem.with_objective("pairwise")
    assert pairwise.digest != problem.digest
    assert objective_value(pairwise, held) == objective_value(problem, held)
    assert savings(pairwise).value(held[:, problem.tree.order]) == pytest.approx(
        objective_value(problem, held), rel=1e-12
    )


@given(problems(), st.data())
def test_marginals_are_differences_of_values(problem: Problem, data: st.DataObject) -> None:
    held = mask(problem, data)
    holders = Holders(savings(problem), held[:, problem.tree.order])
    for worker in range(problem.m):
        profit = marginals(problem, held, worker)
        others = held.copy()
        others[worker] = False
        base = objective_value(problem, others)
        for chunk in range(problem.n):
            more = others.copy()
            more[worker, chunk] = True
            assert base + profit[chunk] == pytest.approx(objective_value(problem, more), rel=1e-12)
        assert holders.profits(worker) == pytest.approx(profit[problem.tree.order], rel=1e-12)


@given(problems(), st.data())
def test_holders_follow_replacements(problem: Problem, data: st.DataObject) -> None:
    form = savings(problem)
    holders = Holders(form)
    for _ in range(4):
        worker = data.draw(st.integers(0, problem.m - 1))
        holders.replace(worker, mask(problem, data)[worker])
    fresh = Holders(form, holders.held)
    for worker in range(problem.m):
        assert holders.profits(worker).tolist() == fresh.profits(worker).tolist()


@given(problems(objective="pairwise"))
def test_pairwise_does_not_decompose(problem: Problem) -> None:
    with pytest.raises(InputError, match="requester-side"):
        decomposition(problem)
