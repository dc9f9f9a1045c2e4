"""The objective by its definition: savings against recomputing everything.

    s_{m,m}(b) = L_m(b) w_m(b),   s_{m,h}(b) = L_m(b) [w_m(b) - f_{m<-h}(b)]_+
    F(T)       = sum_b sum_m max_{h : b in T_h} s_{m,h}(b)

with L the demand. Nothing here is fast for its own sake: this is what every solver's result is
recomputed with. Sums are exact before one final rounding, so no result depends on an order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

if TYPE_CHECKING:
    from .problem import Problem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def own_savings(problem: Problem) -> Floats:
    """Return s_{m,m} at every demand entry, shape (entries,), in ms per epoch."""
    return problem.demand.value * problem.recompute_costs


def peer_savings(problem: Problem, holder: int) -> Floats:
    """Return s_{m,holder} at every demand entry, shape (entries,), in ms per epoch.

    At the holder's own entries that is s_{holder,holder}.
    """
    demand, recompute = problem.demand, problem.recompute_costs
    saved = np.maximum(recompute - problem.fetch_costs(holder), 0.0)
    return demand.value * np.where(demand.worker == holder, recompute, saved)


def served_savings(problem: Problem, held: Mask) -> Floats:
    """Return what each demand entry saves under ``held``, shape (entries,), in ms per epoch.

    ``held`` has shape (M, n), by chunk id.
    """
    best = np.zeros(len(problem.demand))
    for holder in range(problem.m):
        at = held[holder, problem.demand.chunk]
        if at.any():
            np.maximum(best, np.where(at, peer_savings(problem, holder), 0.0), out=best)
    return best


def objective_value(problem: Problem, held: Mask) -> float:
    """Return F(T) in ms per epoch; ``held`` has shape (M, n), by chunk id."""
    return math.fsum(served_savings(problem, held))


@dataclass(frozen=True)
class Decomposition:
    """The requester-side objective split into a local and a coverage value, in ms per epoch.

    Attributes
    ----------
    local
        l_m(b) = L_m(b) min(w_m(b), f_m(b)), shape (M, n), by chunk id.
    coverage
        D_g(b) = sum over the workers m of group g of L_m(b) [w_m(b) - f_m(b)]_+, shape
        (groups, n); one group where all workers are compatible.
    """

    local: Floats
    coverage: Floats
    groups: NDArray[np.int64]

    def value(self, held: Mask) -> float:
        """Return the local value of ``held`` plus the coverage of what any of a group holds."""
        covered = [
            self.coverage[g][held[self.groups == g].any(axis=0)]
            for g in range(self.coverage.shape[0])
        ]
        return math.fsum(np.concatenate([self.local[held], *covered]))


def decomposition(problem: Problem) -> Decomposition:
    """Split the requester-side objective; raises InputError for the pairwise one."""
    if problem.objective != "requester":
        raise InputError(
            "only the requester-side objective splits into local and coverage", field="objective"
        )
    demand, recompute = problem.demand, problem.recompute_costs
    fetch = problem.fetch.cost(problem.tree, demand.worker, demand.chunk)  # type: ignore[union-attr]
    local = np.zeros((problem.m, problem.n))
    local[demand.worker, demand.chunk] = demand.value * np.minimum(recompute, fetch)
    coverage = np.zeros((int(problem.groups.max()) + 1, problem.n))
    shared = demand.value * np.maximum(recompute - fetch, 0.0)
    np.add.at(coverage, (problem.groups[demand.worker], demand.chunk), shared)
    return Decomposition(local, coverage, problem.groups)


def marginals(problem: Problem, held: Mask, worker: int) -> Floats:
    """Return what each chunk would add to F at ``worker``, given what the *other* workers hold.

    p(b) = sum_m [s_{m,worker}(b) - best saving of m on b from the others]_+, shape (n,), by chunk
    id, in ms per epoch. The objective of any resident set T of that worker, others fixed, is
    F(others) + sum of p over T.
    """
    others = held.copy()
    others[worker] = False
    gain = np.maximum(peer_savings(problem, worker) - served_savings(problem, others), 0.0)
    profit = np.zeros(problem.n)
    np.add.at(profit, problem.demand.chunk, gain)
    return profit
