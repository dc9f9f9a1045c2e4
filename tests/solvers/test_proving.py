"""Methods `auto` and `exact`: optima, proofs, limits, determinism."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import prefixplace_opt as pp
from prefixplace_opt.certificates import certificate_of, verify
from prefixplace_opt.problem import (
    Demand,
    DenseCost,
    Leaf,
    PairwiseCost,
    PrefixTree,
    Prices,
    UniformCost,
    Worker,
    savings,
)
from prefixplace_opt.problem.placement_file import document_of_placement
from prefixplace_opt.solvers import coordinate_refinement, fixing, pricing, proving
from prefixplace_opt.solvers.proving import prove
from prefixplace_opt.solvers.run import Options, Progress, Run
from tests import brute_force
from tests.solvers import proofs
from tests.strategies import problems

RAG = "cases/rag/rag-d20-m4-b10-g3.0-requ-s1.json"


def interrupting_run(stop_at: int) -> Run:
    """Return a run that interrupts itself at its `stop_at`-th event."""
    seen = 0

    def stop(_: Progress) -> None:
        nonlocal seen
        seen += 1
        if seen == stop_at:
            run.interrupt()

    run = Run(Options(progress=stop))
    return run


@given(problem=problems(chunks=5, workers=3), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_bound_at_any_prices_is_never_below_the_optimum(problem: pp.Problem, seed: int) -> None:
    form = savings(problem)
    rng = np.random.default_rng(seed)
    some = np.flatnonzero(rng.random(problem.m * problem.n) < 0.5)
    prices = replace(
        Prices.of(rng.random(form.rows) * rng.choice([0, 1, 5, 100], form.rows)),
        worker=some // problem.n,
        chunk=some % problem.n,
        withheld=rng.random(some.size) * rng.choice([1, 5, 100], some.size),
    )
    best, _ = brute_force.optimum(problem)
    # The normal form is rounded; exhaustion is not.
    assert proofs.bound(problem, prices) >= best * (1 - Fraction(1, 10**12))


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
def test_values_near_the_largest_are_branched_on(objective: str) -> None:
    rng = np.random.default_rng(40)
    tree = PrefixTree([-1] + [int(rng.integers(0, i)) for i in range(1, 10)])
    fetch = rng.random((3, 3, 10)) * 1e140
    problem = pp.Problem(
        tree=tree,
        workers=[Worker(f"w{m}", 3) for m in range(3)],
        demand=Demand.from_dense(rng.random((3, 10)) * 1e140, shape=(3, 10)),
        recompute=UniformCost(1e140),
        fetch=PairwiseCost(fetch) if objective == "pairwise" else DenseCost(fetch[0]),
        objective=objective,  # type: ignore[arg-type]
    )
    assert pp.solve(problem, method="exact").status == "optimal"


def test_units_of_rounded_products_end_no_search() -> None:
    # 0.2 * 0.2 and 0.7 * 0.0 are multiples of one double, the exact products of none.
    inf = np.inf
    fetch = [[[0.0], [inf], [0.0]], [[0.2], [inf], [0.35]], [[0.0], [0.18], [0.0]]]
    problem = pp.Problem(
        tree=PrefixTree([-1]),
        workers=[Worker("a", 6), Worker("b", 6), Worker("c", 2)],
        demand=Demand.from_dense([[0.2], [0.7], [1.1]], shape=(3, 1)),
        recompute=DenseCost([[0.2], [0.0], [0.0]]),
        fetch=PairwiseCost(np.array(fetch)),
        objective="pairwise",
    )
    result = pp.solve(problem, method="exact")
    assert result.status == "optimal"
    assert result.upper == pytest.approx(0.04, rel=1e-12)


@given(problem=problems(chunks=6, workers=3))
@settings(max_examples=40)
def test_what_is_too_large_for_tables_is_proven_too(problem: pp.Problem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in (pricing, fixing, coordinate_refinement, proving):
            patch.setattr(module, "TABLE_CELLS", 0)
        results = [pp.solve(problem, method="exact", threads=threads) for threads in (1, 2)]
    result, again = results
    best, _ = brute_force.optimum(problem)
    assert result.status == "optimal"
    assert result.lower == pytest.approx(float(best), rel=1e-9)
    assert Fraction(result.upper) >= best
    assert (again.placement, again.upper) == (result.placement, result.upper)
    assert verify(problem, pp.certify(problem, result)).accepted


@given(problem=problems(chunks=5, workers=3, integral=False))
@settings(max_examples=25)
def test_exact_finds_the_optimum_and_its_proof_holds(problem: pp.Problem) -> None:
    best, _ = brute_force.optimum(problem)
    result = pp.solve(problem, method="exact")
    assert result.status == "optimal"
    assert result.lower == pytest.approx(float(best), rel=1e-9, abs=1e-300)
    # The result's bound may be rounded down to the granularity, the proof's is not.
    proven, step = proofs.proven(problem, result.proof), result.statistics["granularity"]
    assert proven <= result.upper * (1 + 1e-12) or proven < result.upper + step


@given(problem=problems(chunks=5, workers=2))
@settings(max_examples=25)
def test_integer_data_are_closed_to_the_last_unit(problem: pp.Problem) -> None:
    values = [s for row in brute_force.all_savings(problem) for column in row for s in column]
    assume(all(s.denominator == 1 for s in values))
    best, _ = brute_force.optimum(problem)
    result = pp.solve(problem, method="exact")
    assert result.lower == result.upper == best
    # No plan lies strictly between two multiples of the granularity.
    step = max(result.statistics["granularity"], 1)
    assert proofs.proven(problem, result.proof) < best + step


def test_handed_cases(case_path: Path, expected: dict[str, dict[str, Any]]) -> None:
    problem = pp.read_problem(case_path)
    optimum = float(expected[problem.name]["optimum"])
    result = pp.solve(problem, method="exact")
    assert result.status == "optimal"
    assert result.lower == result.upper == optimum
    within = pp.solve(problem, gap=0.01)
    assert within.lower <= optimum <= within.upper
    assert within.gap <= 0.01
    assert within.status in {"gap", "optimal"}


@pytest.mark.parametrize("name", ["rag-d40-m6-b10-g3.0-requ-s1", "rag-d40-m6-b10-g3.0-pair-s1"])
def test_rag_cases(shared: Path, rag_bounds: dict[str, dict[str, Any]], name: str) -> None:
    result = pp.solve(pp.read_problem(shared / f"cases/rag/{name}.json"), method="exact")
    assert result.status == "optimal"
    assert result.lower >= rag_bounds[name]["lower"] * (1 - 1e-12)
    assert result.upper <= rag_bounds[name]["upper"]


def test_same_result_byte_for_byte_over_runs_and_threads(shared: Path) -> None:
    problem = pp.read_problem(shared / RAG)
    results = [pp.solve(problem, method="exact", threads=t) for t in (1, 1, 3)]
    texts = {json.dumps(document_of_placement(result.placement)) for result in results}
    assert len(texts) == 1
    assert len({result.upper for result in results}) == 1
    assert len({result.statistics["nodes"] for result in results}) == 1


@pytest.mark.parametrize("limit", [{"time_limit": 1e-9}, {"node_limit": 0}])
def test_limits_leave_a_plan_and_a_valid_bound(
    shared: Path, rag_bounds: dict[str, dict[str, Any]], limit: dict[str, Any]
) -> None:
    problem = pp.read_problem(shared / RAG)
    result = pp.solve(problem, method="exact", **limit)
    assert result.status == next(iter(limit)).replace("_", "-")
    assert "gap of" in result.reason
    known = rag_bounds[problem.name]
    assert result.lower <= known["upper"]
    assert result.upper >= known["lower"]
    assert any(isinstance(node, Leaf) for node in result.proof.nodes)


def test_interrupt_in_the_search_leaves_a_plan_and_a_valid_bound(shared: Path) -> None:
    problem = pp.read_problem(shared / RAG)
    optimum = pp.solve(problem, method="exact")
    for stop_at in (3, 30):
        result = prove(problem, interrupting_run(stop_at), "exact")
        assert result.status == "interrupted"
        assert result.lower <= optimum.lower
        assert result.upper >= optimum.upper * (1 - 1e-9)


def test_events_never_get_worse(shared: Path) -> None:
    events: list[Progress] = []
    result = pp.solve(pp.read_problem(shared / RAG), method="exact", progress=events.append)
    lower = [event.lower for event in events]
    assert lower == sorted(lower)
    searched = [event for event in events if event.phase == "branch and price"]
    assert searched[-1].nodes > 1
    upper = [event.upper for event in searched]
    assert upper == sorted(upper, reverse=True)
    assert events[-1].lower == result.lower


def test_open_nodes_of_equal_rank_are_not_mistaken_for_each_other() -> None:
    # So symmetric that many open nodes have the same bound and depth.
    problem = pp.generate("adversarial", against="greedy", size=12, objective="pairwise")
    result = pp.solve(problem, method="exact", gap=0.0, node_limit=300)
    certificate = certificate_of(problem, result.placement, result.proof)
    assert verify(problem, certificate).accepted
    assert certificate.upper >= 12 * 1999
