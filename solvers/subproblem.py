"""The problem that is left under decisions: contracted trees, reduced budgets, the rows in dispute.

Decisions force chunks in or out of workers. What is forced in is parent-closed and what is forced
out is closed under subtrees, so the free chunks of a worker form a forest again: the contraction
below is exact. Chunks that cannot matter (nothing to gain in the whole subtree, or deeper than the
budget that is left) are dropped too. For prices a_r >= 0 of the rows still in dispute,

    UB = constant + sum_r a_r + sum_h max_T sum_{b in T} (local_h(b) + sum_r [gain_{r,h} - a_r]_+)

is the bound of :mod:`prefixplace_opt.problem.proof` at the full prices ``served_r + a_r``, where
served_r is what row r already gets from a holder that is forced in and gain_{r,h} what h adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixTree, Savings

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]
States = NDArray[np.int8]

#: What is decided on a (worker, position).
FREE, IN, OUT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Subproblem:
    """A problem under decisions, flat: the free chunks of all workers one after the other.

    A *slot* is one free (worker, position). The entries of a row are its free holders.

    Attributes
    ----------
    form, states
        The problem's normal form, and the decisions, shape (M, n), by position.
    budget
        Shape (M,): chunks left to choose; below 0 where nothing obeys the decisions.
    constant
        Value of what is decided, ms per epoch.
    first
        Shape (M + 1,): worker h has the slots ``first[h] .. first[h + 1] - 1``.
    position, end, parent
        Shape (slots,): preorder position in the whole tree; end of the subtree and parent (or -1)
        in the contracted tree, both counted from ``first[h]``.
    local
        Shape (slots,): what the slot is worth by itself, including rows that only it can serve.
    rows
        Shape (rows,): rows of ``form`` that several free holders can serve.
    row_first, entry_slot, entry_gain
        Row i has the entries ``row_first[i] .. row_first[i + 1] - 1``.
    served
        Shape (form.rows,): what every row gets from what is forced in.
    cap
        Shape (rows,): the second-largest gain of each row; no price above it is ever better.
    """

    form: Savings
    states: States
    budget: NDArray[np.int64]
    constant: float
    first: NDArray[np.int64]
    position: Index
    end: Index
    parent: Index
    local: Floats
    rows: Index
    row_first: NDArray[np.int64]
    entry_slot: Index
    entry_gain: Floats
    served: Floats
    cap: Floats

    @classmethod
    def of(
        cls, form: Savings, tree: PrefixTree, budgets: NDArray[np.int64], states: States
    ) -> Subproblem:
        """Contract the problem under ``states``, shape (M, n), by position.

        ``states`` must be consistent: ancestors of what is in are in, subtrees of what is out
        are out.
        """
        inside = states == IN
        budget = budgets - inside.sum(axis=1)
        local = np.stack([form.local_profits(h) for h in range(form.m)])
        served, potential = _potential(inside, states, form.row_position, form.row_value, local)
        constant = float(local[inside].sum()) + float(served.sum())
        first, position, end, parent, slot = _contract(
            tree.preorder_parents, states, np.maximum(budget, 0), potential
        )
        own = np.ascontiguousarray(local[_worker_of(first), position])
        rows, row_first, entry_slot, entry_gain, cap = _dispute(
            slot, form.row_position, form.row_value, served, own
        )
        return cls(
            form=form,
            states=states,
            budget=budget,
            constant=constant,
            first=first,
            position=position,
            end=end,
            parent=parent,
            local=own,
            rows=rows,
            row_first=row_first,
            entry_slot=entry_slot,
            entry_gain=entry_gain,
            served=served,
            cap=cap,
        )

    @property
    def feasible(self) -> bool:
        """Whether any placement obeys the decisions."""
        return bool((self.budget >= 0).all())

    @property
    def slots(self) -> int:
        """Number of free (worker, chunk) pairs that matter."""
        return int(self.position.size)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """Shape (M,): cells of each worker's dynamic program."""
        free = np.diff(self.first)
        return free * np.minimum(np.maximum(self.budget, 0), free)

    def restrict(self, full: Floats) -> Floats:
        """Return the prices, shape (rows,), that prices of all rows of the form amount to here."""
        return np.clip(full[self.rows] - self.served[self.rows], 0.0, self.cap)

    def extend(self, prices: Floats) -> Floats:
        """Return prices of all rows of the form that give the same bound under the decisions."""
        full = self.served.copy()
        full[self.rows] += prices
        return full

    def held(self, taken: Mask) -> Mask:
        """Return what everybody holds, shape (M, n), when the slots ``taken`` are."""
        held: Mask = self.states == IN
        held[_worker_of(self.first)[taken], self.position[taken]] = True
        return held


def decide(states: States, tree: PrefixTree, worker: int, position: int, state: int) -> None:
    """Enter a decision and what follows: ancestors come in along, subtrees go out along."""
    if state == IN:
        parents = tree.preorder_parents
        while position >= 0 and states[worker, position] != IN:
            states[worker, position] = IN
            position = int(parents[position])
    else:
        states[worker, position : tree.end[position]] = OUT


def _worker_of(first: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(first.size - 1), np.diff(first))


@numba.njit(cache=True, nogil=True)
def _potential(
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
            if states[h, p] == FREE:
                gain = row_value[r, 0 if constant else h] - served[r]
                if gain > 0.0:
                    potential[h, p] += gain
    return served, potential


@numba.njit(cache=True, nogil=True)
def _contract(
    parents: Index, states: States, budget: NDArray[np.int64], potential: Floats
) -> tuple[NDArray[np.int64], Index, Index, Index, Index]:
    m, n = states.shape
    slot = np.full((m, n), -1, dtype=np.int32)
    depth_of = np.zeros(n, dtype=np.int32)
    useful = np.zeros(n, dtype=np.bool_)
    first = np.zeros(m + 1, dtype=np.int64)
    for h in range(m):
        for p in range(n):
            depth_of[p] = -1
            useful[p] = False
            if states[h, p] == FREE:
                above = parents[p]
                depth_of[p] = depth_of[above] + 1 if above >= 0 else 0
        for p in range(n - 1, -1, -1):
            if states[h, p] != FREE or depth_of[p] >= budget[h]:
                continue
            if potential[h, p] > 0.0:
                useful[p] = True
            if useful[p] and parents[p] >= 0:
                useful[parents[p]] = True
        count = first[h]
        for p in range(n):
            if useful[p] and states[h, p] == FREE:
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
def _dispute(
    slot: Index, row_position: Index, row_value: Floats, served: Floats, local: Floats
) -> tuple[Index, NDArray[np.int64], Index, Floats, Floats]:
    """Return the rows with several free holders; what only one can serve goes to its ``local``."""
    m = slot.shape[0]
    constant = row_value.shape[1] == 1
    rows = 0
    entries = 0
    for r in range(row_position.shape[0]):
        count = 0
        for h in range(m):
            if slot[h, row_position[r]] >= 0 and row_value[r, 0 if constant else h] > served[r]:
                count += 1
        if count > 1:
            rows += 1
            entries += count
    row = np.empty(rows, dtype=np.int32)
    row_first = np.zeros(rows + 1, dtype=np.int64)
    entry_slot = np.empty(entries, dtype=np.int32)
    entry_gain = np.empty(entries)
    cap = np.zeros(rows)
    rows = 0
    at = 0
    for r in range(row_position.shape[0]):
        largest = 0.0
        second = 0.0
        only = -1
        count = 0
        for h in range(m):
            s = slot[h, row_position[r]]
            gain = row_value[r, 0 if constant else h] - served[r]
            if s >= 0 and gain > 0.0:
                count += 1
                only = s
                if gain > largest:
                    second = largest
                    largest = gain
                elif gain > second:
                    second = gain
        if count == 1:
            local[only] += largest
        if count <= 1:
            continue
        for h in range(m):
            s = slot[h, row_position[r]]
            gain = row_value[r, 0 if constant else h] - served[r]
            if s >= 0 and gain > 0.0:
                entry_slot[at] = s
                entry_gain[at] = gain
                at += 1
        row[rows] = r
        cap[rows] = second
        rows += 1
        row_first[rows] = at
    return row, row_first, entry_slot, entry_gain, cap
