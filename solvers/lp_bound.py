"""LP bounds: the relaxation of a formulation, and a plan made from its solution.

The bound is not the solver's word: it is recomputed from the row duals by weak duality
(:mod:`prefixplace_opt.formulations.dual_bound`), so tolerances only weaken it. The same duals are
prices of the service rows that prove a bound at least as good
(:mod:`prefixplace_opt.problem.proof`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.formulations import FORMULATIONS, PlacementModel
from prefixplace_opt.formulations.dual_bound import dual_bound
from prefixplace_opt.problem import Holders, Placement, Problem, savings
from prefixplace_opt.problem.proof import Proof

from . import planner
from .backends.backend import Ending
from .backends.contained import limited
from .greedy import refine
from .result import OPTIMAL_TOLERANCE, Result, Status, relative_gap
from .tree_oracle import TreeOracle

if TYPE_CHECKING:
    from .run import Run

Floats = NDArray[np.float64]


def lp_bound(problem: Problem, run: Run, method: str, formulation: str, backend: str) -> Result:
    """Return the LP bound of ``formulation`` (``compact`` or ``flow``) and the best plan found.

    The plan is the planner's, or the LP's x rounded by the tree oracle and refined, if better.
    ``backend`` is a name of :data:`.backends.registry.BACKENDS`, ``method`` that of this method.
    Statistics: ``lp_value`` (None at a limit), ``rows``, ``columns``, ``entries``, ``winner``,
    ``seconds`` (of each part).
    """
    with run.timed("plan"):
        plan = planner.plan(problem, run)
    with run.timed("build"):
        model = FORMULATIONS[formulation](problem)
    with run.timed("lp"):
        solver = limited(backend, model.linear, run)
        answer = solver.solve(model.linear, run, relaxed=True)
    placement, winner, upper, proof = plan.placement, "planner", plan.upper, None
    if answer.row_duals is not None:
        with run.timed("bound"):
            bound = dual_bound(model.linear, answer.row_duals)
            # Duals of a run that was stopped may be worse than the planner's own bound.
            if answer.ending == "optimal" or bound < upper:
                proof = Proof.single(prices(model, answer.row_duals))
            upper = min(upper, bound)
    if answer.solution is not None:
        with run.timed("round"):
            found = rounded(problem, model.residency(answer.solution), run)
        if found.value > placement.value:
            placement, winner = found, "rounded LP"
    run.report("bounded", placement.value, upper)
    return Result(
        placement=placement,
        upper=upper,
        status=_status(run, answer.ending, placement.value, upper),
        method=method,
        reason=answer.reason,
        seconds=run.seconds,
        statistics={
            "lp_value": answer.bound if answer.ending == "optimal" else None,
            "rows": model.linear.rows,
            "columns": model.linear.columns,
            "entries": model.linear.entries,
            "winner": winner,
            "seconds": dict(run.seconds_of),
        },
        proof=proof,
    )


def rounded(problem: Problem, residency: Floats, run: Run) -> Placement:
    """Return a refined plan near fractional x of shape (M, n), by chunk id.

    Each worker starts with the closed set of largest total x within its budget.
    """
    tree = problem.tree
    oracle = TreeOracle(tree)
    budgets = problem.budgets.tolist()
    start = np.stack(
        [
            oracle.solve(residency[h][tree.order], budget).resident
            for h, budget in enumerate(budgets)
        ]
    )
    holders = Holders(savings(problem), start)
    refine(holders, oracle, budgets, range(problem.m), run.stopped)
    held = np.empty_like(holders.held)
    held[:, tree.order] = holders.held
    return Placement.of_mask(problem, held)


def prices(model: PlacementModel, row_duals: Floats) -> Floats:
    """Return the prices of the service rows, shape (R,), that the duals of a model state.

    A service row costs what its best holder could still gain: requester-side the reduced cost of y
    (its worth less the dual of ``cover``), pairwise the dual of ``serve``. The model must have the
    default kind of coverage rows.
    """
    linear = model.linear
    if model.problem.objective == "requester":
        reduced = model.coverage.value - row_duals[linear.rows_of("cover")]
        return np.clip(reduced, 0.0, model.coverage.value)
    return np.maximum(row_duals[linear.rows_of("serve")], 0.0)


def _status(run: Run, ending: Ending, lower: float, upper: float) -> Status:
    if relative_gap(lower, upper) <= OPTIMAL_TOLERANCE:
        return "optimal"
    if run.closed(lower, upper):
        return "gap"
    # A solver may end a moment before the limit, which is ours all the same.
    if ending in ("time-limit", "interrupted", "node-limit"):
        return ending
    return run.stopped() or "feasible"
