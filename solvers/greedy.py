"""WorkerGreedy, coordinate refinement and the baselines, on one shared set of holders.

Every function leaves ``holders`` at the plan it found. WorkerGreedy is at least 1/2 of the optimum
for either objective; refinement never makes a plan worse (PrefixPlace).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem.objective import own_savings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prefixplace_opt.problem import Holders, Problem

    from .tree_oracle import TreeOracle

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: A re-solved worker is replaced only when that gains more than this share of its own value.
STRICT_IMPROVEMENT = 1e-9


def worker_greedy(
    holders: Holders, oracle: TreeOracle, budgets: Sequence[int], order: Sequence[int]
) -> None:
    """Solve each worker of ``order`` exactly against those before it."""
    for worker in order:
        best = oracle.solve(holders.profits(worker), budgets[worker])
        holders.replace(worker, best.resident)


def refine(
    holders: Holders,
    oracle: TreeOracle,
    budgets: Sequence[int],
    order: Sequence[int],
    stopped: Callable[[], object] = lambda: None,
    extra: Floats | None = None,
    served: Floats | None = None,
) -> int:
    """Re-solve one worker at a time exactly against all others until nothing improves strictly.

    ``extra``, of any sign, shape (M, n), by position, is added to the profits: the walk then
    improves F plus the sum of ``extra`` over what is held. With ``served``, shape (R,), every
    service row counts as served for so much by nobody.

    Returns
    -------
    int
        Sweeps begun. The walk ends as soon as every worker is known to be at its best, so the
        last sweep may be short; it also ends, at a valid plan, when ``stopped()`` gives a reason.
    """
    settled = 0
    sweeps = 0
    while settled < len(order):
        sweeps += 1
        for worker in order:
            if settled == len(order) or stopped():
                return sweeps
            profit = holders.profits(worker, served)
            if extra is not None:
                profit += extra[worker]
            current = float(profit[holders.held[worker]].sum())
            best = oracle.solve(profit, budgets[worker])
            if best.value > current + STRICT_IMPROVEMENT * abs(current):
                holders.replace(worker, best.resident)
                # This worker is at its best against the others as they are now; they may not be.
                settled = 1
            else:
                settled += 1
    return sweeps


def independent(problem: Problem, oracle: TreeOracle) -> Mask:
    """Each worker maximises its own demand times recompute cost; shape (M, n), by position."""
    held = np.empty((problem.m, problem.n), dtype=np.bool_)
    for worker, profit in enumerate(_own_profits(problem)):
        held[worker] = oracle.solve(profit, int(problem.budgets[worker])).resident
    return held


def popularity(problem: Problem, oracle: TreeOracle) -> Mask:
    """Each worker takes the closed set of the largest total demand over all workers."""
    demand = problem.demand.total()[problem.tree.order]
    held = np.empty((problem.m, problem.n), dtype=np.bool_)
    for budget in np.unique(problem.budgets).tolist():
        held[problem.budgets == budget] = oracle.solve(demand, budget).resident
    return held


def local_dedup(problem: Problem, oracle: TreeOracle) -> Mask:
    """Worker by worker, own demand times recompute cost, nothing for chunks already held."""
    held = np.empty((problem.m, problem.n), dtype=np.bool_)
    somewhere = np.zeros(problem.n, dtype=np.bool_)
    for worker, profit in enumerate(_own_profits(problem)):
        profit[somewhere] = 0.0
        held[worker] = oracle.solve(profit, int(problem.budgets[worker])).resident
        somewhere |= held[worker]
    return held


def _own_profits(problem: Problem) -> Iterator[Floats]:
    saved = own_savings(problem)
    first = np.searchsorted(problem.demand.worker, np.arange(problem.m + 1)).tolist()
    for start, stop in itertools.pairwise(first):
        profit = np.zeros(problem.n)
        profit[problem.tree.position[problem.demand.chunk[start:stop]]] = saved[start:stop]
        yield profit
