"""Family ``random``: random trees of several laws, with orderly or lawless demand and costs.

Laws (chunk i chooses its parent among the earlier ones; the first ``roots`` chunks are roots):

- ``recursive``: every earlier chunk alike; depth grows like the logarithm of n.
- ``preferential``: in proportion to 1 + children; few chunks have most of the children.
- ``recent``: among the last ``window`` chunks; long thin branches.
- ``binary``: every free place of a binary tree alike (a random binary search tree's shape).
- ``uniform``: a uniformly drawn labelled tree (from its Pruefer code) rooted at chunk 0; depth
  grows like the square root of n. Further roots are made by cutting the edges of random chunks.

Demand ``paths``: every leaf is asked for, in proportion to squares of uniform numbers, and a
request counts for its whole path. Demand ``free``: every (worker, chunk) alone, with probability
``density``, a uniform number of requests; it need not fall along a path. Costs ``hardware``: the
cluster's curves and links. Costs ``free``: recompute uniform on 1 .. 1000 ms, fetch uniform on
0 .. 1000 ms, not fetchable with probability ``unfetchable``; each (worker, chunk), or each
(requester, holder, chunk) for the pairwise objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prefixplace_opt.problem import CostTable, DenseCost, PairwiseCost, PairwiseCostTable

from .draw import Draw
from .parameters import parameter
from .traffic import UNITS, Growth, TrafficParameters, Units, assembled, routed_units

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

LAWS = ("recursive", "preferential", "recent", "binary", "uniform")
LEAF_SKEW = 2
COST_MOST = 1000


@dataclass(frozen=True, kw_only=True)
class RandomParameters(TrafficParameters):
    """Parameters of the family ``random``."""

    ordered = (("roots", "chunks"),)

    chunks: int = parameter(200, "chunks, n", least=1, most=10**6)
    roots: int = parameter(1, "roots", least=1, most=10**6)
    law: str = parameter("recursive", "law of the tree", choices=LAWS)
    window: int = parameter(5, "of the law recent", least=1, most=10**6)
    demand: str = parameter("paths", "law of the demand", choices=("paths", "free"))
    density: float = parameter(0.5, "of the demand free", least=0, most=1)
    costs: str = parameter("hardware", "law of the costs", choices=("hardware", "free"))
    unfetchable: float = parameter(0.1, "of the costs free", least=0, most=1)


def random_tree(parameters: RandomParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    parents = _parents(parameters, Draw("random", seed, parameters.law))
    units = (_paths if parameters.demand == "paths" else _free_units)(parameters, parents, seed)
    recompute: CostTable | None = None
    fetch: CostTable | PairwiseCostTable | None = None
    if parameters.costs == "free":
        recompute, fetch = _free_costs(parameters, Draw("random", seed, "costs"))
    return assembled(parents, units, parameters, "random", seed, recompute=recompute, fetch=fetch)


def _parents(parameters: RandomParameters, draw: Draw) -> list[int]:
    n, roots = parameters.chunks, parameters.roots
    if parameters.law == "uniform":
        return _uniform_tree(n, roots, draw)
    parents = [-1] * roots
    # Preferential: each chunk stands here once for itself and once for each child.
    places = list(range(roots))
    # Binary: each place that is still free.
    free = [chunk for chunk in range(roots) for _ in range(2)]
    for chunk in range(roots, n):
        if parameters.law == "recursive":
            parent = draw.below(chunk)
        elif parameters.law == "recent":
            parent = draw.between(max(0, chunk - parameters.window), chunk - 1)
        elif parameters.law == "preferential":
            parent = draw.choice(places)
            places += [parent, chunk]
        else:
            at = draw.below(len(free))
            parent, free[at] = free[at], free[-1]
            free[-1:] = [chunk, chunk]
        parents.append(parent)
    return parents


def _uniform_tree(n: int, roots: int, draw: Draw) -> list[int]:
    """Decode a random Pruefer code; number the chunks in preorder from the root."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    code = [draw.below(n) for _ in range(n - 2)]
    degree = [1] * n
    for node in code:
        degree[node] += 1
    pointer = leaf = next((node for node in range(n) if degree[node] == 1), 0)
    for node in [*code, n - 1][: n - 1]:
        neighbours[leaf].append(node)
        neighbours[node].append(leaf)
        degree[node] -= 1
        if degree[node] == 1 and node < pointer:
            leaf = node
        else:
            pointer += 1
            while pointer < n and degree[pointer] != 1:
                pointer += 1
            leaf = pointer
    parents: list[int] = []
    stack = [(0, -1, -1)]
    while stack:
        node, before, parent = stack.pop()
        chunk = len(parents)
        parents.append(parent)
        stack += [(other, node, chunk) for other in neighbours[node] if other != before]
    others = list(range(1, n))
    draw.shuffle(others)
    for chunk in others[: roots - 1]:
        parents[chunk] = -1
    return parents


def _paths(parameters: RandomParameters, parents: list[int], seed: int) -> Units:
    inner = set(parents)
    leaves = [chunk for chunk in range(len(parents)) if chunk not in inner]
    growth = Growth(parents)
    shares = Draw("random", seed, "leaves").skewed(parameters.units, len(leaves), LEAF_SKEW)
    for leaf, units in zip(leaves, shares, strict=True):
        growth.visit(leaf, units, leaf)
    return routed_units(growth, parameters, "random", seed)


def _free_units(parameters: RandomParameters, parents: list[int], seed: int) -> Units:
    draw = Draw("random", seed, "demand")
    n, m = len(parents), parameters.workers
    most = max(1, 2 * parameters.units // (n * m * UNITS)) * UNITS
    cells = [draw.between(1, most) if draw.chance(parameters.density) else 0 for _ in range(n * m)]
    return np.array(cells, dtype=np.int64).reshape(n, m)


def _free_costs(
    parameters: RandomParameters, draw: Draw
) -> tuple[CostTable, CostTable | PairwiseCostTable]:
    n, m = parameters.chunks, parameters.workers

    def fetch_cost() -> float:
        return np.inf if draw.chance(parameters.unfetchable) else draw.between(0, COST_MOST)

    recompute = [[draw.between(1, COST_MOST) for _ in range(n)] for _ in range(m)]
    if parameters.objective == "requester":
        return DenseCost(recompute), DenseCost([[fetch_cost() for _ in range(n)] for _ in range(m)])
    pairs = [[[fetch_cost() for _ in range(n)] for _ in range(m)] for _ in range(m)]
    return DenseCost(recompute), PairwiseCost(pairs)
