from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.formulations import PlacementModel, compact_arrays, flow_arrays
from prefixplace_opt.formulations.flow import network, state_count
from prefixplace_opt.formulations.placement_model import worker_labels
from prefixplace_opt.problem import Demand, UniformCost, savings
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.formulations.highs import optimum
from tests.strategies import problems

Build = Callable[[pp.Problem], PlacementModel]

FORMULATIONS: dict[str, Build] = {
    "compact": compact_arrays,
    "compact-subtree": lambda problem: compact_arrays(problem, closure="subtree"),
    "compact-both": lambda problem: compact_arrays(problem, closure="both"),
    "compact-aggregated": lambda problem: compact_arrays(problem, coverage="aggregated"),
    "compact-disaggregated": lambda problem: compact_arrays(problem, coverage="disaggregated"),
    "flow": flow_arrays,
    "flow-aggregated": lambda problem: flow_arrays(problem, coverage="aggregated"),
    "flow-disaggregated": lambda problem: flow_arrays(problem, coverage="disaggregated"),
}


@pytest.mark.parametrize("build", FORMULATIONS.values(), ids=FORMULATIONS)
@given(problem=problems(chunks=6, workers=2))
@settings(max_examples=25)
def test_optimum_is_that_of_exhaustion(build: Build, problem: pp.Problem) -> None:
    best, _ = brute_force.optimum(problem)
    model = build(problem)
    value, solution = optimum(model.linear)
    assert value == pytest.approx(float(best), rel=1e-9, abs=1e-9)
    assert model.placement(solution).value == pytest.approx(float(best), rel=1e-12)
    assert optimum(model.linear, relaxed=True)[0] >= value - 1e-7 * max(1, value)


@pytest.mark.parametrize("build", FORMULATIONS.values(), ids=FORMULATIONS)
@given(problem=problems(chunks=7, workers=3, integral=False))
@settings(max_examples=15)
def test_a_plan_is_a_solution_worth_its_value(build: Build, problem: pp.Problem) -> None:
    plan = pp.solve(problem).placement
    model = build(problem)
    start = model.start(plan)
    assert model.linear.violation(start) == 0
    assert model.linear.value(start) == pytest.approx(plan.value, rel=1e-12)
    assert model.placement(start) == plan
    partial = model.partial_start(plan)
    known = ~np.isnan(partial)
    assert known.sum() == problem.m * problem.n
    assert (partial[known] == start[known]).all()


@pytest.mark.parametrize("name", ["compact", "compact-both", "flow"])
def test_handed_optima_are_reached(
    name: str, case_path: Path, expected: dict[str, dict[str, Any]]
) -> None:
    problem = pp.read_problem(case_path)
    model = FORMULATIONS[name](problem)
    value, solution = optimum(model.linear)
    best = float(expected[problem.name]["optimum"])
    assert value == pytest.approx(best, rel=1e-9)
    assert model.placement(solution).value == best


@pytest.mark.parametrize("build", [compact_arrays, flow_arrays])
@given(problem=problems(chunks=6, workers=3, objective="requester", integral=False))
@settings(max_examples=20)
def test_requester_side_both_kinds_of_coverage_rows_have_the_same_lp(
    build: Any, problem: pp.Problem
) -> None:
    one, other = (
        optimum(build(problem, coverage=rows).linear, relaxed=True)[0]
        for rows in ("aggregated", "disaggregated")
    )
    assert one == pytest.approx(other, rel=1e-7, abs=1e-7)


@given(problem=problems(chunks=6, workers=3, objective="pairwise", integral=False))
@settings(max_examples=20)
def test_pairwise_aggregated_rows_are_never_stronger(problem: pp.Problem) -> None:
    strong, weak = (
        optimum(compact_arrays(problem, coverage=rows).linear, relaxed=True)[0]
        for rows in ("disaggregated", "aggregated")
    )
    assert weak >= strong - 1e-7 * max(strong, 1.0)


@given(problems(chunks=8, workers=1))
@settings(max_examples=60)
def test_with_one_worker_the_flow_lp_is_the_tree_oracle(problem: pp.Problem) -> None:
    value, _ = optimum(flow_arrays(problem).linear, relaxed=True)
    form = savings(problem)
    profit = form.priced_profits(0, np.zeros(form.rows))
    oracle = TreeOracle(problem.tree).solve(profit, int(problem.budgets[0]))
    assert value == pytest.approx(oracle.value, rel=1e-7, abs=1e-7)


@given(problems(chunks=7, workers=1))
@settings(max_examples=60)
def test_paths_of_the_network_are_the_closed_sets(problem: pp.Problem) -> None:
    budget = int(problem.budgets[0])
    net = network(problem.tree, budget)
    assert net.states == state_count(problem.tree, budget)
    found = set()
    reached = set()
    walks: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while walks:
        state, held = walks.pop()
        if state == net.states:
            assert held not in found, "two paths state the same set"
            found.add(held)
            continue
        reached.add(state)
        chunk = int(problem.tree.order[net.position[state]])
        walks.append((int(net.skip[state]), held))
        walks.append((int(net.take[state]), held | {chunk}))
    assert found == set(brute_force.closed_sets(problem.tree.parents.tolist(), budget))
    assert len(reached) == net.states, "a state that no path passes"


def test_names_can_be_read_back_by_people() -> None:
    problem = pp.Problem(
        tree=pp.PrefixTree([-1, 0]),
        workers=[pp.Worker("gpu 0/a", 2), pp.Worker("b-1", 1)],
        demand=Demand.from_dense([[1, 1], [0, 2]], shape=(2, 2)),
        recompute=UniformCost(5.0),
        fetch=UniformCost(2.0),
    )
    names = list(compact_arrays(problem).linear.column_names())
    assert names == ["x[gpu_0_a,0]", "x[gpu_0_a,1]", "x[b_1,0]", "x[b_1,1]", "y[0]", "y[1]"]
    assert list(compact_arrays(problem).linear.row_names("()")) == [
        *("cover(0)", "cover(1)", "closure(gpu_0_a,1)", "closure(b_1,1)"),
        *("budget(gpu_0_a)", "budget(b_1)"),
    ]
    assert "take[b_1,0,1]" in list(flow_arrays(problem).linear.column_names())


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["gpu-0", "gpu 1"], ["gpu_0", "gpu_1"]),
        (["a b", "a-b", "c"], ["a_b.0", "a_b.1", "c.2"]),
        (["ü", "x" * 60], ["_", "x" * 40]),
    ],
)
def test_labels_are_words_and_unique(names: list[str], labels: list[str]) -> None:
    problem = pp.Problem(
        tree=pp.PrefixTree([-1]),
        workers=[pp.Worker(name, 1) for name in names],
        demand=Demand([], [], [], shape=(len(names), 1)),
        recompute=UniformCost(5.0),
        fetch=UniformCost(2.0),
    )
    assert worker_labels(problem) == labels


def test_unknown_options_are_named() -> None:
    problem = pp.Problem(
        tree=pp.PrefixTree([-1]),
        workers=[pp.Worker("a", 1)],
        demand=Demand.from_dense([[1]], shape=(1, 1)),
        recompute=UniformCost(5.0),
        fetch=UniformCost(2.0),
    )
    with pytest.raises(pp.InputError, match="closure: expected 'edge', 'subtree' or 'both'"):
        compact_arrays(problem, closure="none")  # type: ignore[arg-type]
    with pytest.raises(pp.InputError, match="coverage: expected 'aggregated' or 'disaggregated'"):
        flow_arrays(problem, coverage="none")  # type: ignore[arg-type]


def test_a_model_too_large_is_refused_before_it_is_built() -> None:
    n = 60_000
    problem = pp.Problem(
        tree=pp.PrefixTree(np.arange(n) - 1),
        workers=[pp.Worker("a", n // 2), pp.Worker("b", 1)],
        demand=Demand([0], [0], [1], shape=(2, n)),
        recompute=UniformCost(5.0),
        fetch=UniformCost(2.0),
    )
    assert compact_arrays(problem).linear.columns == 2 * n + 1
    with pytest.raises(pp.PrefixPlaceError, match="more than 100,000,000: use a method without"):
        compact_arrays(problem, closure="subtree")
    bushy = replace(problem, tree=pp.PrefixTree(np.full(n, -1)))
    with pytest.raises(pp.PrefixPlaceError, match="would have 4,5"):
        flow_arrays(bushy)
