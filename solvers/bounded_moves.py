"""The tree oracle with a second budget: the best closed set that loads at most q new chunks.

In preorder, with next(i) the first position after i's subtree and c(i) = 1 where b_i is new,

    D[i, j, q] = max( D[next(i), j, q],  p(b_i) + D[i + 1, j - 1, q - c(i)] )

with D[n, ., .] = D[., 0, .] = 0 and minus infinity where q < 0. O(n k q) time and memory: for
small trees, or for the part of a tree that other solutions point to.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: Largest table, in cells of 8 bytes.
MOST_CELLS = 4_000_000


def table_cells(chunks: int, budget: int, moves: int) -> int:
    """Return the size of the table for that many chunks, budget and moves."""
    return (chunks + 1) * (min(budget, chunks) + 1) * (min(moves, chunks) + 1)


def best_with_moves(
    profit: Floats, new: Mask, depth: Index, usable: Mask, budget: int, moves: int
) -> Mask:
    """Return the most profitable closed subset of ``usable`` with at most ``moves`` new chunks.

    Parameters
    ----------
    profit, new, depth
        Shape (n,), by position: profits of any finite sign; which chunks count as moves; depths.
    usable
        Shape (n,), by position: a closed set.
    budget, moves
        Most chunks, and most new ones, >= 0.

    Returns
    -------
    ndarray of bool
        Shape (n,), by position. A chunk is taken only where that is strictly better.
    """
    at = np.flatnonzero(usable)
    chosen = _solve(
        profit[at], new[at], depth[at], min(budget, at.size), min(moves, int(new[at].sum()))
    )
    result = np.zeros(profit.size, dtype=np.bool_)
    result[at[chosen]] = True
    return result


@numba.njit(cache=True, nogil=True)
def _solve(profit: Floats, new: Mask, depth: Index, budget: int, moves: int) -> Mask:
    n = profit.shape[0]
    # In a closed part of a preorder, the first later position that is no deeper ends a subtree.
    after = np.empty(n, dtype=np.int32)
    for i in range(n - 1, -1, -1):
        j = i + 1
        while j < n and depth[j] > depth[i]:
            j = after[j]
        after[i] = j
    value = np.zeros((n + 1, budget + 1, moves + 1))
    for i in range(n - 1, -1, -1):
        cost = 1 if new[i] else 0
        for j in range(1, budget + 1):
            for q in range(moves + 1):
                best = value[after[i], j, q]
                if q >= cost:
                    best = max(best, profit[i] + value[i + 1, j - 1, q - cost])
                value[i, j, q] = best
    chosen = np.zeros(n, dtype=np.bool_)
    i, j, q = 0, budget, moves
    while i < n and j > 0:
        cost = 1 if new[i] else 0
        if q >= cost and value[i, j, q] > value[after[i], j, q]:
            chosen[i] = True
            i, j, q = i + 1, j - 1, q - cost
        else:
            i = after[i]
    return chosen
