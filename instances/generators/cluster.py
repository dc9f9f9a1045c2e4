"""Workers, links and budgets of a generated instance: the parameters that every family shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefixplace_opt.instances.hardware import Model, catalogue
from prefixplace_opt.instances.profiles import recompute_cost
from prefixplace_opt.problem import CostTable, InputError, LinkCost, Worker

from .apportion import share_of, times
from .draw import Draw
from .parameters import Parameters, parameter

#: What a drawn link has of the stated goodput, and in how many of ten cases.
LINK_FACTORS = ("0.4", "1", "2.5")
LINK_WEIGHTS = (5, 3, 2)

TOPOLOGIES = ("auto", "flat", "mixed", "racks", "islands", "asymmetric")


@dataclass(frozen=True, kw_only=True)
class ClusterParameters(Parameters):
    """Workers, their hardware, memory and links, and the objective."""

    workers: int = parameter(4, "workers, M", least=1, most=4096)
    hardware: str = parameter("T4,L4,A100", "GPUs of the catalogue, given to the workers in turn")
    model: str = parameter("qwen2.5-7b", "model of the catalogue")
    budget: float = parameter(0.1, "chunks a worker may hold, as a share of n", least=0, most=1)
    budget_gib: float | None = parameter(
        None, "memory of a worker for chunks, GiB; instead of budget", least=0, most=2**20
    )
    objective: str = parameter(
        "requester", "what a fetch costs depends on", choices=("requester", "pairwise")
    )
    goodput_gbps: float = parameter(3.0, "goodput of a plain link, Gb/s", least=1e-6, most=1e6)
    latency_ms: float = parameter(1.0, "latency of a link, ms", least=0, most=1e6)
    links: str = parameter(
        "auto", "topology (auto: flat requester-side, mixed pairwise)", choices=TOPOLOGIES
    )
    group: int = parameter(2, "workers in a rack or an island", least=1, most=4096)
    chunk_tokens: int = parameter(512, "tokens of a chunk", least=1, most=2**20)
    chunk_bytes: int | None = parameter(
        None, "bytes of a chunk, instead of the model's", least=1, most=2**40
    )

    @property
    def topology(self) -> str:
        """``links`` with ``auto`` resolved."""
        if self.links != "auto":
            return self.links
        return "flat" if self.objective == "requester" else "mixed"

    @property
    def served_model(self) -> Model:
        """The model of the catalogue.

        Raises
        ------
        InputError
            For a name that is not in the catalogue; so does :attr:`gpus`.
        """
        try:
            return catalogue().model(self.model)
        except InputError as error:
            raise error.at(field="model") from None

    @property
    def gpus(self) -> list[str]:
        """The GPU of each worker, spelled as in the catalogue."""
        try:
            names = [catalogue().gpu(name.strip()).name for name in self.hardware.split(",")]
        except InputError as error:
            raise error.at(field="hardware") from None
        return [names[m % len(names)] for m in range(self.workers)]

    @property
    def bytes_of_chunk(self) -> int:
        """``chunk_bytes``, or what the model's KV tensors take."""
        return self.chunk_bytes or self.served_model.chunk_bytes(self.chunk_tokens)


def cluster_workers(parameters: ClusterParameters, n: int) -> list[Worker]:
    """Return the workers of a tree of ``n`` chunks, budgets rounded down."""
    if parameters.budget_gib is None:
        budget = share_of(parameters.budget, n)
    else:
        budget = share_of(parameters.budget_gib, 2**30) // parameters.bytes_of_chunk
    # Requester-side, a fetch has no holder that could lack a link: islands are incompatible.
    islands = parameters.topology == "islands" and parameters.objective == "requester"
    return [
        Worker(
            name=f"{gpu.lower()}-{m}",
            budget=budget,
            hardware=gpu,
            compatibility=f"island-{m // parameters.group}" if islands else None,
        )
        for m, gpu in enumerate(parameters.gpus)
    ]


def recompute_costs(parameters: ClusterParameters, height: int) -> CostTable:
    """Return the catalogue's curves of the workers' GPUs, for a tree ``height`` chunks high."""
    model, tokens = parameters.served_model, parameters.chunk_tokens
    profiles = [catalogue().profile(gpu, model, tokens) for gpu in parameters.gpus]
    return recompute_cost(profiles, height=height)


def link_costs(parameters: ClusterParameters, draw: Draw) -> LinkCost:
    """Return the goodput of every link (pairwise) or every worker's downlink (requester-side).

    - ``flat``: the stated goodput everywhere.
    - ``mixed``: 0.4, 1 or 2.5 times that (5, 3 and 2 of ten cases), drawn for each pair of
      workers, the same both ways; requester-side for each worker.
    - ``asymmetric``: the same, drawn for each direction of each pair.
    - ``racks``: 2.5 times within a rack, 0.4 times between racks; requester-side one factor
      drawn for each rack.
    - ``islands``: the stated goodput within an island, no link between islands (requester-side
      by compatibility, see :func:`cluster_workers`).
    """
    m, topology = parameters.workers, parameters.topology
    speeds = [times(parameters.goodput_gbps, factor) for factor in LINK_FACTORS]

    def drawn() -> float:
        return speeds[draw.weighted(LINK_WEIGHTS)]

    if parameters.objective == "requester":
        goodput = np.full(m, parameters.goodput_gbps)
        if topology in ("mixed", "asymmetric"):
            goodput[:] = [drawn() for _ in range(m)]
        elif topology == "racks":
            of_rack = [drawn() for _ in range(-(-m // parameters.group))]
            goodput[:] = [of_rack[worker // parameters.group] for worker in range(m)]
        return LinkCost(goodput, np.full(m, parameters.latency_ms))
    pairs = np.full((m, m), parameters.goodput_gbps)
    rack = np.arange(m) // parameters.group
    within = rack[:, None] == rack[None, :]
    if topology == "racks":
        pairs = np.where(within, speeds[2], speeds[0])
    elif topology == "islands":
        pairs = np.where(within, pairs, 0.0)
    elif topology in ("mixed", "asymmetric"):
        for requester in range(m):
            for holder in range(m):
                if topology == "mixed" and holder < requester:
                    pairs[requester, holder] = pairs[holder, requester]
                elif holder != requester:
                    pairs[requester, holder] = drawn()
    np.fill_diagonal(pairs, parameters.goodput_gbps)
    return LinkCost(pairs, np.full((m, m), parameters.latency_ms))
