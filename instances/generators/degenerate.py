"""Family ``degenerate``: ties, zeros and edges that a solver must get right.

A random recursive tree under one of these cases:

- ``ties``: every demand, recompute and fetch cost the same; many plans are optimal.
- ``zero-demand``: nobody asks for anything.
- ``one-request``: a single chunk is asked for, by a single worker.
- ``zero-budgets``, ``full-budgets``: nobody can hold a chunk; everybody can hold all.
- ``mixed-budgets``: budgets 0, 1, n and beyond n in turn.
- ``no-profitable-fetch``: a fetch costs what recomputing costs.
- ``free-fetch``: a fetch costs nothing, so only coverage counts.
- ``unfetchable``: nothing can be fetched.
- ``zero-costs``: recomputing costs nothing either; no plan saves anything.
- ``incompatible``: every worker in a compatibility group of its own.
- ``deep-only``: only the deepest chunk is worth anything.
- ``single-chunk``: a tree of one chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefixplace_opt.problem import Demand, PrefixTree, Problem, UniformCost, Worker

from .apportion import share_of
from .draw import Draw
from .parameters import Parameters, parameter

CASES = (
    "ties",
    "zero-demand",
    "one-request",
    "zero-budgets",
    "full-budgets",
    "mixed-budgets",
    "no-profitable-fetch",
    "free-fetch",
    "unfetchable",
    "zero-costs",
    "incompatible",
    "deep-only",
    "single-chunk",
)
RECOMPUTE_MS = 100.0
FETCH_MS = 40.0
DEMAND_MOST = 9


@dataclass(frozen=True, kw_only=True)
class DegenerateParameters(Parameters):
    """Parameters of the family ``degenerate``."""

    case: str = parameter("ties", "which", choices=CASES)
    chunks: int = parameter(40, "chunks, n", least=1, most=10**6)
    workers: int = parameter(3, "workers, M", least=1, most=4096)
    budget: float = parameter(0.2, "chunks a worker may hold, as a share of n", least=0, most=1)
    objective: str = parameter(
        "requester", "what a fetch costs depends on", choices=("requester", "pairwise")
    )


def degenerate(parameters: DegenerateParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    case, m = parameters.case, parameters.workers
    n = 1 if case == "single-chunk" else parameters.chunks
    draw = Draw("degenerate", seed, "tree")
    tree = PrefixTree([-1, *(draw.below(chunk) for chunk in range(1, n))], chunk_tokens=512)
    fetch = {"no-profitable-fetch": RECOMPUTE_MS, "free-fetch": 0.0, "unfetchable": np.inf}
    recompute = 0.0 if case == "zero-costs" else RECOMPUTE_MS
    objective: Literal["requester", "pairwise"] = (
        "pairwise" if parameters.objective == "pairwise" else "requester"
    )
    return Problem(
        tree=tree,
        workers=[
            Worker(
                name=f"worker-{worker}",
                budget=_budget(parameters, worker, n),
                compatibility=f"group-{worker}" if case == "incompatible" else None,
            )
            for worker in range(m)
        ],
        demand=_demand(case, m, tree, Draw("degenerate", seed, "demand")),
        recompute=UniformCost(recompute),
        fetch=UniformCost(0.0 if case == "zero-costs" else fetch.get(case, FETCH_MS)),
        objective=objective,
    )


def _budget(parameters: DegenerateParameters, worker: int, n: int) -> int:
    if parameters.case == "zero-budgets":
        return 0
    if parameters.case in ("full-budgets", "single-chunk"):
        return n
    if parameters.case == "mixed-budgets":
        return (0, 1, n, 2 * n)[worker % 4]
    return share_of(parameters.budget, n)


def _demand(case: str, m: int, tree: PrefixTree, draw: Draw) -> Demand:
    values = np.zeros((m, tree.n))
    if case == "ties":
        values[:] = 1.0
    elif case == "one-request":
        values[draw.below(m), draw.below(tree.n)] = 1.0
    elif case == "deep-only":
        values[:, int(np.argmax(tree.depth))] = 1.0
    elif case != "zero-demand":
        values[:] = [[draw.between(0, DEMAND_MOST) for _ in range(tree.n)] for _ in range(m)]
    return Demand.from_dense(values, shape=values.shape)
