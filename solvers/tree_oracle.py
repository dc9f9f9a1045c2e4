"""The tree oracle: the most profitable parent-closed set of at most k chunks.

In preorder, with next(i) the first position after i's subtree,

    D[i, j] = max( D[next(i), j],  p(b_i) + D[i + 1, j - 1] ),   D[n, .] = D[., 0] = 0

(DESIGN section 2; the worker subproblem of PrefixPlace). O(n k) time. Going from the last position
to the first, only the rows next(a) of the ancestors a of i are read again, so values take
O(depth k) memory; decisions take one bit a cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from prefixplace_opt.problem import PrefixTree

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Bits = NDArray[np.uint8]
Mask = NDArray[np.bool_]


class ClosedSet(NamedTuple):
    """A parent-closed set and what it is worth.

    Attributes
    ----------
    value
        Sum of the profits of its chunks.
    resident
        Mask of shape (n,), by position.
    """

    value: float
    resident: Mask


class TreeOracle:
    """Solves the single-worker problem on one tree again and again, reusing its buffers.

    One object serves one thread.
    """

    def __init__(self, tree: PrefixTree) -> None:
        self._end = tree.end
        self._depth = tree.preorder_depth
        self._slots = int(_most_rows(self._depth)) + 2
        self._rows = np.empty((0, 0))
        self._taken = np.empty((0, 0), dtype=np.uint8)

    def solve(self, profit: Floats, budget: int) -> ClosedSet:
        """Return a parent-closed set of at most ``budget`` chunks of largest total profit.

        ``profit`` has shape (n,), by position, any finite sign. Among optima the choice is fixed:
        a chunk is taken only where that is strictly better than leaving it.
        """
        n = profit.size
        k = min(budget, n)
        if k <= 0:
            return ClosedSet(0.0, np.zeros(n, dtype=np.bool_))
        if self._rows.shape[1] < k + 1:
            self._rows = np.empty((self._slots, k + 1))
            self._taken = np.empty((n, (k + 7) // 8), dtype=np.uint8)
        _fill(profit, self._depth, k, self._rows, self._taken)
        resident = _read_back(self._end, k, self._taken)
        return ClosedSet(float(profit[resident].sum()), resident)


@numba.njit(cache=True, nogil=True)
def _most_rows(depth: Index) -> int:
    """Return how many rows the stack of :func:`_fill` holds at most."""
    n = depth.shape[0]
    starts = np.empty(n + 1, dtype=np.int32)
    height = 1
    starts[0] = -1
    most = 1
    for i in range(n - 2, -1, -1):
        if depth[i] >= depth[i + 1]:
            while starts[height - 1] >= depth[i + 1]:
                height -= 1
            starts[height] = depth[i + 1]
            height += 1
            most = max(most, height)
    return most


@numba.njit(cache=True, nogil=True)
def _fill(profit: Floats, depth: Index, k: int, rows: Floats, taken: Bits) -> None:
    """Run the recurrence; ``taken`` gets bit j - 1 of row i for "take b_i with j chunks left".

    The rows still to be read form a stack: entry s serves, as next(a), every ancestor a of the
    current position with depth from ``starts[s]`` up to the entry above. A row enters when the
    walk turns from it into an earlier sibling's subtree and leaves when its parent is reached.
    """
    n = profit.shape[0]
    starts = np.empty(rows.shape[0], dtype=np.int32)
    row_of = np.empty(rows.shape[0], dtype=np.int32)
    free = np.empty(rows.shape[0], dtype=np.int32)
    frees = 0
    for slot in range(rows.shape[0] - 1, 1, -1):
        free[frees] = slot
        frees += 1
    rows[0, : k + 1] = 0.0
    starts[0] = -1
    row_of[0] = 0
    height = 1
    current = 1
    better = np.empty(k, dtype=np.uint8)
    for i in range(n - 1, -1, -1):
        inner = i + 1 < n and depth[i] < depth[i + 1]
        if inner:
            # i is the parent of i + 1: the rows of its later children have served.
            while starts[height - 1] > depth[i]:
                height -= 1
                free[frees] = row_of[height]
                frees += 1
        elif i + 1 < n:
            while starts[height - 1] >= depth[i + 1]:
                height -= 1
                free[frees] = row_of[height]
                frees += 1
            starts[height] = depth[i + 1]
            row_of[height] = current
            height += 1
            frees -= 1
            current = free[frees]
        skip = rows[row_of[height - 1]]
        target = rows[current]
        below = target if inner else skip
        p = profit[i]
        # Downwards, so that a row may be overwritten while below[j - 1] is still wanted.
        for j in range(k, 0, -1):
            take = p + below[j - 1]
            better[j - 1] = take > skip[j]
            target[j] = max(take, skip[j])
        target[0] = 0.0
        for byte in range((k + 7) // 8):
            packed = 0
            for bit in range(min(8, k - 8 * byte)):
                packed |= better[8 * byte + bit] << bit
            taken[i, byte] = packed


@numba.njit(cache=True, nogil=True)
def _read_back(end: Index, k: int, taken: Bits) -> Mask:
    n = end.shape[0]
    resident = np.zeros(n, dtype=np.bool_)
    i = 0
    j = k
    while i < n and j > 0:
        if taken[i, (j - 1) >> 3] >> ((j - 1) & 7) & 1:
            resident[i] = True
            j -= 1
            i += 1
        else:
            i = end[i]
    return resident
