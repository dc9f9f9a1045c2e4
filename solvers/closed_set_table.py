"""The plain dynamic programme for the best parent-closed set of at most k chunks of a forest.

In preorder, with next(i) the first position after i's subtree,

    D[i, j] = max( D[next(i), j],  p(b_i) + D[i + 1, j - 1] ),   D[n, .] = D[., 0] = 0

(DESIGN section 2; the worker subproblem of PrefixPlace). Going from the last position to the first,
only the rows next(a) of the ancestors a of i are read again, so values take O(depth k) memory;
decisions take one bit a cell. Row i is needed for lo(i) = max(0, k - i) <= j only, since at most i
chunks were taken before it, and is constant from hi(i) = min(k, n - i) on.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Bits = NDArray[np.uint8]
Mask = NDArray[np.bool_]


@numba.njit(cache=True, nogil=True)
def table_width(n: int, budget: int) -> int:
    """Return the most cells that :func:`fill` decides in one row."""
    return max(min(budget, n - budget + 1), 1) if budget <= n else 1


@numba.njit(cache=True, nogil=True)
def most_rows(depth: Index, n: int) -> int:
    """Return how many rows :func:`fill` keeps at once for the first ``n`` positions."""
    starts = np.empty(n + 2, dtype=np.int32)
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
        else:
            while starts[height - 1] > depth[i]:
                height -= 1
    return most + 2


@numba.njit(cache=True, nogil=True)
def fill(
    profit: Floats, depth: Index, n: int, budget: int, rows: Floats, better: Bits, taken: Bits
) -> float:
    """Run the recurrence on the first ``n`` positions and return D[0, budget].

    Parameters
    ----------
    profit, depth
        By position. ``budget`` lies in 1 .. n.
    rows
        Work space: at least ``most_rows`` rows of ``budget + 1``.
    better
        Work space: at least ``table_width`` rounded up to a multiple of 8.
    taken
        At least n rows of ``table_width / 8`` rounded up: bit ``j - max(1, lo(i))`` of row i says
        "take b_i when j chunks may still be taken".

    Notes
    -----
    The rows still to be read form a stack: entry s serves, as next(a), every ancestor a of the
    current position with depth from ``starts[s]`` up to the entry above. A row enters when the
    walk turns from it into an earlier sibling's subtree and leaves when its parent is reached.
    """
    slots = rows.shape[0]
    starts = np.empty(slots + 1, dtype=np.int32)
    row_of = np.empty(slots + 1, dtype=np.int32)
    filled = np.empty(slots, dtype=np.int64)
    free = np.empty(slots + 1, dtype=np.int32)
    frees = 0
    for slot in range(slots - 1, 1, -1):
        free[frees] = slot
        frees += 1
    rows[0, : budget + 1] = 0.0
    filled[0] = budget
    starts[0] = -1
    row_of[0] = 0
    height = 1
    current = 1
    words = better.view(np.uint64)
    for i in range(n - 1, -1, -1):
        inner = i + 1 < n and depth[i] < depth[i + 1]
        done = -1
        if inner:
            # i is the parent of i + 1: the rows of its later children have served.
            while starts[height - 1] > depth[i]:
                height -= 1
                free[frees] = row_of[height]
                frees += 1
            done = current
        elif i + 1 < n:
            while starts[height - 1] >= depth[i + 1]:
                height -= 1
                free[frees] = row_of[height]
                frees += 1
            starts[height] = depth[i + 1]
            row_of[height] = current
            height += 1
        high = min(budget, n - i)
        skipped = row_of[height - 1]
        skip = rows[skipped]
        if filled[skipped] < high:
            skip[filled[skipped] + 1 : high + 1] = skip[filled[skipped]]
            filled[skipped] = high
        below = rows[done] if inner else skip
        if i + 1 < n:
            frees -= 1
            current = free[frees]
        target = rows[current]
        low = max(1, budget - i)
        if low == 1:
            target[0] = 0.0
        width = high - low + 1
        _fill_row(
            profit[i], below[low - 1 : high], skip[low : high + 1], target[low : high + 1], better
        )
        filled[current] = high
        for byte in range((width + 7) // 8):
            # Gathers the low bits of eight bytes into one byte.
            taken[i, byte] = (words[byte] * np.uint64(0x0102040810204080)) >> np.uint64(56)
        if done >= 0:
            free[frees] = done
            frees += 1
    return float(rows[current, budget])


@numba.njit(cache=True, nogil=True)
def _fill_row(p: float, below: Floats, skip: Floats, target: Floats, better: Bits) -> None:
    for j in range(target.shape[0]):
        take = p + below[j]
        leave = skip[j]
        better[j] = take > leave
        target[j] = max(leave, take)


@numba.njit(cache=True, nogil=True)
def read_back(end: Index, n: int, budget: int, taken: Bits, resident: Mask) -> None:
    """Write what :func:`fill` chose to ``resident``, by position; a tie leaves the chunk."""
    resident[:n] = False
    i = 0
    j = budget
    while i < n and j > 0:
        bit = min(j, n - i) - max(1, budget - i)
        if taken[i, bit >> 3] >> (bit & 7) & 1:
            resident[i] = True
            j -= 1
            i += 1
        else:
            i = end[i]
