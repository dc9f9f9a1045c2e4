"""Family ``adversarial``: instances on which good heuristics reach little more than half.

Every worker can serve one item: the end of a chain of chunks. Each has an item of its own, and
all own items together are the optimum; but a worker of many choices values the item of a worker
of few a little more than its own. It takes that one, and the other has nothing left: half the
value is lost, and no single worker can mend it, so refinement stands still.

- ``against = "greedy"``: ``size`` pairs. Baits are chains of ``depth`` chunks worth ``edge``,
  the others chains of ``depth + 1`` chunks worth ``edge - 1``. The first ``size`` workers have
  budget ``depth + 1`` and can hold either, the others have budget ``depth``. WorkerGreedy, with
  or without refinement, stops at edge / (2 edge - 1) of the optimum for every size.
- ``against = "planner"``: ``size`` workers whose choices were searched for (``adversarial.json``)
  so that every starting order of the multi-start planner at its default seed ends badly.
  Requester-side, the choices are nested: a worker's budget says down to which depth it reaches.
  Pairwise, each has a list of its own: the items are roots that one requester without memory asks
  for, and it can fetch an item only from workers that have it on their list.

Fetching costs nothing requester-side, so that only coverage counts. The seed plays no part.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from prefixplace_opt.problem import (
    CostTable,
    Demand,
    InputError,
    PairwiseCost,
    PairwiseCostTable,
    PrefixTree,
    Problem,
    UniformCost,
    Worker,
)

from .parameters import Parameters, parameter
from .traffic import Growth


@dataclass(frozen=True, kw_only=True)
class AdversarialParameters(Parameters):
    """Parameters of the family ``adversarial``."""

    against: str = parameter("planner", "which heuristic", choices=("greedy", "planner"))
    size: int = parameter(
        8, "pairs of workers (greedy), or workers that can hold something", least=1, most=2000
    )
    edge: int = parameter(
        1000, "worth of an item; a bait is worth 1 to a few more", least=2, most=10**9
    )
    depth: int = parameter(2, "of a bait's chain (greedy)", least=2, most=10**4)
    objective: str = parameter(
        "requester", "what a fetch costs depends on", choices=("requester", "pairwise")
    )


def adversarial(parameters: AdversarialParameters, seed: int) -> Problem:
    """Generate the instance of the given size; every seed gives the same."""
    del seed
    if parameters.against == "greedy":
        return _against_greedy(parameters)
    if parameters.objective == "requester":
        return _nested(parameters, _searched("nested", parameters.size))
    return _listed(parameters, _searched("lists", parameters.size))


def _searched(kind: str, size: int) -> Any:
    text = (files(__package__) / "adversarial.json").read_text(encoding="utf-8")
    found = json.loads(text)[kind]
    if str(size) not in found:
        raise InputError(f"expected one of {', '.join(found)}, got {size}", field="size")
    return found[str(size)]


def _against_greedy(parameters: AdversarialParameters) -> Problem:
    pairs, depth = parameters.size, parameters.depth
    items = [(depth, parameters.edge)] * pairs + [(depth + 1, parameters.edge - 1)] * pairs
    return _coverage(items, [depth + 1] * pairs + [depth] * pairs, parameters.objective)


def _nested(parameters: AdversarialParameters, kinds: Sequence[int]) -> Problem:
    """Let a worker of kind t reach one item of kind t or lower; lower kinds are worth more."""
    most = max(kinds) + 1
    # A chain is longer than half of every budget, so nobody holds two.
    items = [(most + kind, parameters.edge + most - 1 - kind) for kind in sorted(kinds)]
    return _coverage(items, [most + kind for kind in kinds], parameters.objective)


def _coverage(items: Sequence[tuple[int, int]], budgets: Sequence[int], objective: str) -> Problem:
    """Make an item a chain: ``(its chunks, worth of the last)``, whoever holds it."""
    growth = Growth()
    ends = [growth.chain(-1, length) for length, _ in items]
    return _assembled(
        growth.parents,
        budgets,
        Demand(
            [0] * len(items),
            ends,
            [worth for _, worth in items],
            shape=(len(budgets), len(growth.parents)),
        ),
        UniformCost(1.0),
        UniformCost(0.0),
        objective,
    )


def _listed(parameters: AdversarialParameters, lists: Sequence[Sequence[int]]) -> Problem:
    """Let worker h serve the items of ``lists[h]``; item i is worth 1 more than item i + 1."""
    m = len(lists)
    fetch = np.full((m + 1, m + 1, m), np.inf)
    for holder, items in enumerate(lists):
        fetch[m, holder, list(items)] = items
    return _assembled(
        [-1] * m,
        [1] * m + [0],
        Demand([m] * m, range(m), [1.0] * m, shape=(m + 1, m)),
        UniformCost(parameters.edge + m - 1),
        PairwiseCost(fetch),
        parameters.objective,
    )


def _assembled(
    parents: Sequence[int],
    budgets: Sequence[int],
    demand: Demand,
    recompute: CostTable,
    fetch: CostTable | PairwiseCostTable,
    objective: str,
) -> Problem:
    return Problem(
        tree=PrefixTree(parents, chunk_tokens=512),
        workers=[Worker(f"worker-{m}", budget) for m, budget in enumerate(budgets)],
        demand=demand,
        recompute=recompute,
        fetch=fetch,
        objective="pairwise" if objective == "pairwise" else "requester",
    )
