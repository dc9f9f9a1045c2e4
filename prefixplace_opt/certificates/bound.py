"""The bound that prices and decisions prove: the theorem of docs/certificates.md, evaluated.

    UB(pi | decisions) = sum of all prices
        + sum over h of the most that a parent-closed set of at most k_h chunks which obeys the
          decisions on h is worth, a chunk b being worth l_h(b) + sum over its rows of
          [value from h - price]_+

The bound of a node with fixed chunks is the largest of UB(pi | .. , opposite of one of them).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Branch, Problem

from .certificate import Certificate, FixedChunks
from .closed_sets import Reduced, best_value, forced_values, reduced, relaxed_values
from .decisions import DecisionTree, Held
from .integer_savings import IntegerSavings

Index = NDArray[Any]
Integers = NDArray[Any]
Mask = NDArray[np.bool_]

NONE: Index = np.zeros(0, dtype=np.int64)

#: Tables of all chunks and budgets have no more cells than this, of eight bytes; where that does
#: not do, opposites are bounded one by one.
TABLE_CELLS = 2**24


class NodeBound(NamedTuple):
    """What node ``node`` proves, in units: no placement of it is worth more than ``bound``.

    Of a node with fixed chunks that is no placement outside of its child; ``whole`` is what its
    prices would prove as a leaf. None where there is no placement.
    """

    node: int
    bound: int | None
    whole: int | None


def node_bounds(
    problem: Problem,
    certificate: Certificate,
    savings: IntegerSavings,
    only: Collection[int] | None = None,
    floor: int | None = -1,
) -> Iterator[NodeBound]:
    """Yield the bounds of all leaves and nodes with fixed chunks of a whole tree.

    Nodes with the same prices come together, so that one set of profits is held at a time, those
    with fixed chunks as late as that allows. ``only`` leaves out the nodes of all other price
    vectors; then nothing is proven of the tree. The bound of fixed chunks is exact where it is
    above ``floor``, and otherwise some number up to ``floor``; None stands for the highest bound
    so far, so that the highest of all is exact.
    """
    tree = DecisionTree(certificate.nodes)
    by_prices: dict[int, list[int]] = {}
    for at, node in enumerate(certificate.nodes):
        if not isinstance(node, Branch):
            by_prices.setdefault(node.prices, []).append(at)
    fixing = {at for at, node in enumerate(certificate.nodes) if isinstance(node, FixedChunks)}
    highest = -1
    asked = by_prices if only is None else by_prices.keys() & set(only)
    for prices in sorted(
        asked, key=lambda prices: (not fixing.isdisjoint(by_prices[prices]), prices)
    ):
        priced = savings.priced(certificate.prices[prices])
        profits = [savings.profits(worker, priced) for worker in range(problem.m)]
        workers = [_Worker(problem, worker, profits[worker]) for worker in range(problem.m)]
        for at in sorted(by_prices[prices], key=lambda at: (at in fixing, at)):
            held = tree.held(at)
            values = [own.best(held.get(worker)) for worker, own in enumerate(workers)]
            bound = whole = None
            if None not in values:
                bound = whole = priced.total + sum(value for value in values if value is not None)
                node = certificate.nodes[at]
                if isinstance(node, FixedChunks):
                    least = highest if floor is None else floor
                    bound = _refuted(bound, values, workers, held, node, least)
            highest = highest if bound is None else max(highest, bound)
            yield NodeBound(at, bound, whole)


class _Worker:
    """One worker's best sets under one price vector, by decisions."""

    def __init__(self, problem: Problem, worker: int, profit: Integers) -> None:
        self._tree = problem.tree
        self._budget = int(problem.budgets[worker])
        self._profit = profit
        self._known: dict[int, int | None] = {}

    def best(self, held: Held | None) -> int | None:
        key = -1 if held is None else held.key
        if key not in self._known:
            choice = self._choice(held, self._profit > 0)
            self._known[key] = best_value(self._profit, choice)
        return self._known[key]

    def opposites(self, held: Held | None, node: FixedChunks, own: Mask, floor: int) -> int:
        """Return the most over the opposites of the ``own`` decisions, if it is above ``floor``.

        Otherwise some number up to ``floor``; negative for no set at all.
        """
        position = self._tree.position[node.chunk[own]]
        inside = node.inside[own]
        interest = self._profit > 0
        interest[position] = True
        choice = self._choice(held, interest)
        if self._profit.dtype != object:
            value_in, value_out = relaxed_values(self._profit, choice)
            bounds = np.where(inside, value_out[position], value_in[position])
            # One of them exactly, and there is little left that might be above it.
            ranked = np.argsort(-bounds, kind="stable")
            first = ranked[0]
            floor = self._raised(floor, bounds[first], held, position[first], inside[first])
            out = choice.free[value_in[choice.free] <= floor]
            kept = choice.free[value_out[choice.free] <= floor]
            choice = self._choice(held, interest, kept, out)
            if bounds.max() <= floor or not choice.feasible:
                return floor
            if choice.free.size * min(choice.room, choice.free.size) > TABLE_CELLS:
                for at in ranked[1:]:
                    floor = self._raised(floor, bounds[at], held, position[at], inside[at])
                return floor
        value_in, value_out = forced_values(self._profit, choice)
        return max(floor, int(np.where(inside, value_out[position], value_in[position]).max()))

    def _raised(
        self, floor: int, bound: int, held: Held | None, position: int, inside: bool
    ) -> int:
        """Return the most that is worth against one decision, or ``floor`` if that is more.

        It is known to be no more than ``bound``.
        """
        if bound <= floor:
            return floor
        one = np.array([position])
        sides = (NONE, one) if inside else (one, NONE)
        best = best_value(self._profit, self._choice(held, self._profit > 0, *sides))
        return floor if best is None else max(floor, best)

    def _choice(
        self, held: Held | None, interest: Mask, taken: Index = NONE, barred: Index = NONE
    ) -> Reduced:
        """Return what ``held`` leaves, and the positions ``taken`` and ``barred`` besides."""
        tree = self._tree
        inside, outside = (NONE, NONE) if held is None else (held.inside, held.outside)
        return reduced(
            tree.end,
            tree.preorder_parents,
            self._budget,
            np.concatenate([tree.position[inside], taken]),
            np.concatenate([tree.position[outside], barred]),
            interest.astype(np.bool_),
        )


def _refuted(
    bound: int,
    values: list[int | None],
    workers: list[_Worker],
    held: dict[int, Held],
    node: FixedChunks,
    floor: int,
) -> int | None:
    """Return the highest bound of an opposite, if it is above ``floor``; else one up to it."""
    highest = floor
    for worker in np.unique(node.worker).tolist():
        value = values[worker]
        assert value is not None
        others = bound - value
        least = max(highest - others, -1)
        best = workers[worker].opposites(held.get(worker), node, node.worker == worker, least)
        if best >= 0:
            highest = max(highest, others + best)
    return None if highest < 0 else highest
