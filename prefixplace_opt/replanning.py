"""A new plan for new demand that does not move more chunks than it is worth."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .problem import Holders, InputError, Placement, Problem, number, savings, whole_number
from .problem.errors import expect
from .solvers.bounded_moves import MOST_CELLS, best_with_moves, table_cells
from .solvers.greedy import STRICT_IMPROVEMENT, refine
from .solvers.tree_oracle import TreeOracle
from .solving import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .problem import Savings
    from .solvers.result import Result

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Prices of a move that are tried to meet a bound on the moves.
PRICE_STEPS = 24
#: Most rounds over the workers that spend moves which the last price left over.
SPENDING_ROUNDS = 4


@dataclass(frozen=True)
class Replan:
    """A plan that starts from what workers hold already.

    A *move* is a chunk that a worker must load: it holds it now and did not before. Dropping a
    chunk is free.

    Attributes
    ----------
    placement
        The new plan.
    moves, drops
        Chunks loaded and chunks dropped, over all workers.
    kept_value
        What the old resident sets save under the new demand, ms per epoch: the new plan is never
        worse, after paying for its moves. Where a budget shrank, of the best that still fits.
    free
        The plan that pays nothing for moves, with its bound on what any plan saves.
    free_moves
        Its moves.
    """

    placement: Placement
    moves: int
    drops: int
    kept_value: float
    free: Result
    free_moves: int


def replan(
    problem: Problem,
    held: Mask,
    *,
    max_moves: int | None = None,
    move_cost: float = 0.0,
    method: str = "plan",
    **options: Any,
) -> Replan:
    """Plan for ``problem`` when its workers hold ``held`` already.

    Maximises ``F(T) - move_cost * moves(T)`` over the plans with at most ``max_moves`` moves, by
    coordinate refinement: one worker at a time is solved exactly against the others with node
    profits reduced by the price of a move where the chunk is not held yet. The price is
    ``move_cost``, raised by bisection until ``max_moves`` is met; moves left over then are spent
    where they save most. Starts are the old resident sets and the plan that pays nothing.

    Parameters
    ----------
    problem
        The instance with the new demand.
    held
        Shape (M, n), by chunk id, prefix-complete; see :func:`prefixplace_opt.problem.carry_over`.
    max_moves
        Most moves, >= 0; None for no bound.
    move_cost
        What loading a chunk costs, ms per epoch, >= 0.
    method, options
        How to find the plan that pays nothing; see :func:`prefixplace_opt.solve`.

    Raises
    ------
    InputError
        For an option out of range, or resident sets that do not fit the instance's tree.
    """
    expect(problem, Problem, field="problem")
    expect(held, np.ndarray, field="held")
    cost = number(move_cost, field="move_cost")
    most = None if max_moves is None else whole_number(max_moves, field="max_moves")
    _check(problem, held)
    free = solve(problem, method=method, **options)
    search = _Search(problem, held)
    free_held = search.by_position(free.placement.held(problem.n))
    kept = search.kept()
    best = search.best_at(cost, [kept, free_held])
    if most is not None and search.moves(best) > most:
        best = search.bounded(cost, most, kept, best)
    placement = Placement.of_mask(problem, search.by_id(best))
    kept_placement = Placement.of_mask(problem, search.by_id(kept))
    # Solvers round as they go; by the definition of F keeping everything may be better after all.
    if placement.value - cost * search.moves(best) < kept_placement.value:
        best, placement = kept, kept_placement
    return Replan(
        placement=placement,
        moves=search.moves(best),
        drops=int(np.count_nonzero(search.old & ~best)),
        kept_value=kept_placement.value,
        free=free,
        free_moves=search.moves(free_held),
    )


class _Search:
    """Refinement with a price on moves; all masks by position, shape (M, n)."""

    def __init__(self, problem: Problem, held: Mask) -> None:
        self._tree = problem.tree
        self._order = problem.tree.order
        self._form: Savings = savings(problem)
        self._oracle = TreeOracle(problem.tree)
        self._budgets: list[int] = problem.budgets.tolist()
        self.old = held[:, self._order]

    def by_position(self, held: Mask) -> Mask:
        return held[:, self._order]

    def by_id(self, held: Mask) -> Mask:
        result = np.empty_like(held)
        result[:, self._order] = held
        return result

    def moves(self, held: Mask) -> int:
        return int(np.count_nonzero(held & ~self.old))

    def kept(self) -> Mask:
        """Return the old sets; of one that is over its budget, the best that fits."""
        holders = Holders(self._form, self.old)
        for worker, budget in enumerate(self._budgets):
            if np.count_nonzero(self.old[worker]) > budget:
                profit = holders.profits(worker)
                # Nothing outside the old set can pay for itself.
                profit[~self.old[worker]] = -1.0 - float(profit.sum())
                holders.replace(worker, self._oracle.solve(profit, budget).resident)
        return holders.held.copy()

    def best_at(self, price: float, starts: list[Mask]) -> Mask:
        """Return the best refined start when a move costs ``price``."""
        extra = np.where(self.old, 0.0, -price)
        found = [self._refined(start, extra) for start in starts]
        return max(found, key=lambda held: self._form.value(held) - price * self.moves(held))

    def bounded(self, cost: float, most: int, kept: Mask, start: Mask) -> Mask:
        """Return a plan of at most ``most`` moves; ``start`` has more, ``kept`` none."""
        nothing = np.zeros(self._form.rows)
        top = max(
            float(self._form.priced_profits(worker, nothing).max(initial=0.0))
            for worker in range(len(self._budgets))
        )
        low, high = cost, max(top, cost)
        best = kept
        for _ in range(PRICE_STEPS):
            # Prices spread over orders of magnitude: halve the exponent while zero is the bottom.
            price = high / 16 if low == 0.0 else (low * high) ** 0.5
            found = self.best_at(price, [best, start])
            if self.moves(found) <= most:
                high = price
                best = max(best, found, key=self._worth(cost))
            else:
                low, start = price, found
            if self.moves(best) == most or (low > 0.0 and high <= 1.001 * low):
                break
        plans = [best]
        if self.moves(best) < most:
            plans += [self._trimmed_plan(cost, start, most), *self._absorbed(cost, start, most)]
        return max((self._spent(cost, most, plan) for plan in plans), key=self._worth(cost))

    def _spent(self, cost: float, most: int, held: Mask) -> Mask:
        """Let one worker after the other use the moves that are left, to a fixed point."""
        holders = Holders(self._form, held)
        for _ in range(SPENDING_ROUNDS):
            improved = False
            for worker in range(len(self._budgets)):
                others = self.moves(holders.held) - self._moves_of(worker, holders.held[worker])
                profit = holders.profits(worker) - cost * ~self.old[worker]
                current = float(profit[holders.held[worker]].sum())
                found = self._within(worker, profit, most - others)
                if float(profit[found].sum()) > current + STRICT_IMPROVEMENT * abs(current):
                    holders.replace(worker, found)
                    improved = True
            if not improved:
                break
        return holders.held.copy()

    def _within(self, worker: int, profit: Floats, most: int) -> Mask:
        """Return a good resident set of one worker with at most ``most`` moves.

        It is the best one where the table for that is small enough; else the best one of the
        chunks that are held already or that solutions with a price on moves ask for.
        """
        budget, moving = self._budgets[worker], ~self.old[worker]
        if table_cells(profit.size, budget, most) <= MOST_CELLS:
            everything = np.ones_like(moving)
            return self._with_moves(profit, moving, everything, budget, most)
        best: Mask = np.zeros_like(moving)
        usable = self.old[worker].copy()
        low, high = 0.0, float(profit.max(initial=0.0)) + 1.0
        for _ in range(PRICE_STEPS):
            price = (low + high) / 2
            found = self._oracle.solve(profit - price * moving, budget).resident
            usable |= found
            if self._moves_of(worker, found) <= most:
                high = price
            else:
                low = price
                found = self._trimmed(worker, profit, found, most)
            best = max(best, found, key=lambda mask: float(profit[mask].sum()))
        if table_cells(int(np.count_nonzero(usable)), budget, most) <= MOST_CELLS:
            found = self._with_moves(profit, moving, usable, budget, most)
            best = max(best, found, key=lambda mask: float(profit[mask].sum()))
        return best

    def _with_moves(
        self, profit: Floats, moving: Mask, usable: Mask, budget: int, most: int
    ) -> Mask:
        depth = self._tree.preorder_depth
        return best_with_moves(profit, moving, depth, usable, budget, most)

    def _trimmed(self, worker: int, profit: Floats, found: Mask, most: int) -> Mask:
        """Return ``found`` cut to ``most`` moves, with the room filled by what is held already."""
        kept = self._cut([worker], [profit], found[None, :], most)[0]
        return self._refilled(worker, profit, kept)

    def _trimmed_plan(self, cost: float, held: Mask, most: int) -> Mask:
        """Return a plan cut to ``most`` moves over all workers, room filled likewise."""
        holders = Holders(self._form, held)
        workers = list(range(len(self._budgets)))
        profits = [holders.profits(worker) - cost * ~self.old[worker] for worker in workers]
        for worker, kept in zip(workers, self._cut(workers, profits, held, most), strict=True):
            holders.replace(worker, kept)
        for worker in workers:
            profit = holders.profits(worker) - cost * ~self.old[worker]
            holders.replace(worker, self._refilled(worker, profit, holders.held[worker]))
        return holders.held.copy()

    def _absorbed(self, cost: float, held: Mask, most: int) -> Iterator[Mask]:
        """Give plans in which one worker alone makes up for the moves that are too many."""
        excess = self.moves(held) - most
        for worker in range(len(self._budgets)):
            left = self._moves_of(worker, held[worker]) - excess
            if left >= 0:
                holders = Holders(self._form, held)
                profit = holders.profits(worker) - cost * ~self.old[worker]
                holders.replace(worker, self._within(worker, profit, left))
                yield holders.held.copy()

    def _cut(self, workers: list[int], profits: list[Floats], found: Mask, most: int) -> Mask:
        """Cut the cheapest ends of moved paths until ``most`` moves remain; one row a worker.

        Below a moved chunk everything held is moved, so there is always an end to cut.
        """
        parents = self._tree.preorder_parents
        kept = found.copy()
        moved = found & ~self.old[workers]
        below = np.zeros(found.shape, dtype=np.int64)
        rows, chunks = np.nonzero(moved)
        inner = parents[chunks] >= 0
        np.add.at(below, (rows[inner], parents[chunks[inner]]), 1)
        ends = [
            (float(profits[row][chunk]), row, chunk)
            for row, chunk in zip(rows.tolist(), chunks.tolist(), strict=True)
            if below[row, chunk] == 0
        ]
        heapq.heapify(ends)
        for _ in range(rows.size - most):
            _, row, chunk = heapq.heappop(ends)
            kept[row, chunk] = False
            above = int(parents[chunk])
            if above >= 0 and moved[row, above]:
                below[row, above] -= 1
                if below[row, above] == 0:
                    heapq.heappush(ends, (float(profits[row][above]), row, above))
        return kept

    def _refilled(self, worker: int, profit: Floats, kept: Mask) -> Mask:
        """Return the best set of what is in ``kept`` or held already."""
        # Nothing outside can pay for itself.
        outside = -1.0 - float(np.maximum(profit, 0.0).sum())
        limited = np.where(kept | self.old[worker], profit, outside)
        return self._oracle.solve(limited, self._budgets[worker]).resident

    def _moves_of(self, worker: int, resident: Mask) -> int:
        return int(np.count_nonzero(resident & ~self.old[worker]))

    def _worth(self, cost: float) -> Callable[[Mask], float]:
        return lambda held: self._form.value(held) - cost * self.moves(held)

    def _refined(self, start: Mask, extra: Floats) -> Mask:
        holders = Holders(self._form, start)
        refine(holders, self._oracle, self._budgets, range(len(self._budgets)), extra=extra)
        return holders.held.copy()


def _check(problem: Problem, held: Mask) -> None:
    if held.shape != (problem.m, problem.n):
        raise InputError(f"expected shape {(problem.m, problem.n)}, got {held.shape}", field="held")
    for m in range(problem.m):
        orphan = problem.tree.orphan(held[m])
        if orphan >= 0:
            raise InputError(f"chunk {orphan} is held without its parent", field=f"held[{m}]")
