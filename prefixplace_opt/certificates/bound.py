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
from .closed_sets import Reduced, best_value, forced_values, reduced
from .decisions import DecisionTree, Held
from .integer_savings import IntegerSavings

Integers = NDArray[Any]
Mask = NDArray[np.bool_]


class NodeBound(NamedTuple):
    """What node ``node`` proves, in units: no placement of it is worth more than ``bound``.

    None where it has no placement.
    """

    node: int
    bound: int | None


def node_bounds(
    problem: Problem,
    certificate: Certificate,
    savings: IntegerSavings,
    only: Collection[int] | None = None,
) -> Iterator[NodeBound]:
    """Yield the bounds of all leaves and nodes with fixed chunks of a whole tree.

    Nodes with the same prices come together, so that one set of profits is held at a time.
    ``only`` leaves out the nodes of all other price vectors; then nothing is proven of the tree.
    """
    tree = DecisionTree(certificate.nodes)
    by_prices: dict[int, list[int]] = {}
    for at, node in enumerate(certificate.nodes):
        if not isinstance(node, Branch):
            by_prices.setdefault(node.prices, []).append(at)
    for prices in sorted(by_prices if only is None else by_prices.keys() & set(only)):
        priced = savings.priced(certificate.prices[prices])
        profits = [savings.profits(worker, priced) for worker in range(problem.m)]
        workers = [_Worker(problem, worker, profits[worker]) for worker in range(problem.m)]
        for at in by_prices[prices]:
            held = tree.held(at)
            values = [own.best(held.get(worker)) for worker, own in enumerate(workers)]
            bound: int | None = None
            if None not in values:
                bound = priced.total + sum(value for value in values if value is not None)
                node = certificate.nodes[at]
                if isinstance(node, FixedChunks):
                    bound = _refuted(bound, values, workers, held, node)
            yield NodeBound(at, bound)


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

    def opposites(self, held: Held | None, node: FixedChunks, own: Mask) -> int:
        """Return the most over the opposites of the ``own`` decisions; negative for none."""
        position = self._tree.position[node.chunk[own]]
        interest = self._profit > 0
        interest[position] = True
        value_in, value_out = forced_values(self._profit, self._choice(held, interest))
        inside = node.inside[own]
        return int(np.where(inside, value_out[position], value_in[position]).max())

    def _choice(self, held: Held | None, interest: Mask) -> Reduced:
        tree = self._tree
        position = tree.position
        none = np.zeros(0, dtype=np.int64)
        inside, outside = (none, none) if held is None else (held.inside, held.outside)
        return reduced(
            tree.end,
            tree.preorder_parents,
            self._budget,
            position[inside],
            position[outside],
            interest.astype(np.bool_),
        )


def _refuted(
    bound: int,
    values: list[int | None],
    workers: list[_Worker],
    held: dict[int, Held],
    node: FixedChunks,
) -> int | None:
    highest: int | None = None
    for worker in np.unique(node.worker).tolist():
        best = workers[worker].opposites(held.get(worker), node, node.worker == worker)
        if best >= 0:
            value = values[worker]
            assert value is not None
            other = bound - value + best
            highest = other if highest is None else max(highest, other)
    return highest
