"""What a placement does: who holds what, what is served from where, what each worker saves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem.objective import own_savings, peer_savings, served_savings

if TYPE_CHECKING:
    from prefixplace_opt.problem import Placement, Problem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class WorkerSavings:
    """One worker as holder and as requester.

    Attributes
    ----------
    name, hardware, budget
        As in the instance.
    held
        Chunks that it holds.
    sole
        Chunks that nobody else holds.
    recompute_ms
        Cost per epoch of recomputing all that it needs.
    own_ms
        Saved by chunks that it holds itself.
    fetched_ms
        Saved by fetching from peers.
    given_ms
        What the other workers save by fetching from it. Where several holders serve a fetch
        equally well, each counts an equal part, so that over all workers it adds up to what is
        fetched.
    """

    name: str
    hardware: str | None
    budget: int
    held: int
    sole: int
    recompute_ms: float
    own_ms: float
    fetched_ms: float
    given_ms: float

    @property
    def saved_ms(self) -> float:
        """What it saves as a requester, per epoch."""
        return self.own_ms + self.fetched_ms

    @property
    def left_ms(self) -> float:
        """What it still pays per epoch, for recomputing and fetching."""
        return self.recompute_ms - self.saved_ms


@dataclass(frozen=True)
class PlacementSummary:
    """A placement's effect.

    Attributes
    ----------
    value
        F, savings in ms per epoch.
    recompute_ms
        Cost per epoch with nothing cached.
    local, fetched, recomputed
        Shares of all chunk requests by where they are served from; they add up to 1 (all 0 where
        nothing is needed).
    distinct
        Chunks held by somebody.
    copies
        Number of chunks by number of holders, from one holder on.
    worker
        One row a worker.
    """

    value: float
    recompute_ms: float
    local: float
    fetched: float
    recomputed: float
    distinct: int
    copies: dict[int, int]
    worker: tuple[WorkerSavings, ...]

    @property
    def saved_share(self) -> float:
        """Savings as a share of the cost with nothing cached."""
        return self.value / self.recompute_ms if self.recompute_ms > 0 else 0.0


def summarise_placement(problem: Problem, placement: Placement) -> PlacementSummary:
    """Return what ``placement`` does on ``problem``, its own instance."""
    demand = problem.demand
    held = placement.held(problem.n)
    holders = held.sum(axis=0)
    cost = own_savings(problem)
    saved = served_savings(problem, held)
    local = held[demand.worker, demand.chunk]
    fetched = ~local & (saved > 0)
    given = _given(problem, held, np.where(fetched, saved, 0.0))
    workers = []
    for m, worker in enumerate(problem.workers):
        own = demand.worker == m
        workers.append(
            WorkerSavings(
                name=worker.name,
                hardware=worker.hardware,
                budget=worker.budget,
                held=int(held[m].sum()),
                sole=int(np.count_nonzero(held[m] & (holders == 1))),
                recompute_ms=math.fsum(cost[own]),
                own_ms=math.fsum(saved[own & local]),
                fetched_ms=math.fsum(saved[own & fetched]),
                given_ms=given[m],
            )
        )
    requests = float(demand.value.sum()) or 1.0
    numbers, counts = np.unique(holders[holders > 0], return_counts=True)
    return PlacementSummary(
        value=placement.value,
        recompute_ms=math.fsum(cost),
        local=float(demand.value[local].sum()) / requests,
        fetched=float(demand.value[fetched].sum()) / requests,
        recomputed=float(demand.value[~local & ~fetched].sum()) / requests,
        distinct=int(np.count_nonzero(holders)),
        copies=dict(zip(numbers.tolist(), counts.tolist(), strict=True)),
        worker=tuple(workers),
    )


def _given(problem: Problem, held: Mask, fetched: Floats) -> list[float]:
    """Return for each holder its part of ``fetched``, the saving of every fetched demand entry."""
    demand = problem.demand

    def serves(holder: int) -> Mask:
        other = held[holder, demand.chunk] & (demand.worker != holder) & (fetched > 0)
        best: Mask = other & (peer_savings(problem, holder) == fetched)
        return best

    servers = np.zeros(len(demand), dtype=np.int64)
    for holder in range(problem.m):
        servers += serves(holder)
    part = fetched / np.maximum(servers, 1)
    return [math.fsum(part[serves(holder)]) for holder in range(problem.m)]
