"""What an instance is like: sizes, workers, demand and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WorkerSummary:
    """One worker's share of an instance.

    Attributes
    ----------
    name, hardware, budget
        As in the instance.
    needed
        Chunks with demand at this worker.
    requests
        Requests per epoch that enter the forest here: its demand for the roots.
    recompute_ms
        Cost per epoch of recomputing everything that is needed here.
    mean_recompute_ms, mean_fetch_ms
        Per needed chunk, weighted by demand; the fetch from its cheapest peer, over what is
        fetchable at all. None where nothing is.
    """

    name: str
    hardware: str | None
    budget: int
    needed: int
    requests: float
    recompute_ms: float
    mean_recompute_ms: float | None
    mean_fetch_ms: float | None


@dataclass(frozen=True)
class InstanceSummary:
    """Sizes, demand and costs of an instance.

    Attributes
    ----------
    chunks, roots, leaves, height
        Of the forest; the height in chunks.
    budget
        Sum over the workers.
    budget_share
        ``budget / (workers * chunks)``.
    demand_entries
        (Worker, chunk) pairs with demand.
    recompute_ms
        Cost per epoch with nothing cached: what savings are counted against.
    worth_fetching
        Share of that cost at chunks which are cheaper to fetch from some peer than to recompute.
    worker
        One row a worker.
    """

    name: str
    digest: str
    objective: str
    chunks: int
    roots: int
    leaves: int
    height: int
    chunk_tokens: int
    chunk_bytes: int | None
    workers: int
    groups: int
    budget: int
    budget_share: float
    demand_entries: int
    requests: float
    recompute_ms: float
    worth_fetching: float
    worker: tuple[WorkerSummary, ...]


def summarise_instance(problem: Problem) -> InstanceSummary:
    """Return the figures of ``problem``."""
    tree, demand = problem.tree, problem.demand
    recompute = problem.recompute_costs
    fetch = _cheapest_fetch(problem)
    cost = demand.value * recompute
    at_root = tree.parents[demand.chunk] < 0
    workers = []
    for m, worker in enumerate(problem.workers):
        own = demand.worker == m
        reachable = own & np.isfinite(fetch)
        workers.append(
            WorkerSummary(
                name=worker.name,
                hardware=worker.hardware,
                budget=worker.budget,
                needed=int(np.count_nonzero(own)),
                requests=float(demand.value[own & at_root].sum()),
                recompute_ms=math.fsum(cost[own]),
                mean_recompute_ms=_mean(recompute[own], demand.value[own]),
                mean_fetch_ms=_mean(fetch[reachable], demand.value[reachable]),
            )
        )
    total = math.fsum(cost)
    parents = tree.parents[tree.parents >= 0]
    budget = int(problem.budgets.sum())
    return InstanceSummary(
        name=problem.name,
        digest=problem.digest,
        objective=problem.objective,
        chunks=problem.n,
        roots=int(tree.roots.size),
        leaves=problem.n - int(np.unique(parents).size),
        height=tree.height,
        chunk_tokens=tree.chunk_tokens,
        chunk_bytes=tree.chunk_bytes,
        workers=problem.m,
        groups=int(problem.groups.max()) + 1,
        budget=budget,
        budget_share=budget / (problem.m * problem.n) if problem.n else 0.0,
        demand_entries=len(demand),
        requests=float(demand.value[at_root].sum()),
        recompute_ms=total,
        worth_fetching=math.fsum(cost[fetch < recompute]) / total if total > 0 else 0.0,
        worker=tuple(workers),
    )


def _cheapest_fetch(problem: Problem) -> Floats:
    """Return min over the peers h of f_{m<-h}(b) at every demand entry; +inf without any."""
    best = np.full(len(problem.demand), np.inf)
    for holder in range(problem.m):
        cost = problem.fetch_costs(holder)
        np.minimum(best, np.where(problem.demand.worker == holder, np.inf, cost), out=best)
    return best


def _mean(values: Floats, weights: Floats) -> float | None:
    return float(np.average(values, weights=weights)) if values.size else None
