"""The compact MILP: closure rows and budget rows on x, coverage rows beside them.

    max  sum_{h,b} local_h(b) x[h,b] + coverage(x)
    s.t. x[h,b] <= x[h,parent(b)]                       closure, edge by edge
         sum_b x[h,b] <= k_h                            budget
         x binary

The smallest formulation and the weakest LP (docs/formulations/compact.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import InputError, Problem, savings

from .coverage import CoverageRows, add_coverage
from .linear_model import Axis, ModelBuilder, require_room
from .placement_model import PlacementModel, add_residency, worker_labels

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

ClosureRows = Literal["edge", "subtree", "both"]


@dataclass(frozen=True, eq=False)
class CompactModel(PlacementModel):
    """The compact MILP as arrays; it has no columns beyond x and coverage."""

    def _complete(self, held: Mask, solution: Floats) -> None:
        pass


def compact_arrays(
    problem: Problem, *, closure: ClosureRows = "edge", coverage: CoverageRows | None = None
) -> CompactModel:
    """Return the compact MILP as arrays.

    Parameters
    ----------
    problem
        What to formulate.
    closure
        ``"edge"``: ``x[h,b] <= x[h,parent(b)]``, M (n - roots) rows. ``"subtree"``: the rows of a
        subtree added up and cut to what the budget leaves below b, ``sum_{d below b} x[h,d] <=
        min(|below b|, k_h - depth(b) - 1) x[h,b]``, one row an inner node, neither weaker nor
        stronger than the edges. ``"both"``: the strongest LP of the three.
    coverage
        See :mod:`.coverage`; by default aggregated requester-side and disaggregated pairwise.

    Raises
    ------
    InputError
        For an unknown option.
    """
    closure = checked_closure(closure)
    builder = ModelBuilder(f"compact {problem.name}".strip())
    form = savings(problem)
    labels = worker_labels(problem)
    x = add_residency(builder, problem, form)
    covered = add_coverage(builder, problem, form, x, labels, coverage)
    if closure != "subtree":
        _add_edges(builder, problem, x, labels)
    if closure != "edge":
        _add_subtrees(builder, problem, x, labels)
    worker = np.arange(problem.m)
    builder.add_rows(
        "budget",
        Axis(worker, labels),
        row=np.repeat(worker, problem.n),
        column=x.ravel(),
        value=1.0,
        upper=problem.budgets,
    )
    return CompactModel(problem, builder.build(), covered)


def checked_closure(closure: ClosureRows) -> ClosureRows:
    """Return ``closure``; raises InputError for any other word."""
    if closure not in ("edge", "subtree", "both"):
        raise InputError(f"expected 'edge', 'subtree' or 'both', got {closure!r}", field="closure")
    return closure


def _add_edges(builder: ModelBuilder, problem: Problem, x: Index, labels: list[str]) -> None:
    parents = problem.tree.parents
    child = np.flatnonzero(parents >= 0)
    worker = np.repeat(np.arange(problem.m), child.size)
    chunk = np.tile(child, problem.m)
    row = np.arange(worker.size)
    builder.add_rows(
        "closure",
        Axis(worker, labels),
        Axis(chunk),
        row=np.concatenate([row, row]),
        column=np.concatenate([x[worker, chunk], x[worker, parents[chunk]]]),
        value=np.repeat([1.0, -1.0], row.size),
        upper=0.0,
    )


def _add_subtrees(builder: ModelBuilder, problem: Problem, x: Index, labels: list[str]) -> None:
    tree = problem.tree
    pairs = int((tree.end - np.arange(tree.n) - 1).sum(dtype=np.int64))
    require_room("compact", problem.m * pairs)
    node, below = subtree_pairs(problem)
    inner, row, size = np.unique(node, return_inverse=True, return_counts=True)
    for h in range(problem.m):
        left = np.maximum(problem.budgets[h] - problem.tree.depth[inner] - 1, 0)
        builder.add_rows(
            "below",
            Axis(np.full(inner.size, h), labels),
            Axis(inner),
            row=np.concatenate([row, np.arange(inner.size)]),
            column=np.concatenate([x[h, below], x[h, inner]]),
            value=np.concatenate([np.ones(below.size), -np.minimum(size, left).astype(np.float64)]),
            upper=0.0,
        )


def subtree_pairs(problem: Problem) -> tuple[Index, Index]:
    """Return every pair (chunk, chunk strictly below it), as two arrays of ids."""
    tree = problem.tree
    at = np.arange(tree.n)
    node = np.repeat(at, tree.end - at - 1)
    first = np.cumsum(tree.end - at - 1) - (tree.end - at - 1)
    below = np.arange(node.size) - first[node] + node + 1
    return tree.order[node], tree.order[below]
