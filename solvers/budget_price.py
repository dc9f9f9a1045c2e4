"""Pricing the budget: a Lagrangian relaxation of |T| <= k on one forest, in linear passes.

With a price c a chunk, the best parent-closed set is found from the leaves up:

    h(i) = p(i) - c + sum over children j of max(0, h(j))
    L(c) = c k + sum over roots of max(0, h)

and L(c) >= the optimum for every c >= 0. The best sets are nested: the set of a higher price lies
in that of a lower one. So, when a price takes too many chunks, those left out are out for good,
and when it takes too few, those taken stay: the search for the best price runs on what remains,
which shrinks geometrically.

A chunk whose forced presence, or absence, costs the relaxation more than the gap between L and a
known set is fixed (reduced-cost fixing): the optimum is searched among the rest alone.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: Chunks sampled to guess the first price.
SAMPLE = 1024
#: A core of up to so many chunks may be four times as large as asked.
MANY = 4096
#: A limit on losses is at most this often halved.
HALVINGS = 40
#: The search ends by itself long before; equal densities that differ in rounding could prolong it.
MOST_STEPS = 100


@numba.njit(cache=True, nogil=True)
def guess_price(profit: Floats, rank: int) -> float:
    """Return about the ``rank``-th largest profit, from a regular sample; 0 where there is none.

    Where profits fall along every path, that price takes about ``rank`` chunks.
    """
    n = profit.shape[0]
    sample = profit[0 : n : max(n // SAMPLE, 1)].copy()
    sample.sort()
    at = sample.shape[0] - 1 - int(rank / n * sample.shape[0])
    return max(float(sample[at]), 0.0) if at >= 0 else 0.0


@numba.njit(cache=True, nogil=True)
def contract(
    profit: Floats,
    parents: Index,
    depth: Index,
    budget: int,
    price: float,
    gain: Floats,
    place: Index,
    value: Floats,
    up: Index,
    node: Index,
) -> int:
    """Contract the forest to its best set at ``price``; return that set's number of chunks, u.

    Chunks deeper than ``budget`` allows are left out first. Writes, for the u chunks in preorder,
    profit, parent (index among them, or -1) and position to ``value``, ``up`` and ``node``. At
    price 0 no chunk left out is in any minimal optimum for the budget. ``gain`` and ``place`` are
    work space of shape (n,).
    """
    n = profit.shape[0]
    gain[:n] = -price
    for i in range(n - 1, -1, -1):
        h = gain[i] + profit[i] if depth[i] < budget else -1.0
        gain[i] = h
        if h > 0.0 and parents[i] >= 0:
            gain[parents[i]] += h
    u = 0
    for i in range(n):
        q = parents[i]
        place[i] = -1
        if gain[i] > 0.0 and (q < 0 or place[q] >= 0):
            place[i] = u
            value[u] = profit[i]
            up[u] = -1 if q < 0 else place[q]
            node[u] = i
            u += 1
    return u


@numba.njit(cache=True, nogil=True)
def _best_set(
    value: Floats, up: Index, count: int, price: float, gain: Floats, place: Index
) -> int:
    """Find the best set at ``price``; return its size.

    ``place`` becomes the chunk's index within the set, or -1 - its index outside of it.
    """
    gain[:count] = -price
    for c in range(count - 1, -1, -1):
        h = gain[c] + value[c]
        gain[c] = h
        if h > 0.0 and up[c] >= 0:
            gain[up[c]] += h
    size = 0
    for c in range(count):
        q = up[c]
        if gain[c] > 0.0 and (q < 0 or place[q] >= 0):
            place[c] = size
            size += 1
        else:
            place[c] = -1 - (c - size)
    return size


@numba.njit(cache=True, nogil=True)
def search_price(
    value: Floats,
    up: Index,
    count: int,
    budget: int,
    rest_value: Floats,
    rest_up: Index,
    rest: Index,
    gain: Floats,
    place: Index,
    taken: Mask,
) -> tuple[float, int, float]:
    """Find the price c at which L is least.

    Parameters
    ----------
    value, up, count, budget
        A contracted forest, the best set at some price, of ``count`` > ``budget`` >= 1 chunks.
    rest_value, rest_up, rest, gain, place
        Work space of shape (count,).
    taken
        Receives the best set just above c, which is no larger than the budget.

    Returns
    -------
    price : float
        The best price, >= 0.
    remaining : int
        How many chunks are in the best set just below c and not in the one just above: their
        indices are the first of ``rest``, ascending. 0 where the set above fills the budget, and
        so is an optimum.
    excess : float
        L(c) less the worth of ``taken`` and of the budget it leaves, at c a chunk: 0 but for
        rounding, unless the search was cut off.
    """
    rest_value[:count] = value[:count]
    rest_up[:count] = up[:count]
    for c in range(count):
        rest[c] = c
    taken[:count] = False
    left = budget
    price = 0.0
    for _ in range(MOST_STEPS):
        # Either the best sets at their own mean density are others, and closer, or this is where
        # the lines of L that belong to the two sets meet.
        price = 0.0
        for c in range(count):
            price += rest_value[c]
        price /= count
        size = _best_set(rest_value, rest_up, count, price, gain, place)
        if size in {0, count}:
            break
        takes = size <= left
        kept = 0
        for c in range(count):
            inside = place[c] >= 0
            if inside and takes:
                taken[rest[c]] = True
            elif inside or takes:
                q = rest_up[c]
                if q >= 0:
                    q = place[q] if inside else max(-1 - place[q], -1)
                rest_up[kept] = q
                rest_value[kept] = rest_value[c]
                rest[kept] = rest[c]
                kept += 1
        count = kept
        if takes:
            left -= size
            if left == 0:
                return max(price, 0.0), 0, 0.0
    price = max(price, 0.0)
    _best_set(rest_value, rest_up, count, price, gain, place)
    excess = 0.0
    for c in range(count):
        if rest_up[c] < 0 and gain[c] > 0.0:
            excess += gain[c]
    return price, count, excess


@numba.njit(cache=True, nogil=True)
def flip_losses(
    value: Floats, up: Index, count: int, price: float, gain: Floats, loss: Floats
) -> None:
    """Compute what forcing each chunk against the best set at ``price`` costs the relaxation.

    ``loss[c]`` becomes, for a chunk in the best set, what leaving it out with all below it costs
    (>= 0); for another, minus what taking it with all its ancestors costs (<= 0). Taking a chunk
    costs the sum of max(0, -h) along its path; leaving one out costs the lesser of its own h, with
    its parent in, and of leaving its parent out.
    """
    gain[:count] = -price
    for c in range(count - 1, -1, -1):
        h = gain[c] + value[c]
        gain[c] = h
        if h > 0.0 and up[c] >= 0:
            gain[up[c]] += h
    for c in range(count):
        h = gain[c]
        q = up[c]
        if q < 0:
            loss[c] = h
        elif loss[q] < 0.0:
            loss[c] = loss[q] + min(h, 0.0)
        else:
            loss[c] = min(h, loss[q])


@numba.njit(cache=True, nogil=True)
def narrowest_limit(loss: Floats, count: int, need: float, core: int) -> float:
    """Return the largest of need, need / 2, need / 4, ... that at most ``core`` losses reach.

    Or ``need`` itself, where not many more than that reach it.
    """
    within = np.zeros(HALVINGS + 1, dtype=np.int64)
    for c in range(count):
        size = abs(loss[c])
        if size <= need:
            halvings = 0 if size > 0.0 else HALVINGS
            while size <= need / 2 and halvings < HALVINGS:
                size *= 2
                halvings += 1
            within[halvings] += 1
    if within.sum() <= min(4 * core, MANY):
        return need
    reached = 0
    for halvings in range(HALVINGS, -1, -1):
        reached += within[halvings]
        if reached > core:
            return float(need / 2.0 ** min(halvings + 1, HALVINGS))
    return need


@numba.njit(cache=True, nogil=True, fastmath={"reassoc"})
def rounding_bound(profit: Floats, price: float) -> float:
    """Return how far rounding can move a sum of this module that decides anything.

    Each is a sum of at most 2 n terms, and those near a decision are below the sum of all
    max(0, profit - price).
    """
    total = 0.0
    for p in profit:
        total += max(p - price, 0.0)
    return float(8 * np.finfo(np.float64).eps * profit.shape[0] * total)
