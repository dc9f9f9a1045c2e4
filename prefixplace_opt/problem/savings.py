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
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from .objective import own_savings, peer_savings

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
    row_value
        Shape (R, M), or (R, 1) where a row is worth the same from every holder. Rows worth
        nothing are left out.
    """

    n: int
    m: int
    local_position: tuple[Index, ...]
    local_value: tuple[Floats, ...]
    row_position: Index
    row_requester: Index
    row_value: Floats

    @property
    def rows(self) -> int:
        """Number of service rows, R."""
        return int(self.row_position.size)

    @cached_property
    def row_best(self) -> Floats:
        """Shape (R,): what a row is worth from its best holder."""
        return self.row_value.max(axis=1) if self.rows else np.zeros(0)

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
        _add_rows(profit, self.row_position, self.row_value, prices, self.column(worker))
        return profit

    def column(self, worker: int) -> int:
        """Return the column of ``row_value`` that holds what ``worker`` is worth."""
        return 0 if self.row_value.shape[1] == 1 else worker

    def value(self, held: Mask) -> float:
        """Return F of ``held``, shape (M, n), by position; rounded as it goes (solvers only)."""
        total = sum(
            float(self.local_value[h][held[h, self.local_position[h]]].sum()) for h in range(self.m)
        )
        return total + float(_best_rows(held, self.row_position, self.row_value).sum())


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
    groups = problem.groups
    coverage = np.zeros((int(groups.max()) + 1, problem.n))
    np.add.at(coverage, (groups[demand.worker], position), shared)
    row_position, row_group = np.nonzero(coverage.T)
    worth = coverage[row_group, row_position]
    if coverage.shape[0] == 1:
        row_value = worth[:, None]
    else:
        row_value = np.where(row_group[:, None] == groups[None, :], worth[:, None], 0.0)
    local = demand.value * np.minimum(recompute, fetch)
    return _assemble(problem, local, position, row_position, row_group, row_value)


def _pairwise_savings(problem: Problem) -> Savings:
    demand, tree = problem.demand, problem.tree
    position = tree.position[demand.chunk]
    value = np.empty((len(demand), problem.m))
    for holder in range(problem.m):
        value[:, holder] = peer_savings(problem, holder)
    entries = np.arange(len(demand))
    value[entries, demand.worker] = 0.0
    best_peer = value.max(axis=1, initial=0.0)
    value[entries, demand.worker] = best_peer
    local = own_savings(problem) - best_peer
    useful = np.flatnonzero(best_peer > 0)
    useful = useful[np.lexsort((demand.worker[useful], position[useful]))]
    return _assemble(
        problem, local, position, position[useful], demand.worker[useful], value[useful]
    )


def _assemble(
    problem: Problem,
    local: Floats,
    position: Index,
    row_position: Integers,
    row_requester: Integers,
    row_value: Floats,
) -> Savings:
    by_worker = []
    for h in range(problem.m):
        own = np.flatnonzero((problem.demand.worker == h) & (local > 0))
        own = own[np.argsort(position[own], kind="stable")]
        by_worker.append((position[own], local[own]))
    return Savings(
        n=problem.n,
        m=problem.m,
        local_position=tuple(where for where, _ in by_worker),
        local_value=tuple(value for _, value in by_worker),
        row_position=row_position.astype(np.int32),
        row_requester=row_requester.astype(np.int32),
        row_value=np.ascontiguousarray(row_value),
    )


@numba.njit(cache=True, nogil=True)
def _add_rows(
    profit: Floats, row_position: Index, row_value: Floats, prices: Floats, column: int
) -> None:
    for r in range(row_position.shape[0]):
        gain = row_value[r, column] - prices[r]
        if gain > 0.0:
            profit[row_position[r]] += gain


@numba.njit(cache=True, nogil=True)
def _best_rows(held: Mask, row_position: Index, row_value: Floats) -> Floats:
    best = np.zeros(row_position.shape[0])
    constant = row_value.shape[1] == 1
    for r in range(row_position.shape[0]):
        for h in range(held.shape[0]):
            if held[h, row_position[r]]:
                best[r] = max(best[r], row_value[r, 0 if constant else h])
    return best
