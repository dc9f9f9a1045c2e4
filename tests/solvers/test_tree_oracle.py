"""The oracle against enumeration and against another programme, with and without a core."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixplace_opt.problem import PrefixTree
from prefixplace_opt.solvers import tree_oracle
from prefixplace_opt.solvers.closed_set_table import solve_by_table
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.solvers.forests import (
    PROFITS,
    SHAPES,
    best_value,
    grown_parents,
    grown_profits,
    oracle_inputs,
)


@pytest.fixture(params=["usual", "core"])
def oracle_class(request, monkeypatch):
    """TreeOracle as it is, and one that prices the budget however small the forest is."""
    if request.param == "core":
        monkeypatch.setattr(tree_oracle, "SMALL_TABLE", 0)
        monkeypatch.setattr(tree_oracle, "SMALL_CORE", 1)
    return TreeOracle


def forced(small_core: int) -> pytest.MonkeyPatch:
    patch = pytest.MonkeyPatch()
    patch.setattr(tree_oracle, "SMALL_TABLE", 0)
    patch.setattr(tree_oracle, "SMALL_CORE", small_core)
    return patch


def check(tree, profit, budget, found) -> None:
    assert found.resident.dtype == np.bool_
    assert found.resident.shape == (tree.n,)
    assert np.count_nonzero(found.resident) <= budget
    below = tree.preorder_parents
    chosen = np.flatnonzero(found.resident)
    assert all(below[p] < 0 or found.resident[below[p]] for p in chosen)
    assert found.value == float(profit[found.resident].sum())


def exhaustive(tree, profit, budget) -> float:
    sets = brute_force.closed_sets(tree.preorder_parents.tolist(), budget)
    return max(float(profit[list(held)].sum()) for held in sets)


@settings(max_examples=150)
@given(oracle_inputs(most=9), st.booleans())
def test_matches_enumeration(given_input, core) -> None:
    tree, profit, budget = given_input
    patch = forced(1) if core else pytest.MonkeyPatch()
    try:
        found = TreeOracle(tree).solve(profit, budget)
    finally:
        patch.undo()
    check(tree, profit, budget, found)
    assert found.value == pytest.approx(exhaustive(tree, profit, budget), rel=1e-13, abs=1e-13)


@settings(max_examples=400)
@given(oracle_inputs(most=120), st.sampled_from([1, 4, 16]))
def test_core_matches_knapsack_merging(given_input, small_core) -> None:
    tree, profit, budget = given_input
    patch = forced(small_core)
    try:
        found = TreeOracle(tree).solve(profit, budget)
    finally:
        patch.undo()
    check(tree, profit, budget, found)
    wanted = best_value(tree, profit, budget)
    if profit.size and np.array_equal(profit, np.floor(profit)):
        assert found.value == wanted
    else:
        assert found.value == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", PROFITS)
def test_large_forests_match_the_plain_table(shape, kind) -> None:
    rng = np.random.default_rng([SHAPES.index(shape), PROFITS.index(kind)])
    n = 3000
    tree = PrefixTree(grown_parents(shape, n, rng))
    profit = grown_profits(kind, n, rng)
    oracle = TreeOracle(tree)
    for budget in (1, 40, 700, n - 1):
        found = oracle.solve(profit, budget)
        check(tree, profit, budget, found)
        assert found.value == pytest.approx(plain(tree, profit, budget), rel=1e-13)


def plain(tree, profit, budget, memory=1 << 30) -> float:
    """The plain table on the whole forest, read back."""
    resident = np.empty(tree.n, dtype=np.bool_)
    value = solve_by_table(profit, tree.preorder_depth, tree.end, tree.n, budget, memory, resident)
    assert value == pytest.approx(profit[resident].sum(), rel=1e-12)
    assert np.count_nonzero(resident) <= budget
    return float(profit[resident].sum())


@settings(max_examples=150)
@given(oracle_inputs(most=60), st.sampled_from([1, 8, 64]))
def test_table_in_blocks_is_the_same(given_input, memory) -> None:
    tree, profit, budget = given_input
    budget = min(budget, tree.n)
    if budget > 0:
        whole, blocks = np.empty((2, tree.n), dtype=np.bool_)
        rest = (tree.preorder_depth, tree.end, tree.n, budget)
        assert solve_by_table(profit, *rest, 1 << 30, whole) == solve_by_table(
            profit, *rest, memory, blocks
        )
        assert np.array_equal(whole, blocks)


@settings(max_examples=150)
@given(oracle_inputs(most=60))
def test_plain_table_matches_knapsack_merging(given_input) -> None:
    tree, profit, budget = given_input
    budget = min(budget, tree.n)
    if budget > 0:
        wanted = best_value(tree, profit, budget)
        assert plain(tree, profit, budget) == pytest.approx(wanted, rel=1e-13)


def test_nothing_worthless_is_taken(oracle_class) -> None:
    # Half the chunks are worth nothing, with room for all that are worth something.
    tree = PrefixTree([-1, 0, 1, 0, 3, -1])
    profit = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    assert oracle_class(tree).solve(profit, 4).resident.tolist() == [True, True] + [False] * 4


def test_minus_infinity_keeps_a_subtree_out(oracle_class) -> None:
    tree = PrefixTree([-1, 0, 1, 0, -1])
    profit = np.array([1.0, -np.inf, 100.0, 2.0, 1.0])
    found = oracle_class(tree).solve(profit, 2)
    assert found.value == 3.0
    assert found.resident.tolist() == [True, False, False, True, False]


@settings(max_examples=60)
@given(oracle_inputs(most=80), st.randoms(use_true_random=False))
def test_minus_infinity_is_exact(given_input, random) -> None:
    tree, profit, budget = given_input
    closed = profit.copy()
    for p in range(tree.n):
        if random.random() < 0.1:
            closed[p : tree.end[p]] = -np.inf
    patch = forced(2)
    try:
        found = TreeOracle(tree).solve(closed, budget)
    finally:
        patch.undo()
    # Knapsack merging with a loss so large that nobody takes it.
    finite = np.where(np.isinf(closed), -1e15, closed)
    assert found.value == pytest.approx(best_value(tree, finite, budget), rel=1e-13)


@pytest.mark.parametrize("empty", [([], 3), ([-1], 0)])
def test_nothing_to_choose(empty) -> None:
    parents, budget = empty
    found = TreeOracle(PrefixTree(parents)).solve(np.ones(len(parents)), budget)
    assert found.value == 0.0
    assert not found.resident.any()


def test_answer_does_not_depend_on_earlier_calls_or_threads() -> None:
    rng = np.random.default_rng(5)
    tree = PrefixTree(grown_parents("forest", 4000, rng))
    inputs = [(grown_profits(kind, tree.n, rng), k) for kind in PROFITS for k in (30, 900)]
    first = [TreeOracle(tree).solve(*each).resident for each in inputs]
    found: dict[int, list[np.ndarray]] = {}

    def again(worker: int) -> None:
        oracle = TreeOracle(tree)
        order = np.random.default_rng(worker).permutation(len(inputs))
        results = {int(at): oracle.solve(*inputs[at]).resident for at in order}
        found[worker] = [results[at] for at in range(len(inputs))]

    threads = [threading.Thread(target=again, args=(worker,)) for worker in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for results in found.values():
        assert all(map(np.array_equal, results, first))


@settings(max_examples=150)
@given(oracle_inputs(most=25))
def test_forced_values_bound_the_exact_ones(given_input) -> None:
    tree, profit, budget = given_input
    inside, outside = TreeOracle(tree).forced_values(profit, budget)
    best = best_value(tree, profit, budget)
    scale = 1e-12 * (1 + np.abs(profit).sum())
    pay = 2e12 * scale
    assert (np.maximum(inside, outside) >= best - scale).all()
    for p in range(tree.n):
        above = np.zeros(tree.n, dtype=np.bool_)
        at = p
        while at >= 0:
            above[at] = True
            at = tree.preorder_parents[at]
        if above.sum() <= budget:
            # Paying for the path beforehand makes the rest of the budget free to choose.
            forced = np.where(above, profit + pay, profit)
            exact = best_value(tree, forced, budget) - pay * above.sum()
            assert inside[p] >= exact - 1e-13 * tree.n * pay
        without = profit.copy()
        without[p : tree.end[p]] = -1e15
        assert outside[p] >= best_value(tree, without, budget) - scale


def test_forced_values_fix_most_of_a_large_forest() -> None:
    rng = np.random.default_rng(2)
    tree = PrefixTree(grown_parents("forest", 5000, rng))
    profit = rng.pareto(1.2, tree.n)
    oracle = TreeOracle(tree)
    best = oracle.solve(profit, 300)
    inside, outside = oracle.forced_values(profit, 300)
    goes_out, comes_in = inside < best.value, outside < best.value
    assert not (goes_out & best.resident).any()
    assert best.resident[comes_in].all()
    assert np.count_nonzero(goes_out | comes_in) > 0.5 * tree.n


def test_deep_chain(oracle_class) -> None:
    n = 100_000
    oracle = oracle_class(PrefixTree(np.arange(-1, n - 1)))
    profit = np.full(n, -1.0)
    profit[9] = 20.0
    best = oracle.solve(profit, 50)
    assert (best.value, np.count_nonzero(best.resident)) == (11.0, 10)
