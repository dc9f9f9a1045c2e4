import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.problem import Holders, savings
from prefixplace_opt.problem.placement_file import document_of_placement
from prefixplace_opt.solvers import greedy
from prefixplace_opt.solvers.planner import BASELINES, start_orders
from prefixplace_opt.solvers.run import Progress
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.strategies import problems

SINGLE = ["greedy", *BASELINES]


@given(problems(chunks=5, workers=3))
@settings(max_examples=40)
def test_plan_lies_between_baselines_and_optimum(problem: pp.Problem) -> None:
    best, _ = brute_force.optimum(problem)
    plan = pp.solve(problem, method="plan")
    assert plan.lower <= best * (1 + 1e-12)
    assert plan.upper >= best * (1 - 1e-12)
    for method in SINGLE:
        assert plan.lower >= pp.solve(problem, method=method).lower * (1 - 1e-12)
    assert 2 * pp.solve(problem, method="greedy").lower >= best * (1 - 1e-12)


def test_handed_cases(case_path: Path, expected: dict[str, dict[str, Any]]) -> None:
    problem = pp.read_problem(case_path)
    optimum = float(expected[problem.name]["optimum"])
    plan = pp.solve(problem, method="plan")
    assert plan.lower <= optimum <= plan.upper
    assert all(plan.lower >= pp.solve(problem, method=method).lower for method in SINGLE)
    # Half the optimum is for any order.
    for order in start_orders(problem.m, [0.0] * problem.m):
        holders = Holders(savings(problem))
        greedy.worker_greedy(holders, TreeOracle(problem.tree), problem.budgets.tolist(), order)
        assert 2 * savings(problem).value(holders.held) >= optimum


def test_same_plan_byte_for_byte_over_runs_and_threads(case_path: Path) -> None:
    problem = pp.read_problem(case_path)
    texts = {
        json.dumps(document_of_placement(pp.solve(problem, method="plan", threads=t).placement))
        for t in (1, 1, 3)
    }
    assert len(texts) == 1


def test_orders() -> None:
    assert start_orders(3, [1.0, 3.0, 2.0])[0] == (1, 2, 0)
    assert len(start_orders(5, [0.0] * 5)) == 120
    many = start_orders(7, [0.0] * 7, seed=4)
    assert many[:2] == [tuple(range(7)), tuple(reversed(range(7)))]
    assert len(many) == len(set(many)) == 8
    assert many == start_orders(7, [0.0] * 7, seed=4) != start_orders(7, [0.0] * 7, seed=5)


@given(problems(chunks=6, workers=4))
@settings(max_examples=30)
def test_refinement_ends_at_a_fixed_point(problem: pp.Problem) -> None:
    held = pp.solve(problem, method="plan").placement.held(problem.n)[:, problem.tree.order]
    holders = Holders(savings(problem), held)
    oracle = TreeOracle(problem.tree)
    for worker in range(problem.m):
        profit = holders.profits(worker)
        better = oracle.solve(profit, int(problem.budgets[worker])).value
        assert better <= profit[held[worker]].sum() * (1 + 1e-9) + 1e-12


def test_warm_start_is_never_lost(rag_case_path: Path) -> None:
    problem = pp.read_problem(rag_case_path)
    best = pp.solve(problem, method="plan")
    again = pp.solve(problem, method="plan", seed=9, warm_start=best.placement)
    assert again.lower >= best.lower


def test_limits_return_a_plan_with_a_bound(rag_case_path: Path) -> None:
    problem = pp.read_problem(rag_case_path)
    plan = pp.solve(problem, method="plan", time_limit=1e-9)
    assert plan.status == "time-limit"
    assert 0 < plan.lower <= plan.upper


def test_progress_tells_rising_values_and_its_errors_come_through(rag_case_path: Path) -> None:
    problem = pp.read_problem(rag_case_path)
    told: list[Progress] = []
    plan = pp.solve(problem, method="plan", progress=told.append)
    assert [event.lower for event in told] == sorted(event.lower for event in told)
    assert told[-1].lower == pytest.approx(plan.lower, rel=1e-12)

    def fail(event: Progress) -> None:
        raise ZeroDivisionError(event.phase)

    with pytest.raises(ZeroDivisionError, match="planning"):
        pp.solve(problem, method="plan", progress=fail)
