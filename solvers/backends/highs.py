"""HiGHS, handed arrays: the default for LPs and MILPs.

HiGHS reports trouble by return values, not exceptions, so every one is checked; an exception
inside a callback would be lost, so it is kept and raised after the run. Its default "optimal" is a
gap of 1e-4: ours is the asked one.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.formulations.dual_bound import dual_bound
from prefixplace_opt.problem import SolverError

from .backend import STOPPED, Answer, Capabilities, Ending, Listener, ending_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prefixplace_opt.formulations import LinearModel
    from prefixplace_opt.solvers.run import Run

Floats = NDArray[np.float64]

#: How each model status ends a run, by the status's name.
ENDINGS: dict[str, Ending] = {
    "kNotset": "failed",
    "kLoadError": "failed",
    "kModelError": "failed",
    "kPresolveError": "failed",
    "kSolveError": "failed",
    "kPostsolveError": "failed",
    "kModelEmpty": "optimal",
    "kOptimal": "optimal",
    "kInfeasible": "infeasible",
    "kUnboundedOrInfeasible": "undecided",
    "kUnbounded": "unbounded",
    "kObjectiveBound": "limit",
    "kObjectiveTarget": "limit",
    "kTimeLimit": "time-limit",
    "kIterationLimit": "limit",
    "kUnknown": "failed",
    # What HiGHS says at its limit of nodes; we set no other limit of that kind.
    "kSolutionLimit": "node-limit",
    "kInterrupt": "interrupted",
    "kMemoryLimit": "limit",
    "kHighsInterrupt": "interrupted",
}

#: HiGHS' infinity is 1e200 in some places and inf in others.
HUGE = 1e100

#: The scheduler of HiGHS is one a process.
_ONE_AT_A_TIME = threading.Lock()


class Highs:
    """HiGHS through its own Python binding.

    Parameters
    ----------
    lp_solver
        How it solves an LP, and the root of a MIP: ``simplex``, ``ipx``, ...; by default what the
        model hints at.
    """

    def __init__(self, lp_solver: str = "") -> None:
        self._lp_solver = lp_solver

    name = "HiGHS"
    capabilities = Capabilities(duals=True)

    def require(self) -> None:
        """Return: it comes with this package."""

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
        with _scheduler():
            begun = time.perf_counter()
            solver = quiet_highs()
            _set_options(solver, run)
            integral = model.integral & (not relaxed)
            mip = bool(integral.any())
            lp_solver = self._lp_solver or ("ipx" if model.interior_point else "choose")
            option = "mip_lp_solver" if mip else "solver"
            _require(
                solver.setOptionValue(option, lp_solver), f"HiGHS refuses {option} = {lp_solver}"
            )
            _pass(solver, model, integral)
            if start is not None and mip:
                _offer_start(solver, start)
            watch = _Watch(run, listener or Listener(model, run), mip)
            watch.attach(solver)
            status = solver.run()
            watch.raise_kept()
            return _answer(solver, model, run, status, mip, begun)


@contextmanager
def _scheduler() -> Iterator[None]:
    """Have HiGHS' scheduler alone, without a thread count before and after.

    It keeps the count of the process's first run, and refuses to run with another.
    """
    import highspy

    with _ONE_AT_A_TIME:
        highspy.Highs.resetGlobalScheduler(True)
        try:
            yield
        finally:
            highspy.Highs.resetGlobalScheduler(True)


def quiet_highs() -> Any:
    """Return a new solver object that writes nothing to standard output, not even a banner."""
    import highspy

    class Quiet(highspy.Highs):
        def __init__(self) -> None:
            inherited: Any = super()
            inherited.__init__()

        def enableCallbacks(self) -> Any:  # noqa: N802
            # The constructor calls this before any option can be set, and it prints the banner.
            self.setOptionValue("output_flag", False)
            inherited: Any = super()
            return inherited.enableCallbacks()

    return Quiet()


def _set_options(solver: Any, run: Run) -> None:
    options = run.options
    chosen = {
        "output_flag": options.log,
        "log_to_console": False,
        "threads": options.threads,
        "random_seed": options.seed % 2**31,
        "mip_rel_gap": options.gap,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,
    }
    if math.isfinite(run.remaining):
        chosen["time_limit"] = run.remaining
    if options.node_limit is not None:
        chosen["mip_max_nodes"] = min(options.node_limit, 2**31 - 1)
    for name, value in chosen.items():
        _require(solver.setOptionValue(name, value), f"HiGHS refuses {name} = {value}")


def _pass(solver: Any, model: LinearModel, integral: NDArray[np.bool_]) -> None:
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.columns, model.rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.offset_ = model.constant
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = model.cost, model.column_lower, model.column_upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = model.columns, model.rows
    lp.a_matrix_.start_ = model.row_start
    lp.a_matrix_.index_ = model.entry_column
    lp.a_matrix_.value_ = model.entry_value
    if integral.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[flag] for flag in integral.tolist()]
    _require(solver.passModel(lp), "HiGHS refuses the model")


def _offer_start(solver: Any, start: Floats) -> None:
    known = np.flatnonzero(np.isfinite(start)).astype(np.int32)
    # An infeasible start is no error: HiGHS tries to complete it and goes on without it.
    _require(solver.setSolution(known.size, known, start[known]), "HiGHS refuses the start")


def stop_with(solver: Any, run: Run) -> None:
    """Let ``solver``, kept over many solves, end as interrupted once ``run`` has to stop."""
    from highspy import cb

    kinds = cb.HighsCallbackType
    asking = (
        kinds.kCallbackSimplexInterrupt,
        kinds.kCallbackIpmInterrupt,
        kinds.kCallbackMipInterrupt,
    )

    def called(_kind: Any, _message: str, _data_out: Any, data_in: Any, _user: Any) -> None:
        if data_in is not None and run.stopped() is not None:
            data_in.user_interrupt = True

    _require(solver.setCallback(called, None), "HiGHS refuses callbacks")
    for kind in asking:
        _require(solver.startCallback(kind), f"HiGHS refuses the callback {kind}")


class _Watch:
    """Passes incumbents and bounds on, and the wish to stop back, while HiGHS runs."""

    def __init__(self, run: Run, listener: Listener, mip: bool) -> None:
        self._run = run
        self._listener = listener
        self._mip = mip
        self._kept: BaseException | None = None

    def attach(self, solver: Any) -> None:
        """Ask HiGHS for the calls that this run needs."""
        from highspy import cb

        kinds = cb.HighsCallbackType
        self._log = kinds.kCallbackLogging
        # Bounds come with every call of these; log lines alone are seconds apart.
        self._bounds = (kinds.kCallbackMipLogging, kinds.kCallbackMipInterrupt)
        self._told = math.inf
        self._incumbent = kinds.kCallbackMipImprovingSolution
        # HiGHS takes an answer only in the calls that ask for one.
        self._asking = [kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt]
        wanted = list(self._asking)
        if self._mip:
            self._asking.append(kinds.kCallbackMipInterrupt)
            wanted += [*self._bounds, self._incumbent]
        if self._run.options.log:
            wanted.append(self._log)
        _require(solver.setCallback(self._called, None), "HiGHS refuses callbacks")
        for kind in wanted:
            _require(solver.startCallback(kind), f"HiGHS refuses the callback {kind}")

    def _called(self, kind: Any, message: str, data_out: Any, data_in: Any, _user: Any) -> None:
        try:
            if kind == self._log:
                sys.stderr.write(message)
            elif kind == self._incumbent:
                self._listener.incumbent(np.array(data_out.mip_solution, dtype=np.float64))
            elif kind in self._bounds:
                upper = float(data_out.mip_dual_bound)
                if abs(upper) < HUGE and upper < self._told:
                    self._told = upper
                    self._listener.bound(upper, max(0, int(data_out.mip_node_count)))
            stop = self._kept is not None or self._run.stopped() is not None
        except BaseException as error:
            self._kept = self._kept or error
            stop = True
        if stop and kind in self._asking and data_in is not None:
            data_in.user_interrupt = True

    def raise_kept(self) -> None:
        """Raise what a callback raised."""
        if self._kept is not None:
            raise self._kept


def _answer(
    solver: Any, model: LinearModel, run: Run, status: Any, mip: bool, begun: float
) -> Answer:
    import highspy

    model_status = solver.getModelStatus()
    ending = ENDINGS[model_status.name]
    reason = solver.modelStatusToString(model_status).lower()
    if status == highspy.HighsStatus.kError:
        ending = "failed"
    elif ending_of(ending, run) != ending:
        ending, reason = "time-limit", STOPPED
    info = solver.getInfo()
    found = solver.getSolution()
    solution = duals = None
    # At a limit the values may be zeros that nobody found, or a point outside the rows.
    feasible = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    if ending != "failed" and found.value_valid and feasible:
        solution = np.array(found.col_value, dtype=np.float64)
    bound = math.inf
    if ending == "infeasible":
        bound = -math.inf
    elif model_status == highspy.HighsModelStatus.kModelEmpty:
        # No columns and no rows: HiGHS does not so much as state the constant.
        solution, bound = np.zeros(model.columns), model.constant
    elif mip:
        bound = float(info.mip_dual_bound)
        bound = bound if abs(bound) < HUGE else math.inf
    elif ending == "optimal":
        # Duals of a MIP mean nothing, and those of an LP that was stopped bound it badly or not.
        bound = float(info.objective_function_value)
        if found.dual_valid:
            duals = np.array(found.row_dual, dtype=np.float64)
            proven = dual_bound(model, duals)
            bound = proven if math.isfinite(proven) else bound
    return Answer(
        ending=ending,
        reason=f"HiGHS: {reason}",
        solution=solution,
        bound=bound,
        row_duals=duals,
        nodes=max(0, int(info.mip_node_count)),
        seconds=time.perf_counter() - begun,
    )


def _require(status: Any, message: str) -> None:
    import highspy

    if status == highspy.HighsStatus.kError:
        raise SolverError(message)
