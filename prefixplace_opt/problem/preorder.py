"""Preorder of a rooted forest given by parents in any order: three linear passes, no recursion."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int32]


@numba.njit(cache=True, nogil=True)
def preorder(parents: Index) -> tuple[Index, Index, Index, Index, int]:
    """Return ``(order, position, end, depth, reached)`` of the forest.

    Siblings, and roots, come in ascending order of their ids. ``order[p]`` is the node at
    position ``p`` and ``position`` its inverse; ``end[p]`` is the first position after the
    subtree at ``p``; ``depth[v]`` is 0 for a root. ``reached < n`` says that some nodes hang on a
    cycle; the other arrays then mean nothing.

    Parents must lie in ``-1 .. n-1``.
    """
    n = parents.shape[0]
    first = np.zeros(n + 2, dtype=np.int32)
    for v in range(n):
        first[parents[v] + 2] += 1
    for v in range(n + 1):
        first[v + 1] += first[v]
    # The children of v stand, ascending, at children[first[v + 1] : first[v + 2]]; those of -1
    # are the roots.
    cursor = first.copy()
    children = np.empty(n, dtype=np.int32)
    for v in range(n):
        slot = parents[v] + 1
        children[cursor[slot]] = v
        cursor[slot] += 1

    # Breadth first: `queue` holds every node after its parent.
    queue = np.empty(n, dtype=np.int32)
    depth = np.zeros(n, dtype=np.int32)
    reached = 0
    for c in range(first[0], first[1]):
        queue[reached] = children[c]
        reached += 1
    head = 0
    while head < reached:
        v = queue[head]
        head += 1
        for c in range(first[v + 1], first[v + 2]):
            child = children[c]
            depth[child] = depth[v] + 1
            queue[reached] = child
            reached += 1

    size = np.ones(n, dtype=np.int32)
    order = np.empty(n, dtype=np.int32)
    position = np.zeros(n, dtype=np.int32)
    end = np.empty(n, dtype=np.int32)
    if reached < n:
        return order, position, end, depth, reached
    for q in range(n - 1, -1, -1):
        v = queue[q]
        if parents[v] >= 0:
            size[parents[v]] += size[v]
    at = 0
    for c in range(first[0], first[1]):
        position[children[c]] = at
        at += size[children[c]]
    for q in range(n):
        v = queue[q]
        at = position[v] + 1
        for c in range(first[v + 1], first[v + 2]):
            position[children[c]] = at
            at += size[children[c]]
    for v in range(n):
        order[position[v]] = v
        end[position[v]] = position[v] + size[v]
    return order, position, end, depth, reached


@numba.njit(cache=True, nogil=True)
def node_on_cycle(parents: Index) -> int:
    """Return a node that lies on a cycle of ``parents``, or -1 where there is none."""
    n = parents.shape[0]
    seen = np.full(n, -1, dtype=np.int32)
    for start in range(n):
        v = start
        while v >= 0 and seen[v] < 0:
            seen[v] = start
            v = parents[v]
        if v >= 0 and seen[v] == start:
            return int(v)
    return -1


@numba.njit(cache=True, nogil=True)
def subtree_sums(values: NDArray[np.float64], preorder_parents: Index) -> None:
    """Add to every position, in place, the values of all positions below it.

    ``values`` has shape (n,) or (n, columns), in preorder.
    """
    for p in range(values.shape[0] - 1, -1, -1):
        parent = preorder_parents[p]
        if parent >= 0:
            values[parent] += values[p]
