"""Forests and profits for the tests of this room, and a plain programme that is written apart."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from prefixplace_opt.problem import AffineCost, Demand, LinkCost, PrefixTree, Problem, Worker

SHAPES = ("forest", "chain", "star", "roots", "caterpillar", "bushy")


def grown_parents(shape: str, n: int, rng: np.random.Generator) -> list[int]:
    match shape:
        case "chain":
            return list(range(-1, n - 1))
        case "star":
            return [-1] + [0] * (n - 1) if n else []
        case "roots":
            return [-1] * n
        case "caterpillar":
            return [v - 1 if v % 2 == 0 else v - 2 if v > 1 else v - 1 for v in range(n)]
        case "bushy":
            return [(v - 1) // 3 if v else -1 for v in range(n)]
    return [int(rng.integers(-1, v)) if v else -1 for v in range(n)]


def grown_profits(kind: str, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    match kind:
        case "zeros":
            return np.zeros(n)
        case "equal":
            return np.full(n, 3.0)
        case "ties":
            return rng.integers(0, 3, n).astype(float)
        case "signed":
            return rng.integers(-5, 6, n).astype(float)
        case "sparse":
            return np.where(rng.random(n) < 0.1, rng.integers(1, 1000, n), 0).astype(float)
        case "huge":
            return rng.integers(-(2**40), 2**41, n).astype(float)
    return rng.random(n)


PROFITS = ("zeros", "equal", "ties", "signed", "sparse", "huge", "reals")


@st.composite
def oracle_inputs(draw: st.DrawFn, most: int = 60) -> tuple[PrefixTree, NDArray[np.float64], int]:
    """A forest, profits by position, and a budget with 0, 1 and n among the likely ones."""
    n = draw(st.integers(0, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tree = PrefixTree(grown_parents(draw(st.sampled_from(SHAPES)), n, rng))
    profit = grown_profits(draw(st.sampled_from(PROFITS)), n, rng)
    budget = draw(st.sampled_from([0, 1, n, n + 3]) | st.integers(0, n))
    return tree, profit, budget


def best_value(tree: PrefixTree, profit: NDArray[np.float64], budget: int) -> float:
    """The optimum by knapsack merging, child by child: not the recurrence that is under test."""
    tables: list[NDArray[np.float64]] = [np.zeros(1) for _ in range(tree.n + 1)]
    parents = tree.preorder_parents
    for p in range(tree.n - 1, -1, -1):
        own = np.concatenate([[0.0], profit[p] + tables[p]])[: budget + 1]
        above = parents[p] if parents[p] >= 0 else tree.n
        tables[above] = merged(tables[above], own, budget)
    return float(tables[tree.n].max())


def merged(a: NDArray[np.float64], b: NDArray[np.float64], budget: int) -> NDArray[np.float64]:
    result = np.full(min(a.size + b.size - 1, budget + 1), -np.inf)
    for j in range(b.size):
        stop = min(a.size, result.size - j)
        if stop > 0:
            np.maximum(result[j : j + stop], a[:stop] + b[j], out=result[j : j + stop])
    return result


def problem_of(objective: str, seed: int = 0) -> Problem:
    """A random problem of 6 workers over 300 chunks."""
    rng = np.random.default_rng(seed)
    n, m = 300, 6
    tree = PrefixTree(
        [-1, *(int(rng.integers(max(-1, v - 40), v)) for v in range(1, n))],
        chunk_tokens=16,
        chunk_bytes=1 << 20,
    )
    shape = (m, m) if objective == "pairwise" else (m,)
    return Problem(
        tree=tree,
        workers=[Worker(f"w{h}", 20 + 5 * h) for h in range(m)],
        demand=Demand.from_dense(rng.integers(0, 8, (m, n)), shape=(m, n)),
        recompute=AffineCost(1 + rng.random(m), 0.01 * rng.random(m)),
        fetch=LinkCost(1 + 20 * rng.random(shape), rng.random(shape)),
        objective=objective,
        name=f"{objective}-{seed}",
    )
