"""The service rows of a subproblem as plain coverage: weights earned once somebody holds a chunk.

A row worth g_1 > g_2 > ... > g_L from its free holders is worth

    max over holders = sum_l (g_l - g_{l+1}) [some holder of gain >= g_l],   g_{L+1} = 0,

so that every row is a stack of *elements*, each with a weight and a set of slots, nested. In the
configuration LP an element earns its weight times min(1, sum of the columns that hold one of its
slots): the facility-location relaxation, with linear prices. An element of one slot is simply
worth its weight there. Elements of one chunk with the same slots are merged, whichever rows they
come from. If ``q`` are prices of the elements, 0 <= q_e <= weight_e, then a_r = sum of the shares
of r in q is a price vector of the rows whose bound is no larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from .subproblem import Subproblem

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CoverageElements:
    """The elements of a subproblem.

    Attributes
    ----------
    own
        Shape (slots,): what each slot is worth by itself.
    weight
        Shape (E,), > 0.
    slot_first, slot_element
        Slot s is in the elements ``slot_element[slot_first[s] : slot_first[s + 1]]``.
    part_row, part_element, part_weight
        Shape (parts,): row ``part_row`` has ``part_weight`` in element ``part_element``.
    """

    own: Floats
    weight: Floats
    slot_first: Counts
    slot_element: Index
    part_row: Index
    part_element: Index
    part_weight: Floats

    @classmethod
    def of(cls, sub: Subproblem) -> CoverageElements:
        """Split the rows of ``sub``."""
        own = sub.local.copy()
        row, weight, first, slot = _levels(sub.row_first, sub.entry_slot, sub.entry_gain, own)
        # Equal sets of slots: equal fingerprints. Slots differ between chunks, so chunks never mix.
        rng = np.random.default_rng(0)
        code = rng.integers(0, 2**63, size=(sub.slots, 2), dtype=np.uint64)
        print_of = np.zeros((row.size, 2), dtype=np.uint64)
        owner = np.repeat(np.arange(row.size), np.diff(first))
        np.add.at(print_of, owner, code[slot])
        _, representative, element = np.unique(
            print_of, axis=0, return_index=True, return_inverse=True
        )
        element = element.ravel()
        keep = np.zeros(row.size, dtype=np.bool_)
        keep[representative] = True
        kept = keep[owner]
        order = np.argsort(slot[kept], kind="stable")
        slot_first = np.zeros(sub.slots + 1, dtype=np.int64)
        np.cumsum(np.bincount(slot[kept], minlength=sub.slots), out=slot_first[1:])
        return cls(
            own=own,
            weight=_sums(element, weight, representative.size),
            slot_first=slot_first,
            slot_element=element[owner[kept]][order].astype(np.int32),
            part_row=row,
            part_element=element.astype(np.int32),
            part_weight=weight,
        )

    @property
    def size(self) -> int:
        """Number of elements, E."""
        return int(self.weight.size)

    def row_prices(self, prices: Floats, rows: int) -> Floats:
        """Return the prices of the rows that prices of the elements amount to."""
        share = self.part_weight * (prices / self.weight)[self.part_element]
        return _sums(self.part_row, share, rows)


def _sums(index: NDArray[np.integer[Any]], values: Floats, size: int) -> Floats:
    sums: Floats = np.bincount(index, weights=values, minlength=size).astype(np.float64)
    return sums


@numba.njit(cache=True, nogil=True)
def _levels(
    row_first: Counts, entry_slot: Index, entry_gain: Floats, own: Floats
) -> tuple[Index, Floats, Counts, Index]:
    """Return row, weight and slots of levels with several slots; the others go to ``own``."""
    rows = row_first.shape[0] - 1
    most = entry_slot.shape[0]
    widest = 0
    pairs = 0
    for r in range(rows):
        width = row_first[r + 1] - row_first[r]
        widest = max(widest, width)
        pairs += width * (width + 1) // 2
    row = np.empty(most, dtype=np.int32)
    weight = np.empty(most)
    first = np.zeros(most + 1, dtype=np.int64)
    slot = np.empty(pairs, dtype=np.int32)
    count = 0
    filled = 0
    for r in range(rows):
        start, stop = row_first[r], row_first[r + 1]
        order = np.argsort(-entry_gain[start:stop], kind="mergesort")
        width = stop - start
        for at in range(width):
            gain = entry_gain[start + order[at]]
            after = entry_gain[start + order[at + 1]] if at + 1 < width else 0.0
            if gain <= after:
                continue
            if at == 0:
                own[entry_slot[start + order[0]]] += gain - after
                continue
            for e in range(at + 1):
                slot[filled + e] = entry_slot[start + order[e]]
            filled += at + 1
            row[count] = r
            weight[count] = gain - after
            count += 1
            first[count] = filled
    return (
        row[:count].copy(),
        weight[:count].copy(),
        first[: count + 1].copy(),
        slot[:filled].copy(),
    )
