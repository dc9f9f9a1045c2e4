"""Exact methods by a foreign MIP solver: a formulation, handed over and read back.

The solver starts from the planner's plan. Whatever it answers is rounded, repaired if need be and
evaluated by our own objective, so the plan and its value are beyond doubt. The bound is the
solver's word: nothing but `certify` makes a certificate of it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.formulations import FORMULATIONS, LinearModel, PlacementModel
from prefixplace_opt.formulations.repair import repaired
from prefixplace_opt.problem import Placement, Problem, SolverError

from . import planner
from .backends.backend import Answer, Ending, Listener
from .backends.contained import limited
from .backends.registry import backend_named
from .result import CREDIBLE, Result, Status

if TYPE_CHECKING:
    from .run import Run

Floats = NDArray[np.float64]

#: What each ending of the solver makes of a result whose gap is not closed. The others contradict
#: what is known of every model here: that holding nothing is feasible, and all columns are bounded.
STATUS: dict[Ending, Status] = {
    "optimal": "feasible",
    "time-limit": "time-limit",
    "node-limit": "node-limit",
    "limit": "feasible",
    "interrupted": "interrupted",
}

#: Values of plans, ms per epoch, that solvers are handed as they are.
PLAIN = (1e2, 1e12)


def milp(problem: Problem, run: Run, formulation: str, backend: str) -> Result:
    """Return the best plan that ``backend`` finds and the bound that it states.

    Parameters
    ----------
    problem, run
        As for every method.
    formulation
        ``compact`` or ``flow``.
    backend
        A name of :data:`.backends.registry.BACKENDS`, or ``pyomo:NAME``.

    Returns
    -------
    Result
        Statistics: ``winner``, ``nodes``, ``rows``, ``columns``, ``entries`` of the model,
        ``ending`` of the solver, ``objective_error`` (what the bound was raised by to repay rounded
        costs, ms per epoch), ``seconds`` (of each part). Without a proof.

    Raises
    ------
    SolverError
        Where the solver is missing or fails, or says what cannot be.
    """
    method = formulation if backend == "highs" else backend
    solver = backend_named(backend)
    solver.require()
    with run.timed("plan"):
        plan = planner.plan(problem, run)
    if run.closed(plan.lower, plan.upper):
        reason = "the planner's bound closes the gap"
        return replace(plan, method=method, status="gap", reason=reason, seconds=run.seconds)
    if run.stopped():
        return replace(plan, method=method, seconds=run.seconds)
    with run.timed("build"):
        model = FORMULATIONS[formulation](problem)
        linear = model.linear
        if not solver.capabilities.continuous:
            # Every column of these models takes a whole value at some optimum: y and z at "all
            # from the best holder", the flow on one path.
            linear = replace(linear, integral=np.ones(linear.columns, dtype=np.bool_))
        scale = objective_scale(plan.lower)
        linear = replace(linear, cost=linear.cost * scale, constant=linear.constant * scale)
        start = model.start(plan.placement)
    plans = _Plans(model, linear, run, plan, scale)
    with run.timed("solve"):
        answer = limited(backend, linear, run).solve(linear, run, start=start, listener=plans)
    if answer.solution is not None:
        plans.incumbent(answer.solution)
    placement, bound = plans.placement, answer.bound / scale
    if answer.ending not in STATUS:
        raise SolverError(_refusal(answer))
    if bound < placement.value * (1 - CREDIBLE):
        raise SolverError(
            f"{answer.reason}: no plan is worth more than {bound}, it says, but one of "
            f"{placement.value} is known: the solver is at fault; try another method, such as auto"
        )
    upper = min(plan.upper, bound)
    run.report("solved", placement.value, upper, answer.nodes)
    return Result(
        placement=placement,
        upper=upper,
        status=_status(run, answer, placement, upper),
        method=method,
        reason=answer.reason,
        seconds=run.seconds,
        statistics={
            "winner": "planner" if placement is plan.placement else solver.name,
            "nodes": answer.nodes,
            "rows": linear.rows,
            "columns": linear.columns,
            "entries": linear.entries,
            "ending": answer.ending,
            "objective_error": answer.objective_error / scale,
            "seconds": dict(run.seconds_of),
        },
    )


def objective_scale(value: float) -> float:
    """Return the power of two by which costs are multiplied for a solver.

    Solvers' tolerances are absolute, about 1e-9 to 1e-6, so values far below 1 would be noise to
    them. Between :data:`PLAIN` bounds costs stay as they are, and whole ones stay whole. ``value``
    (> 0) is that of a plan at least half as good as the best.
    """
    if PLAIN[0] <= value <= PLAIN[1]:
        return 1.0
    return math.ldexp(1.0, min(20 - math.frexp(value)[1], 1000))


class _Plans(Listener):
    """Makes a plan of every incumbent and keeps the best; reports values of our own objective."""

    def __init__(
        self, model: PlacementModel, linear: LinearModel, run: Run, plan: Result, scale: float
    ) -> None:
        super().__init__(linear, run)
        self._scale = scale
        self._placements = model
        self.placement: Placement = plan.placement
        self._lower, self._upper = plan.lower, plan.upper

    def incumbent(self, solution: Floats) -> None:
        """Round, repair, evaluate."""
        if self._model.value(solution) / self._scale <= self.placement.value:
            return
        problem = self._placements.problem
        found = repaired(problem, self._placements.residency(solution)).placement
        if found.value > self.placement.value:
            self.placement = found
            self._lower = found.value
            self._tell()

    def bound(self, upper: float, nodes: int) -> None:
        """Take the scale out."""
        super().bound(min(self._upper, upper / self._scale), nodes)


def _status(run: Run, answer: Answer, placement: Placement, upper: float) -> Status:
    # Never "optimal": that takes a proof, and all there is here is the solver's word.
    if run.closed(placement.value, upper):
        return "gap"
    return STATUS[answer.ending]


def _refusal(answer: Answer) -> str:
    if answer.ending == "failed":
        return f"{answer.reason}; try another method, such as auto"
    return (
        f"{answer.reason}, but every instance has a plan and no plan is worth infinitely much: "
        "the solver is at fault; try another method, such as auto"
    )
