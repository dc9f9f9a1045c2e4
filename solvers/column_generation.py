"""Method ``config-lp``: the configuration LP by stabilised column generation.

A descent of the Lagrangian bound comes first; the sets of its last iterates are the first columns.
Then, round by round, the restricted master is solved, and the oracles are asked for new columns at
three kinds of prices: close to the best prices so far, a tenth of the way to the master's duals
(the duals of a restricted master jump about; Wentges); at a few subgradient steps from there; and
at the duals themselves, which makes the method finite. Every call of the oracles gives a bound, so
the rounds end as soon as the best bound meets the master's value. At the end the master is solved
over integers for a plan, whose neighbourhoods are searched.

References
----------
P. Wentges (1997), Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming,
doi:10.1016/S0969-6016(97)00009-4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Placement, Problem, Proof, savings

from .coordinate_refinement import Refinement
from .incumbent import Incumbent, granularity
from .lagrangian import descend
from .neighbourhoods import Neighbourhoods
from .planner import plan
from .pricing import Pricer, Pricing
from .restricted_master import MasterSolution, RestrictedMaster
from .result import OPTIMAL_TOLERANCE, Result, Status, relative_gap
from .run import Run
from .subproblem import FREE, Subproblem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Evaluations before the first master; the sets of the last ones become its columns.
FIRST_STEPS, FIRST_COLUMNS = 400, 300
#: Weight of the best prices beside the master's duals, and subgradient steps from that mixture.
STABILITY, ROUND_STEPS = 0.9, 3
#: The LP is solved when bound and master agree to this share.
SOLVED = 1e-9
#: Nodes that the integer master may take.
MIP_NODES = 500


@dataclass
class History:
    """What the rounds came to: one entry a round.

    Attributes
    ----------
    seconds, columns, master, bound, incumbent
        Wall time; columns of the master; its value; the best bound; the best plan's value.
    """

    seconds: list[float] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    master: list[float] = field(default_factory=list)
    bound: list[float] = field(default_factory=list)
    incumbent: list[float] = field(default_factory=list)


class ColumnGeneration:
    """Solves the configuration LP of one problem.

    Attributes
    ----------
    master
        The restricted master.
    bound, prices
        The best bound and its prices, shape (rows,).
    history
        See :class:`History`.
    """

    def __init__(self, sub: Subproblem, run: Run, incumbent: Incumbent) -> None:
        self._sub, self._run, self._incumbent = sub, run, incumbent
        self._pricer = Pricer(sub)
        self._refinement = Refinement(self._pricer)
        self.master = RestrictedMaster(sub, run)
        self.bound = np.inf
        self.prices = sub.cap / 2
        self.history = History()

    def solve(self) -> bool:
        """Run to the end or a limit; return whether the LP is solved."""
        self._start()
        while not self._run.stopped():
            solution = self.master.solve()
            if solution is None:
                return False
            self._improve(self.master.largest(solution.use))
            self._record(solution)
            if self.bound - solution.value <= SOLVED * abs(self.bound):
                return True
            # Proven optimal: the LP could only say so again.
            if relative_gap(self._incumbent.value, self.bound) <= OPTIMAL_TOLERANCE / 2:
                return True
            if not self._generate(solution):
                return True
        return False

    def choose(self) -> None:
        """Look for a better plan among the columns."""
        self._improve(self.master.choose(MIP_NODES, self._run.remaining))

    def _start(self) -> None:
        seen: list[Mask] = []

        def visit(pricing: Pricing, best: float) -> float | None:
            seen.append(pricing.taken)
            self._improve(pricing.taken, only=len(seen) % 3 == 0)
            self._run.report("bound", self._incumbent.value, max(best, self._incumbent.value))
            return None if self._run.stopped() else self._incumbent.value

        descent = descend(self._pricer, self.prices, FIRST_STEPS, visit)
        self.bound, self.prices = descent.bound, descent.prices
        for taken in (*seen[-FIRST_COLUMNS:], descent.best.taken):
            self.master.add(taken)

    def _generate(self, solution: MasterSolution) -> int:
        """Add columns at several prices; return how many are new."""
        duals = np.clip(solution.prices, 0.0, self._sub.cap)
        new = 0

        def visit(pricing: Pricing, _: float) -> float:
            nonlocal new
            new += self.master.add(pricing.taken)
            return solution.value

        mixture = STABILITY * self.prices + (1 - STABILITY) * duals
        for start, steps in ((mixture, ROUND_STEPS), (duals, 1)):
            descent = descend(self._pricer, start, steps, visit)
            if descent.bound < self.bound:
                self.bound, self.prices = descent.bound, descent.prices
        return new

    def _improve(self, taken: Mask, *, only: bool = True) -> None:
        if only and self._refinement.possible:
            value, chosen = self._refinement.refine(taken)
            if self._incumbent.offer(value, lambda: self._sub.held(chosen)):
                self.master.add(chosen)

    def _record(self, solution: MasterSolution) -> None:
        history = self.history
        history.seconds.append(round(self._run.seconds, 6))
        history.columns.append(len(self.master.worker))
        history.master.append(solution.value)
        history.bound.append(self.bound)
        history.incumbent.append(self._incumbent.value)
        lower = self._incumbent.value
        self._run.report("column generation", lower, max(lower, self.bound))


def configuration_lp(problem: Problem, run: Run) -> Result:
    """Return the value of the configuration LP as a bound, and the best plan found on the way.

    Statistics: ``rounds``; ``rows``, ``columns`` and ``entries`` of the last master; ``lp_value``
    (None at a limit); ``history`` (a list for each member of :class:`History`) and ``seconds`` (of
    each part).
    """
    planned = plan(problem, run)
    form = savings(problem)
    held = planned.placement.held(problem.n)[:, problem.tree.order]
    incumbent = Incumbent(form, held, 0.0, granularity(problem, form))
    states = np.full((problem.m, problem.n), FREE, dtype=np.int8)
    sub = Subproblem.of(form, problem.tree, problem.budgets, states, with_credits=False)
    generation = ColumnGeneration(sub, run, incumbent)
    with run.timed("column generation"):
        solved = generation.solve()
    prices = sub.extend(generation.prices)
    if not run.stopped() and incumbent.cutoff < generation.bound:
        with run.timed("integer master"):
            generation.choose()
        with run.timed("neighbourhoods"):
            neighbourhoods = Neighbourhoods(form, problem.tree, problem.budgets, run, incumbent)
            neighbourhoods.improve(prices, generation.bound)
    held = np.empty_like(incumbent.held)
    held[:, problem.tree.order] = incumbent.held
    placement = Placement.of_mask(problem, held)
    upper = max(generation.bound, placement.value)
    run.report("column generation", placement.value, upper)
    status, reason = _ending(run, solved, placement.value, upper)
    return Result(
        placement=placement,
        upper=upper,
        status=status,
        method="config-lp",
        reason=reason,
        seconds=run.seconds,
        statistics={
            "rounds": len(generation.history.bound),
            "rows": generation.master.rows,
            "columns": len(generation.master.worker),
            "entries": generation.master.entries,
            "lp_value": generation.bound if solved else None,
            "history": vars(generation.history),
            "seconds": dict(run.seconds_of),
        },
        proof=Proof.single(prices.rows),
    )


def _ending(run: Run, solved: bool, lower: float, upper: float) -> tuple[Status, str]:
    if relative_gap(lower, upper) <= OPTIMAL_TOLERANCE:
        return "optimal", "the configuration LP's value meets the plan"
    reason = "the configuration LP is solved" if solved else "stopped before the LP was solved"
    if run.closed(lower, upper):
        return "gap", reason
    return ("feasible" if solved else run.stopped() or "feasible"), reason
