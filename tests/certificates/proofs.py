"""Proofs to test with: random ones by hypothesis, tight ones by plain branching, and their bounds
by exhaustion in exact rationals from the theorem as it is written."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from prefixplace_opt.certificates import (
    Certificate,
    FixedChunks,
    ServicePrices,
    Withheld,
    certificate_of,
)
from prefixplace_opt.certificates.verifier import proven_bound
from prefixplace_opt.problem import (
    Branch,
    CostTable,
    Decision,
    Leaf,
    Placement,
    Prices,
    Problem,
    Proof,
    savings,
)
from tests import brute_force

Decisions = tuple[tuple[int, int, bool], ...]


@st.composite
def trees(draw: st.DrawFn, workers: int, chunks: int, vectors: int, most: int = 9) -> list:
    """A whole tree of at most about `most` nodes in a random shape."""
    nodes: list = [None]
    at = 0
    worker, chunk = st.integers(0, workers - 1), st.integers(0, chunks - 1)
    while at < len(nodes):
        kind = draw(st.sampled_from("lbbf")) if len(nodes) < most else "l"
        prices = draw(st.integers(0, vectors - 1))
        if kind == "l":
            nodes[at] = Leaf(prices)
        elif kind == "b":
            nodes[at] = Branch(draw(worker), draw(chunk), len(nodes), len(nodes) + 1)
            nodes += [None, None]
        else:
            fixed = draw(st.lists(st.tuples(worker, chunk, st.booleans()), max_size=4))
            columns = list(zip(*fixed, strict=True)) or [(), (), ()]
            nodes[at] = FixedChunks(prices, *columns, child=len(nodes))
            nodes.append(None)
        at += 1
    return nodes


@st.composite
def price_tables(draw: st.DrawFn, problem: Problem, entries=None) -> ServicePrices:
    """Prices on some rows, also on such that no request stands behind."""
    requesters = problem.m
    if problem.objective == "requester":
        requesters = int(problem.groups.max()) + 1
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, requesters - 1), st.integers(0, problem.n - 1)),
            unique=True,
            max_size=8,
        )
    )
    number = st.one_of(st.integers(0, 90), st.floats(0, 90)) if entries is None else entries
    values = [float(draw(number)) for _ in rows]
    holders = draw(
        st.lists(
            st.tuples(st.integers(0, problem.m - 1), st.integers(0, problem.n - 1)),
            unique=True,
            max_size=8,
        )
    )
    withheld = Withheld(
        [h for h, _ in holders], [b for _, b in holders], [float(draw(number)) for _ in holders]
    )
    return ServicePrices([r for r, _ in rows], [b for _, b in rows], values, withheld)


@st.composite
def certificates(draw: st.DrawFn, problem: Problem, entries=None) -> Certificate:
    """A random proof with the empty placement and a claim of nothing."""
    vectors = draw(st.integers(1, 3))
    return Certificate(
        instance=problem.digest,
        objective=problem.objective,
        resident=[[] for _ in range(problem.m)],
        lower=0.0,
        upper=0.0,
        prices=[draw(price_tables(problem, entries)) for _ in range(vectors)],
        nodes=draw(trees(problem.m, problem.n, vectors)),
    )


def bound_by_exhaustion(problem: Problem, certificate: Certificate) -> Fraction:
    """The largest bound of the tree, by the theorem, over all closed sets."""
    highest = Fraction(0)
    stack: list[tuple[int, Decisions]] = [(0, ())]
    while stack:
        at, above = stack.pop()
        node = certificate.nodes[at]
        if isinstance(node, Branch):
            stack.append((node.inside, (*above, (node.worker, node.chunk, True))))
            stack.append((node.outside, (*above, (node.worker, node.chunk, False))))
            continue
        prices = certificate.prices[node.prices]
        if isinstance(node, Leaf):
            highest = max(highest, upper_bound(problem, prices, above))
            continue
        fixed = tuple(
            zip(node.worker.tolist(), node.chunk.tolist(), node.inside.tolist(), strict=True)
        )
        for h, b, inside in fixed:
            highest = max(highest, upper_bound(problem, prices, (*above, (h, b, not inside))))
        stack.append((node.child, above + fixed))
    return highest


def upper_bound(problem: Problem, prices: ServicePrices, decisions: Decisions) -> Fraction:
    """UB(prices | decisions), -1 where nothing obeys; requester-side with its own price per m."""
    s = brute_force.all_savings(problem)
    price = {
        (int(r), int(b)): Fraction(float(value))
        for r, b, value in zip(prices.requester, prices.chunk, prices.value, strict=True)
    }
    kept = prices.withheld
    withheld = {
        (int(h), int(b)): Fraction(float(value))
        for h, b, value in zip(kept.worker, kept.chunk, kept.value, strict=True)
    }
    total = sum(price.values(), Fraction(0))
    for b in range(problem.n):
        total += paid_back(problem, s, price, withheld, b)
    for h, worker in enumerate(problem.workers):
        profit = [
            max(profit_of(problem, s, price, h, b) - withheld.get((h, b), 0), Fraction(0))
            for b in range(problem.n)
        ]
        worths = [
            sum((profit[b] for b in held), Fraction(0))
            for held in brute_force.closed_sets(problem.tree.parents.tolist(), worker.budget)
            if all((b in held) == inside for g, b, inside in decisions if g == h)
        ]
        if not worths:
            return Fraction(-1)
        total += max(worths)
    return total


def paid_back(problem: Problem, s, price, withheld, b: int) -> Fraction:
    """The most over all sets of workers, also of those from whom nothing is withheld."""
    most = Fraction(0)
    if all(chunk != b for _, chunk in withheld):
        return most
    for chosen in itertools.product((False, True), repeat=problem.m):
        holders = [h for h in range(problem.m) if chosen[h]]
        total = sum((withheld.get((h, b), Fraction(0)) for h in holders), Fraction(0))
        for gains in row_gains(problem, s, price, b):
            own = [gains[h] for h in holders]
            total -= sum(own, Fraction(0)) - max(own, default=Fraction(0))
        most = max(most, total)
    return most


def row_gains(problem: Problem, s, price, b: int) -> list[list[Fraction]]:
    """u[row][holder] = [value - price]_+ of the rows of chunk b."""
    if problem.objective == "pairwise":
        return [
            [
                max(s[m][h][b] - price.get((m, b), Fraction(0)), Fraction(0))
                for h in range(problem.m)
            ]
            for m in range(problem.m)
        ]
    rows = []
    for group in range(int(problem.groups.max()) + 1):
        inside = problem.groups == group
        worth = sum((shared_saving(problem, m, b) for m in np.flatnonzero(inside)), Fraction(0))
        left = max(worth - price.get((group, b), Fraction(0)), Fraction(0))
        rows.append([left if inside[h] else Fraction(0) for h in range(problem.m)])
    return rows


def profit_of(problem: Problem, s, price, h: int, b: int) -> Fraction:
    if problem.objective == "pairwise":
        return sum(
            max(s[m][h][b] - price.get((m, b), Fraction(0)), Fraction(0)) for m in range(problem.m)
        )
    group = problem.groups[h]
    shared = [
        shared_saving(problem, m, b) if problem.groups[m] == group else Fraction(0)
        for m in range(problem.m)
    ]
    local = s[h][h][b] - shared[h]
    return local + max(sum(shared) - price.get((int(group), b), Fraction(0)), Fraction(0))


def shared_saving(problem: Problem, m: int, b: int) -> Fraction:
    pair = (np.array([m], dtype=np.int32), np.array([b], dtype=np.int32))
    assert isinstance(problem.fetch, CostTable)
    recompute = float(problem.recompute.cost(problem.tree, *pair)[0])
    fetch = min(recompute, float(problem.fetch.cost(problem.tree, *pair)[0]))
    demand = Fraction(float(problem.demand.dense()[m, b]))
    return demand * (Fraction(recompute) - Fraction(fetch))


def tight_certificate(problem: Problem) -> Certificate:
    """The optimum by exhaustion, proven by branching until every leaf's bound meets it."""
    form = savings(problem)
    optimum, best = brute_force.optimum(problem)
    placement = Placement.of(problem, [sorted(held) for held in best])
    vectors: list[Prices] = []
    nodes: list = []
    enough = optimum * (1 + Fraction(1e-12))
    cells = list(itertools.product(range(problem.m), range(problem.n)))

    def grow(decided: tuple[Decision, ...]) -> int:
        at = len(nodes)
        nodes.append(None)
        held = np.zeros((problem.m, problem.n), dtype=bool)
        for decision in decided:
            held[decision.worker, problem.tree.position[decision.chunk]] = decision.inside
        served = np.where(held[:, form.row_position].T, form.row_value, 0.0).max(axis=1, initial=0)
        for dense in (served, form.row_best, form.row_best / 2, 0 * served):
            # A chain of branches down to this leaf, everything off the chain left unproven.
            prices = ServicePrices(form.row_requester, problem.tree.order[form.row_position], dense)
            chain = tuple((d.worker, d.chunk, d.inside) for d in decided)
            if len(decided) == len(cells) or upper_bound(problem, prices, chain) <= enough:
                vectors.append(Prices.of(dense))
                nodes[at] = Leaf(len(vectors) - 1)
                return at
        h, b = cells[len(decided)]
        inside = grow((*decided, Decision(h, b, inside=True)))
        outside = grow((*decided, Decision(h, b, inside=False)))
        nodes[at] = Branch(h, b, inside, outside)
        return at

    grow(())
    certificate = certificate_of(problem, placement, Proof(tuple(vectors), tuple(nodes)))
    assert proven_bound(problem, certificate, "exact").bound <= enough
    return certificate
