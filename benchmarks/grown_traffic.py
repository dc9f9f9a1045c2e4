"""Large generated instances, made in linear time: chains of chunks that branch off earlier ones.

A chain stands for a document, a system prompt or a conversation; it hangs below a chunk of an
earlier chain, mostly a popular one, or is a root. Requests end at the tips of chains, with rates
that fall as a power of the rank; each chain is served by one or two workers, so that a worker sees
few of the chunks.
"""

from __future__ import annotations

import numpy as np

from prefixplace_opt.problem import AffineCost, Demand, LinkCost, PrefixTree, Problem, Worker
from prefixplace_opt.problem.preorder import subtree_sums

MEAN_CHAIN = 20.0
TOKENS, BYTES = 512, 512 * 131_072


def grown_problem(n: int, m: int, budget: int, objective: str, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    lengths = rng.geometric(1 / MEAN_CHAIN, size=int(1.2 * n / MEAN_CHAIN) + 10)
    ends = np.cumsum(lengths)
    chains = int(np.searchsorted(ends, n)) + 1
    ends = np.minimum(ends[:chains], n)
    starts = np.concatenate([[0], ends[:-1]])
    parents = np.arange(-1, n - 1, dtype=np.int32)
    # The square of a uniform number prefers what is old, and so is shared.
    above = (rng.random(chains) ** 3 * starts).astype(np.int64)
    parents[starts] = np.where(rng.random(chains) < 0.02, -1, np.minimum(above, starts - 1))
    parents[0] = -1
    tree = PrefixTree(parents, chunk_tokens=TOKENS, chunk_bytes=BYTES)
    rate = rng.permutation(1.0 / np.arange(1, chains + 1) ** 0.8) * chains**0.5
    requests = np.maximum(rng.poisson(rate), 1)
    home = rng.integers(0, m, chains)
    second = np.where(rng.random(chains) < 0.3, rng.integers(0, m, chains), home)
    tips = tree.position[ends - 1]
    worker, chunk, value = [], [], []
    for h in range(m):
        needed = np.zeros(n)
        needed[tips] = np.where(home == h, (requests + 1) // 2, 0) + np.where(
            second == h, requests // 2, 0
        )
        subtree_sums(needed, tree.preorder_parents)
        at = np.flatnonzero(needed)
        worker.append(np.full(at.size, h, dtype=np.int32))
        chunk.append(tree.order[at])
        value.append(needed[at])
    demand = Demand(
        np.concatenate(worker), np.concatenate(chunk), np.concatenate(value), shape=(m, n)
    )
    slow = np.array([1.0, 1.0, 1.6, 2.2])[np.arange(m) % 4]
    gigabits = np.array([40.0, 20.0, 10.0, 5.0])
    if objective == "pairwise":
        fetch = LinkCost(rng.choice(gigabits, (m, m)), 5 * rng.random((m, m)))
    else:
        fetch = LinkCost(gigabits[np.arange(m) % 4], np.full(m, 2.0))
    return Problem(
        tree=tree,
        workers=[Worker(f"w{h}", budget) for h in range(m)],
        demand=demand,
        recompute=AffineCost(60 * slow, 0.002 * slow),
        fetch=fetch,
        objective=objective,  # type: ignore[arg-type]
        name=f"grown-{n}-{m}-{budget}",
    )
