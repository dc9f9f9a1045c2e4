"""The oracle's kernels as plain Python, so that coverage sees them, against the compiled ones."""

import numpy as np
import pytest

from prefixplace_opt.problem import PrefixTree, row_values, savings
from prefixplace_opt.solvers import (
    budget_price,
    closed_set_table,
    starting_prices,
    tree_oracle,
)
from prefixplace_opt.solvers.starting_prices import starting_prices as prices_from
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests.solvers.forests import (
    PROFITS,
    SHAPES,
    best_value,
    grown_parents,
    grown_profits,
    problem_of,
)

MODULES = (budget_price, closed_set_table, starting_prices, tree_oracle, row_values)


@pytest.fixture
def plain(monkeypatch):
    """Kernels of the oracle and its callers are called uncompiled."""
    for module in MODULES:
        for name, kernel in list(vars(module).items()):
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
    # The gathering of bits multiplies on purpose beyond 64 bits.
    with np.errstate(over="ignore"):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", PROFITS)
def test_oracle(plain, monkeypatch, shape, kind) -> None:
    rng = np.random.default_rng([SHAPES.index(shape), PROFITS.index(kind)])
    tree = PrefixTree(grown_parents(shape, 60, rng))
    profit = grown_profits(kind, tree.n, rng)
    for small_table, small_core, memory in ((10**9, 1, 1 << 20), (0, 1, 1 << 20), (0, 8, 16)):
        monkeypatch.setattr(tree_oracle, "SMALL_TABLE", small_table)
        monkeypatch.setattr(tree_oracle, "SMALL_CORE", small_core)
        for budget in (1, 7, 25, 60):
            found = TreeOracle(tree, memory).solve(profit, budget)
            assert found.value == pytest.approx(best_value(tree, profit, budget), rel=1e-13)


def test_forced_values(plain) -> None:
    rng = np.random.default_rng(9)
    tree = PrefixTree(grown_parents("forest", 40, rng))
    profit = rng.random(tree.n)
    oracle = TreeOracle(tree)
    best = best_value(tree, profit, 10)
    inside, outside = oracle.forced_values(profit, 10)
    assert (np.maximum(inside, outside) >= best - 1e-12).all()
    assert np.isneginf(oracle.forced_values(profit, 0)[0]).all()
    assert oracle.best_price(profit, 10) > 0
    assert oracle.best_price(profit, 40) == 0


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
def test_starting_prices(monkeypatch, objective) -> None:
    problem = problem_of(objective)
    form = savings(problem)
    held = np.zeros((problem.m, problem.n), dtype=np.bool_)
    compiled = prices_from(form, problem.tree, problem.budgets.tolist(), held)
    monkeypatch.setattr(starting_prices, "_shares", starting_prices._shares.py_func)
    monkeypatch.setattr(starting_prices, "row_worth", row_values.row_worth.py_func)
    again = prices_from(form, problem.tree, problem.budgets.tolist(), held)
    assert np.array_equal(compiled, again)
