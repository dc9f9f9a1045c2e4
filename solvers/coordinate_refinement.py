"""Coordinate refinement inside a subproblem: one worker after the other, exactly, others fixed.

The same walk as :func:`prefixplace_opt.solvers.greedy.refine`, on what the decisions leave open:
on a reduced problem it costs little more than one evaluation of the bound, so that every iterate
of the Lagrangian can be turned into a plan.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from .pricing import TABLE_CELLS, Pricer, best_set, table_size

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: A worker is replaced only when that gains more than this share of its own value.
STRICT_IMPROVEMENT = 1e-9


class Refinement:
    """Refines choices of slots of one subproblem, reusing its buffers.

    Attributes
    ----------
    possible
        Whether every worker's table fits; :meth:`refine` must not be called otherwise.
    """

    def __init__(self, pricer: Pricer) -> None:
        sub = self._sub = pricer.subproblem
        workers = range(sub.form.m)
        self.possible = bool((sub.cells <= TABLE_CELLS).all())
        size = max((table_size(sub, h) for h in workers), default=0)
        self._table = np.empty(size if self.possible else 0)
        self._entries = _entries_by_slot(sub.slots, sub.row_first, sub.entry_slot)

    def refine(self, taken: Mask) -> tuple[float, Mask]:
        """Return a choice of slots that no single worker improves on, and its value.

        The value includes the subproblem's constant.
        """
        sub = self._sub
        chosen = taken.copy()
        value = _refine(
            chosen,
            sub.first,
            sub.end,
            sub.budget,
            sub.local,
            sub.row_first,
            sub.entry_slot,
            sub.entry_gain,
            *self._entries,
            self._table,
        )
        return sub.constant + value, chosen


def _entries_by_slot(
    slots: int, row_first: NDArray[np.int64], entry_slot: Index
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return every entry's row, and the entries of slot s as ``order[first[s] : first[s + 1]]``."""
    row = np.repeat(np.arange(row_first.size - 1), np.diff(row_first))
    order = np.argsort(entry_slot, kind="stable")
    first = np.zeros(slots + 1, dtype=np.int64)
    np.cumsum(np.bincount(entry_slot, minlength=slots), out=first[1:])
    return row, order, first


@numba.njit(cache=True, nogil=True)
def _refine(
    taken: Mask,
    first: NDArray[np.int64],
    end: Index,
    budget: NDArray[np.int64],
    local: Floats,
    row_first: NDArray[np.int64],
    entry_slot: Index,
    entry_gain: Floats,
    entry_row: NDArray[np.int64],
    order: NDArray[np.int64],
    slot_first: NDArray[np.int64],
    table: Floats,
) -> float:
    m = budget.shape[0]
    settled = 0
    h = 0
    while settled < m:
        start, stop = first[h], first[h + 1]
        profit = local[start:stop].copy()
        current = 0.0
        for s in range(start, stop):
            for at in range(slot_first[s], slot_first[s + 1]):
                e = order[at]
                r = entry_row[e]
                others = 0.0
                for f in range(row_first[r], row_first[r + 1]):
                    if f != e and taken[entry_slot[f]] and entry_gain[f] > others:
                        others = entry_gain[f]
                if entry_gain[e] > others:
                    profit[s - start] += entry_gain[e] - others
            if taken[s]:
                current += profit[s - start]
        chosen = np.zeros(stop - start, dtype=np.bool_)
        value = best_set(profit, end[start:stop], budget[h], table, chosen)
        if value > current * (1 + STRICT_IMPROVEMENT):
            taken[start:stop] = chosen
            settled = 1
        else:
            settled += 1
        h = (h + 1) % m
    value = 0.0
    for s in range(taken.shape[0]):
        if taken[s]:
            value += local[s]
    for r in range(row_first.shape[0] - 1):
        best = 0.0
        for e in range(row_first[r], row_first[r + 1]):
            if taken[entry_slot[e]] and entry_gain[e] > best:
                best = entry_gain[e]
        value += best
    return value
