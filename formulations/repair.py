"""Making a plan of whatever values x were given, and saying what had to be changed."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Placement, marginals

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Values this close to 0 or 1 count as integer: solvers' own tolerance.
INTEGER_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Repair:
    """A plan and what was changed to get it.

    Attributes
    ----------
    placement
        The plan; its value was recomputed by the objective.
    fractional
        How many x were further than :data:`INTEGER_TOLERANCE` from an integer.
    farthest
        The largest distance of an x from an integer.
    orphans
        For each worker, how many chunks were dropped because an ancestor was not held.
    excess
        For each worker, how many chunks were dropped because it was over its budget.
    """

    placement: Placement
    fractional: int
    farthest: float
    orphans: tuple[int, ...]
    excess: tuple[int, ...]

    @property
    def changed(self) -> bool:
        """Whether the values were anything but a plan."""
        return bool(self.fractional or sum(self.orphans) or sum(self.excess))


def repaired(problem: Problem, residency: Floats) -> Repair:
    """Return the plan nearest at hand to ``residency``, shape (M, n), by chunk id.

    Values are rounded to the nearest of 0 and 1. Chunks whose ancestors are not all held are
    dropped, since nobody could use them. While a worker is over its budget, it drops the leaf of
    its set whose loss is smallest, given what the others hold.
    """
    held = residency > 0.5
    distance = np.abs(residency - held)
    tree = problem.tree
    whole = np.zeros_like(held)
    parents = tree.parents
    for chunk in tree.order.tolist():
        whole[:, chunk] = held[:, chunk]
        if parents[chunk] >= 0:
            whole[:, chunk] &= whole[:, parents[chunk]]
    orphans = (held & ~whole).sum(axis=1)
    excess = np.maximum(whole.sum(axis=1) - problem.budgets, 0)
    for worker in np.flatnonzero(excess).tolist():
        _drop_leaves(problem, whole, worker, int(excess[worker]))
    return Repair(
        placement=Placement.of_mask(problem, whole),
        fractional=int(np.count_nonzero(distance > INTEGER_TOLERANCE)),
        farthest=float(distance.max(initial=0.0)),
        orphans=tuple(orphans.tolist()),
        excess=tuple(excess.tolist()),
    )


def _drop_leaves(problem: Problem, held: Mask, worker: int, count: int) -> None:
    loss = marginals(problem, held, worker)
    parents = problem.tree.parents
    kept_children = np.bincount(parents[held[worker] & (parents >= 0)], minlength=problem.n)
    leaves = [
        (float(loss[chunk]), chunk)
        for chunk in np.flatnonzero(held[worker] & (kept_children == 0)).tolist()
    ]
    heapq.heapify(leaves)
    for _ in range(count):
        _, chunk = heapq.heappop(leaves)
        held[worker, chunk] = False
        parent = int(parents[chunk])
        if parent >= 0:
            kept_children[parent] -= 1
            if kept_children[parent] == 0:
                heapq.heappush(leaves, (float(loss[parent]), parent))
