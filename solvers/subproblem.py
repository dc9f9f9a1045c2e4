"""The problem that is left under decisions: contracted trees, reduced budgets, the rows in dispute.

Decisions force chunks in or out of workers. What is forced in is parent-closed and what is forced
out is closed under subtrees, so the free chunks of a worker form a forest again: the contraction
below is exact. Chunks that cannot matter (nothing to gain in the whole subtree, or deeper than the
budget that is left) are dropped too. With ``served_r`` what row r already gets from a holder that
is forced in, and ``gain_{r,h} = [value_{r,h} - served_r]_+`` what a free holder adds, it remains to
choose sets T_h of

    constant + sum_h sum_{b in T_h} local_h(b) + sum_b f_b(free holders of b),
    f_b(S) = sum_{r of b} max_{h in S} gain_{r,h}.

Two kinds of prices split that up among the workers (docs/certificates.md has the theorem):

- a *row price* a_r is paid whatever happens; a holder then gets [gain_{r,h} - a_r]_+;
- a *credit* c_{h,b} is what a holder gets for the chunk as a whole; paid whatever happens is the
  most that credits can fall short of the chunk's worth, max_S f_b(S) - sum_{h in S} c_{h,b}.

Credits give the better bound where rows of a chunk rank its holders differently, and cost 2^H for
H free holders; so a chunk has credits where it has several rows and few free holders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixTree, Prices, Savings

from .contraction import contract, dispute, group_tables, potentials

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
States = NDArray[np.int8]

#: What is decided on a (worker, position).
FREE, IN, OUT = 0, 1, 2

#: Most free holders of a chunk with credits, and most numbers in all their tables.
MOST_HOLDERS, TABLE_NUMBERS = 10, 1 << 24


@dataclass(frozen=True, eq=False)
class FullPrices:
    """Prices of a whole problem, from which any subproblem starts.

    Attributes
    ----------
    rows
        Shape (form.rows,): row prices, what is served included.
    credit
        Shape (M, n), by position: credits, with what only that holder can serve; NaN where there
        are none. None for none at all.
    """

    rows: Floats
    credit: Floats | None = None


@dataclass(frozen=True, eq=False)
class Subproblem:
    """A problem under decisions, flat: the free chunks of all workers one after the other.

    A *slot* is one free (worker, position). The entries of a row are its free holders. Prices of
    a subproblem are one array: the ``priced_rows`` row prices, then the credits.

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
    local, alone
        Shape (slots,): what the slot is worth by itself, and which part of that are rows that only
        it can serve.
    rows
        Shape (rows,): rows of ``form`` that several free holders can serve; those with row prices
        come first.
    priced_rows
        How many have row prices.
    row_first, entry_slot, entry_gain
        Row i has the entries ``row_first[i] .. row_first[i + 1] - 1``.
    group_first, group_slot, table_first, table
        Chunk g with credits has the slots ``group_slot[group_first[g] : group_first[g + 1]]``, and
        f_b of each subset of them, the first slot being bit 0, from ``table[table_first[g]]`` on.
    served
        Shape (form.rows,): what every row gets from what is forced in.
    cap
        Shape (prices,): no price above it is ever better. A row's second-largest gain; for a
        credit what the slot alone would add.
    """

    form: Savings
    states: States
    budget: Counts
    constant: float
    first: Counts
    position: Index
    end: Index
    parent: Index
    local: Floats
    alone: Floats
    rows: Index
    priced_rows: int
    row_first: Counts
    entry_slot: Index
    entry_gain: Floats
    group_first: Counts
    group_slot: Index
    table_first: Counts
    table: Floats
    served: Floats
    cap: Floats

    @classmethod
    def of(
        cls,
        form: Savings,
        tree: PrefixTree,
        budgets: Counts,
        states: States,
        *,
        with_credits: bool = True,
    ) -> Subproblem:
        """Contract the problem under ``states``, shape (M, n), by position.

        ``states`` must be consistent: ancestors of what is in are in, subtrees of what is out
        are out. Without ``with_credits`` there are row prices only.
        """
        inside = states == IN
        budget = budgets - inside.sum(axis=1)
        local = np.stack([form.local_profits(h) for h in range(form.m)])
        served, potential = potentials(inside, states, form.row_position, form.row_value, local)
        constant = float(local[inside].sum()) + float(served.sum())
        first, position, end, parent, slot = contract(
            tree.preorder_parents, states, np.maximum(budget, 0), potential
        )
        own = np.ascontiguousarray(local[_worker_of(first), position])
        without_rows = own.copy()
        most = MOST_HOLDERS if with_credits and form.row_value.shape[1] > 1 else 0
        rows, priced, row_first, entry_slot, entry_gain, cap = dispute(
            slot, form.row_position, form.row_value, served, own, most, TABLE_NUMBERS
        )
        group_first, group_slot, table_first, table, single = group_tables(
            form.row_position[rows], priced, row_first, entry_slot, entry_gain
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
            alone=own - without_rows,
            rows=rows,
            priced_rows=priced,
            row_first=row_first,
            entry_slot=entry_slot,
            entry_gain=entry_gain,
            group_first=group_first,
            group_slot=group_slot,
            table_first=table_first,
            table=table,
            served=served,
            cap=np.concatenate([cap[:priced], single]),
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
    def worker(self) -> Counts:
        """Shape (slots,): whose slot it is."""
        return _worker_of(self.first)

    @cached_property
    def cells(self) -> Counts:
        """Shape (M,): cells of each worker's dynamic program."""
        free = np.diff(self.first)
        return free * np.minimum(np.maximum(self.budget, 0), free)

    def restrict(self, full: FullPrices) -> Floats:
        """Return the prices, within their caps, that ``full`` amounts to here."""
        over = full.rows[self.rows] - self.served[self.rows]
        prices = np.empty(self.cap.size)
        prices[: self.priced_rows] = over[: self.priced_rows]
        if self.group_slot.size:
            # Where a chunk had row prices so far, its credits are what those leave a holder.
            row = np.repeat(np.arange(self.rows.size), np.diff(self.row_first))
            left = np.maximum(self.entry_gain - np.maximum(over, 0.0)[row], 0.0)
            left[row < self.priced_rows] = 0.0
            credit = np.bincount(self.entry_slot, weights=left, minlength=self.slots)
            credit = credit[self.group_slot]
            if full.credit is not None:
                known = (full.credit[self.worker, self.position] - self.alone)[self.group_slot]
                credit = np.where(np.isnan(known), credit, known)
            prices[self.priced_rows :] = credit
        return np.clip(prices, 0.0, self.cap)

    def extend(self, prices: Floats) -> FullPrices:
        """Return prices of the whole problem that give the same bound under the decisions."""
        rows = self.served.copy()
        rows[self.rows[: self.priced_rows]] += prices[: self.priced_rows]
        if not self.group_slot.size:
            return FullPrices(rows)
        credit = np.full(self.states.shape, np.nan)
        slots = self.group_slot
        paid = prices[self.priced_rows :] + self.alone[slots]
        credit[self.worker[slots], self.position[slots]] = paid
        return FullPrices(rows, credit)

    def proof_prices(self, prices: Floats, tree: PrefixTree) -> Prices:
        """Return ``prices`` as a proof has them: what is withheld of a slot's worth alone."""
        slots = self.group_slot
        withheld = self.cap[self.priced_rows :] - prices[self.priced_rows :]
        some = withheld > 0
        rows = Prices.of(self.extend(prices).rows)
        return replace(
            rows,
            worker=self.worker[slots[some]].astype(np.int32),
            chunk=tree.order[self.position[slots[some]]],
            withheld=withheld[some],
        )

    def held(self, taken: Mask) -> Mask:
        """Return what everybody holds, shape (M, n), when the slots ``taken`` are."""
        held: Mask = self.states == IN
        held[self.worker[taken], self.position[taken]] = True
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


def _worker_of(first: Counts) -> Counts:
    return np.repeat(np.arange(first.size - 1), np.diff(first))
