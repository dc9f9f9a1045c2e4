"""The bound at given prices: every worker's best closed set, and how the bound changes with them.

The oracle's recurrence (:mod:`prefixplace_opt.solvers.tree_oracle`) on the contracted trees of a
subproblem. Workers whose table of values fits ``TABLE_CELLS`` keep all of it: that needs no
decision bits, is three times as fast as the lean oracle, and serves the exact in and out values of
:mod:`prefixplace_opt.solvers.fixing` as well.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixTree

from .subproblem import MOST_HOLDERS, Subproblem
from .tree_oracle import TreeOracle

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Workers with more cells than this are solved by the lean oracle.
TABLE_CELLS = 1 << 21
#: From this many cells in all on, workers are solved in parallel.
PARALLEL_CELLS = 1 << 20


class Pricing(NamedTuple):
    """The bound at some prices.

    Attributes
    ----------
    bound
        UB of the subproblem, ms per epoch.
    paid
        What is paid whatever happens: the constant, the row prices, and what credits fall short.
    values
        Shape (M,): the value of each worker's best set.
    taken
        Shape (slots,): the best sets.
    prices
        Shape (prices,): the prices.
    slope
        Shape (prices,): a subgradient. Of a row price, 1 less the number of holders that serve the
        row; of a credit, 1 if the holder takes the chunk, less 1 if the chunk would have it.
    """

    bound: float
    paid: float
    values: Floats
    taken: Mask
    prices: Floats
    slope: Floats


class Pricer:
    """Evaluates bounds of one subproblem again and again, reusing its buffers.

    Parameters
    ----------
    subproblem
        Must be feasible.
    pool
        Where workers are solved in parallel; results do not depend on it.
    """

    def __init__(self, subproblem: Subproblem, pool: Executor | None = None) -> None:
        self.subproblem = subproblem
        self._pool = pool if subproblem.cells.sum() >= PARALLEL_CELLS else None
        workers = range(subproblem.form.m)
        self._lean = {
            h: _lean_oracle(subproblem, h) for h in workers if subproblem.cells[h] > TABLE_CELLS
        }
        sizes = [0 if h in self._lean else table_size(subproblem, h) for h in workers]
        if self._pool is None:
            shared = np.empty(max(sizes, default=0))
            self._tables = [shared for _ in workers]
        else:
            self._tables = [np.empty(size) for size in sizes]

    def __call__(self, prices: Floats) -> Pricing:
        """Evaluate the bound at ``prices``, shape (prices,)."""
        sub = self.subproblem
        profit = self.profits(prices)
        taken = np.zeros(sub.slots, dtype=np.bool_)

        def solve(h: int) -> float:
            own = slice(sub.first[h], sub.first[h + 1])
            if h in self._lean:
                best = self._lean[h].solve(profit[own], int(sub.budget[h]))
                taken[own] = best.resident
                return best.value
            return float(
                best_set(profit[own], sub.end[own], sub.budget[h], self._tables[h], taken[own])
            )

        workers = range(sub.form.m)
        values = np.array(
            list(map(solve, workers) if self._pool is None else self._pool.map(solve, workers))
        )
        rows = sub.priced_rows
        slope = np.empty(prices.size)
        slope[:rows] = _row_slope(
            taken, sub.row_first, sub.entry_slot, sub.entry_gain, prices[:rows]
        )
        slope[rows:] = taken[sub.group_slot]
        short = _shortfall(sub.group_first, sub.table_first, sub.table, prices[rows:], slope[rows:])
        paid = sub.constant + float(prices[:rows].sum()) + short
        return Pricing(paid + float(values.sum()), paid, values, taken, prices, slope)

    def oracle(self, worker: int) -> TreeOracle:
        """Return the oracle of a worker that is too large for a table."""
        return self._lean[worker]

    def profits(self, prices: Floats) -> Floats:
        """Return the node profits of all slots at ``prices``."""
        sub = self.subproblem
        rows = sub.priced_rows
        profit = _profits(sub.local, sub.row_first, sub.entry_slot, sub.entry_gain, prices[:rows])
        profit[sub.group_slot] += prices[rows:]
        return profit


def table_size(subproblem: Subproblem, worker: int) -> int:
    """Return how many numbers the table of a worker's recurrence has."""
    free = int(subproblem.first[worker + 1] - subproblem.first[worker])
    return (free + 1) * (min(int(subproblem.budget[worker]), free) + 1)


def _lean_oracle(subproblem: Subproblem, worker: int) -> TreeOracle:
    own = slice(subproblem.first[worker], subproblem.first[worker + 1])
    return TreeOracle(PrefixTree(subproblem.parent[own]))


@numba.njit(cache=True, nogil=True)
def fill_table(profit: Floats, end: Index, k: int, table: Floats) -> None:
    """Fill ``table``, shape (n + 1, k + 1), with the oracle's recurrence."""
    n = profit.shape[0]
    table[n] = 0.0
    for i in range(n - 1, -1, -1):
        p = profit[i]
        skip = table[end[i]]
        below = table[i + 1]
        target = table[i]
        target[0] = 0.0
        for j in range(1, k + 1):
            target[j] = max(skip[j], p + below[j - 1])


@numba.njit(cache=True, nogil=True)
def best_set(profit: Floats, end: Index, budget: int, buffer: Floats, taken: Mask) -> float:
    """Mark a best closed set of at most ``budget`` slots in ``taken``, and return its value.

    ``taken`` must be all False. ``buffer`` has room for the table of the recurrence.
    """
    n = profit.shape[0]
    k = min(budget, n)
    if k == 0:
        return 0.0
    table = buffer[: (n + 1) * (k + 1)].reshape((n + 1, k + 1))
    fill_table(profit, end, k, table)
    i = 0
    j = k
    while i < n and j > 0:
        # A tie leaves the chunk out.
        if profit[i] + table[i + 1, j - 1] > table[end[i], j]:
            taken[i] = True
            j -= 1
            i += 1
        else:
            i = end[i]
    return float(table[0, k])


@numba.njit(cache=True, nogil=True)
def _profits(
    local: Floats,
    row_first: Counts,
    entry_slot: Index,
    entry_gain: Floats,
    prices: Floats,
) -> Floats:
    profit = local.copy()
    for r in range(prices.shape[0]):
        for e in range(row_first[r], row_first[r + 1]):
            gain = entry_gain[e] - prices[r]
            if gain > 0.0:
                profit[entry_slot[e]] += gain
    return profit


@numba.njit(cache=True, nogil=True)
def _row_slope(
    taken: Mask, row_first: Counts, entry_slot: Index, entry_gain: Floats, prices: Floats
) -> Floats:
    slope = np.ones(prices.shape[0])
    for r in range(prices.shape[0]):
        for e in range(row_first[r], row_first[r + 1]):
            if taken[entry_slot[e]] and entry_gain[e] > prices[r]:
                slope[r] -= 1.0
    return slope


@numba.njit(cache=True, nogil=True)
def _shortfall(
    group_first: Counts, table_first: Counts, table: Floats, credit: Floats, slope: Floats
) -> float:
    """Return the sum over chunks of max_S f_b(S) - sum of S's credits; take S off ``slope``."""
    total = 0.0
    spent = np.zeros(1 << MOST_HOLDERS)
    for g in range(group_first.shape[0] - 1):
        start, width = group_first[g], group_first[g + 1] - group_first[g]
        base = table_first[g]
        most = 0.0
        chosen = 0
        for at in range(width):
            for subset in range(1 << at):
                with_it = subset | 1 << at
                spent[with_it] = spent[subset] + credit[start + at]
                short = table[base + with_it] - spent[with_it]
                if short > most:
                    most = short
                    chosen = with_it
        total += most
        for at in range(width):
            if chosen >> at & 1:
                slope[start + at] -= 1.0
    return total
