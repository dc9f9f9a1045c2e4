"""CP-SAT of OR-Tools: an independent second opinion, by another algorithm.

It takes whole numbers only: costs are scaled and rounded, the bound is raised by what the rounding
can be off by (:mod:`.integer_objective`), and the solution is to be evaluated by the true costs.
With one worker, the default, a run is reproducible; several workers take turns in a fixed order
(interleaved search), which keeps them reproducible for that number of workers.
"""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import SolverError

from .backend import Answer, Capabilities, Ending, Listener, ending_of
from .integer_objective import IntegerObjective, integer_objective
from .waiting import Kept, watched

if TYPE_CHECKING:
    from prefixplace_opt.formulations import LinearModel
    from prefixplace_opt.solvers.run import Run

Floats = NDArray[np.float64]

#: How each status ends a run, by the status's name.
ENDINGS: dict[str, Ending] = {
    "UNKNOWN": "limit",
    "MODEL_INVALID": "failed",
    "FEASIBLE": "limit",
    "INFEASIBLE": "infeasible",
    "OPTIMAL": "optimal",
}

#: Bounds of columns and rows beyond this are refused: CP-SAT's arithmetic is in 64-bit integers.
LARGEST = 2**52


class CpSat:
    """CP-SAT through its Python interface."""

    name = "CP-SAT"
    capabilities = Capabilities(continuous=False, node_limit=False)

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
        """Maximise ``model``; see :class:`.backend.Backend`.

        Raises
        ------
        SolverError
            For a relaxation, continuous columns, fractional coefficients or infinite bounds.
        """
        begun = time.perf_counter()
        _check(model, relaxed)
        objective = integer_objective(model.cost, model.column_lower, model.column_upper)
        problem, columns = _stated(model, objective)
        if start is not None:
            for column, value in zip(columns, start.tolist(), strict=True):
                if math.isfinite(value):
                    problem.add_hint(column, round(value))
        heard = listener or Listener(model, run)
        kept = Kept()
        solver = _solver(run)
        bounds = _Bounds(model, objective)
        solver.best_bound_callback = lambda scaled: kept.call(
            lambda: heard.bound(bounds.told(scaled), 0)
        )
        watch = _watch(kept, heard, columns)
        status = watched(lambda: solver.solve(problem, watch), solver.stop_search, run, kept)
        return _answer(solver, bounds, columns, run, status.name, begun)


def _check(model: LinearModel, relaxed: bool) -> None:
    remedy = "; choose another back end, HiGHS say"
    if relaxed or not model.integral.all():
        raise SolverError(f"CP-SAT takes integer columns only{remedy}")
    if not np.array_equal(model.entry_value, np.rint(model.entry_value)):
        raise SolverError(f"CP-SAT takes whole coefficients only{remedy}")
    bounds = (model.column_lower, model.column_upper)
    if any((np.abs(bound) > LARGEST).any() for bound in bounds):
        raise SolverError(f"CP-SAT takes columns with finite bounds only{remedy}")


def _stated(model: LinearModel, objective: IntegerObjective) -> tuple[Any, list[Any]]:
    from ortools.sat.python import cp_model

    problem = cp_model.CpModel()
    lower = np.ceil(model.column_lower).astype(np.int64).tolist()
    upper = np.floor(model.column_upper).astype(np.int64).tolist()
    columns = [
        problem.new_int_var(least, most, "") for least, most in zip(lower, upper, strict=True)
    ]
    start = model.row_start.tolist()
    entry_column = model.entry_column.tolist()
    entry_value = model.entry_value.astype(np.int64).tolist()
    for row, (least, most) in enumerate(
        zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    ):
        own = slice(start[row], start[row + 1])
        problem.add_linear_constraint(
            cp_model.LinearExpr.weighted_sum(
                [columns[j] for j in entry_column[own]], entry_value[own]
            ),
            math.ceil(least) if least > -LARGEST else cp_model.INT_MIN,
            math.floor(most) if most < LARGEST else cp_model.INT_MAX,
        )
    problem.maximize(cp_model.LinearExpr.weighted_sum(columns, objective.cost.tolist()))
    return problem, columns


def _solver(run: Run) -> Any:
    from ortools.sat.python import cp_model

    options = run.options
    solver = cp_model.CpSolver()
    chosen = solver.parameters
    chosen.num_workers = options.threads
    chosen.interleave_search = options.threads > 1
    chosen.random_seed = options.seed % 2**31
    chosen.relative_gap_limit = options.gap
    chosen.absolute_gap_limit = 0.0
    # Ctrl-C is the run's: CP-SAT would end, and nobody would know why.
    chosen.catch_sigint_signal = False
    if math.isfinite(run.remaining):
        chosen.max_time_in_seconds = run.remaining
    if options.log:
        chosen.log_search_progress = True
        chosen.log_to_stdout = False
        solver.log_callback = _written
    return solver


def _written(line: str) -> None:
    sys.stderr.write(f"{line}\n")


class _Bounds:
    """Bounds on the true objective, from those that CP-SAT tells of on the scaled one."""

    def __init__(self, model: LinearModel, objective: IntegerObjective) -> None:
        self._constant = model.constant
        self._objective = objective
        self.error = objective.error
        self.best = math.inf

    def told(self, scaled: float) -> float:
        """Take a bound in; return the best so far."""
        # Before it knows anything CP-SAT states the ends of its number range.
        if abs(scaled) < 2.0**60:
            self.best = min(self.best, self._objective.bound(scaled) + self._constant)
        return self.best


def _watch(kept: Kept, listener: Listener, columns: list[Any]) -> Any:
    from ortools.sat.python import cp_model

    class Watch(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            kept.call(
                lambda: listener.incumbent(np.array([self.value(v) for v in columns], dtype=float))
            )

    return Watch()


def _answer(
    solver: Any, bounds: _Bounds, columns: list[Any], run: Run, status: str, begun: float
) -> Answer:
    ending = ending_of(ENDINGS[status], run)
    if ending == "limit" and run.options.time_limit is not None:
        # It was given no other limit, and its clock may be a moment ahead of ours.
        ending = "time-limit"
    solution = None
    bound = bounds.best
    if status in ("OPTIMAL", "FEASIBLE"):
        solution = np.array([solver.value(column) for column in columns], dtype=np.float64)
        # Not so with UNKNOWN: the field may be 0 because nobody set it.
        bound = bounds.told(solver.best_objective_bound)
    elif status == "INFEASIBLE":
        bound = -math.inf
    reason = f"CP-SAT: {status.lower().replace('_', ' ')}"
    if bounds.error:
        reason += f"; bound raised by {bounds.error:.3g} to repay the rounding of the costs"
    return Answer(
        ending=ending,
        reason=reason,
        solution=solution,
        bound=bound,
        seconds=time.perf_counter() - begun,
        objective_error=bounds.error,
    )
