"""The verifier's own tree programs, in whole numbers: plain, and apart from the solvers'.

All arrays are by preorder position. With next(i) the first position after i's subtree,

    D[i, j] = max( D[next(i), j],  p(i) + D[i+1, j-1] ),   D[n, .] = D[., 0] = 0

is the most that a parent-closed set of at most j of the chunks i, i+1, .. is worth, all ancestors
of i given. Seen as a walk from (0, k) to n, that is a longest path: "take" goes from (i, j) to
(i+1, j-1) and earns p(i), "skip" goes to (next(i), j). With A[i, j] the best way from the start to
(i, j), every chunk's value when forced in or out is read off A and D.

Profits are Python integers of any size (dtype object), or int64 whose sum stays below 2**61.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from .narrowing import relaxed

Index = NDArray[np.int32]
Mask = NDArray[np.bool_]
Int64 = NDArray[np.int64]
#: int64, or Python integers as dtype object.
Integers = NDArray[Any]

#: No way leads here. Even with a worth of 2**61 added it stays negative, and fits int64.
NO_WAY = -(2**62)


@dataclass(frozen=True, eq=False)
class Reduced:
    """A worker's choice under decisions: some chunks in with their ancestors, some out.

    Chunks that are in come before all else and are taken off the budget; of the others those that
    are not out, and have something of interest in their subtree, keep their preorder. A chunk's
    subtree stays contiguous, since nothing that is in lies below a free chunk, and everything
    below what is out, or of no interest, is so too.

    Attributes
    ----------
    inside, outside
        Masks of shape (n,): what is in, closed upwards; what is out, closed downwards.
    free
        Positions of the others that are of interest.
    end, parent
        Of the free chunks, within ``free``: the end of the subtree, and the parent or -1.
    room
        Budget left for the free chunks; negative where too much is in.
    """

    inside: Mask
    outside: Mask
    free: Index
    end: Index
    parent: Index
    room: int

    @property
    def feasible(self) -> bool:
        """Whether any set obeys the decisions."""
        return self.room >= 0 and not bool((self.inside & self.outside).any())


def reduced(
    end: Index,
    parent: Index,
    budget: int,
    taken: NDArray[Any],
    barred: NDArray[Any],
    interest: Mask,
) -> Reduced:
    """Apply decisions: the positions ``taken`` are in, the positions ``barred`` are out.

    ``interest``, shape (n,), is where a chunk has a profit, or its own value is asked for. A set
    loses nothing when it leaves out subtrees without any.
    """
    n = end.size
    # A chunk is in where something in its subtree is taken, and out where it or an ancestor is
    # barred: where more of their subtrees have begun than ended.
    takes = _counts_before(np.bincount(taken, minlength=n))
    inside = takes[end] > takes[:n]
    begun = np.bincount(barred, minlength=n + 1) - np.bincount(end[barred], minlength=n + 1)
    outside = np.cumsum(begun)[:n] > 0
    interests = _counts_before(interest)
    choices = ~inside & ~outside & (interests[end] > interests[:n])
    free = np.flatnonzero(choices).astype(np.int32)
    before = _counts_before(choices)
    above = parent[free]
    hanging = (above >= 0) & ~inside[above]
    return Reduced(
        inside=inside,
        outside=outside,
        free=free,
        end=before[end[free]],
        parent=np.where(hanging, before[above], -1).astype(np.int32),
        room=min(budget, n) - int(np.count_nonzero(inside)),
    )


def _counts_before(each: NDArray[Any]) -> Index:
    counts = np.zeros(each.size + 1, dtype=np.int32)
    np.cumsum(each, dtype=np.int32, out=counts[1:])
    return counts


def best_value(profit: Integers, choice: Reduced) -> int | None:
    """Return the most that a set is worth which obeys ``choice``; None where none does."""
    if not choice.feasible:
        return None
    free = profit[choice.free]
    base = int(profit[choice.inside].sum())
    room = min(choice.room, free.size)
    if profit.dtype == object:
        return base + int(_best_value_object(free, choice.end, room))
    # Only sets that are worth no less than one that is known.
    bounds = relaxed(free, choice.parent, room)
    core = reduced(
        choice.end,
        choice.parent,
        room,
        np.flatnonzero(bounds.value_out < bounds.reached),
        np.flatnonzero(bounds.value_in < bounds.reached),
        free > 0,
    )
    base += int(free[core.inside].sum())
    left = free[core.free]
    return base + int(_best_value_int64(left, core.end, min(core.room, left.size)))


def relaxed_values(profit: Int64, choice: Reduced) -> tuple[Int64, Int64]:
    """Return no less than :func:`forced_values` does, without its table of all budgets."""
    bounds = relaxed(profit[choice.free], choice.parent, min(choice.room, choice.free.size))
    base = profit[choice.inside].sum()
    value_in = np.full(profit.shape, base + bounds.highest, dtype=np.int64)
    value_out = value_in.copy()
    value_in[choice.outside] = NO_WAY
    value_out[choice.inside] = NO_WAY
    value_in[choice.free] = base + bounds.value_in
    value_out[choice.free] = base + bounds.value_out
    return value_in, value_out


def forced_values(profit: Integers, choice: Reduced) -> tuple[Integers, Integers]:
    """Return what every chunk is worth when it is forced in, and when it is forced out.

    Two arrays of shape (n,): the most a set is worth that obeys ``choice``, which must be
    feasible, and holds the chunk, or does not; negative where there is no such set. They hold
    for the chunks of interest.
    """
    whole = profit.dtype == object
    free = profit[choice.free]
    room = min(choice.room, free.size)
    base = profit[choice.inside].sum()
    best = best_value(profit, choice)
    no_way = -4 * (int(profit.sum()) + 1) if whole else NO_WAY
    if whole:
        found = _forced_values_object(free, choice.end, choice.parent, room, no_way)
    else:
        # Ways lead from where the walk is to the next chunk, or past the subtree of an ancestor.
        rows = _height(choice.parent) + 2
        found = _forced_values_int64(free, choice.end, choice.parent, room, no_way, rows)
    free_in, free_out = found
    value_in = np.full(profit.shape, best, dtype=profit.dtype)
    value_out = value_in.copy()
    value_in[choice.outside] = no_way
    value_out[choice.inside] = no_way
    value_in[choice.free] = np.where(free_in < 0, no_way, free_in + base)
    value_out[choice.free] = np.where(free_out < 0, no_way, free_out + base)
    return value_in, value_out


def _height(parent: Index) -> int:
    """Return the number of chunks on the longest path down, at least 1."""
    level = np.ones(max(parent.size, 1), dtype=np.int64)
    for i, above in enumerate(parent.tolist()):
        if above >= 0:
            level[i] = level[above] + 1
    return int(level.max())


def _best_value_object(profit: Integers, end: Index, room: int) -> Any:
    n = profit.size
    readers = np.bincount(end, minlength=n + 1)
    rows = {n: np.zeros(room + 1, dtype=object)}
    for i in range(n - 1, -1, -1):
        skip, below = rows[int(end[i])], rows[i + 1]
        row = skip.copy()
        row[1:] = np.maximum(skip[1:], below[:-1] + profit[i])
        rows[i] = row
        readers[end[i]] -= 1
        for done in {int(end[i]), i + 1}:
            if readers[done] == 0 and done > i:
                del rows[done]
    return rows[0][room]


def _forced_values_object(
    profit: Integers, end: Index, parent: Index, room: int, no_way: int
) -> tuple[Integers, Integers]:
    n = profit.size
    down = np.zeros((n + 1, room + 1), dtype=object)
    for i in range(n - 1, -1, -1):
        down[i] = down[end[i]]
        down[i, 1:] = np.maximum(down[i, 1:], down[i + 1, :-1] + profit[i])
    ways = np.full((n + 1, room + 1), no_way, dtype=object)
    ways[0, room] = 0
    value_in = np.full(n, no_way, dtype=object)
    value_out = np.full(n, no_way, dtype=object)
    for i in range(n):
        way = ways[i]
        value_out[i] = max(way + down[end[i]])
        if parent[i] >= 0:
            value_out[i] = max(value_out[i], value_out[parent[i]])
        if room:
            value_in[i] = max(way[1:] + profit[i] + down[i + 1, :-1])
            ways[i + 1, :-1] = np.maximum(ways[i + 1, :-1], way[1:] + profit[i])
        ways[end[i]] = np.maximum(ways[end[i]], way)
    return value_in, value_out


@numba.njit(cache=True, nogil=True)
def _best_value_int64(profit: Int64, end: Index, room: int) -> int:
    n = profit.shape[0]
    # A row lives until its last reader has passed; first count how many live at once.
    readers = np.zeros(n + 1, dtype=np.int32)
    for i in range(n):
        readers[end[i]] += 1
        readers[i + 1] += 1
    left = readers.copy()
    live = 1
    most = 1
    for i in range(n - 1, -1, -1):
        live += 1
        most = max(most, live)
        for q in (np.int64(end[i]), np.int64(i + 1)):
            left[q] -= 1
            if left[q] == 0:
                live -= 1
    rows = np.zeros((most, room + 1), dtype=np.int64)
    spare = np.arange(most - 1, 0, -1)
    spares = most - 1
    row_of = np.zeros(n + 1, dtype=np.int64)
    for i in range(n - 1, -1, -1):
        spares -= 1
        row_of[i] = spare[spares]
        target = rows[row_of[i]]
        skip = rows[row_of[end[i]]]
        below = rows[row_of[i + 1]]
        p = profit[i]
        target[0] = 0
        for j in range(1, room + 1):
            target[j] = max(skip[j], p + below[j - 1])
        for q in (np.int64(end[i]), np.int64(i + 1)):
            readers[q] -= 1
            if readers[q] == 0:
                spare[spares] = row_of[q]
                spares += 1
    return int(rows[row_of[0], room])


@numba.njit(cache=True, nogil=True)
def _forced_values_int64(
    profit: Int64, end: Index, parent: Index, room: int, no_way: int, most: int
) -> tuple[Int64, Int64]:
    n = profit.shape[0]
    down = np.zeros((n + 1, room + 1), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        skip = down[end[i]]
        below = down[i + 1]
        target = down[i]
        p = profit[i]
        for j in range(1, room + 1):
            target[j] = max(skip[j], p + below[j - 1])
    # Row q of the ways lives from the first way that leads to q until the walk has passed q.
    rows = np.empty((most, room + 1), dtype=np.int64)
    row_of = np.full(n + 1, -1, dtype=np.int64)
    spare = np.arange(most)
    spares = most - 1
    row_of[0] = spare[spares]
    rows[row_of[0]] = no_way
    rows[row_of[0], room] = 0
    value_in = np.full(n, no_way, dtype=np.int64)
    value_out = np.full(n, no_way, dtype=np.int64)
    for i in range(n):
        for q in (np.int64(end[i]), np.int64(i + 1)):
            if row_of[q] < 0:
                spares -= 1
                row_of[q] = spare[spares]
                rows[row_of[q]] = no_way
        p = profit[i]
        way = rows[row_of[i]]
        taken = rows[row_of[i + 1]]
        skipped = rows[row_of[end[i]]]
        skip = down[end[i]]
        below = down[i + 1]
        best_out = way[0] + skip[0]
        best_in = no_way
        for j in range(1, room + 1):
            best_out = max(best_out, way[j] + skip[j])
            earned = way[j] + p
            best_in = max(best_in, earned + below[j - 1])
            taken[j - 1] = max(taken[j - 1], earned)
        for j in range(room + 1):
            skipped[j] = max(skipped[j], way[j])
        if parent[i] >= 0:
            best_out = max(best_out, value_out[parent[i]])
        value_in[i] = best_in
        value_out[i] = best_out
        spare[spares] = row_of[i]
        spares += 1
    return value_in, value_out
