"""What results may claim: true bounds, and `optimal` only where the verifier agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace_opt as pp
from prefixplace_opt import claims
from prefixplace_opt.problem import Demand, InputError, PrefixTree, Proof, SolverError, UniformCost
from prefixplace_opt.problem import savings as normal_form
from prefixplace_opt.solvers.result import OPTIMAL_TOLERANCE, Result, gap_met
from prefixplace_opt.solvers.run import Options, Run
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.strategies import problems

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("method", ["auto", "exact", "plan", "config-lp", "compact-lp", "flow-lp"])
@given(problem=problems(chunks=5, workers=3, integral=False))
@settings(max_examples=25)
def test_no_bound_lies_below_the_optimum(method: str, problem: pp.Problem) -> None:
    """In exact arithmetic: not by the last bit either."""
    optimum = brute_force.optimum(problem)[0]
    result = pp.solve(problem, method=method)
    assert Fraction(result.upper) >= optimum
    if result.proof is not None:
        certificate = pp.certify(problem, result)
        if result.status == "optimal":
            assert pp.verify(problem, certificate).optimal
            assert result.upper == max(certificate.upper, result.lower)
        else:
            assert result.upper <= max(certificate.upper, result.lower)


@given(
    problem=problems(chunks=6, workers=3, integral=False),
    share=st.floats(0, 1),
)
@settings(max_examples=50)
def test_the_allowance_covers_sums_in_doubles(problem: pp.Problem, share: float) -> None:
    """The bound at any prices, summed up naively, against the exact bound of the same prices."""
    form = normal_form(problem)
    prices = form.row_best * share
    total = sum(prices.tolist())
    oracle = TreeOracle(problem.tree)
    for worker, budget in enumerate(problem.budgets.tolist()):
        total += oracle.solve(form.priced_profits(worker, prices), budget).value
    assert Fraction(claims.raised(problem, total)) >= brute_force.optimum(problem)[0]


def test_savings_of_very_unlike_sizes_are_proven_in_exact_arithmetic() -> None:
    """Nobody can hold the chunk that is worth 1e18: in units of 2**-60 of it, 0.15 is nothing."""
    unlike = pp.Problem(
        tree=PrefixTree([-1, 0]),
        workers=[pp.Worker("a", 1), pp.Worker("b", 0)],
        demand=Demand.from_dense([[0.15, 1e18], [0, 1e18]], shape=(2, 2)),
        recompute=UniformCost(1),
        fetch=UniformCost(0.5),
    )
    result = pp.solve(unlike, method="exact")
    assert (result.status, result.lower) == ("optimal", 0.15)
    assert result.upper == pytest.approx(0.15, rel=1e-12)
    assert pp.verify(unlike, pp.certify(unlike, result)).optimal


@pytest.fixture
def problem() -> pp.Problem:
    """Workers of two chunks each; the optimum is 180, the bound without prices 194."""
    return pp.Problem(
        tree=PrefixTree([-1, 0, 0, 0]),
        workers=[pp.Worker("a", 2), pp.Worker("b", 2)],
        demand=Demand.from_dense([[9, 4, 5, 1], [8, 4, 2, 3]], shape=(2, 4)),
        recompute=UniformCost(6),
        fetch=UniformCost(2),
    )


def claim(problem: pp.Problem, **changes: Any) -> Result:
    placement = pp.Placement.of(problem, [[0, 2], [0, 1]])
    parts: dict[str, Any] = {"upper": 180.0, "status": "optimal", "method": "m", "reason": "so"}
    result = Result(placement=placement, **(parts | changes))
    return claims.upheld(problem, result, Run(Options(gap=1e-4)))


def test_optimal_by_a_proof_that_does_not_show_it_is_taken_back(problem: pp.Problem) -> None:
    weak = Proof.single(np.zeros(normal_form(problem).rows))
    result = claim(problem, proof=weak)
    assert result.status == "feasible"
    assert "shows no more than a gap of 0." in result.reason
    assert claim(problem, proof=weak, status="gap").upper == pytest.approx(180, rel=1e-11)


def test_optimal_without_a_proof_is_the_word_of_who_claims_it(problem: pp.Problem) -> None:
    result = claim(problem)
    assert result.status == "gap"
    assert result.reason == "so; optimal by the word of m alone; `certify` can prove it"
    assert 180 < result.upper < 180 * (1 + OPTIMAL_TOLERANCE)
    assert claim(problem, upper=190.0, status="gap").status == "feasible"


def test_a_run_that_was_ended_keeps_its_own_bound(problem: pp.Problem) -> None:
    weak = Proof.single(np.zeros(normal_form(problem).rows))
    result = claim(problem, proof=weak, status="time-limit", upper=190.0)
    assert (result.status, result.reason) == ("time-limit", "so")
    assert 190 < result.upper < 190 * (1 + OPTIMAL_TOLERANCE)


def test_a_bound_below_the_plan_is_a_fault_and_not_clamped(problem: pp.Problem) -> None:
    with pytest.raises(SolverError, match=r"more than 179\.9, it says, but one of 180\.0"):
        claim(problem, upper=179.9)
    with pytest.raises(SolverError, match="nan"):
        claim(problem, upper=float("nan"))
    good = claim(problem)
    assert replace(good, upper=180 * (1 - 1e-12)).upper == 180


def test_optimal_meets_any_gap_target(tmp_path: Path, shared: Path) -> None:
    from typer.testing import CliRunner

    from prefixplace_opt.cli import app

    assert gap_met(OPTIMAL_TOLERANCE, 0.0)
    assert not gap_met(2 * OPTIMAL_TOLERANCE, 0.0)
    case = pp.read_problem(shared / "cases" / "small-rag.json")
    demand = case.demand
    rng = np.random.default_rng(0)
    value = demand.value * rng.uniform(0.9, 1.1, demand.value.size)
    odd = replace(case, demand=Demand(demand.worker, demand.chunk, value, shape=(case.m, case.n)))
    path = tmp_path / "odd.json"
    pp.write_problem(odd, path)
    for method in ("exact", "compact"):
        done = CliRunner().invoke(app, ["solve", str(path), "-m", method, "--gap", "0", "--json"])
        document = json.loads(done.stdout)
        assert done.exit_code == 0
        assert document["status"] == ("optimal" if method == "exact" else "gap")
        assert document["gap"] <= OPTIMAL_TOLERANCE


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: pp.solve(None), "problem: expected Problem, got None"),
        (lambda _: pp.solve("a.json"), "problem: expected Problem, got 'a.json'"),
        (lambda p: pp.solve(p, warm_start="x"), "warm_start: expected Placement or None, got 'x'"),
        (lambda p: pp.solve(p, progress=3), "progress: expected a function, got 3"),
        (lambda p: pp.certify(p, [[0]]), "plan: expected Placement or Result, got [[0]]"),
        (lambda _: pp.certify({}, None), "problem: expected Problem, got {}"),
        (lambda p: pp.verify(p, None), "certificate: expected Certificate or str or PathLike, got"),
        (lambda _: pp.verify(None, "c.json"), "problem: expected Problem, got None"),
        (lambda p: pp.verify(p, "c.json", tolerance="x"), "tolerance: expected a number, got 'x'"),
        (lambda p: pp.write_problem(p, None), "path: expected str or PathLike, got None"),
        (lambda _: pp.read_problem(0), "path: expected str or PathLike, got 0"),
        (lambda _: pp.write_placement(None, "p"), "placement: expected Placement, got None"),
        (lambda _: pp.write_certificate(None, "c"), "certificate: expected Certificate, got None"),
        (lambda p: replace(p, workers="ab"), "workers[0]: expected"),
        (lambda p: replace(p, recompute=5), "recompute: expected"),
        (lambda p: replace(p, tree=None), "tree: expected"),
        (lambda p: pp.replan(p, [[True]]), "held: expected ndarray, got [[True]]"),
    ],
)
def test_wrong_types_are_named(call: Any, message: str, problem: pp.Problem) -> None:
    with pytest.raises(InputError) as raised:
        call(problem)
    assert str(raised.value).startswith(message)
