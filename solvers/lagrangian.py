"""Minimising the bound over the prices: a deflected subgradient method in the metric of the prices.

The bound is convex and piecewise linear in the prices a. Steps go against a running mean d of the
subgradients, scaled row by row with the row's own cap c (rows differ by orders of magnitude, and
so do their prices): a <- clip(a - t c d, 0, c), with Polyak's step t = step (UB(a) - target) /
sum c d^2 towards the value of the incumbent. What was measured against other methods is in
docs/solvers.md.

References
----------
B. T. Polyak (1969), Minimization of unsmooth functionals. F. Barahona and R. Anbil (2000), The
volume algorithm, doi:10.1007/s101070050002.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from .pricing import Pricer, Pricing

Floats = NDArray[np.float64]

#: Below this factor the walk has come to rest.
LEAST_STEP = 1e-3
#: A bound counts as better when it falls by this share.
BETTER = 1e-7


class Pace(NamedTuple):
    """How a descent walks.

    Attributes
    ----------
    step
        Polyak's factor at the start.
    memory
        Weight of the past in the running mean of subgradients.
    patience
        After so many steps without a better bound the factor shrinks, and the walk goes on from
        the best prices.
    shrink
        By what it then shrinks.
    """

    step: float
    memory: float
    patience: int
    shrink: float


#: Most of the way in the fewest evaluations; nearly all of it, in ten times as many.
QUICK, THOROUGH = Pace(1.0, 0.5, 10, 0.7), Pace(1.0, 0.9, 20, 0.8)


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Attributes
    ----------
    bound, prices
        The least bound seen and its prices, shape (rows,) of the subproblem.
    best
        The evaluation there.
    steps
        Evaluations made.
    share
        Shape (slots,): running mean of the best sets, about how much of each slot an optimum of
        the configuration LP takes.
    """

    bound: float
    prices: Floats
    best: Pricing
    steps: int
    share: Floats


def descend(
    pricer: Pricer,
    prices: Floats,
    steps: int,
    visit: Callable[[Pricing, float], float | None],
    pace: Pace = QUICK,
) -> Descent:
    """Lower the bound from ``prices`` on.

    Parameters
    ----------
    pricer
        The subproblem's bound.
    prices
        Shape (rows,), within 0 and the subproblem's caps.
    steps
        Most evaluations, at least 1.
    visit
        Called with every evaluation and the least bound so far; returns the target of the next
        step, a lower bound on what can be reached such as the incumbent's value, or None to end
        the descent.
    pace
        How to walk.
    """
    cap = pricer.subproblem.cap
    current = pricer(prices)
    best, best_prices = current, prices
    share = current.taken.astype(np.float64)
    direction = np.zeros_like(prices)
    step = pace.step
    waited = 0
    done = 1
    while True:
        target = visit(current, best.bound)
        if target is None or done >= steps or step < LEAST_STEP or not prices.size:
            break
        prices = _next_prices(
            prices,
            current.slope,
            direction,
            cap,
            step * max(current.bound - target, 0.0),
            pace.memory if done > 1 else 0.0,
        )
        current = pricer(prices)
        done += 1
        share *= 0.9
        share += 0.1 * current.taken
        if current.bound < best.bound - BETTER * abs(best.bound):
            waited = 0
        else:
            waited += 1
        if current.bound < best.bound:
            best, best_prices = current, prices
        if waited >= pace.patience:
            waited = 0
            step *= pace.shrink
            prices, current = best_prices, best
            direction[:] = 0.0
    return Descent(best.bound, best_prices, best, done, share)


@numba.njit(cache=True, nogil=True)
def _next_prices(
    prices: Floats, slope: Floats, direction: Floats, cap: Floats, length: float, memory: float
) -> Floats:
    """Take one step of ``length`` / (squared norm); updates ``direction``, returns new prices."""
    norm = 0.0
    for r in range(prices.shape[0]):
        g = slope[r]
        # A price at its end that the slope pushes further out stays there.
        if (prices[r] <= 0.0 and g > 0.0) or (prices[r] >= cap[r] and g < 0.0):
            g = 0.0
        direction[r] = memory * direction[r] + (1.0 - memory) * g
        norm += cap[r] * direction[r] * direction[r]
    if norm == 0.0:
        return prices.copy()
    moved = np.empty_like(prices)
    for r in range(prices.shape[0]):
        moved[r] = min(max(prices[r] - length / norm * cap[r] * direction[r], 0.0), cap[r])
    return moved
