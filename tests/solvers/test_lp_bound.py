from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.problem import savings
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.strategies import problems

if TYPE_CHECKING:
    from pathlib import Path

METHODS = ["compact-lp", "flow-lp"]


def proven_by_prices(problem: pp.Problem, result: pp.Result) -> float:
    """UB of the prices that a result carries, by the plain oracle."""
    form = savings(problem)
    alpha = result.proof.prices[0].dense(form.rows)
    oracle = TreeOracle(problem.tree)
    return float(alpha.sum()) + sum(
        oracle.solve(form.priced_profits(h, alpha), int(problem.budgets[h])).value
        for h in range(problem.m)
    )


@pytest.mark.parametrize("method", METHODS)
@given(problem=problems(chunks=6, workers=2, integral=False))
@settings(max_examples=25)
def test_bound_and_plan_enclose_the_optimum(method: str, problem: pp.Problem) -> None:
    best = float(brute_force.optimum(problem)[0])
    result = pp.solve(problem, method=method)
    assert result.lower <= best * (1 + 1e-12)
    assert result.upper >= best * (1 - 1e-12)
    assert result.lower >= pp.solve(problem, method="plan").lower
    tolerance = 1e-9 * max(best, 1.0)
    assert best - tolerance <= proven_by_prices(problem, result)
    lp = result.statistics["lp_value"]
    assert proven_by_prices(problem, result) <= lp + 1e-7 * max(lp, 1.0)


def test_bounds_stand_in_their_order_on_handed_cases(
    case_path: Path, expected: dict[str, dict[str, Any]]
) -> None:
    problem = pp.read_problem(case_path)
    optimum = float(expected[problem.name]["optimum"])
    compact, flow = (pp.solve(problem, method=method) for method in METHODS)
    assert compact.statistics["lp_value"] >= flow.statistics["lp_value"] * (1 - 1e-7)
    assert flow.statistics["lp_value"] >= optimum * (1 - 1e-7)
    for result in (compact, flow):
        assert result.lower <= optimum <= result.upper
        assert result.upper <= result.statistics["lp_value"] * (1 + 1e-9)
    if problem.name == "small-rag-pair":
        assert flow.status == "optimal"
    # The prices of an optimal flow LP prove its value, which is that of the configuration LP.
    assert proven_by_prices(problem, flow) == pytest.approx(flow.upper, rel=1e-7)


def test_a_limit_leaves_a_plan_and_a_valid_bound(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "sparse-demand.json")
    result = pp.solve(problem, method="flow-lp", time_limit=1e-6)
    assert result.status == "time-limit"
    assert result.statistics["lp_value"] is None
    assert result.proof is None
    assert result.lower <= 469614 <= result.upper


@pytest.mark.parametrize("method", METHODS)
def test_same_result_for_any_number_of_threads(method: str, shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "small-rag-pair.json")
    one, two = (pp.solve(problem, method=method, threads=threads) for threads in (1, 2))
    assert one.placement == two.placement
    assert one.upper == two.upper
    assert np.array_equal(one.proof.prices[0].values, two.proof.prices[0].values)


def test_flow_lp_lies_within_the_best_known_bounds(
    shared: Path, rag_bounds: dict[str, dict[str, Any]]
) -> None:
    name = "rag-d20-m4-b5-g3.0-requ-s1"
    problem = pp.read_problem(shared / "cases" / "rag" / f"{name}.json")
    known = rag_bounds[name]
    result = pp.solve(problem, method="flow-lp")
    assert known["lower"] <= result.statistics["lp_value"] * (1 + 1e-9)
    assert result.upper <= known["upper"] * (1 + 1e-6)
    assert result.lower >= pp.solve(problem, method="plan").lower
    assert result.upper >= proven_by_prices(problem, result) * (1 - 1e-9)
