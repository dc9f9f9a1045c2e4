"""Costs as whole numbers, for a solver that takes no others, and what the rounding can be off by.

With a power of two s, ``c_j`` becomes the whole number ``round(c_j s)``. For every v within its
bounds

    c v  <=  round(c s) v / s  +  sum_j max_{l_j <= v_j <= u_j} (c_j - round(c_j s) / s) v_j

and the last sum, the *error*, raises the solver's bound to one that holds for the true costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Largest sum of scaled costs, where they have to be rounded: far below what 64 bits and doubles
#: hold, and a rounding of less than 1e-9 of the sum for 100,000 columns.
LARGEST_SUM = 2.0**46
#: Largest sum where scaling makes them whole without any rounding.
LARGEST_EXACT_SUM = 2.0**52


@dataclass(frozen=True, eq=False)
class IntegerObjective:
    """Whole-number costs.

    Attributes
    ----------
    cost
        Shape (columns,), int64.
    scale
        A power of two: ``cost / scale`` is what they stand for.
    error
        The sum above, ms per epoch, >= 0; 0 where nothing was rounded.
    """

    cost: NDArray[np.int64]
    scale: float
    error: float

    def bound(self, scaled: float) -> float:
        """Return the bound on the true objective that a bound on the scaled one gives."""
        return scaled / self.scale + self.error


def integer_objective(cost: Floats, lower: Floats, upper: Floats) -> IntegerObjective:
    """Return ``cost`` scaled and rounded; ``lower`` and ``upper``: finite bounds of v."""
    size = float(np.abs(cost) @ np.maximum(np.abs(lower), np.abs(upper)))
    if size == 0.0:
        return IntegerObjective(np.zeros(cost.size, dtype=np.int64), 1.0, 0.0)
    scale = 2.0 ** math.floor(math.log2(LARGEST_SUM / size))
    exact = _exact_scale(cost)
    if exact * size <= LARGEST_EXACT_SUM:
        scale = exact
    whole = np.rint(cost * scale)
    # Doubles are multiples of powers of two: the differences are exact.
    left = cost - whole / scale
    most = np.maximum(left * lower, left * upper)
    error = math.fsum(most)
    if error != 0.0:
        error = math.nextafter(error + 2.0**-52 * float(np.abs(most).sum()), math.inf)
    return IntegerObjective(whole.astype(np.int64), scale, max(error, 0.0))


def _exact_scale(cost: Floats) -> float:
    """Return the smallest power of two >= 1 that makes every cost whole; inf beyond 2**60."""
    scale = 1.0
    while scale <= 2.0**60:
        scaled = cost * scale
        if np.array_equal(scaled, np.floor(scaled)):
            return scale
        scale *= 2.0
    return math.inf
