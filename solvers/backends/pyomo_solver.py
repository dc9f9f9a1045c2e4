"""Any solver that Pyomo reaches: Gurobi, CPLEX, CBC, GLPK, SCIP, ..., where it is installed.

Pyomo starts programs and loads libraries that nobody can interrupt from outside, so this back end
always runs in a process of its own (:mod:`.contained`). A reported bound is believed only of
interfaces that pass the solver's own on; others state the incumbent's value as "bound", and of
those only an optimum, with the gap that was asked, is turned into one.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import SolverError

from .backend import Answer, Capabilities, Ending, Listener, ending_of

if TYPE_CHECKING:
    from prefixplace_opt.formulations import LinearModel
    from prefixplace_opt.solvers.run import Run

Floats = NDArray[np.float64]

#: How each termination condition ends a run, by its name.
ENDINGS: dict[str, Ending] = {
    "unknown": "failed",
    "maxTimeLimit": "time-limit",
    "maxIterations": "limit",
    "minFunctionValue": "limit",
    "minStepLength": "limit",
    "globallyOptimal": "optimal",
    # A claim about a neighbourhood: for us a feasible point without a bound.
    "locallyOptimal": "limit",
    "feasible": "limit",
    "optimal": "optimal",
    "maxEvaluations": "limit",
    "other": "failed",
    "unbounded": "unbounded",
    "infeasible": "infeasible",
    "infeasibleOrUnbounded": "undecided",
    "invalidProblem": "failed",
    "intermediateNonInteger": "limit",
    "noSolution": "limit",
    "solverFailure": "failed",
    "internalSolverError": "failed",
    "error": "failed",
    "userInterrupt": "interrupted",
    "resourceInterrupt": "limit",
    "licensingProblems": "failed",
}
#: With which solver statuses an optimum is believed; by name. Some interfaces say "error" of an
#: infeasible model too, so the other conditions always are.
TRUSTED: dict[str, bool] = {
    "ok": True,
    "warning": True,
    "aborted": True,
    "error": False,
    "unknown": False,
}


@dataclass(frozen=True)
class Family:
    """What a solver calls the options; empty where it has none, or none that Pyomo passes on."""

    gap: str = ""
    threads: str = ""
    seed: str = ""
    node_limit: str = ""
    whole_seconds: bool = False


FAMILIES: dict[str, Family] = {
    "cbc": Family("ratio", "threads", "randomCbcSeed", "maxNodes"),
    "cplex": Family("mip_tolerances_mipgap", "threads", "randomseed", "mip_limits_nodes"),
    "glpk": Family("mipgap", whole_seconds=True),
    "gurobi": Family("MIPGap", "Threads", "Seed", "NodeLimit"),
    "highs": Family("mip_rel_gap", "threads", "random_seed", "mip_max_nodes"),
    "scip": Family("limits/gap", "", "randomization/randomseedshift", "limits/totalnodes"),
    "xpress": Family("miprelstop", "threads", "randomseed", "maxnode"),
}

#: Methods that reach a solver directly, by a part of its name in Pyomo.
DIRECT = {"scip": "scip", "highs": "compact"}

#: Interfaces whose bound is the solver's own: by module.
BOUNDS = ("pyomo.contrib.", "pyomo.solvers.plugins.solvers.SCIPAMPL", "gurobi_")

#: A "solution" that misses a row by more is none.
TOLERANCE = 1e-5


class PyomoSolver:
    """The solver that Pyomo calls ``solver``."""

    def __init__(self, solver: str) -> None:
        self._solver = solver
        self._family = next(
            (family for name, family in FAMILIES.items() if name in solver.lower()), Family()
        )
        self.name = f"{solver} through Pyomo"
        self.capabilities = Capabilities(
            gap=bool(self._family.gap),
            node_limit=bool(self._family.node_limit),
            threads=bool(self._family.threads),
            seed=bool(self._family.seed),
            warm_start=False,
            incumbent_callback=False,
            bound_callback=False,
            interrupt=False,
        )

    def require(self) -> None:
        """Raise SolverError where Pyomo does not find it."""
        self._found()

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
        solver = self._found()
        if _contradicts_itself(model):
            return Answer("infeasible", f"{self.name}: a row without columns", bound=-math.inf)
        if model.columns == 0:
            return Answer("optimal", f"{self.name}: no columns", np.zeros(0), model.constant)
        stated = _stated(model, relaxed)
        options = run.options
        chosen = {
            self._family.gap: options.gap,
            self._family.threads: options.threads,
            self._family.seed: options.seed % 2**31,
            self._family.node_limit: options.node_limit,
        }
        given = {name: value for name, value in chosen.items() if name and value is not None}
        limit = {}
        if math.isfinite(run.remaining):
            whole = max(1, math.floor(run.remaining))
            limit["timelimit"] = whole if self._family.whole_seconds else run.remaining
        try:
            results = solver.solve(
                stated, tee=options.log, load_solutions=False, options=given, **limit
            )
        except Exception as error:  # interfaces raise all kinds, Pyomo's own errors among them
            raise SolverError(f"{self.name} failed: {str(error).strip()}") from None
        return self._answer(model, stated, solver, results, run, begun)

    def _found(self) -> Any:
        import pyomo.environ as pyo

        logger = logging.getLogger("pyomo")
        level = logger.level
        # Pyomo logs a traceback for a name that it does not know.
        logger.setLevel(logging.CRITICAL)
        try:
            solver = pyo.SolverFactory(self._solver)
            there = bool(solver.available(exception_flag=False))
        except Exception as error:  # an interface may raise anything where its solver is missing
            raise SolverError(self._missing(str(error))) from None
        finally:
            logger.setLevel(level)
        if not there:
            raise SolverError(self._missing("Pyomo does not find it"))
        return solver

    def _missing(self, why: str) -> str:
        own = next((name for part, name in DIRECT.items() if part in self._solver.lower()), "")
        return (
            f"{self.name} is not available ({why}): install its program or Python package and its "
            "licence so that `pyomo help --solvers` lists it, or use "
            + (f"method {own!r}, which needs no Pyomo" if own else "another method")
        )

    def _answer(
        self, model: LinearModel, stated: Any, solver: Any, results: Any, run: Run, begun: float
    ) -> Answer:
        condition = str(results.solver.termination_condition)
        status = str(results.solver.status)
        ending = ENDINGS[condition]
        if ending == "optimal" and not TRUSTED[status]:
            ending = "failed"
        solution = None
        if ending in ("optimal", "time-limit", "node-limit", "limit", "interrupted"):
            solution = _solution(model, stated, results)
            if ending == "optimal" and solution is None:
                ending = "failed"
        bound = -math.inf if ending == "infeasible" else math.inf
        if ending not in ("infeasible", "failed", "unbounded", "undecided"):
            module = type(solver).__mro__[1].__module__ + type(solver).__module__
            if any(trusted in module for trusted in BOUNDS):
                bound = model.constant - _number(results.problem.lower_bound)
            elif ending == "optimal" and solution is not None and self._family.gap:
                value = model.value(solution)
                bound = value + run.options.gap * abs(value)
        message = str(getattr(results.solver, "message", "") or "").strip()
        known = message if message not in ("", "<undefined>") else condition
        return Answer(
            ending=ending_of(ending, run),
            reason=f"{self.name}: {' '.join(known.split())}",
            solution=solution,
            bound=bound,
            seconds=time.perf_counter() - begun,
        )


def _contradicts_itself(model: LinearModel) -> bool:
    """Whether a row without entries cannot hold; Pyomo takes no such rows."""
    empty = np.diff(model.row_start) == 0
    return bool((empty & ((model.row_lower > 0) | (model.row_upper < 0))).any())


def _stated(model: LinearModel, relaxed: bool) -> Any:
    """Return ``model`` in Pyomo, as a minimisation of what is lost, without the constant.

    Some interfaces get the sign of bounds wrong when they maximise.
    """
    import pyomo.environ as pyo
    from pyomo.core.expr import LinearExpression

    stated = pyo.ConcreteModel()
    whole = model.integral & (not relaxed)
    lower, upper = model.column_lower.tolist(), model.column_upper.tolist()
    stated.v = pyo.Var(range(model.columns))
    columns = list(stated.v.values())
    for column, variable in enumerate(columns):
        variable.domain = pyo.Integers if whole[column] else pyo.Reals
        variable.setlb(lower[column] if lower[column] > -math.inf else None)
        variable.setub(upper[column] if upper[column] < math.inf else None)
    start = model.row_start.tolist()
    entry_column, entry_value = model.entry_column.tolist(), model.entry_value.tolist()
    row_lower, row_upper = model.row_lower.tolist(), model.row_upper.tolist()
    stated.rows = pyo.ConstraintList()
    for row in range(model.rows):
        own = slice(start[row], start[row + 1])
        if own.start < own.stop:
            body = LinearExpression(
                constant=0,
                linear_coefs=entry_value[own],
                linear_vars=[columns[j] for j in entry_column[own]],
            )
            least, most = row_lower[row], row_upper[row]
            if least == most:
                stated.rows.add(body == most)
            else:
                if most < math.inf:
                    stated.rows.add(body <= most)
                if least > -math.inf:
                    stated.rows.add(body >= least)
    stated.lost = pyo.Objective(
        expr=LinearExpression(constant=0, linear_coefs=(-model.cost).tolist(), linear_vars=columns),
        sense=pyo.minimize,
    )
    return stated


def _solution(model: LinearModel, stated: Any, results: Any) -> Floats | None:
    """Return the point that ``results`` holds, if it is one."""
    if len(results.solution) == 0:
        return None
    status = results.solver.status
    try:
        # Pyomo refuses what came with another status, although it may be a good incumbent.
        results.solver.status = "ok"
        stated.solutions.load_from(results)
    except (ValueError, KeyError, AttributeError, RuntimeError):
        return None
    finally:
        results.solver.status = status
    values = [variable.value for variable in stated.v.values()]
    # Interfaces leave out columns that no row or cost mentions.
    unused = np.bincount(model.entry_column, minlength=model.columns) == 0
    solution = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    absent = np.isnan(solution)
    if absent.any():
        if (absent & ~(unused & (model.cost == 0.0))).any():
            return None
        solution[absent] = np.clip(0.0, model.column_lower[absent], model.column_upper[absent])
    return solution if model.violation(solution) <= TOLERANCE else None


def _number(value: Any) -> float:
    """Return what a results field holds, -inf where nothing or no number is in it."""
    found = getattr(value, "value", value)
    if isinstance(found, (int, float)) and math.isfinite(found) and abs(found) < 1e99:
        return float(found)
    return -math.inf
