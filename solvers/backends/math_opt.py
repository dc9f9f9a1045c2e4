"""PDLP through OR-Tools' MathOpt: large LPs by a first-order method.

PDLP finds duals to a few digits, whatever the size. The bound is not its word but what its duals
prove (:mod:`prefixplace_opt.formulations.dual_bound`), so it holds however early the run ends.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.formulations.dual_bound import dual_bound
from prefixplace_opt.problem import SolverError

from .backend import Answer, Capabilities, Ending, Listener, ending_of
from .waiting import Kept, watched

if TYPE_CHECKING:
    from prefixplace_opt.formulations import LinearModel
    from prefixplace_opt.solvers.run import Run

Floats = NDArray[np.float64]

#: How each termination reason ends a run, by its name; the limits below say which limit.
ENDINGS: dict[str, Ending] = {
    "OPTIMAL": "optimal",
    "INFEASIBLE": "infeasible",
    "UNBOUNDED": "unbounded",
    "INFEASIBLE_OR_UNBOUNDED": "undecided",
    "IMPRECISE": "limit",
    "FEASIBLE": "limit",
    "NO_SOLUTION_FOUND": "limit",
    "NUMERICAL_ERROR": "failed",
    "OTHER_ERROR": "failed",
}
LIMITS: dict[str, Ending] = {
    "UNDETERMINED": "limit",
    "ITERATION": "limit",
    "TIME": "time-limit",
    "NODE": "node-limit",
    "SOLUTION": "limit",
    "MEMORY": "limit",
    "OBJECTIVE": "limit",
    "NORM": "limit",
    "INTERRUPTED": "interrupted",
    "SLOW_PROGRESS": "limit",
    "OTHER": "limit",
}

#: A first-order method gets slow below this relative gap.
SMALLEST_GAP = 1e-9

#: Multiples of the time of stating the model that are kept for what PDLP does outside its clock.
RESERVE = 4.0


class Pdlp:
    """PDLP; LPs only. The solution satisfies the rows to a tolerance of about the gap."""

    name = "PDLP"
    capabilities = Capabilities(
        integer=False,
        duals=True,
        node_limit=False,
        seed=False,
        warm_start=False,
        incumbent_callback=False,
        bound_callback=False,
    )

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
        """Maximise the LP ``model``; see :class:`.backend.Backend`.

        Raises
        ------
        SolverError
            For integer columns, unless ``relaxed``.
        """
        from ortools.util.python import solve_interrupter

        begun = time.perf_counter()
        if not relaxed and model.integral.any():
            raise SolverError("PDLP solves LPs only; ask for the relaxation, or another back end")
        interrupter = solve_interrupter.SolveInterrupter()
        heard = listener or Listener(model, run)
        result = watched(
            lambda: _solved(model, run, interrupter),
            interrupter.interrupt,
            run,
            Kept(),
        )
        answer = _answer(result, model, run, begun)
        if answer.bound < math.inf:
            heard.bound(answer.bound, 0)
        return answer


def _solved(model: LinearModel, run: Run, interrupter: Any) -> Any:
    """Return MathOpt's result for ``model``, as a protocol buffer.

    The modelling layer above them costs more than the solver does: it makes an object a column.
    """
    from ortools.math_opt import callback_pb2, model_parameters_pb2
    from ortools.math_opt.core.python import solver
    from ortools.math_opt.python import mathopt

    begun = time.perf_counter()
    proto = _proto(model)
    building = time.perf_counter() - begun
    try:
        return solver.solve(
            proto,
            mathopt.SolverType.PDLP.value,
            mathopt.StreamableSolverInitArguments().to_proto(),
            _parameters(run, building).to_proto(),
            model_parameters_pb2.ModelSolveParametersProto(),
            _written if run.options.log else None,
            callback_pb2.CallbackRegistrationProto(),
            None,
            interrupter.pybind_interrupter,
        )
    except Exception as error:  # of a type of the binding's own, which has no stable name
        raise SolverError(f"PDLP refuses the model: {error}") from None


def _proto(model: LinearModel) -> Any:
    from ortools.math_opt import model_pb2

    proto = model_pb2.ModelProto(name=model.name)
    columns, rows = range(model.columns), range(model.rows)
    proto.variables.ids.extend(columns)
    proto.variables.lower_bounds.extend(model.column_lower)
    proto.variables.upper_bounds.extend(model.column_upper)
    proto.variables.integers.extend([False] * model.columns)
    proto.linear_constraints.ids.extend(rows)
    proto.linear_constraints.lower_bounds.extend(model.row_lower)
    proto.linear_constraints.upper_bounds.extend(model.row_upper)
    proto.objective.maximize = True
    proto.objective.offset = model.constant
    worth = np.flatnonzero(model.cost)
    proto.objective.linear_coefficients.ids.extend(worth)
    proto.objective.linear_coefficients.values.extend(model.cost[worth])
    proto.linear_constraint_matrix.row_ids.extend(model.entry_row)
    proto.linear_constraint_matrix.column_ids.extend(model.entry_column)
    proto.linear_constraint_matrix.coefficients.extend(model.entry_value)
    return proto


def _parameters(run: Run, building: float) -> Any:
    """Return the parameters; ``building`` is how long it took to state the model, in seconds."""
    from ortools.math_opt.python import mathopt

    options = run.options
    parameters = mathopt.SolveParameters(threads=options.threads, enable_output=options.log)
    if math.isfinite(run.remaining):
        # Its clock starts late and nobody watches it while the duals are handed back, either of
        # which takes about as long as stating the model.
        rest = max(run.remaining / 4, run.remaining - RESERVE * building)
        parameters.time_limit = dt.timedelta(seconds=rest)
    accuracy = parameters.pdlp.termination_criteria.simple_optimality_criteria
    accuracy.eps_optimal_relative = max(options.gap / 10, SMALLEST_GAP)
    accuracy.eps_optimal_absolute = SMALLEST_GAP
    return parameters


def _written(lines: Any) -> None:
    sys.stderr.writelines(f"{line}\n" for line in lines)


def _answer(result: Any, model: LinearModel, run: Run, begun: float) -> Answer:
    from ortools.math_opt.python import mathopt

    termination = result.termination
    reason = mathopt.TerminationReason(termination.reason).name
    ending = ENDINGS[reason]
    if ending == "limit" and termination.limit:
        ending = LIMITS[mathopt.Limit(termination.limit).name]
    ending = ending_of(ending, run)
    solution = duals = None
    bound = -math.inf if ending == "infeasible" else math.inf
    if ending != "failed" and result.solutions:
        found = result.solutions[0]
        if ending == "optimal":
            solution = _dense(found.primal_solution.variable_values, model.columns)
        if found.HasField("dual_solution"):
            # Any finite numbers give a valid bound.
            duals = np.nan_to_num(
                _dense(found.dual_solution.dual_values, model.rows), nan=0.0, posinf=0.0, neginf=0.0
            )
            bound = min(bound, dual_bound(model, duals))
    words = reason.lower().replace("_", " ")
    return Answer(
        ending=ending,
        reason=f"PDLP: {words}" + (f" ({termination.detail})" if termination.detail else ""),
        solution=solution,
        bound=bound,
        row_duals=duals,
        seconds=time.perf_counter() - begun,
    )


def _dense(vector: Any, size: int) -> Floats:
    """Return a sparse vector of MathOpt as an array."""
    dense = np.zeros(size)
    dense[np.fromiter(vector.ids, dtype=np.int64)] = np.fromiter(vector.values, dtype=np.float64)
    return dense
