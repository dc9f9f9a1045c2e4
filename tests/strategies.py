"""Hypothesis strategies: forests in any node order, and small problems with ties and zeros."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from prefixplace_opt.problem import (
    Demand,
    DenseCost,
    LinkCost,
    PairwiseCost,
    PrefixTree,
    Problem,
    UniformCost,
    Worker,
)


@st.composite
def forests(draw: st.DrawFn, most: int = 8) -> list[int]:
    """Parents of a forest of 1 to `most` nodes, ids shuffled."""
    n = draw(st.integers(1, most))
    above = [draw(st.integers(-1, i - 1)) for i in range(n)]
    ids = draw(st.permutations(range(n)))
    parents = [-1] * n
    for node, parent in enumerate(above):
        parents[ids[node]] = -1 if parent < 0 else ids[parent]
    return parents


@st.composite
def problems(
    draw: st.DrawFn,
    chunks: int = 6,
    workers: int = 3,
    objective: str | None = None,
    integral: bool = True,
) -> Problem:
    """Small problems: shuffled ids, zero demand, unfetchable chunks, groups, budgets 0 to n."""
    parents = draw(forests(chunks))
    n = len(parents)
    m = draw(st.integers(1, workers))
    chosen = objective or draw(st.sampled_from(["requester", "pairwise"]))
    # Products of decimals are rounded, and differ in rounding alone.
    decimals = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7])
    reals = st.one_of(st.just(0.0), st.floats(1e-100, 9))
    numbers = st.integers(0, 9) if integral else draw(st.sampled_from([decimals, reals]))

    def array(*shape: int, infinite: bool = False) -> np.ndarray:
        size = int(np.prod(shape))
        entry = st.one_of(numbers, st.just(float("inf"))) if infinite else numbers
        return np.array(draw(st.lists(entry, min_size=size, max_size=size)), dtype=float).reshape(
            shape
        )

    tree = PrefixTree(parents, chunk_tokens=draw(st.integers(1, 4)), chunk_bytes=1_000_000)
    if chosen == "pairwise":
        kind = draw(st.sampled_from(["pairwise", "links", "same"]))
        if kind == "pairwise":
            fetch = PairwiseCost(array(m, m, n, infinite=True))
        elif kind == "links":
            fetch = LinkCost(array(m, m), array(m, m))
        else:
            fetch = DenseCost(array(m, n, infinite=True))
    else:
        fetch = draw(
            st.sampled_from(
                [UniformCost(3), UniformCost(float("inf")), DenseCost(array(m, n, infinite=True))]
            )
        )
    return Problem(
        tree=tree,
        workers=[
            Worker(
                f"w{h}",
                draw(st.integers(0, n + 1)),
                compatibility=draw(st.sampled_from([None, None, "b"])),
            )
            for h in range(m)
        ],
        demand=Demand.from_dense(array(m, n), shape=(m, n)),
        recompute=DenseCost(array(m, n)),
        fetch=fetch,
        objective=chosen,  # type: ignore[arg-type]
    )
