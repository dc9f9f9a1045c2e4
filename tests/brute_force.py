"""The problem by exhaustion in exact rationals: slow, plain, sharing nothing with the solvers."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prefixplace_opt.problem import Problem

Closed = frozenset[int]


def closed_sets(parents: Sequence[int], budget: int) -> Iterator[Closed]:
    """Every parent-closed set of at most `budget` chunks."""
    n = len(parents)
    for size in range(min(budget, n) + 1):
        for chosen in itertools.combinations(range(n), size):
            held = frozenset(chosen)
            if all(parents[b] < 0 or parents[b] in held for b in chosen):
                yield held


def saving(problem: Problem, requester: int, holder: int, chunk: int) -> Fraction:
    """s_{requester,holder}(chunk) by the definition (docs/model.md), one pair at a time."""
    demand = Fraction(float(problem.demand.dense()[requester, chunk]))
    pair = (np.array([requester], dtype=np.int32), np.array([chunk], dtype=np.int32))
    recompute = Fraction(float(problem.recompute.cost(problem.tree, *pair)[0]))
    if requester == holder:
        return demand * recompute
    if problem.workers[requester].compatibility != problem.workers[holder].compatibility:
        return Fraction(0)
    if hasattr(problem.fetch, "cost_from") and problem.objective == "pairwise":
        fetch = float(problem.fetch.cost_from(problem.tree, pair[0], holder, pair[1])[0])
    else:
        fetch = float(problem.fetch.cost(problem.tree, *pair)[0])
    if np.isinf(fetch):
        return Fraction(0)
    return demand * max(recompute - Fraction(fetch), Fraction(0))


def all_savings(problem: Problem) -> list[list[list[Fraction]]]:
    """s[m][h][b]."""
    return [
        [[saving(problem, m, h, b) for b in range(problem.n)] for h in range(problem.m)]
        for m in range(problem.m)
    ]


def value(s: list[list[list[Fraction]]], placement: Sequence[Closed]) -> Fraction:
    """F(T)."""
    total = Fraction(0)
    for row in s:
        for b in range(len(row[0])):
            total += max((row[h][b] for h, held in enumerate(placement) if b in held), default=0)
    return total


def optimum(problem: Problem) -> tuple[Fraction, tuple[Closed, ...]]:
    """The best of all placements; for a dozen chunks and two or three workers."""
    s = all_savings(problem)
    parents = problem.tree.parents.tolist()
    choices = [list(closed_sets(parents, worker.budget)) for worker in problem.workers]
    best = max(itertools.product(*choices), key=lambda placement: value(s, placement))
    return value(s, best), best


def plain_oracle(profit: Sequence[float], end: Sequence[int], budget: int) -> float:
    """The recurrence as it is written: D[i, j] over all of n and k."""
    n = len(profit)
    table = [[0.0] * (budget + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(1, budget + 1):
            table[i][j] = max(table[end[i]][j], profit[i] + table[i + 1][j - 1])
    return table[0][budget]
