"""Checking a proof in exact rationals by exhaustion: shares nothing with the solvers."""

from fractions import Fraction

import numpy as np

from prefixplace_opt.problem import Decision, Fixing, Leaf, Problem, Proof, savings
from tests import brute_force

MINUS_INFINITY = Fraction(-(10**30))


def bound(problem: Problem, prices: np.ndarray, decisions: tuple[Decision, ...] = ()) -> Fraction:
    """UB(prices | decisions), every closed set of every worker enumerated."""
    form = savings(problem)
    prices = [Fraction(float(price)) for price in prices]
    total = sum(prices, Fraction(0))
    for h, worker in enumerate(problem.workers):
        profit = [Fraction(float(p)) for p in form.local_profits(h)]
        for r, p in enumerate(form.row_position.tolist()):
            value = Fraction(float(form.row_value[r, 0 if form.row_value.shape[1] == 1 else h]))
            profit[p] += max(value - prices[r], Fraction(0))
        position = problem.tree.position.tolist()
        own = [(d.chunk, d.inside) for d in decisions if d.worker == h]
        total += max(
            (
                sum((profit[position[b]] for b in held), Fraction(0))
                for held in brute_force.closed_sets(problem.tree.parents.tolist(), worker.budget)
                if all((b in held) == inside for b, inside in own)
            ),
            default=MINUS_INFINITY,
        )
    return total


def proven(problem: Problem, proof: Proof) -> Fraction:
    """The bound that a proof proves: the largest over leaves and refuted decisions."""
    rows = savings(problem).rows
    dense = [prices.dense(rows) for prices in proof.prices]
    bounds = []
    for node, path in zip(proof.nodes, proof.paths(), strict=True):
        if isinstance(node, Leaf):
            bounds.append(bound(problem, dense[node.prices], path))
        elif isinstance(node, Fixing):
            bounds += [
                bound(problem, dense[node.prices], (*path, decision.opposite))
                for decision in node.decisions
            ]
    return max(bounds)
