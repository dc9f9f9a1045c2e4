"""What every back end must do, held by each of them in turn, in process and contained."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ  # noqa: F401  (keeps the standard output of its import, so not one test's)
import pytest

from prefixplace_opt.problem import InputError, SolverError
from prefixplace_opt.solvers.backends.contained import Contained
from prefixplace_opt.solvers.backends.registry import backend_named
from tests.solvers.backends import models

if TYPE_CHECKING:
    from pathlib import Path

    from prefixplace_opt.solvers.backends.backend import Backend

needs_scip = pytest.mark.skipif(
    importlib.util.find_spec("pyscipopt") is None, reason="pyscipopt (extra scip) is absent"
)
MIP = ["highs", "cp-sat", pytest.param("scip", marks=needs_scip)]
#: The same HiGHS behind a process, and behind Pyomo.
INDIRECT = ["contained highs", "pyomo:appsi_highs"]


def solver(name: str) -> Backend:
    inner = name.removeprefix("contained ")
    return backend_named(name) if inner == name else Contained(inner)


@pytest.mark.parametrize("name", [*MIP, *INDIRECT])
def test_optimum_of_a_knapsack_with_a_constant(name: str, capfd: pytest.CaptureFixture) -> None:
    model = replace(models.knapsack(), constant=0.5)
    answer = solver(name).solve(model, models.run())
    assert answer.ending == "optimal"
    assert answer.solution is not None
    assert answer.solution.round().tolist() == [0.0, 1.0, 1.0, 0.0]
    assert answer.bound == pytest.approx(19.5, rel=1e-9)
    assert answer.seconds > 0
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name", [*MIP, *INDIRECT])
def test_infeasible(name: str) -> None:
    answer = solver(name).solve(models.infeasible(), models.run())
    assert answer.ending == "infeasible"
    assert answer.solution is None
    assert answer.bound == -math.inf


@pytest.mark.parametrize("name", ["highs", pytest.param("scip", marks=needs_scip), *INDIRECT])
def test_unbounded(name: str) -> None:
    answer = solver(name).solve(models.unbounded(), models.run())
    assert answer.ending in ("unbounded", "undecided")
    assert answer.bound == math.inf


@pytest.mark.parametrize("name", [*MIP, *INDIRECT])
def test_limit_without_incumbent_has_no_solution(name: str) -> None:
    model, point = models.market_split()
    limit = 2.0 if name == "contained highs" else 0.3
    answer = solver(name).solve(model, models.run(time_limit=limit))
    assert answer.ending == "time-limit"
    assert answer.solution is None
    assert answer.bound >= model.value(point)


@pytest.mark.parametrize("name", MIP)
def test_time_is_up_before_the_start(name: str) -> None:
    model, point = models.market_split()
    answer = solver(name).solve(model, models.run(time_limit=1e-9))
    assert answer.ending == "time-limit"
    assert answer.solution is None
    assert answer.bound >= model.value(point)


@pytest.mark.parametrize("name", MIP)
def test_limit_with_incumbent(name: str, shared: Path) -> None:
    model = models.handed(shared)
    heard = models.Watcher()
    answer = solver(name).solve(model, models.run(time_limit=0.25), listener=heard)
    assert answer.ending == "time-limit"
    assert answer.solution is not None
    assert model.violation(answer.solution) < 1e-6
    assert model.value(answer.solution) <= 469614 <= answer.bound
    assert model.value(heard.incumbents[-1]) == pytest.approx(model.value(answer.solution))


@pytest.mark.parametrize("name", ["highs", pytest.param("scip", marks=needs_scip)])
def test_node_limit(name: str) -> None:
    answer = solver(name).solve(models.market_split()[0], models.run(node_limit=1))
    assert answer.ending == "node-limit"


@pytest.mark.parametrize("name", [*MIP, "contained highs"])
def test_interrupted_at_the_first_incumbent(name: str, shared: Path) -> None:
    run = models.run()
    heard = models.Watcher(run.interrupt)
    answer = solver(name).solve(models.handed(shared), run, listener=heard)
    assert answer.ending == "interrupted"
    assert heard.incumbents
    assert answer.bound >= 469614


@pytest.mark.parametrize("name", [*MIP, "contained highs"])
def test_an_exception_of_the_listener_comes_through(name: str, shared: Path) -> None:
    def fail() -> None:
        raise ZeroDivisionError("of the listener")

    with pytest.raises(ZeroDivisionError, match="of the listener"):
        solver(name).solve(models.handed(shared), models.run(), listener=models.Watcher(fail))


@pytest.mark.parametrize("name", [*MIP, "contained highs"])
def test_start_is_taken(name: str) -> None:
    model, point = models.market_split()
    limit = 2.0 if name == "contained highs" else 0.3
    answer = solver(name).solve(model, models.run(time_limit=limit), start=point)
    # Without the start no solver gets there: test_limit_without_incumbent_has_no_solution.
    assert answer.solution is not None
    assert model.value(answer.solution) >= model.value(point)


@pytest.mark.parametrize("name", [*MIP, "pyomo:appsi_highs"])
@pytest.mark.parametrize("start", [[1.0, 1.0, 1.0, 1.0], [np.nan, 1.0, np.nan, np.nan]])
def test_infeasible_or_partial_start_is_no_error(name: str, start: list[float]) -> None:
    answer = solver(name).solve(models.knapsack(), models.run(), start=np.array(start))
    assert answer.ending == "optimal"
    assert answer.bound == pytest.approx(19.0)


@pytest.mark.parametrize("name", MIP)
def test_same_seed_same_answer(name: str, shared: Path) -> None:
    model = models.handed(shared, "small-forest")
    first, second = (solver(name).solve(model, models.run(seed=7)) for _ in range(2))
    assert first.solution is not None
    assert second.solution is not None
    assert first.solution.tobytes() == second.solution.tobytes()
    assert (first.bound, first.nodes, first.reason) == (second.bound, second.nodes, second.reason)


@pytest.mark.parametrize("name", [*MIP, "pdlp", "contained highs"])
def test_log_goes_to_standard_error(
    name: str, shared: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = models.handed(shared, "small-forest")
    solver(name).solve(model, models.run(gap=1e-4, log=True), relaxed=name == "pdlp")
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err) > 100
    solver(name).solve(model, models.run(gap=1e-4), relaxed=name == "pdlp")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", [*MIP, "pyomo:appsi_highs"])
def test_empty_model(name: str) -> None:
    model = replace(models.model(np.zeros(0), np.zeros((0, 0))), constant=3.0)
    answer = solver(name).solve(model, models.run())
    assert answer.ending == "optimal"
    assert answer.bound == 3.0


def test_two_thread_counts_in_one_process(shared: Path) -> None:
    model = models.handed(shared, "small-forest")
    for threads in (1, 2, 1):
        answer = backend_named("highs").solve(model, models.run(threads=threads))
        assert answer.ending == "optimal"


@pytest.mark.parametrize("name", ["highs", "cp-sat"])
def test_threads_do_not_change_the_optimum(name: str, shared: Path) -> None:
    model = models.handed(shared, "small-forest")
    answers = [backend_named(name).solve(model, models.run(threads=2)) for _ in range(2)]
    assert [answer.bound for answer in answers] == [84244.0, 84244.0]


def test_unknown_back_end() -> None:
    for name in ("magic", "pyomo:", ""):
        with pytest.raises(InputError, match=r"expected one of highs, .* or pyomo:NAME"):
            backend_named(name)


def test_missing_scip_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyscipopt", None)
    with pytest.raises(SolverError, match=r"SCIP is not installed .*prefixplace-opt\[scip\]"):
        backend_named("scip").require()


@pytest.mark.parametrize("name", ["no_such_solver", "../bin", "gurobi_persistent"])
def test_missing_solver_of_pyomo_has_a_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gurobipy", None)
    backend = backend_named(f"pyomo:{name}")
    assert not backend.capabilities.interrupt
    with pytest.raises(SolverError, match=r"through Pyomo is not available.*pyomo help --solvers"):
        backend.require()
