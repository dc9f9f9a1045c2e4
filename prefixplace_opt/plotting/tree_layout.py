"""Where each chunk of a prefix tree goes in a flame-graph picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

Floats = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass(frozen=True)
class TreeLayout:
    """Rectangles of the chunks that are drawn, parents before children.

    Attributes
    ----------
    chunk
        Shape (K,): ids of the drawn chunks.
    left, width
        Shape (K,): horizontal extent; all roots together span 0 to 1.
    depth
        Shape (K,): the row, 0 for roots.
    """

    chunk: Index
    left: Floats
    width: Floats
    depth: Index


def tree_layout(problem: Problem, *, most_chunks: int, most_rows: int) -> TreeLayout:
    """Lay out the forest: a chunk is as wide as the requests that need it.

    A chunk is at least as wide as its children together, so that any demand fits. Of larger
    forests the most demanded chunks are kept, with all their ancestors; a chunk is then as wide
    as the kept ones below it.
    """
    tree = problem.tree
    # In preorder, from the last position to the first, children come before their parents.
    weight = problem.demand.total()[tree.order]
    weight = weight + (weight.sum() or 1.0) / max(1, 200 * tree.n)  # nothing vanishes
    parents = tree.preorder_parents
    below = np.zeros(tree.n)
    for p in range(tree.n - 1, -1, -1):
        weight[p] = max(weight[p], below[p])
        if parents[p] >= 0:
            below[parents[p]] += weight[p]
    # An ancestor is never lighter and stands earlier, so a stable cut keeps the set closed.
    kept = np.sort(np.argsort(-weight, kind="stable")[:most_chunks])
    kept = kept[tree.preorder_depth[kept] < most_rows]
    if kept.size < tree.n:
        weight = _weight_of_ends(weight, kept, parents)
    left = np.zeros(tree.n)
    free = left.copy()
    total = float(weight[kept][parents[kept] < 0].sum()) or 1.0
    next_root = 0.0
    for p in kept:
        parent = parents[p]
        if parent < 0:
            left[p] = next_root
            next_root += weight[p]
        else:
            left[p] = free[parent]
            free[parent] += weight[p]
        free[p] = left[p]
    return TreeLayout(
        chunk=tree.order[kept],
        left=left[kept] / total,
        width=weight[kept] / total,
        depth=tree.preorder_depth[kept],
    )


def _weight_of_ends(weight: Floats, kept: NDArray[np.intp], parents: Index) -> Floats:
    """Return weights by which each kept chunk is as wide as the kept chunks that end below it."""
    result = np.zeros_like(weight)
    for p in kept[::-1]:
        if result[p] == 0.0:
            result[p] = weight[p]
        if parents[p] >= 0:
            result[parents[p]] += result[p]
    return result
