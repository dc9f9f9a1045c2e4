"""The figures of instances and placements against their plain definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt import Placement, PrefixTree, Problem, Worker, solve
from prefixplace_opt.problem import Demand, DenseCost, PairwiseCost
from prefixplace_opt.report import summarise_instance, summarise_placement


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    parents = [draw(st.integers(-1, v - 1)) for v in range(n)]
    numbers = st.sampled_from([0.0, 1.0, 2.0, 3.0, 7.5])

    def matrix(*shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        flat = draw(st.lists(numbers, min_size=size, max_size=size))
        return np.array(flat).reshape(shape)

    groups = draw(st.lists(st.sampled_from(["x", "y"]), min_size=m, max_size=m))
    return Problem(
        PrefixTree(parents),
        [Worker(f"w{i}", draw(st.integers(0, n)), compatibility=groups[i]) for i in range(m)],
        Demand.from_dense(matrix(m, n), shape=(m, n)),
        DenseCost(matrix(m, n)),
        PairwiseCost(matrix(m, m, n)),
        objective="pairwise",
    )


@given(problems())
def test_instance_figures_are_their_definitions(problem: Problem) -> None:
    facts = summarise_instance(problem)
    demand, tree = problem.demand.dense(), problem.tree
    cost = demand * problem.recompute.values  # type: ignore[union-attr]
    assert facts.recompute_ms == pytest.approx(cost.sum())
    assert facts.leaves == sum(v not in tree.parents for v in range(problem.n))
    assert facts.requests == pytest.approx(demand[:, tree.parents < 0].sum())
    assert facts.budget == problem.budgets.sum()
    assert sum(row.needed for row in facts.worker) == np.count_nonzero(demand)
    cheaper = 0.0
    for m, b in zip(*np.nonzero(demand), strict=True):
        fetch = min(
            (
                problem.fetch.values[m, h, b]  # type: ignore[union-attr]
                for h in range(problem.m)
                if h != m and problem.groups[h] == problem.groups[m]
            ),
            default=np.inf,
        )
        cheaper += cost[m, b] * (fetch < problem.recompute.values[m, b])  # type: ignore[union-attr]
    assert facts.worth_fetching * facts.recompute_ms == pytest.approx(cheaper)


@given(problems())
def test_placement_figures_add_up(problem: Problem) -> None:
    placement = solve(problem, method="greedy").placement
    effect = summarise_placement(problem, placement)
    assert sum(row.saved_ms for row in effect.worker) == pytest.approx(placement.value)
    assert sum(row.left_ms for row in effect.worker) == pytest.approx(
        effect.recompute_ms - placement.value, abs=1e-9
    )
    given = sum(row.given_ms for row in effect.worker)
    assert given == pytest.approx(sum(row.fetched_ms for row in effect.worker))
    shares = effect.local + effect.fetched + effect.recomputed
    assert shares == pytest.approx(1.0 if len(problem.demand) else 0.0)
    assert effect.distinct == sum(effect.copies.values())
    assert sum(k * v for k, v in effect.copies.items()) == sum(row.held for row in effect.worker)
    assert sum(row.sole for row in effect.worker) == effect.copies.get(1, 0)
    assert 0 <= effect.saved_share <= 1


def test_what_copies_give_is_told_by_the_cheapest_holder_and_shared_among_equals() -> None:
    fetch = np.full((3, 3, 1), 1.0)
    for cheapest, expected in ((0.5, [0.0, 9.5, 0.0]), (1.0, [4.5, 4.5, 0.0])):
        fetch[2, 1] = cheapest
        problem = Problem(
            PrefixTree([-1]),
            [Worker("a", 1), Worker("b", 1), Worker("c", 0)],
            Demand.from_dense(np.ones((3, 1)), shape=(3, 1)),
            DenseCost(np.full((3, 1), 10.0)),
            PairwiseCost(fetch),
            objective="pairwise",
        )
        effect = summarise_placement(problem, Placement.of(problem, [[0], [0], []]))
        assert [row.given_ms for row in effect.worker] == expected


def test_holding_everything_saves_everything() -> None:
    n = 4
    problem = Problem(
        PrefixTree([-1, 0, 1, 0]),
        [Worker("a", n), Worker("b", n)],
        Demand.from_dense(np.ones((2, n)), shape=(2, n)),
        DenseCost(np.full((2, n), 5.0)),
        DenseCost(np.full((2, n), 9.0)),
    )
    effect = summarise_placement(problem, solve(problem, method="independent").placement)
    assert effect.saved_share == 1.0
    assert (effect.local, effect.fetched, effect.recomputed) == (1.0, 0.0, 0.0)
    assert effect.copies == {2: n}
    assert summarise_instance(problem).worth_fetching == 0.0
