"""Checking a proof in exact rationals by exhaustion: shares nothing with the solvers."""

import itertools
from fractions import Fraction

import numpy as np

from prefixplace_opt.problem import Decision, Fixing, Leaf, Prices, Problem, Proof, savings
from tests import brute_force

MINUS_INFINITY = Fraction(-(10**30))


def bound(problem: Problem, prices: Prices, decisions: tuple[Decision, ...] = ()) -> Fraction:
    """UB(prices | decisions), every closed set and every set of holders enumerated."""
    form = savings(problem)
    row_price = [Fraction(float(price)) for price in prices.dense(form.rows)]
    position = problem.tree.position.tolist()
    withheld = {
        (int(h), position[b]): Fraction(float(amount))
        for h, b, amount in zip(prices.worker, prices.chunk, prices.withheld, strict=True)
    }
    gains: list[list[list[Fraction]]] = [[] for _ in range(problem.n)]
    values = np.broadcast_to(form.row_value, (form.rows, problem.m))
    for r, p in enumerate(form.row_position.tolist()):
        own = [Fraction(float(value)) - row_price[r] for value in values[r]]
        gains[p].append([max(gain, Fraction(0)) for gain in own])
    total = sum(row_price, Fraction(0))
    for p in {p for _, p in withheld}:
        claims = [Fraction(0)]
        for chosen in itertools.product((False, True), repeat=problem.m):
            holders = [h for h in range(problem.m) if chosen[h]]
            claim = sum((withheld.get((h, p), Fraction(0)) for h in holders), Fraction(0))
            for row in gains[p]:
                own = [row[h] for h in holders]
                claim -= sum(own, Fraction(0)) - max(own, default=Fraction(0))
            claims.append(claim)
        total += max(claims)
    for h, worker in enumerate(problem.workers):
        profit = [Fraction(float(p)) for p in form.local_profits(h)]
        for p in range(problem.n):
            worth = profit[p] + sum((row[h] for row in gains[p]), Fraction(0))
            profit[p] = max(worth - withheld.get((h, p), Fraction(0)), Fraction(0))
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
    bounds = []
    for node, path in zip(proof.nodes, proof.paths(), strict=True):
        if isinstance(node, Leaf):
            bounds.append(bound(problem, proof.prices[node.prices], path))
        elif isinstance(node, Fixing):
            bounds += [
                bound(problem, proof.prices[node.prices], (*path, decision.opposite))
                for decision in node.decisions
            ]
    return max(bounds)
