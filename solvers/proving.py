"""Methods ``auto`` and ``exact``: a plan with a proof.

The planner's best plan is the first incumbent. The Lagrangian bound and the plans refined from its
iterates usually close a gap of 0.01 % at the root; where they do not, branch and price goes on
until the asked gap or a limit. ``exact`` is ``auto`` with a gap of 0.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from prefixplace_opt.problem import Placement, Problem, savings

from .branch_and_price import ROOT_DESCENTS, BranchAndPrice, Descents
from .incumbent import Incumbent, granularity
from .lagrangian import QUICK, THOROUGH
from .memory import proof_shortfall
from .neighbourhoods import Neighbourhoods
from .planner import plan
from .pricing import TABLE_CELLS
from .result import OPTIMAL_TOLERANCE, Result, Status, relative_gap
from .run import Run
from .starting_prices import starting_prices
from .subproblem import FullPrices

#: The descents at the root where workers' tables are too large to keep.
LARGE_ROOT_DESCENTS: Descents = ((200, QUICK), (400, QUICK), (10_000, THOROUGH))


def prove(problem: Problem, run: Run, method: str) -> Result:
    """Return a plan within the asked gap, with a proof, or the best of both at a limit.

    Statistics: ``nodes``, ``evaluations`` (of the bound), ``granularity`` (every plan's value is a
    multiple of it; 0 where unknown), ``improvements`` (of the planner's plan), ``planned`` (its
    value, ms per epoch) and ``seconds`` (of each part).
    """
    planned = plan(problem, run)
    shortfall = proof_shortfall(problem, run.options.memory_limit)
    if shortfall:
        return replace(planned, method=method, reason=f"{shortfall}: planned without one")
    form = savings(problem)
    gap = 0.0 if method == "exact" else run.options.gap
    incumbent = Incumbent(
        form,
        planned.placement.held(problem.n)[:, problem.tree.order],
        gap,
        granularity(problem, form),
        run.options.reference,
    )
    with ExitStack() as stack:
        pool = None
        if run.options.threads > 1:
            pool = stack.enter_context(ThreadPoolExecutor(run.options.threads))
        parts = (form, problem.tree, problem.budgets, run, incumbent)
        neighbourhoods = Neighbourhoods(*parts)
        # Where tables do not fit, branching decides little: the root's descent is worth the time.
        large = bool((problem.budgets * problem.n > TABLE_CELLS).any())
        search = BranchAndPrice(
            *parts,
            pool,
            improve=neighbourhoods.improve,
            root_descents=LARGE_ROOT_DESCENTS if large else ROOT_DESCENTS,
            with_credits=not large,
        )
        with run.timed("branch and price"):
            budgets = problem.budgets.tolist()
            start = (
                starting_prices(form, problem.tree, budgets, incumbent.held)
                if large
                else form.row_best / 2
            )
            ended = search.search(FullPrices(start), node_limit=run.options.node_limit)
    held = np.empty_like(incumbent.held)
    held[:, problem.tree.order] = incumbent.held
    placement = Placement.of_mask(problem, held)
    upper = max(incumbent.proven(search.upper), placement.value)
    status, reason = _ending(placement.value, upper, gap, ended)
    run.report("proven", placement.value, upper, search.nodes)
    return Result(
        placement=placement,
        upper=upper,
        status=status,
        method=method,
        reason=reason,
        seconds=run.seconds,
        statistics={
            "nodes": search.nodes,
            "evaluations": search.evaluations,
            "granularity": incumbent.granularity,
            "improvements": incumbent.improvements,
            "neighbourhoods": neighbourhoods.searched,
            "planned": planned.lower,
            "seconds": dict(run.seconds_of),
        },
        proof=search.proof(),
    )


def _ending(lower: float, upper: float, gap: float, ended: Status | None) -> tuple[Status, str]:
    left = relative_gap(lower, upper)
    if left <= OPTIMAL_TOLERANCE:
        return "optimal", "the bound meets the plan"
    if left <= gap:
        return "gap", f"the asked gap of {gap:.4%} is proven"
    assert ended is not None
    limit = {
        "time-limit": "the time limit was reached",
        "node-limit": "the node limit was reached",
        "interrupted": "the run was interrupted",
    }
    return ended, f"{limit[ended]} at a gap of {left:.4%}"
