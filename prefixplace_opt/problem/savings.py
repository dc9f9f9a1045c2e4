"""Both objectives in one normal form, in preorder, for solvers.

    F(T) = sum_h sum_{b in T_h} local_h(b)  +  sum_r max_{h holds chunk(r)} value_{r,h}

A *service row* r is a demand that any of several holders can serve. Requester-side, all requesters
of a chunk in a compatibility group merge into one row worth D(b) from every holder, and
local_h = l_h. Pairwise, there is one row a (requester, chunk): its value from h is s_{m,h}(b), from
the requester itself the best any peer gives, and what an own copy saves beyond that is local; the
maximum is unchanged, since an own copy is never worse than a peer's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .costs import CostTable, LinkCost, PairwiseCost
from .objective import own_savings, peer_savings
from .row_values import RowValues, add_gains, best_served

if TYPE_CHECKING:
    from .problem import Problem

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Integers = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Savings:
    """The normal form above; all positions are preorder positions, all values ms per epoch.

    Attributes
    ----------
    n, m
        Number of chunks and workers.
    local_position, local_value
        For each worker h: where local_h > 0, ascending, and what it is there.
    row_position
        Shape (R,), ascending: the chunk of each service row.
    row_requester
        Shape (R,): the requester of each row (pairwise), or its compatibility group
        (requester-side).
    row_values
        What each row is worth from each holder. Rows worth nothing are left out.
    """

    n: int
    m: int
    local_position: tuple[Index, ...]
    local_value: tuple[Floats, ...]
    row_position: Index
    row_requester: Index
    row_values: RowValues

    @property
    def rows(self) -> int:
        """Number of service rows, R."""
        return int(self.row_position.size)

    @cached_property
    def row_best(self) -> Floats:
        """Shape (R,): what a row is worth from its best holder."""
        return self.row_values.best() if self.rows else np.zeros(0)

    @cached_property
    def row_value(self) -> Floats:
        """Shape (R, M), or (R, 1): all of ``row_values`` as one table.

        Where M R is large, :attr:`row_values` is smaller.
        """
        return self.row_values.dense()

    def local_profits(self, worker: int) -> Floats:
        """Return local_worker, shape (n,), by position; a new array."""
        profit = np.zeros(self.n)
        profit[self.local_position[worker]] = self.local_value[worker]
        return profit

    def priced_profits(self, worker: int, prices: Floats) -> Floats:
        """Return local_h(b) + sum over rows r of b of [value_{r,h} - price_r]_+, shape (n,).

        With zero prices that is what ``worker`` alone would save; with prices it is the node
        profit of the Lagrangian's oracle and of configuration-LP pricing. ``prices``: shape (R,).
        """
        profit = self.local_profits(worker)
        add_gains(profit, self.row_position, self.row_values, worker, prices)
        return profit

    def value(self, held: Mask) -> float:
        """Return F of ``held``, shape (M, n), by position; rounded as it goes (solvers only)."""
        total = sum(
            float(self.local_value[h][held[h, self.local_position[h]]].sum()) for h in range(self.m)
        )
        return total + float(best_served(held, self.row_position, self.row_values).sum())


def savings(problem: Problem) -> Savings:
    """Return the normal form of ``problem``."""
    if problem.objective == "requester":
        return _requester_savings(problem)
    return _pairwise_savings(problem)


def _requester_savings(problem: Problem) -> Savings:
    demand, tree = problem.demand, problem.tree
    recompute = problem.recompute_costs
    fetch = problem.fetch.cost(tree, demand.worker, demand.chunk)  # type: ignore[union-attr]
    shared = demand.value * np.maximum(recompute - fetch, 0.0)
    position = tree.position[demand.chunk]
    number = int(problem.groups.max()) + 1
    cell = position.astype(np.int64) * number + problem.groups[demand.worker]
    coverage: Floats = np.asarray(
        np.bincount(cell, weights=shared, minlength=problem.n * number), dtype=np.float64
    )
    useful = np.flatnonzero(coverage)
    worth = coverage[useful]
    row_group = (useful % number).astype(np.int32)
    if number == 1:
        values = RowValues.from_table(worth[:, None])
    else:
        # A holder of another group is out of reach.
        link = np.where(problem.groups[None, :] == np.arange(number)[:, None], 0.0, np.inf)
        values = RowValues.over_links(worth, np.ones(worth.size), row_group, link)
    local = demand.value * np.minimum(recompute, fetch)
    return _assemble(problem, local, position, useful // number, row_group, values)


def _pairwise_savings(problem: Problem) -> Savings:
    demand, tree = problem.demand, problem.tree
    position = tree.position[demand.chunk]
    if isinstance(problem.fetch, PairwiseCost):
        table = np.empty((len(demand), problem.m))
        for holder in range(problem.m):
            table[:, holder] = peer_savings(problem, holder)
        entries = np.arange(len(demand))
        table[entries, demand.worker] = 0.0
        best_peer = table.max(axis=1, initial=0.0)
        table[entries, demand.worker] = best_peer
        values = RowValues.from_table(table)
    else:
        values = _over_links(problem)
        best_peer = values.best()
    local = own_savings(problem) - best_peer
    useful = np.flatnonzero(best_peer > 0)
    useful = useful[np.lexsort((demand.worker[useful], position[useful]))]
    if values.table.shape[1] > 0:
        values = RowValues.from_table(values.table[useful])
    else:
        values = RowValues.over_links(
            values.rate[useful], values.worth[useful], values.kind[useful], values.link
        )
    return _assemble(problem, local, position, position[useful], demand.worker[useful], values)


def _over_links(problem: Problem) -> RowValues:
    """Return the pairwise values of every demand entry without writing them all out."""
    demand, m = problem.demand, problem.m
    worth = problem.recompute_costs
    if isinstance(problem.fetch, LinkCost):
        assert problem.tree.chunk_bytes is not None
        times = problem.fetch.milliseconds(problem.tree.chunk_bytes)
        link = times.copy() if times.ndim == 2 else np.repeat(times[:, None], m, axis=1)
    else:
        assert isinstance(problem.fetch, CostTable)
        worth = worth - problem.fetch.cost(problem.tree, demand.worker, demand.chunk)
        link = np.zeros((m, m))
    link[problem.groups[:, None] != problem.groups[None, :]] = np.inf
    np.fill_diagonal(link, np.inf)
    # An own copy serves the row as the best peer would; what it saves beyond that is local.
    np.fill_diagonal(link, link.min(axis=1))
    return RowValues.over_links(demand.value, worth, demand.worker, link)


def _assemble(
    problem: Problem,
    local: Floats,
    position: Index,
    row_position: Integers,
    row_requester: Integers,
    row_values: RowValues,
) -> Savings:
    by_worker = []
    first = np.searchsorted(problem.demand.worker, np.arange(problem.m + 1))
    for start, stop in pairwise(first.tolist()):
        own = start + np.flatnonzero(local[start:stop] > 0)
        own = own[np.argsort(position[own], kind="stable")]
        by_worker.append((position[own], local[own]))
    return Savings(
        n=problem.n,
        m=problem.m,
        local_position=tuple(where for where, _ in by_worker),
        local_value=tuple(value for _, value in by_worker),
        row_position=row_position.astype(np.int32),
        row_requester=row_requester.astype(np.int32),
        row_values=row_values,
    )
