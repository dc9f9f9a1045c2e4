"""Whether doubles hold every saving, and every sum of savings, without rounding.

Then what divides the savings of the normal form divides all values of placements, in exact
arithmetic too. Products such as 0.2 * 0.2 are rounded, and then it need not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .objective import own_savings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .problem import Problem

Floats = NDArray[np.float64]

#: Whole numbers up to two to this power are doubles.
BITS = 53


def savings_are_exact(problem: Problem) -> bool:
    """Return whether no saving L_m(b) (w - f), nor any sum of them up to all, is rounded."""
    demand = problem.demand.value
    lowest: list[int] = []
    for dear, cheap in _costs(problem):
        saved = dear - cheap
        if not (_difference_is_exact(dear, cheap, saved) and _product_is_exact(demand, saved)):
            return False
        lowest += _lowest_bit(demand * saved)
    # Each row is worth no more than its requester's own copies, once from every holder.
    total = problem.m * float(own_savings(problem).sum())
    return not lowest or bool(np.frexp(total)[1] - min(lowest) < BITS)


def _costs(problem: Problem) -> Iterator[tuple[Floats, Floats]]:
    """Yield what serving costs without and with a copy, shape (entries,) each."""
    recompute = problem.recompute_costs
    yield recompute, np.zeros_like(recompute)
    if problem.objective == "requester":
        demand = problem.demand
        fetch = problem.fetch.cost(problem.tree, demand.worker, demand.chunk)  # type: ignore[union-attr]
        yield recompute, np.minimum(recompute, fetch)
        yield np.minimum(recompute, fetch), np.zeros_like(recompute)
        return
    for holder in range(problem.m):
        yield recompute, np.minimum(recompute, problem.fetch_costs(holder))


def _difference_is_exact(a: Floats, b: Floats, difference: Floats) -> bool:
    """Tell by the error-free transformation of a sum (Knuth)."""
    back = a - difference
    return bool(((a - (difference + back)) - (b - back) == 0).all())


def _product_is_exact(a: Floats, b: Floats) -> bool:
    """Tell by the odd parts, whose product is a double if it is below 2**53."""
    return bool((_odd_part(a) * _odd_part(b) < 2.0**BITS).all())


def _odd_part(values: Floats) -> Floats:
    whole = np.ldexp(np.frexp(values)[0], BITS).astype(np.int64)
    return np.asarray(whole / np.maximum(whole & -whole, 1))


def _lowest_bit(values: Floats) -> list[int]:
    """Return the largest e such that all values are multiples of 2**e; none where all are 0."""
    mantissa, exponent = np.frexp(values[values != 0])
    if not mantissa.size:
        return []
    whole = np.ldexp(mantissa, BITS).astype(np.int64)
    lowest = exponent - BITS + np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return [int(lowest.min())]
