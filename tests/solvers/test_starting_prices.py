"""Starting prices lie where prices may, and bound better than half of every row's value."""

import numpy as np
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.problem import savings
from prefixplace_opt.solvers.starting_prices import starting_prices
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests.solvers.forests import problem_of
from tests.strategies import problems


def bound(problem: pp.Problem, prices: np.ndarray) -> float:
    form, oracle = savings(problem), TreeOracle(problem.tree)
    budgets = problem.budgets.tolist()
    best = [oracle.solve(form.priced_profits(h, prices), budgets[h]) for h in range(problem.m)]
    return float(prices.sum()) + sum(each.value for each in best)


def prices_of(problem: pp.Problem) -> np.ndarray:
    held = pp.solve(problem, method="greedy").placement.held(problem.n)[:, problem.tree.order]
    return starting_prices(savings(problem), problem.tree, problem.budgets.tolist(), held)


@given(problems())
@settings(max_examples=60)
def test_within_the_rows_values(problem: pp.Problem) -> None:
    prices = prices_of(problem)
    assert prices.shape == (savings(problem).rows,)
    assert (prices >= 0).all()
    assert (prices <= savings(problem).row_best).all()


def test_better_than_half_of_everything() -> None:
    for objective in ("requester", "pairwise"):
        problem = problem_of(objective, seed=1)
        assert bound(problem, prices_of(problem)) < bound(problem, savings(problem).row_best / 2)
