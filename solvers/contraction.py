"""The passes that contract a problem under decisions; :mod:`.subproblem` says to what."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
States = NDArray[np.int8]


@numba.njit(cache=True, nogil=True)
def potentials(
    inside: Mask, states: States, row_position: Index, row_value: Floats, local: Floats
) -> tuple[Floats, Floats]:
    """Return what each row is served, and the most each free (worker, position) could add."""
    served = np.zeros(row_position.shape[0])
    potential = local.copy()
    constant = row_value.shape[1] == 1
    for r in range(row_position.shape[0]):
        p = row_position[r]
        for h in range(inside.shape[0]):
            if inside[h, p]:
                served[r] = max(served[r], row_value[r, 0 if constant else h])
        for h in range(inside.shape[0]):
            if states[h, p] == 0:
                gain = row_value[r, 0 if constant else h] - served[r]
                if gain > 0.0:
                    potential[h, p] += gain
    return served, potential


@numba.njit(cache=True, nogil=True)
def contract(
    parents: Index, states: States, budget: Counts, potential: Floats
) -> tuple[Counts, Index, Index, Index, Index]:
    """Return first, position, end and parent of the slots, and every (worker, position)'s slot.

    Free chunks that are useful: within the budget's depth, something to gain in their subtree.
    """
    m, n = states.shape
    slot = np.full((m, n), -1, dtype=np.int32)
    depth_of = np.zeros(n, dtype=np.int32)
    useful = np.zeros(n, dtype=np.bool_)
    first = np.zeros(m + 1, dtype=np.int64)
    for h in range(m):
        for p in range(n):
            depth_of[p] = -1
            useful[p] = False
            if states[h, p] == 0:
                above = parents[p]
                depth_of[p] = depth_of[above] + 1 if above >= 0 else 0
        for p in range(n - 1, -1, -1):
            if states[h, p] != 0 or depth_of[p] >= budget[h]:
                continue
            if potential[h, p] > 0.0:
                useful[p] = True
            if useful[p] and parents[p] >= 0:
                useful[parents[p]] = True
        count = first[h]
        for p in range(n):
            if useful[p] and states[h, p] == 0:
                slot[h, p] = count
                count += 1
        first[h + 1] = count
    total = first[m]
    position = np.empty(total, dtype=np.int32)
    end = np.empty(total, dtype=np.int32)
    parent = np.empty(total, dtype=np.int32)
    for h in range(m):
        start = first[h]
        for p in range(n):
            s = slot[h, p]
            if s >= 0:
                position[s] = p
                end[s] = s - start + 1
                above = parents[p]
                parent[s] = max(slot[h, above] - start, -1) if above >= 0 else -1
        for s in range(first[h + 1] - 1, start - 1, -1):
            if parent[s] >= 0:
                end[start + parent[s]] = max(end[start + parent[s]], end[s])
    return first, position, end, parent, slot


@numba.njit(cache=True, nogil=True)
def dispute(
    slot: Index,
    row_position: Index,
    row_value: Floats,
    served: Floats,
    local: Floats,
    most_holders: int,
    table_numbers: int,
) -> tuple[Index, int, Counts, Index, Floats, Floats]:
    """Return the rows with several free holders; what only one can serve goes to its ``local``.

    The rows that keep a price of their own come first, and their number second. The others belong
    to chunks of several rows, decided or not, in dispute among at most ``most_holders`` slots,
    fewer where the tables of 2^holders numbers would exceed ``table_numbers``. So, as decisions are
    added, a chunk may pass from row prices to credits and never back.
    """
    m, n = slot.shape
    constant = row_value.shape[1] == 1
    rows = row_position.shape[0]
    width = np.zeros(rows, dtype=np.int64)
    stated = np.zeros(n, dtype=np.int64)
    disputed = np.zeros(n, dtype=np.bool_)
    holds = np.zeros((n, m), dtype=np.bool_)
    for r in range(rows):
        p = row_position[r]
        stated[p] += 1
        only = -1
        for h in range(m):
            if slot[h, p] >= 0 and row_value[r, 0 if constant else h] > served[r]:
                width[r] += 1
                only = h
        if width[r] == 1:
            local[slot[only, p]] += row_value[r, 0 if constant else only] - served[r]
        if width[r] > 1:
            disputed[p] = True
            for h in range(m):
                if slot[h, p] >= 0 and row_value[r, 0 if constant else h] > served[r]:
                    holds[p, h] = True
    holders = np.zeros(n, dtype=np.int64)
    chunks = np.zeros(m + 1, dtype=np.int64)
    for p in range(n):
        if disputed[p] and stated[p] > 1:
            holders[p] = holds[p].sum()
            chunks[holders[p]] += 1
    widest = 0
    numbers = 0
    for count in range(2, min(most_holders, m) + 1):
        numbers += chunks[count] << count
        if numbers > table_numbers:
            break
        widest = count
    kept = 0
    entries = 0
    priced = 0
    for r in range(rows):
        if width[r] > 1:
            kept += 1
            entries += width[r]
            if not 0 < holders[row_position[r]] <= widest:
                priced += 1
    row = np.empty(kept, dtype=np.int32)
    row_first = np.zeros(kept + 1, dtype=np.int64)
    entry_slot = np.empty(entries, dtype=np.int32)
    entry_gain = np.empty(entries)
    cap = np.zeros(kept)
    kept = 0
    at = 0
    for grouped in (False, True):
        for r in range(rows):
            p = row_position[r]
            if width[r] <= 1 or grouped != (0 < holders[p] <= widest):
                continue
            largest = 0.0
            second = 0.0
            for h in range(m):
                gain = row_value[r, 0 if constant else h] - served[r]
                if slot[h, p] >= 0 and gain > 0.0:
                    entry_slot[at] = slot[h, p]
                    entry_gain[at] = gain
                    at += 1
                    second = max(second, min(gain, largest))
                    largest = max(largest, gain)
            row[kept] = r
            cap[kept] = second
            kept += 1
            row_first[kept] = at
    return row, priced, row_first, entry_slot, entry_gain, cap


@numba.njit(cache=True, nogil=True)
def group_tables(
    position: Index, priced: int, row_first: Counts, entry_slot: Index, entry_gain: Floats
) -> tuple[Counts, Index, Counts, Floats, Floats]:
    """Tabulate f_b of all subsets of the slots of every chunk with credits.

    ``position`` is the chunk of every row; rows from ``priced`` on belong to such chunks. Returns
    the first slot of each chunk, its slots, the start of its table, the tables, and what every
    slot alone is worth.
    """
    rows = position.shape[0]
    groups = 0
    most = row_first[rows] - row_first[priced]
    group_first = np.zeros(rows - priced + 1, dtype=np.int64)
    table_first = np.zeros(rows - priced + 1, dtype=np.int64)
    group_slot = np.empty(most, dtype=np.int32)
    r = priced
    size = 0
    while r < rows:
        last = r
        while last < rows and position[last] == position[r]:
            last += 1
        start = size
        for e in range(row_first[r], row_first[last]):
            known = False
            for at in range(start, size):
                known |= group_slot[at] == entry_slot[e]
            if not known:
                group_slot[size] = entry_slot[e]
                size += 1
        groups += 1
        group_first[groups] = size
        table_first[groups] = table_first[groups - 1] + (1 << (size - start))
        r = last
    table = np.zeros(table_first[groups])
    alone = np.empty(size)
    gain = np.zeros(64)
    r = priced
    for g in range(groups):
        start, width = group_first[g], group_first[g + 1] - group_first[g]
        base, numbers = table_first[g], 1 << width
        best = np.zeros(numbers)
        here = position[r]
        while r < rows and position[r] == here:
            gain[:width] = 0.0
            for e in range(row_first[r], row_first[r + 1]):
                for at in range(width):
                    if group_slot[start + at] == entry_slot[e]:
                        gain[at] = entry_gain[e]
            for at in range(width):
                for subset in range(1 << at):
                    with_it = subset | 1 << at
                    best[with_it] = max(best[subset], gain[at])
                    table[base + with_it] += best[with_it]
            r += 1
        for at in range(width):
            alone[start + at] = table[base + (1 << at)]
    return (
        group_first[: groups + 1].copy(),
        group_slot[:size].copy(),
        table_first[: groups + 1].copy(),
        table,
        alone,
    )
