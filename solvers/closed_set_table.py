"""The plain dynamic programme for the best parent-closed set of at most k chunks of a forest.

In preorder, with next(i) the first position after i's subtree,

    D[i, j] = max( D[next(i), j],  p(b_i) + D[i + 1, j - 1] ),   D[n, .] = D[., 0] = 0

(DESIGN section 2; the worker subproblem of PrefixPlace). Going from the last position to the first,
only the rows next(a) of the ancestors a of i are read again, so values take O(depth k) memory;
decisions take one bit a cell. Row i is needed for lo(i) = max(0, k - i) <= j only, since at most i
chunks were taken before it, and is constant from hi(i) = min(k, n - i) on.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Bits = NDArray[np.uint8]
Mask = NDArray[np.bool_]

#: Most blocks of positions whose rows are kept.
MOST_BLOCKS = 64
# Rows of the stack of the recurrence; the last one holds its height, the number of free rows of
# the table, and the current one.
STARTS, ROW_OF, FILLED, FREE, SCALARS, STACK = 0, 1, 2, 3, 4, 5


@numba.njit(cache=True, nogil=True)
def table_width(n: int, budget: int) -> int:
    """Return the most cells that are decided in one row."""
    return max(min(budget, n - budget + 1), 1)


@numba.njit(cache=True, nogil=True)
def most_rows(depth: Index, n: int) -> int:
    """Return how many rows are kept at once for the first ``n`` positions."""
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
def solve_by_table(
    profit: Floats,
    depth: Index,
    end: Index,
    n: int,
    budget: int,
    memory: int,
    resident: Mask,
) -> float:
    """Write a best closed set of the first ``n`` positions to ``resident``; return its worth.

    Parameters
    ----------
    profit, depth, end
        By position. ``budget`` lies in 1 .. n.
    memory
        Bytes that the decisions may take. Where all of them take more, the recurrence runs twice:
        once to leave its rows at the ends of blocks of positions, then, from the first block on,
        again with the decisions of one block at a time.
    """
    width = (table_width(n, budget) + 7) // 8
    rows = np.empty((most_rows(depth, n), budget + 1))
    stack = np.empty((STACK, rows.shape[0] + 1), dtype=np.int32)
    better = np.zeros(8 * width, dtype=np.uint8)
    blocks = 1
    if n * width > memory:
        # The decisions of a block and the rows at all ends: least for about as many as this.
        least = math.ceil(math.sqrt(n * width / (8.0 * rows.size)))
        blocks = min(max(least, min(math.ceil(2 * n * width / memory), MOST_BLOCKS)), n)
    length = (n + blocks - 1) // blocks
    taken = np.empty((length, width), dtype=np.uint8)
    kept_rows = np.empty((blocks - 1, rows.shape[0], budget + 1))
    kept_stack = np.empty((blocks - 1, STACK, stack.shape[1]), dtype=np.int32)
    _begin(rows, stack, budget)
    for block in range((n - 1) // length, 0, -1):
        kept_rows[block - 1] = rows
        kept_stack[block - 1] = stack
        stop = min((block + 1) * length, n)
        _fill(profit, depth, block * length, stop, n, budget, rows, stack, better, taken)
    _fill(profit, depth, 0, min(length, n), n, budget, rows, stack, better, taken)
    worth = float(rows[stack[SCALARS, 2], budget])
    resident[:n] = False
    i = 0
    j = budget
    block = 0
    while i < n and j > 0:
        if i // length != block:
            block = i // length
            rows[:] = kept_rows[block - 1]
            stack[:] = kept_stack[block - 1]
            stop = min((block + 1) * length, n)
            _fill(profit, depth, block * length, stop, n, budget, rows, stack, better, taken)
        bit = min(j, n - i) - max(1, budget - i)
        # A tie leaves the chunk.
        if taken[i - block * length, bit >> 3] >> (bit & 7) & 1:
            resident[i] = True
            j -= 1
            i += 1
        else:
            i = end[i]
    return worth


@numba.njit(cache=True, nogil=True)
def _begin(rows: Floats, stack: Index, budget: int) -> None:
    """Set the state of :func:`_fill` before the last position."""
    rows[0] = 0.0
    stack[STARTS, 0] = -1
    stack[ROW_OF, 0] = 0
    stack[FILLED, 0] = budget
    frees = 0
    for slot in range(rows.shape[0] - 1, 1, -1):
        stack[FREE, frees] = slot
        frees += 1
    stack[SCALARS, 0] = 1
    stack[SCALARS, 1] = frees
    stack[SCALARS, 2] = 1


@numba.njit(cache=True, nogil=True)
def _fill(
    profit: Floats,
    depth: Index,
    start: int,
    stop: int,
    n: int,
    budget: int,
    rows: Floats,
    stack: Index,
    better: Bits,
    taken: Bits,
) -> None:
    """Run the recurrence for the positions ``start .. stop - 1``, after those from ``stop`` on.

    ``rows`` and ``stack`` are the state that a call leaves to the next. ``taken`` has a row for
    each position: bit ``j - max(1, lo(i))`` of row ``i - start`` says "take b_i when j chunks may
    still be taken". ``better`` is work space of ``table_width`` rounded up to a multiple of 8.

    Notes
    -----
    The rows still to be read form a stack: entry s serves, as next(a), every ancestor a of the
    current position with depth from ``starts[s]`` up to the entry above. A row enters when the
    walk turns from it into an earlier sibling's subtree and leaves when its parent is reached.
    """
    starts, row_of, filled, free = stack[STARTS], stack[ROW_OF], stack[FILLED], stack[FREE]
    height, frees, current = stack[SCALARS, 0], stack[SCALARS, 1], stack[SCALARS, 2]
    words = better.view(np.uint64)
    for i in range(stop - 1, start - 1, -1):
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
            taken[i - start, byte] = (words[byte] * np.uint64(0x0102040810204080)) >> np.uint64(56)
        if done >= 0:
            free[frees] = done
            frees += 1
    stack[SCALARS, 0], stack[SCALARS, 1], stack[SCALARS, 2] = height, frees, current


@numba.njit(cache=True, nogil=True)
def _fill_row(p: float, below: Floats, skip: Floats, target: Floats, better: Bits) -> None:
    for j in range(target.shape[0]):
        take = p + below[j]
        leave = skip[j]
        better[j] = take > leave
        target[j] = max(leave, take)
