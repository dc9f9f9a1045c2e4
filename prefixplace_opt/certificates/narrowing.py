"""A worker's choice made small before its tree program runs, by putting a price on the budget.

For any price c >= 0 a set S of at most k chunks is worth

    sum over S of p(b)  <=  c k + sum over S of (p(b) - c),

and without the budget the best closed set is found by one pass over the forest. With

    H(i) = p(i) - c + sum over the children j of i of max(0, H(j)),
    V    = sum over the roots i of max(0, H(i)),

c k + V bounds every set. One that holds chunk b falls short of it by -min(0, H) for every chunk on
the path to b, since all of them must be in; one that does not hold b falls short by the least H
on the path, if that is positive: without b, or an ancestor, so much is lost there. So a chunk
without which no set can be worth more than some number is in every set of interest, and one with
which none can is in none; the tree program is left with the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int32]
Positions = NDArray[np.intp]
Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Where sums of shortfalls stop: below every worth, and far from the end of int64.
LEAST = -(2**61)

#: Paths that are tried for each chunk of the budget that is left.
CANDIDATES = 8


class Relaxed(NamedTuple):
    """Bounds with a price on the budget.

    Attributes
    ----------
    value_in, value_out
        Shape (chunks,): no set within the budget that holds the chunk, or does not, is worth more.
    reached, highest
        What some set within the budget is worth, and what none is worth more than.
    """

    value_in: Int64
    value_out: Int64
    reached: int
    highest: int


def relaxed(profit: Int64, parent: NDArray[Any], room: int) -> Relaxed:
    """Price the budget ``room`` of a forest in preorder.

    Profits are >= 0 and add up to less than 2**60.
    """
    if room < 1:
        barred = np.full(profit.size, LEAST, dtype=np.int64)
        return Relaxed(barred, np.zeros(profit.size, dtype=np.int64), 0, 0)
    price = _price(profit, parent, room, int(profit.sum()) // room + 1)
    value_in, value_out, highest, held, added = _shortfalls(profit, parent, room, price)
    # What is left of the budget goes to the paths that add the most, or lose the least.
    slack = room - int(np.count_nonzero(held))
    if price and slack:
        paths = np.flatnonzero(~held)
        if paths.size > CANDIDATES * slack:
            part = np.argpartition(added[paths], paths.size - CANDIDATES * slack)
            paths = paths[part[-CANDIDATES * slack :]]
        paths = paths[np.argsort(-added[paths], kind="stable")]
        _add_paths(parent, held, paths, slack)
    return Relaxed(value_in, value_out, int(profit[held].sum()), int(highest))


@numba.njit(cache=True, nogil=True)
def _price(profit: Int64, parent: Index, room: int, dearest: int) -> int:
    """Return a least price at which the best set has at most ``room`` chunks.

    The best sets are nested, so whatever one price leaves out is left out for all dearer ones.
    """
    size = profit.shape[0]
    if size <= room:
        return 0
    own = profit.copy()
    above = parent.copy()
    worth = np.empty(size, dtype=np.int64)
    number = np.empty(size, dtype=np.int32)
    cheap, dear = np.int64(-1), np.int64(dearest)
    while dear - cheap > 1:
        price = 0 if cheap < 0 and dear == dearest else int(cheap + (dear - cheap) // 2)
        count = _best_set(own[:size], above[:size], price, worth, number)
        if count <= room:
            if price == 0:
                return 0
            dear = np.int64(price)
            continue
        cheap = np.int64(price)
        for i in range(size):
            if number[i] >= 0:
                own[number[i]] = own[i]
                above[number[i]] = number[above[i]] if above[i] >= 0 else -1
        size = count
    return int(dear)


@numba.njit(cache=True, nogil=True)
def _best_set(own: Int64, above: Index, price: int, worth: Int64, number: Index) -> int:
    """Give numbers to the chunks of the best set at ``price``, -1 to others; return how many."""
    size = own.shape[0]
    for i in range(size):
        worth[i] = own[i] - price
    for i in range(size - 1, -1, -1):
        if above[i] >= 0 and worth[i] > 0:
            worth[above[i]] += worth[i]
    count = 0
    for i in range(size):
        number[i] = -1
        if worth[i] > 0 and (above[i] < 0 or number[above[i]] >= 0):
            number[i] = count
            count += 1
    return count


@numba.njit(cache=True, nogil=True)
def _shortfalls(
    profit: Int64, parent: Index, room: int, price: int
) -> tuple[Int64, Int64, int, Mask, Int64]:
    n = profit.shape[0]
    worth = profit - price
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0 and worth[i] > 0:
            worth[parent[i]] += worth[i]
    best = np.int64(0)
    value_in = np.empty(n, dtype=np.int64)
    value_out = np.empty(n, dtype=np.int64)
    held: Mask = np.zeros(n, dtype=np.bool_)
    # Profit less price of what leads to a chunk from the best set on, it included.
    added = np.zeros(n, dtype=np.int64)
    # First what is lost, then what is left.
    for i in range(n):
        lost, least, way = np.int64(0), worth[i], np.int64(0)
        if parent[i] >= 0:
            lost = value_in[parent[i]]
            least = min(least, value_out[parent[i]])
            way = added[parent[i]]
        elif worth[i] > 0:
            best += worth[i]
        value_in[i] = max(lost + min(worth[i], 0), LEAST)
        value_out[i] = least
        held[i] = least > 0
        if not held[i]:
            added[i] = max(way + profit[i] - price, LEAST)
    bound = int(price * room + best)
    for i in range(n):
        value_in[i] += bound
        value_out[i] = bound - max(value_out[i], 0)
    return value_in, value_out, bound, held, added


@numba.njit(cache=True, nogil=True)
def _add_paths(parent: Index, held: Mask, paths: Positions, slack: int) -> None:
    """Add to ``held`` whole paths, in the order given, as long as ``slack`` chunks allow it."""
    for end in paths:
        length, at = 0, end
        while at >= 0 and not held[at]:
            length += 1
            at = parent[at]
        if length <= slack:
            slack -= length
            at = end
            while at >= 0 and not held[at]:
                held[at] = True
                at = parent[at]
