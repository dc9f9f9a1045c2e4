"""Plans that prices guide: valid whatever the prices, at rest, and better than the plain walk's."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace_opt as pp
from prefixplace_opt.problem import Holders, PrefixTree, Savings, savings
from prefixplace_opt.problem.row_values import RowValues
from prefixplace_opt.solvers import greedy
from prefixplace_opt.solvers.price_guided import PriceGuided
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests.solvers.forests import problem_of
from tests.strategies import problems

SHARES = st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=100, max_size=100)


def guided(problem: pp.Problem, seed: int = 0, stopped: object = None) -> PriceGuided:
    return PriceGuided(
        savings(problem), problem.tree, problem.budgets, seed=seed, stopped=lambda: stopped
    )


@given(problems(chunks=6, workers=4), SHARES, st.booleans(), st.integers(0, 5))
@settings(max_examples=60)
def test_plans_are_valid_and_at_rest(
    problem: pp.Problem, shares: list[float], from_plan: bool, seed: int
) -> None:
    form, tree = savings(problem), problem.tree
    start = np.zeros((problem.m, problem.n), dtype=bool)
    if from_plan:
        start = pp.solve(problem, method="plan").placement.held(problem.n)[:, tree.order]
    prices = form.row_best * np.resize(shares, form.rows)
    value, held = guided(problem, seed).plan(prices, start)
    by_chunk = np.empty_like(held)
    by_chunk[:, tree.order] = held
    # Refuses what is not parent-closed or over a budget, and recomputes the value.
    placement = pp.Placement.of_mask(problem, by_chunk)
    np.testing.assert_allclose(value, placement.value, rtol=1e-12, atol=1e-12)
    oracle, holders = TreeOracle(tree), Holders(form, held)
    for worker in range(problem.m):
        profit = holders.profits(worker)
        better = oracle.solve(profit, int(problem.budgets[worker])).value
        assert better <= profit[held[worker]].sum() * (1 + 1e-9) + 1e-12


def test_prices_leave_a_chunk_to_a_later_worker() -> None:
    # Chunk 0 is worth 11 at worker 0 and 15 at worker 1, chunk 1 is worth 10.5 at either.
    form = Savings(
        n=2,
        m=2,
        local_position=(np.array([0], dtype=np.int32), np.array([0], dtype=np.int32)),
        local_value=(np.array([1.0]), np.array([5.0])),
        row_position=np.array([0, 1], dtype=np.int32),
        row_requester=np.array([0, 0], dtype=np.int32),
        row_values=RowValues.from_table(np.array([[10.0], [10.5]])),
    )
    tree, budgets = PrefixTree(np.array([-1, -1], dtype=np.int32)), np.array([1, 1])
    best = max(
        form.value(np.array([np.arange(2) == a, np.arange(2) == b]))
        for a, b in itertools.product(range(2), repeat=2)
    )
    nothing = np.zeros((2, 2), dtype=bool)
    holders = Holders(form)
    greedy.refine(holders, TreeOracle(tree), [1, 1], [0, 1])
    assert form.value(holders.held) < best
    for seed in range(4):
        plans = PriceGuided(form, tree, budgets, seed=seed, stopped=lambda: None)
        value, held = plans.plan(np.array([8.0, 6.0]), nothing)
        assert value == form.value(held) == best


def test_a_run_that_must_end_gets_a_plan() -> None:
    problem = problem_of("pairwise", seed=1)
    start = np.zeros((problem.m, problem.n), dtype=bool)
    prices = savings(problem).row_best
    value, held = guided(problem, stopped="time-limit").plan(prices, start)
    assert value == 0.0
    assert not held.any()


@given(problems(), SHARES)
@settings(max_examples=60)
def test_what_is_served_by_nobody_is_no_gain(problem: pp.Problem, shares: list[float]) -> None:
    form = savings(problem)
    worth = np.broadcast_to(form.row_value, (form.rows, problem.m))
    held = pp.solve(problem, method="greedy").placement.held(problem.n)[:, problem.tree.order]
    served = form.row_best * np.resize(shares, form.rows)
    holders = Holders(form, held)
    for worker in range(problem.m):
        others = held.copy()
        others[worker] = False
        expected = form.local_profits(worker)
        for r in range(form.rows):
            position = form.row_position[r]
            at_hand = float(worth[r][others[:, position]].max(initial=0.0))
            gain = worth[r, worker] - max(at_hand, served[r])
            expected[position] += max(gain, 0.0)
        np.testing.assert_allclose(holders.profits(worker, served), expected, rtol=1e-12, atol=0)
