"""The tree of decisions: is it whole, and which decisions hold at each of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Branch, Leaf

from .certificate import Certificate, FixedChunks, Node
from .report import Rejection

Index = NDArray[np.int32]


class Held(NamedTuple):
    """The decisions on one worker at one node.

    Attributes
    ----------
    key
        Equal where the decisions are the same ones of the tree.
    inside, outside
        Chunk ids that the worker holds, and that it does not.
    """

    key: tuple[int, ...]
    inside: list[int]
    outside: list[int]


def tree_faults(certificate: Certificate, workers: int, chunks: int) -> Iterator[Rejection]:
    """Yield what keeps the nodes from being a tree that divides all placements.

    Every node but the first must be the child of exactly one that comes before it. Then all
    placements of a node belong to its children or are bounded by its own prices: a branch has both
    children, and what disobeys a fixed chunk is bounded on the spot.
    """
    nodes = certificate.nodes
    if not nodes:
        yield Rejection("tree", "tree", "expected at least one node, got none")
    parent: dict[int, int] = {}
    for at, node in enumerate(nodes):
        where = f"tree[{at}]"
        if not isinstance(node, Branch) and not 0 <= node.prices < len(certificate.prices):
            yield Rejection(
                "tree",
                f"{where}.prices",
                f"expected one of {len(certificate.prices)} price vectors, got {node.prices}",
            )
        for name, child in children(node):
            if not at < child < len(nodes):
                yield Rejection(
                    "tree",
                    f"{where}.{name}",
                    f"expected a node from {at + 1} to {len(nodes) - 1}, got {child}",
                )
            elif child in parent:
                yield Rejection(
                    "tree", f"{where}.{name}", f"node {child} is a child of {parent[child]} as well"
                )
            parent[child] = at
        yield from _decision_faults(node, where, workers, chunks)
    for at in range(1, len(nodes)):
        if at not in parent:
            yield Rejection("tree", f"tree[{at}]", "expected a node with a parent, got a stray one")


def children(node: Node) -> list[tuple[str, int]]:
    """Return the node's children with the names of their fields."""
    if isinstance(node, Branch):
        return [("in", node.inside), ("out", node.outside)]
    return [] if isinstance(node, Leaf) else [("child", node.child)]


class DecisionTree:
    """The decisions above every node of a whole tree, without recursion."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._nodes = nodes
        self._parent = [-1] * len(nodes)
        for at, node in enumerate(nodes):
            for _, child in children(node):
                self._parent[child] = at
        self._fixed = {
            at: _by_worker(node) for at, node in enumerate(nodes) if isinstance(node, FixedChunks)
        }

    def held(self, at: int) -> dict[int, Held]:
        """Return the decisions at node ``at``, by worker; workers without any are left out."""
        result: dict[int, Held] = {}
        parts: dict[int, list[int]] = {}
        child = at
        while (above := self._parent[child]) >= 0:
            node = self._nodes[above]
            if isinstance(node, Branch):
                side = child == node.inside
                decided = {node.worker: ([node.chunk], []) if side else ([], [node.chunk])}
            else:
                decided = self._fixed[above]
            for worker, (inside, outside) in decided.items():
                held = result.setdefault(worker, Held((), [], []))
                held.inside.extend(inside)
                held.outside.extend(outside)
                # The child tells the sides of a branch apart.
                parts.setdefault(worker, []).append(child)
            child = above
        return {worker: held._replace(key=tuple(parts[worker])) for worker, held in result.items()}


def _by_worker(node: FixedChunks) -> dict[int, tuple[list[int], list[int]]]:
    result = {}
    for worker in np.unique(node.worker):
        own = node.worker == worker
        result[int(worker)] = (
            node.chunk[own & node.inside].tolist(),
            node.chunk[own & ~node.inside].tolist(),
        )
    return result


def _decision_faults(node: Node, where: str, workers: int, chunks: int) -> Iterator[Rejection]:
    if isinstance(node, Leaf):
        return
    for name, values, size in (
        ("worker", np.atleast_1d(node.worker), workers),
        ("chunk", np.atleast_1d(node.chunk), chunks),
    ):
        unknown = (values < 0) | (values >= size)
        if unknown.any():
            at = int(np.argmax(unknown))
            path = name if isinstance(node, Branch) else f"fixed.{name}[{at}]"
            yield Rejection(
                "tree", f"{where}.{path}", f"expected 0 to {size - 1}, got {values[at]}"
            )
