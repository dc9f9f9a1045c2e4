"""Exact methods by foreign solvers: optima, bounds, endings, errors."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ  # noqa: F401  (keeps the standard output of its import, so not one test's)
import pytest
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.problem import Demand, InputError, SolverError
from prefixplace_opt.solvers import milp
from prefixplace_opt.solvers.backends.backend import Answer
from prefixplace_opt.solvers.backends.highs import Highs
from prefixplace_opt.solvers.methods import METHODS, method_named
from prefixplace_opt.solvers.run import Options, Progress, Run
from tests import brute_force
from tests.strategies import problems

if TYPE_CHECKING:
    from pathlib import Path

needs_scip = pytest.mark.skipif(
    importlib.util.find_spec("pyscipopt") is None, reason="pyscipopt (extra scip) is absent"
)
EXACT = ["compact", "flow", "cp-sat", pytest.param("scip", marks=needs_scip)]
#: CP-SAT with one worker proves these no sooner than in minutes.
HARD_FOR_CP_SAT = 0.6


@pytest.mark.parametrize("method", EXACT)
def test_handed_cases(method: str, case_path: Path, expected: dict[str, dict[str, Any]]) -> None:
    problem = pp.read_problem(case_path)
    optimum = float(expected[problem.name]["optimum"])
    plan = pp.solve(problem, method="plan")
    limit = HARD_FOR_CP_SAT if method == "cp-sat" else None
    result = pp.solve(problem, method=method, gap=0.0, time_limit=limit)
    assert result.lower <= optimum <= result.upper
    assert result.lower == pp.Placement.of(problem, result.placement.resident).value
    if method != "cp-sat" or result.status != "time-limit":
        assert result.status == "gap"
        assert "alone; `certify` can prove it" in result.reason
        assert result.lower == optimum
        assert result.upper == pytest.approx(optimum, rel=1e-9)
    assert result.lower >= plan.lower


@pytest.mark.parametrize("method", EXACT)
@given(problem=problems(chunks=6, workers=2, integral=False))
@settings(max_examples=20)
def test_matches_enumeration(method: str, problem: pp.Problem) -> None:
    best = float(brute_force.optimum(problem)[0])
    result = pp.solve(problem, method=method, gap=0.0)
    assert result.lower == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert result.upper >= best * (1 - 1e-12)
    assert result.status == "gap"


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("scale", [2.0**-70, 2.0**-20, 2.0**40])
def test_any_scale_of_costs(method: str, scale: float, shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "small-forest.json")
    demand = problem.demand
    scaled = replace(
        problem,
        demand=Demand(
            demand.worker, demand.chunk, demand.value * scale, shape=(problem.m, problem.n)
        ),
    )
    result = pp.solve(scaled, method=method, gap=0.0)
    assert (result.status, result.lower) == ("gap", 84244.0 * scale)
    assert result.upper == pytest.approx(84244.0 * scale, rel=1e-9)


@pytest.mark.parametrize("method", ["pyomo:appsi_highs", "pyomo:highs"])
def test_through_pyomo(method: str, shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "small-rag-pair.json")
    result = pp.solve(problem, method=method, gap=0.0)
    assert (result.status, result.lower, result.method) == ("gap", 101051.0, method)


def test_pdlp_bounds_without_being_exact(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "caterpillar.json")
    result = pp.solve(problem, method="pdlp", gap=1e-4)
    assert result.lower <= 615190 <= result.upper <= 615219 * (1 + 1e-5)
    assert result.proof is not None


@pytest.mark.parametrize("method", EXACT)
def test_time_limit_keeps_plan_and_bound(method: str, shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "rag" / "rag-d20-m4-b10-g3.0-pair-s1.json")
    plan = pp.solve(problem, method="plan")
    told: list[Progress] = []
    result = pp.solve(problem, method=method, gap=0.0, time_limit=0.8, progress=told.append)
    assert result.status == "time-limit"
    assert plan.lower <= result.lower <= result.upper <= plan.upper
    assert [event.lower for event in told] == sorted(event.lower for event in told)
    assert told[-1].lower == result.lower


def test_time_is_up_in_the_planner(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "sparse-demand.json")
    result = pp.solve(problem, method="compact", time_limit=1e-6)
    assert (result.status, result.method) == ("time-limit", "compact")
    assert 0 < result.lower <= 469614 <= result.upper


def test_node_limit(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "rag" / "rag-d20-m4-b5-g1.5-requ-s1.json")
    result = pp.solve(problem, method="compact", gap=0.0, node_limit=0, time_limit=30.0)
    assert result.status == "node-limit"
    assert result.lower < result.upper


@pytest.mark.parametrize("method", ["compact", "cp-sat", pytest.param("scip", marks=needs_scip)])
def test_interrupted_by_another_thread(method: str, shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "rag" / "rag-d20-m4-b10-g3.0-pair-s1.json")
    plan = pp.solve(problem, method="plan")
    run = Run(Options(gap=0.0))
    timer = threading.Timer(0.6, run.interrupt)
    timer.start()
    result = method_named(method)(problem, run)
    timer.cancel()
    assert result.status == "interrupted"
    assert plan.lower <= result.lower <= result.upper <= plan.upper


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals are absent")
@pytest.mark.parametrize("method", ["compact", "cp-sat"])
def test_ctrl_c_while_the_solver_runs(method: str, shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "rag" / "rag-d20-m4-b10-g3.0-pair-s1.json")
    pp.solve(problem, method="plan")
    timer = threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = pp.solve(problem, method=method, gap=0.0, time_limit=60.0)
    timer.cancel()
    assert result.status == "interrupted"


@pytest.mark.parametrize("method", ["compact", "cp-sat", pytest.param("scip", marks=needs_scip)])
def test_exception_of_progress_comes_through(method: str, shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "sparse-demand.json")

    def fail(event: Progress) -> None:
        if event.phase == "branching":
            raise ZeroDivisionError("of the caller")

    with pytest.raises(ZeroDivisionError, match="of the caller"):
        pp.solve(problem, method=method, gap=0.0, progress=fail)


def test_a_bound_below_a_plan_is_not_believed(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = pp.read_problem(shared / "cases" / "small-rag.json")
    monkeypatch.setattr(Highs, "solve", lambda *_, **__: Answer("optimal", "HiGHS", bound=70000.0))
    with pytest.raises(SolverError, match=r"no plan is worth more than 70000.0, it says, but"):
        pp.solve(problem, method="compact")


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("infeasible", "every instance has a plan"),
        ("unbounded", "no plan is worth infinitely much"),
        ("undecided", "the solver is at fault"),
        ("failed", "try another method, such as auto"),
    ],
)
def test_what_cannot_be_is_an_error(
    ending: Any, message: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = pp.read_problem(shared / "cases" / "small-rag.json")
    monkeypatch.setattr(Highs, "solve", lambda *_, **__: Answer(ending, "HiGHS: so it says"))
    with pytest.raises(SolverError, match=f"HiGHS: so it says.*{message}"):
        pp.solve(problem, method="compact")


def test_solutions_are_rounded_repaired_and_evaluated_anew(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = pp.read_problem(shared / "cases" / "small-rag-pair.json")
    solve = Highs.solve

    def noisy(self: Highs, model: Any, run: Run, **options: Any) -> Answer:
        answer = solve(self, model, run, start=options["start"])
        assert answer.solution is not None
        rng = np.random.default_rng(0)
        off = answer.solution + rng.uniform(-1e-5, 1e-5, answer.solution.size)
        # One chunk too many, and one without its parent.
        leaf = int(problem.tree.order[-1])
        off[leaf] = 1.0
        return replace(answer, solution=off)

    monkeypatch.setattr(Highs, "solve", noisy)
    monkeypatch.setattr(milp.planner, "plan", lambda p, _: pp.solve(p, method="popularity"))
    result = pp.solve(problem, method="compact", gap=0.0)
    assert result.lower == pp.Placement.of(problem, result.placement.resident).value
    assert result.lower <= 101051 <= result.upper


def test_same_seed_same_bytes(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases" / "caterpillar.json")
    for method in ("compact", "flow", "cp-sat"):
        first, second = (pp.solve(problem, method=method, seed=3) for _ in range(2))
        assert first.placement == second.placement
        assert (first.upper, first.status, first.reason) == (
            second.upper,
            second.status,
            second.reason,
        )


def test_methods_are_listed_and_pyomo_s_are_open() -> None:
    assert {"compact", "flow", "cp-sat", "scip", "pdlp"} <= set(METHODS)
    assert method_named("pyomo:cbc").arguments == ("compact", "pyomo:cbc")
    for name in ("pyomo:", "pyomo", "cbc"):
        with pytest.raises(InputError, match=r"or pyomo:SOLVER, got"):
            method_named(name)


def test_command_line(shared: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from prefixplace_opt.cli import app

    def run(*arguments: object) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return done.exit_code, done.stdout, done.stderr

    case = shared / "cases" / "small-rag.json"
    start = tmp_path / "start.json"
    assert run("solve", case, "-m", "popularity", "-o", start)[0] == 0
    for method in ("compact", "flow", "cp-sat"):
        code, out, _ = run(
            *("solve", case, "-m", method, "--gap", 0, "--time-limit", 60, "--threads", 1),
            *("--warm-start", start, "--log", "--json"),
        )
        document = json.loads(out)
        assert (code, document["status"], document["lower"]) == (0, "gap", 70606.0)
    hard = shared / "cases" / "rag" / "rag-d20-m4-b10-g3.0-pair-s1.json"
    code, out, err = run("solve", hard, "-m", "cp-sat", "--gap", 0, "--time-limit", 1, "--json")
    assert (code, json.loads(out)["status"]) == (1, "time-limit")
    assert "gap target missed" in err
    code, out, err = run("solve", case, "-m", "pyomo:no_such_solver", "--json")
    assert (code, out) == (2, "")
    assert err.startswith("error: no_such_solver through Pyomo is not available")
