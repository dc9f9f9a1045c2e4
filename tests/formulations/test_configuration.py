from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.formulations import (
    Configurations,
    all_configurations,
    compact_arrays,
    configuration_arrays,
    flow_arrays,
)
from prefixplace_opt.problem import CapacityError, Demand, UniformCost
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.formulations.highs import optimum, optimum_of, passed
from tests.strategies import problems

if TYPE_CHECKING:
    from pathlib import Path


@given(problems(chunks=7, workers=2))
@settings(max_examples=60)
def test_enumeration_is_complete(problem: pp.Problem) -> None:
    sets = all_configurations(problem)
    found = {
        (int(sets.worker[t]), frozenset(sets.chunk[sets.start[t] : sets.start[t + 1]].tolist()))
        for t in range(sets.size)
    }
    assert len(found) == sets.size
    parents = problem.tree.parents.tolist()
    assert found == {
        (h, held)
        for h, worker in enumerate(problem.workers)
        for held in brute_force.closed_sets(parents, worker.budget)
    }


@given(problems(chunks=6, workers=3))
@settings(max_examples=60)
def test_bounds_stand_in_their_order(problem: pp.Problem) -> None:
    best = float(brute_force.optimum(problem)[0]) if problem.m < 3 else None
    tolerance = {"rel": 1e-7, "abs": 1e-7}
    compact, flow, configuration = (
        optimum(build(problem).linear, relaxed=True)[0]
        for build in (compact_arrays, flow_arrays, configuration_arrays)
    )
    strong = optimum(compact_arrays(problem, closure="both").linear, relaxed=True)[0]
    assert flow == pytest.approx(configuration, **tolerance)
    assert compact >= strong - 1e-7 * max(compact, 1)
    assert strong >= flow - 1e-7 * max(flow, 1)
    if best is not None:
        assert flow >= best - 1e-7 * max(best, 1)
    if problem.m == 1:
        assert flow == pytest.approx(best, **tolerance)


def test_bounds_stand_in_their_order_on_handed_cases(
    case_path: Path, expected: dict[str, dict[str, Any]]
) -> None:
    problem = pp.read_problem(case_path)
    best = float(expected[problem.name]["optimum"])
    compact, flow = (
        optimum(build(problem).linear, relaxed=True)[0] for build in (compact_arrays, flow_arrays)
    )
    assert compact >= flow * (1 - 1e-7)
    assert flow >= best * (1 - 1e-7)
    configuration = by_column_generation(problem)
    assert configuration == pytest.approx(flow, rel=1e-7)
    if problem.m == 1:
        assert configuration == pytest.approx(best, rel=1e-7)


def by_column_generation(problem: pp.Problem) -> float:
    """The configuration LP, its columns priced by the tree oracle with the duals of `resident`."""
    oracle = TreeOracle(problem.tree)
    sets: list[tuple[int, Any]] = []
    while True:
        model = configuration_arrays(problem, Configurations.of(sets)).linear
        highs = passed(model, relaxed=True)
        value, _ = optimum_of(highs)
        dual = np.array(highs.getSolution().row_dual)
        profit = dual[model.rows_of("resident")].reshape(problem.m, problem.n)
        price = dual[model.rows_of("choose")]
        best = [
            oracle.solve(profit[h][problem.tree.order], int(problem.budgets[h]))
            for h in range(problem.m)
        ]
        new = [h for h in range(problem.m) if best[h].value > price[h] + 1e-9 * value]
        if not new:
            return value
        sets += [(h, problem.tree.order[best[h].resident]) for h in new]


def test_enumeration_agrees_where_it_is_small_enough(
    case_path: Path, expected: dict[str, dict[str, Any]]
) -> None:
    problem = pp.read_problem(case_path)
    try:
        sets = all_configurations(problem, most=5_000)
    except CapacityError:
        assert problem.n >= 30  # the larger cases are compared by column generation above
        return
    model = configuration_arrays(problem, sets).linear
    assert optimum(model, relaxed=True)[0] == pytest.approx(by_column_generation(problem), rel=1e-9)
    best = float(expected[problem.name]["optimum"])
    assert optimum(model)[0] == pytest.approx(best, rel=1e-9)


@given(problems(chunks=6, workers=3))
@settings(max_examples=30)
def test_master_of_a_plan_s_own_sets_is_that_plan(problem: pp.Problem) -> None:
    plan = pp.solve(problem).placement
    model = configuration_arrays(problem, Configurations.of(enumerate(plan.resident)))
    value, solution = optimum(model.linear)
    assert value == pytest.approx(plan.value, rel=1e-9, abs=1e-9)
    assert model.placement(solution).value == plan.value
    start = model.start(plan)
    assert model.linear.violation(start) == 0
    assert model.linear.value(start) == pytest.approx(plan.value, rel=1e-12)


def test_master_without_columns_holds_nothing(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "tiny-star.json")
    value, solution = optimum(configuration_arrays(problem, Configurations.of([])).linear)
    assert value == 0
    assert not solution.any()


def test_a_plan_without_a_column_is_an_error(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "tiny-star.json")
    plan = pp.solve(problem).placement
    only_first = configuration_arrays(problem, Configurations.of([(0, plan.resident[0])]))
    with pytest.raises(pp.InputError, match="worker 1 is none of the model's columns"):
        only_first.start(plan)


def test_too_many_sets_are_counted_before_they_are_made() -> None:
    tree = pp.PrefixTree(np.full(60, -1))
    problem = pp.Problem(
        tree=tree,
        workers=[pp.Worker("a", 30)],
        demand=Demand.from_dense(np.ones((1, 60)), shape=(1, 60)),
        recompute=UniformCost(1.0),
        fetch=UniformCost(1.0),
    )
    with pytest.raises(pp.PrefixPlaceError, match=r"6\.356e\+17 parent-closed sets"):
        configuration_arrays(problem)
