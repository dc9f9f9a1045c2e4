"""The tree of decisions: is it whole, and which decisions hold at each of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace_opt.problem import Branch, Leaf

from .certificate import Certificate, FixedChunks, Node
from .report import Rejection

Index = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Held(NamedTuple):
    """The decisions on one worker at one node.

    Attributes
    ----------
    key
        The last decision on the worker: equal where the decisions are the same ones of the tree.
    inside, outside
        Chunk ids that the worker holds, and that it does not.
    """

    key: int
    inside: Int64
    outside: Int64


def tree_faults(certificate: Certificate, workers: int, chunks: int) -> Iterator[Rejection]:
    """Yield what keeps the nodes from being a tree that divides all placements.

    Every node but the first must be the child of exactly one that comes before it. Then all
    placements of a node belong to its children or are bounded by its own prices: a branch has both
    children, and what disobeys a fixed chunk is bounded on the spot. No path decides twice on the
    same chunk of a worker.
    """
    whole = True
    for fault in _shape_faults(certificate, workers, chunks):
        whole = False
        yield fault
    if whole:
        yield from _repetitions(certificate.nodes, chunks)


def _shape_faults(certificate: Certificate, workers: int, chunks: int) -> Iterator[Rejection]:
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
    """The decisions above every node of a whole tree without repetition.

    They stand in flat arrays in the order of the nodes; each knows the one before it on its path.
    """

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        # The last decision on the way to every node: -1 for none.
        self._last = np.full(len(nodes), -1, dtype=np.int64)
        count = 0
        worker, chunk, inside, before = [], [], [], []
        for at, node in enumerate(nodes):
            above = int(self._last[at])
            for child, workers, chunks, sides in _decided(node):
                size = len(chunks)
                worker.append(workers)
                chunk.append(chunks)
                inside.append(sides)
                before.append(np.arange(count - 1, count + size - 1))
                if size:
                    before[-1][0] = above
                count += size
                self._last[child] = count - 1 if size else above
        self._worker, self._chunk, self._before = _joined(worker), _joined(chunk), _joined(before)
        self._inside = _joined(inside).astype(np.bool_)

    def held(self, at: int) -> dict[int, Held]:
        """Return the decisions at node ``at``, by worker; workers without any are left out."""
        path = _path(self._before, int(self._last[at]))
        workers = self._worker[path]
        result: dict[int, Held] = {}
        for worker in np.unique(workers).tolist():
            own = path[workers == worker]
            chunks, inside = self._chunk[own], self._inside[own]
            # The path up from a decision is the only one.
            result[worker] = Held(int(own[0]), chunks[inside], chunks[~inside])
        return result


def _decided(node: Node) -> list[tuple[int, ArrayLike, Sequence[int] | Index, ArrayLike]]:
    """Return the node's children with the workers, chunks and sides that it decides for them."""
    if isinstance(node, Branch):
        return [
            (node.inside, [node.worker], [node.chunk], [True]),
            (node.outside, [node.worker], [node.chunk], [False]),
        ]
    if isinstance(node, FixedChunks):
        return [(node.child, node.worker, node.chunk, node.inside)]
    return []


def _joined(parts: Sequence[ArrayLike]) -> Int64:
    if not parts:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([np.asarray(part, dtype=np.int64) for part in parts])


@numba.njit(cache=True)
def _path(before: Int64, last: int) -> Int64:
    """Return ``last``, the decision before it, and so on up."""
    count, at = 0, last
    while at >= 0:
        count += 1
        at = before[at]
    path = np.empty(count, dtype=np.int64)
    at = last
    for i in range(count):
        path[i] = at
        at = before[at]
    return path


def _repetitions(nodes: tuple[Node, ...], chunks: int) -> Iterator[Rejection]:
    """Yield where a path of a whole tree decides twice on one chunk of one worker.

    Such a decision divides nothing; without any, no path is longer than there are chunks at all
    workers together.
    """
    decided: set[int] = set()
    # What is to be visited, and what to forget on the way back up.
    stack: list[int | list[int]] = [0]
    while stack:
        at = stack.pop()
        if isinstance(at, list):
            decided.difference_update(at)
            continue
        node = nodes[at]
        if isinstance(node, Leaf):
            continue
        pairs = np.atleast_1d(node.worker).astype(np.int64) * chunks + node.chunk
        own = pairs.tolist()
        if len(set(own)) < len(own) or not decided.isdisjoint(own):
            seen = decided.copy()
            for pair in own:
                if pair in seen:
                    worker, chunk = divmod(pair, chunks)
                    message = f"worker {worker} and chunk {chunk} are decided on above already"
                    yield Rejection("tree", f"tree[{at}]", message)
                    return
                seen.add(pair)
        decided.update(own)
        stack.append(own)
        stack += [child for _, child in children(node)]


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
