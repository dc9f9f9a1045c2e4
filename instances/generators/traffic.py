"""From grown prefixes and how often each is asked for to an instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import CostTable, Demand, PairwiseCostTable, PrefixTree, Problem

from .apportion import share_of
from .cluster import ClusterParameters, cluster_workers, link_costs, recompute_costs
from .draw import Draw
from .parameters import parameter

Units = NDArray[np.int64]

#: Requests are counted in whole units of this much, so that every sum is exact.
UNITS = 10_000


@dataclass(frozen=True, kw_only=True)
class TrafficParameters(ClusterParameters):
    """What every family of traffic adds: how much of it there is and who asks for what."""

    requests: int = parameter(1000, "requests per epoch, all workers together", least=1, most=10**9)
    sharing: float = parameter(
        1.0,
        "share of a path's requests spread over all workers; the rest goes to one home",
        least=0,
        most=1,
    )
    spread: int = parameter(
        4, "how evenly they spread: concentration of a Dirichlet law", least=1, most=1000
    )

    @property
    def units(self) -> int:
        """Requests per epoch in units of 1/10,000."""
        return self.requests * UNITS


@dataclass
class Growth:
    """A forest grown chunk by chunk, and the requests that end in it.

    Attributes
    ----------
    parents
        Parent of each chunk, -1 for a root; a parent always stands before its children.
    visits
        ``(last chunk, units, home)``: requests whose path ends at that chunk, and a key that
        visits of one home worker share.
    """

    parents: list[int] = field(default_factory=list)
    visits: list[tuple[int, int, int]] = field(default_factory=list)

    def chain(self, parent: int, length: int) -> int:
        """Grow a chain of ``length`` chunks below ``parent`` (-1: a new root); return its last."""
        for _ in range(length):
            self.parents.append(parent)
            parent = len(self.parents) - 1
        return parent

    def visit(self, chunk: int, units: int, home: int) -> None:
        """Let ``units`` of requests end at ``chunk``."""
        self.visits.append((chunk, units, home))


def problem_of_growth(growth: Growth, parameters: TrafficParameters, *labels: object) -> Problem:
    """Route the visits to workers and put the instance together."""
    return assembled(growth.parents, routed_units(growth, parameters, *labels), parameters, *labels)


def routed_units(growth: Growth, parameters: TrafficParameters, *labels: object) -> Units:
    """Return what each chunk is asked for at each worker, shape (n, M), in units.

    Of each visit's units, ``sharing`` is spread over all workers by a Dirichlet law of
    concentration ``spread``; the rest goes to the worker drawn for its home. A visit counts for
    every chunk on its path.
    """
    n, m = len(growth.parents), parameters.workers
    units = np.zeros((n, m), dtype=np.int64)
    homes, routing = Draw(*labels, "homes"), Draw(*labels, "routing")
    home_of: dict[int, int] = {}
    for chunk, amount, home in growth.visits:
        worker = home_of.get(home)
        if worker is None:
            worker = home_of[home] = homes.below(m)
        spread = share_of(parameters.sharing, amount)
        units[chunk, worker] += amount - spread
        units[chunk] += routing.dirichlet(spread, m, parameters.spread)
    for chunk in range(n - 1, -1, -1):
        if growth.parents[chunk] >= 0:
            units[growth.parents[chunk]] += units[chunk]
    return units


def assembled(
    parents: Sequence[int],
    units: Units,
    parameters: TrafficParameters,
    *labels: object,
    recompute: CostTable | None = None,
    fetch: CostTable | PairwiseCostTable | None = None,
) -> Problem:
    """Return the instance; costs come from the cluster's hardware and links unless given."""
    tree = PrefixTree(
        parents, chunk_tokens=parameters.chunk_tokens, chunk_bytes=parameters.bytes_of_chunk
    )
    return Problem(
        tree=tree,
        workers=cluster_workers(parameters, len(parents)),
        demand=Demand.from_dense(units.T / UNITS, shape=(parameters.workers, len(parents))),
        recompute=recompute or recompute_costs(parameters, tree.height),
        fetch=fetch or link_costs(parameters, Draw(*labels, "links")),
        objective="pairwise" if parameters.objective == "pairwise" else "requester",
    )
