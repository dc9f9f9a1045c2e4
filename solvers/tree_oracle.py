"""The tree oracle: the most profitable parent-closed set of at most k chunks, exactly.

The plain dynamic programme takes O(n k). Here it runs on a core only: the budget is priced, the
best sets just above and below the best price give a set and a bound, and every chunk that no better
set can take, or leave out, is fixed (:mod:`prefixplace_opt.solvers.budget_price`). What remains is
usually some hundred chunks, whatever n; where it is not, the core is the forest of all useful
chunks and the plain programme runs on that.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.solvers.budget_price import (
    contract,
    flip_losses,
    guess_price,
    rounding_bound,
    search_price,
)
from prefixplace_opt.solvers.closed_set_table import solve_by_table, table_width
from prefixplace_opt.solvers.oracle_core import close_gap, complete, solve_core, write_taken

if TYPE_CHECKING:
    from prefixplace_opt.problem import PrefixTree

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: Forests of so few chunks are solved by the plain programme where its cells, as :func:`_cells`
#: counts them, are not too many: no preparation is sure to be faster.
SMALL_FOREST, SMALL_TABLE = 4096, 3_500_000
#: A row of the table costs about as much as this many of its cells, however short it is.
ROW_CELLS = 200
#: Bytes for decisions, unless the caller says how many.
TABLE_MEMORY = 128 << 20
#: Cores up to this size are not worth shrinking further.
SMALL_CORE = 256


class ClosedSet(NamedTuple):
    """A parent-closed set and what it is worth.

    Attributes
    ----------
    value
        Sum of the profits of its chunks.
    resident
        Mask of shape (n,), by position.
    """

    value: float
    resident: Mask


class TreeOracle:
    """Solves the single-worker problem on one tree again and again, reusing its buffers.

    One object serves one thread.

    Parameters
    ----------
    tree
        The forest.
    memory
        Bytes that the decisions of a dynamic programme may take, >= 1. Where they would take more,
        it runs twice, in O(sqrt) of that memory; the answer is the same.
    """

    def __init__(self, tree: PrefixTree, memory: int = TABLE_MEMORY) -> None:
        self._memory = memory
        self._parents = tree.preorder_parents
        self._depth = tree.preorder_depth
        self._end = tree.end

    def solve(self, profit: Floats, budget: int) -> ClosedSet:
        """Return a parent-closed set of at most ``budget`` chunks of largest total profit.

        ``profit`` has shape (n,), by position, any sign; ``-inf`` keeps a chunk, and all below it,
        out. The answer depends on the arguments alone. It is optimal up to the rounding of sums of
        profits, so exactly where those sums are exact; no chunk of it is worth nothing together
        with those below it.
        """
        n = profit.size
        resident = np.zeros(n, dtype=np.bool_)
        budget = min(budget, n)
        if budget <= 0:
            return ClosedSet(0.0, resident)
        if n <= SMALL_FOREST and _cells(n, budget) <= SMALL_TABLE:
            solve_by_table(profit, self._depth, self._end, n, budget, self._memory, resident)
        else:
            _solve(
                profit,
                self._parents,
                self._depth,
                budget,
                SMALL_TABLE,
                SMALL_CORE,
                self._memory,
                *self._work,
                resident,
            )
        return ClosedSet(float(profit[resident].sum()), resident)

    def best_price(self, profit: Floats, budget: int) -> float:
        """Return the price of a chunk at which the relaxation of the budget is tightest, >= 0."""
        budget = min(budget, profit.size)
        return float(_price(profit, self._parents, self._depth, budget, *self._work))

    @cached_property
    def _work(self) -> tuple[Floats, Index, Mask]:
        n = self._parents.size
        return np.empty((4, n)), np.empty((5, n), dtype=np.int32), np.empty(n, dtype=np.bool_)

    def forced_values(self, profit: Floats, budget: int) -> tuple[Floats, Floats]:
        """Return upper bounds on the optimum with each chunk in, and with each chunk out.

        Two arrays of shape (n,), by position, from the priced budget: O(n), and no lower than
        the exact values; a chunk that is in goes with its ancestors, one that is out with all
        below it.
        """
        inside, outside = np.empty(profit.size), np.empty(profit.size)
        _force(
            profit,
            self._parents,
            self._depth,
            min(budget, profit.size),
            *self._work,
            inside,
            outside,
        )
        return inside, outside


@numba.njit(cache=True, nogil=True)
def _price(
    profit: Floats,
    parents: Index,
    depth: Index,
    budget: int,
    floats: Floats,
    indices: Index,
    taken: Mask,
) -> float:
    """Return the best price of a chunk; 0 where the budget does not bind."""
    gain, value, rest_value = floats[0], floats[1], floats[2]
    place, up, node, rest_up, rest = indices[0], indices[1], indices[2], indices[3], indices[4]
    count = contract(profit, parents, depth, budget, 0.0, gain, place, value, up, node)
    if count <= budget or budget <= 0:
        return 0.0
    price, _, _ = search_price(
        value, up, count, budget, rest_value, rest_up, rest, gain, place, taken
    )
    return float(price)


@numba.njit(cache=True, nogil=True)
def _force(
    profit: Floats,
    parents: Index,
    depth: Index,
    budget: int,
    floats: Floats,
    indices: Index,
    taken: Mask,
    inside: Floats,
    outside: Floats,
) -> None:
    gain, loss = floats[0], floats[3]
    n = profit.shape[0]
    if budget <= 0:
        inside[:] = -np.inf
        outside[:] = 0.0
        return
    price = _price(profit, parents, depth, budget, floats, indices, taken)
    flip_losses(profit, parents, n, price, gain, loss)
    upper = price * budget + rounding_bound(profit, price)
    for i in range(n):
        if parents[i] < 0 and gain[i] > 0.0:
            upper += gain[i]
    for i in range(n):
        inside[i] = upper + min(loss[i], 0.0)
        outside[i] = upper - max(loss[i], 0.0)


@numba.njit(cache=True, nogil=True)
def _solve(
    profit: Floats,
    parents: Index,
    depth: Index,
    budget: int,
    small_table: int,
    small_core: int,
    memory: int,
    floats: Floats,
    indices: Index,
    taken: Mask,
    resident: Mask,
) -> None:
    gain, value, rest_value, loss = floats[0], floats[1], floats[2], floats[3]
    place, up, node, rest_up, rest = indices[0], indices[1], indices[2], indices[3], indices[4]
    # Chunks below a price that takes some more than the budget hardly ever matter.
    count = 0
    rank = 4 * budget + small_core
    floor = guess_price(profit, rank)
    while floor > 0.0 and count <= budget:
        count = contract(profit, parents, depth, budget, floor, gain, place, value, up, node)
        if count <= budget:
            rank *= 4
            floor = guess_price(profit, rank)
    if floor == 0.0:
        count = contract(profit, parents, depth, budget, floor, gain, place, value, up, node)
    if count <= budget:
        _write(node, count, resident)
        return
    if floor == 0.0 and count <= SMALL_FOREST and _cells(count, budget) <= small_table:
        loss[:count] = 0.0
        solve_core(value, up, count, budget, loss, 0.0, memory, place, taken)
        write_taken(node, count, taken, resident)
        return
    price, remaining, excess = search_price(
        value, up, count, budget, rest_value, rest_up, rest, gain, place, taken
    )
    if remaining == 0:
        write_taken(node, count, taken, resident)
        return
    best, upper = complete(value, up, count, budget, price, excess, rest, gain, taken)
    write_taken(node, count, taken, resident)
    if upper - best <= 8 * np.finfo(np.float64).eps * upper:
        return
    core = small_core
    while True:
        flip_losses(value, up, count, price, gain, loss)
        margin = rounding_bound(profit, floor)
        # A chunk that was contracted away costs the relaxation at least this much.
        reach = price - floor - margin if floor > 0.0 else np.inf
        best, core, proven = close_gap(
            value,
            up,
            count,
            budget,
            core,
            best,
            upper,
            margin,
            reach,
            memory,
            loss,
            place,
            taken,
            node,
            resident,
        )
        if proven:
            return
        enough = max(price - (upper - best) - 4 * rounding_bound(profit, 0.0), 0.0)
        # Where that is far, a step there usually shows that less will do.
        floor = max(enough, 0.4 * price) if floor > 0.5 * price else enough
        count = contract(profit, parents, depth, budget, floor, gain, place, value, up, node)


@numba.njit(cache=True, nogil=True)
def _write(node: Index, count: int, resident: Mask) -> None:
    for c in range(count):
        resident[node[c]] = True


@numba.njit(cache=True, nogil=True)
def _cells(n: int, budget: int) -> int:
    return n * (ROW_CELLS + table_width(n, budget))
