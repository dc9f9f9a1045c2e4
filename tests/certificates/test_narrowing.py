"""Pricing the budget bounds every forced value, and leaves the tree programs' results alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixplace_opt.certificates import (
    Certificate,
    FixedChunks,
    ServicePrices,
    bound,
    certificate_of,
    closed_sets,
    narrowing,
    verify,
)
from prefixplace_opt.certificates.bound import node_bounds
from prefixplace_opt.certificates.integer_savings import IntegerSavings
from prefixplace_opt.certificates.shortening import shortened
from prefixplace_opt.problem import (
    Branch,
    Decision,
    Fixing,
    Leaf,
    Placement,
    PrefixTree,
    Prices,
    Proof,
    savings,
)
from tests.certificates.proofs import certificates
from tests.strategies import problems

KERNELS = ("_price", "_best_set", "_shortfalls", "_add_paths")
NONE = np.array([], dtype=int)


@st.composite
def forests(draw):
    """Larger forests, from chains to stars, with profits from all alike to far apart."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 60))
    reach = draw(st.sampled_from([1, 3, 60]))
    parents = [int(rng.integers(max(-1, i - reach), i)) for i in range(n)]
    largest = draw(st.sampled_from([1, 3, 1000, 2**60 // n]))
    profit = rng.integers(0, largest, n, endpoint=True)
    profit[rng.random(n) < draw(st.sampled_from([0.0, 0.5]))] = 0
    return PrefixTree(parents), profit, draw(st.integers(0, n + 2))


@pytest.mark.parametrize("compiled", [True, False])
@given(forests())
@settings(max_examples=150)
def test_bounds_and_programs_agree_with_those_in_unbounded_integers(compiled, forest):
    tree, profit, budget = forest
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            for name in KERNELS:
                patch.setattr(narrowing, name, getattr(narrowing, name).py_func)
        choice = closed_sets.reduced(
            tree.end, tree.preorder_parents, budget, NONE, NONE, np.full(tree.n, True)
        )
        wide = profit.astype(object)
        best = closed_sets.best_value(wide, choice)
        assert closed_sets.best_value(profit, choice) == best
        found = narrowing.relaxed(profit, choice.parent, choice.room)
        assert found.reached <= best <= found.highest
        exact = closed_sets.forced_values(wide, choice)
        relaxed = closed_sets.relaxed_values(profit, choice)
    for bounds, values in zip(relaxed, exact, strict=True):
        assert all(
            bound >= value for bound, value in zip(bounds, values, strict=True) if value >= 0
        )
    assert max(relaxed[0].max(), relaxed[1].max()) >= best


def test_what_the_bounds_leave_of_a_large_forest_is_small():
    rng = np.random.default_rng(5)
    n, budget = 20_000, 300
    tree = PrefixTree([int(rng.integers(-1, i)) for i in range(n)])
    profit = rng.integers(1, 10**12, n)
    found = narrowing.relaxed(profit, tree.preorder_parents, budget)
    undecided = (found.value_in >= found.reached) & (found.value_out >= found.reached)
    assert np.count_nonzero(undecided) < 1000
    everything = closed_sets.reduced(
        tree.end, tree.preorder_parents, budget, NONE, NONE, profit > 0
    )
    plain = closed_sets._best_value_int64(profit, tree.end, budget)
    assert closed_sets.best_value(profit, everything) == plain


@given(problems(chunks=6, workers=3), st.data())
@settings(max_examples=100)
def test_a_floor_changes_no_bound_above_it(problem, data):
    certificate = data.draw(certificates(problem, st.integers(0, 90)))
    units = IntegerSavings(problem, certificate.prices, "directed")
    exact = {at: value for at, value, _ in node_bounds(problem, certificate, units)}
    highest = max(-1 if value is None else value for value in exact.values())
    floor = data.draw(st.sampled_from([0, highest // 2, highest - 1, highest, highest + 1]))
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):
            patch.setattr(bound, "TABLE_CELLS", -1)
        given_floor = list(node_bounds(problem, certificate, units, floor=floor))
        rising = list(node_bounds(problem, certificate, units, floor=None))
    for at, value, _ in given_floor:
        if (exact[at] or 0) > floor:
            assert value == exact[at]
        else:
            assert (value or 0) <= max(floor, exact[at] or 0)
    assert max(-1 if value is None else value for _, value, _ in rising) == highest


@given(problems(chunks=6, workers=2))
@settings(max_examples=60)
def test_fixed_chunks_that_improve_nothing_are_left_out(problem):
    form = savings(problem)
    prices = (Prices.of(form.row_best / 2), Prices.of(form.row_best))
    placement = Placement.of(problem, [[] for _ in problem.workers])
    root = int(problem.tree.roots[0])
    first = Decision(0, root, inside=True)
    nodes = (
        Fixing(0, (first,), child=1),
        Branch(problem.m - 1, problem.n - 1, inside=2, outside=3),
        Leaf(0),
        Leaf(1),
    )
    if (problem.m - 1, problem.n - 1) == (0, root):
        nodes = (Fixing(0, (first,), child=1), Leaf(0))
    alone = certificate_of(problem, placement, Proof.single(form.row_best / 2))
    certificate = certificate_of(problem, placement, Proof(prices, nodes))
    assert verify(problem, certificate).accepted
    assert certificate.upper <= max(
        alone.upper, certificate_of(problem, placement, Proof.single(form.row_best)).upper
    )
    assert (len(certificate.nodes) == 1) == (certificate.upper >= alone.upper)
    if len(certificate.nodes) == 1:
        assert certificate.nodes == (Leaf(0),)
        assert len(certificate.prices) == 1


def test_what_is_left_of_a_proof_is_numbered_anew():
    table = [ServicePrices([], [], []), ServicePrices([0], [0], [1.0]), ServicePrices([], [], [])]
    nodes = [
        Branch(0, 0, 1, 4),
        FixedChunks(1, [0], [1], [True], 2),
        Branch(0, 2, 3, 5),
        Leaf(0),
        FixedChunks(2, [0], [1], [True], 6),
        Leaf(0),
        Leaf(1),
    ]
    whole = Certificate("", "requester", [[]], 0.0, 0.0, table, nodes)
    short = shortened(whole, [1])
    assert [type(node).__name__ for node in short.nodes] == [
        "Branch",
        "Leaf",
        "FixedChunks",
        "Leaf",
    ]
    assert short.nodes[0] == Branch(0, 0, 1, 2)
    assert (short.nodes[1].prices, short.nodes[2].prices, short.nodes[2].child) == (0, 1, 3)
    assert [own.value.size for own in short.prices] == [1, 0]
