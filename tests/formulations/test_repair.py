from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace_opt as pp
from prefixplace_opt.formulations.repair import repaired
from prefixplace_opt.problem import Demand, UniformCost
from tests.strategies import problems


@given(problems(chunks=8, workers=3), st.integers(0, 2**32 - 1))
@settings(max_examples=80)
def test_anything_becomes_a_plan_inside_of_it(problem: pp.Problem, seed: int) -> None:
    x = np.random.default_rng(seed).random((problem.m, problem.n))
    repair = repaired(problem, x)
    held = repair.placement.held(problem.n)
    rounded = x > 0.5
    assert not (held & ~rounded).any()
    dropped = np.array(repair.orphans) + np.array(repair.excess)
    assert (rounded.sum(axis=1) - held.sum(axis=1) == dropped).all()
    assert repair.fractional == np.count_nonzero(np.minimum(x, 1 - x) > 1e-6)


@given(problems(chunks=8, workers=3))
@settings(max_examples=40)
def test_a_plan_stays_as_it_is(problem: pp.Problem) -> None:
    plan = pp.solve(problem).placement
    repair = repaired(problem, plan.held(problem.n) * (1 - 1e-9))
    assert repair.placement == plan
    assert not repair.changed


def test_orphans_go_and_the_least_useful_leaf_over_budget() -> None:
    problem = pp.Problem(
        tree=pp.PrefixTree([-1, 0, 0, 1, -1, 4]),
        workers=[pp.Worker("a", 2)],
        demand=Demand.from_dense([[9, 5, 6, 4, 0, 8]], shape=(1, 6)),
        recompute=UniformCost(1.0),
        fetch=UniformCost(1.0),
    )
    repair = repaired(problem, np.array([[1, 0.9, 1, 1, 0, 1]]))
    assert repair.orphans == (1,)
    # Chunk 3 goes first, being the leaf worth least, then its parent, worth 5 against 6.
    assert repair.excess == (2,)
    assert repair.placement.resident[0].tolist() == [0, 2]
    assert repair.placement.value == 15
    assert repair.fractional == 1
    assert repair.farthest == pytest.approx(0.1)
    assert repair.changed
