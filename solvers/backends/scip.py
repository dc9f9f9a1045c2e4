"""SCIP through pyscipopt, where the extra ``scip`` is installed."""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.formulations.model_file import write_model
from prefixplace_opt.problem import SolverError

from .backend import Answer, Capabilities, Ending, Listener, ending_of
from .waiting import Kept, watched

if TYPE_CHECKING:
    from types import ModuleType

    from prefixplace_opt.formulations import LinearModel
    from prefixplace_opt.solvers.run import Run

Floats = NDArray[np.float64]

#: How each status ends a run, by its name in pyscipopt without underscores, in capitals.
ENDINGS: dict[str, Ending] = {
    "UNKNOWN": "failed",
    "USERINTERRUPT": "interrupted",
    "NODELIMIT": "node-limit",
    "TOTALNODELIMIT": "node-limit",
    "STALLNODELIMIT": "limit",
    "TIMELIMIT": "time-limit",
    "MEMLIMIT": "limit",
    # The gap that was asked for, and so an optimum within it.
    "GAPLIMIT": "optimal",
    "PRIMALLIMIT": "limit",
    "DUALLIMIT": "limit",
    "SOLLIMIT": "limit",
    "BESTSOLLIMIT": "limit",
    "RESTARTLIMIT": "limit",
    "OPTIMAL": "optimal",
    "INFEASIBLE": "infeasible",
    "UNBOUNDED": "unbounded",
    "INFORUNBD": "undecided",
}


class Scip:
    """SCIP; reads the model as an MPS file, which is faster than row by row."""

    name = "SCIP"
    capabilities = Capabilities(threads=False)

    def require(self) -> None:
        """Raise SolverError where the extra is not installed."""
        _library()

    def solve(
        self,
        model: LinearModel,
        run: Run,
        *,
        relaxed: bool = False,
        start: Floats | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """Maximise ``model``; see :class:`.backend.Backend`."""
        begun = time.perf_counter()
        pyscipopt = _library()
        heard = listener or Listener(model, run)
        kept = Kept()
        solver = pyscipopt.Model()
        solver.hideOutput()
        columns = _read(solver, model, relaxed)
        _set_options(solver, run)
        if start is not None and columns:
            _offer_start(solver, columns, start)
        watch = _watch(pyscipopt, kept, heard, columns)
        solver.includeEventhdlr(watch, "watch", "passes incumbents and bounds on")
        watched(solver.optimizeNogil, solver.interruptSolve, run, kept)
        return _answer(solver, columns, run, begun)


def _library() -> ModuleType:
    try:
        import pyscipopt
    except ImportError as error:
        raise SolverError(
            f"SCIP is not installed ({error}); install it with: pip install 'prefixplace-opt[scip]'"
        ) from None
    library: ModuleType = pyscipopt
    return library


def _read(solver: Any, model: LinearModel, relaxed: bool) -> list[Any]:
    """Hand the model over; return SCIP's variables in the model's order."""
    with tempfile.TemporaryDirectory(prefix="prefixplace-") as folder:
        path = Path(folder) / "model.mps"
        write_model(model, path)
        solver.readProblem(str(path))
    by_name = {variable.name: variable for variable in solver.getVars()}
    columns = [by_name[name] for name in model.column_names()]
    if relaxed:
        for variable in columns:
            solver.chgVarType(variable, "C")
    return columns


def _set_options(solver: Any, run: Run) -> None:
    options = run.options
    chosen: dict[str, Any] = {
        "limits/gap": options.gap,
        "limits/absgap": 0.0,
        "randomization/randomseedshift": options.seed % 2**31,
        "numerics/feastol": 1e-9,
        # Ctrl-C is the run's.
        "misc/catchctrlc": False,
    }
    if math.isfinite(run.remaining):
        chosen["limits/time"] = run.remaining
    if options.node_limit is not None:
        chosen["limits/totalnodes"] = options.node_limit
    for name, value in chosen.items():
        try:
            solver.setParam(name, value)
        except (KeyError, ValueError) as error:
            raise SolverError(f"SCIP refuses {name} = {value}: {error}") from None
    if options.log:
        solver.hideOutput(False)
        # Standard output belongs to our own answer.
        solver.setLogfile("/dev/stderr")
        solver.hideOutput()


def _offer_start(solver: Any, columns: list[Any], start: Floats) -> None:
    whole = bool(np.isfinite(start).all())
    offered = solver.createSol() if whole else solver.createPartialSol()
    for variable, value in zip(columns, start.tolist(), strict=True):
        if math.isfinite(value):
            solver.setSolVal(offered, variable, value)
    # Whether it is any good shows when SCIP starts: an infeasible one is dropped.
    solver.addSol(offered)


def _watch(pyscipopt: ModuleType, kept: Kept, listener: Listener, columns: list[Any]) -> Any:
    events = pyscipopt.SCIP_EVENTTYPE
    kinds = (events.BESTSOLFOUND, events.NODESOLVED, events.LPSOLVED)

    class Watch(pyscipopt.Eventhdlr):  # type: ignore[name-defined,misc]
        def eventinit(self) -> None:
            for kind in kinds:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            for kind in kinds:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            kept.call(self._told, event.getType() == events.BESTSOLFOUND)

        def _told(self, better: bool) -> None:
            if better:
                best = self.model.getBestSol()
                listener.incumbent(
                    np.array([self.model.getSolVal(best, column) for column in columns])
                )
            listener.bound(_finite(self.model.getDualbound()), self.model.getNTotalNodes())

    return Watch()


def _finite(bound: float) -> float:
    # SCIP's infinity is 1e20.
    return bound if abs(bound) < 1e20 else math.inf


def _answer(solver: Any, columns: list[Any], run: Run, begun: float) -> Answer:
    status = solver.getStatus()
    ending = ending_of(ENDINGS[status.upper()], run)
    solution = None
    if solver.getNSols() > 0 and ENDINGS[status.upper()] not in ("infeasible", "failed"):
        best = solver.getBestSol()
        solution = np.array([solver.getSolVal(best, column) for column in columns], dtype=float)
    bound = -math.inf if ending == "infeasible" else math.inf
    if ending in ("optimal", "time-limit", "node-limit", "limit", "interrupted"):
        bound = _finite(solver.getDualbound())
    return Answer(
        ending=ending,
        reason=f"SCIP: {status}",
        solution=solution,
        bound=bound,
        nodes=int(solver.getNTotalNodes()),
        seconds=time.perf_counter() - begun,
    )
