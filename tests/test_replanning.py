"""Plans that start from what is held: bounded moves, priced moves, against exhaustion."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from prefixplace_opt import PrefixTree, Problem, Worker, generate, replan, solve
from prefixplace_opt.problem import Demand, DenseCost, InputError, carry_over
from prefixplace_opt.problem.objective import objective_value

Mask = NDArray[np.bool_]


@st.composite
def instances(draw: st.DrawFn) -> tuple[Problem, Mask]:
    """A tiny instance and prefix-complete sets that may be over budget."""
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    parents = [draw(st.integers(-1, v - 1)) for v in range(n)]
    numbers = st.sampled_from([0.0, 1.0, 2.0, 5.0])

    def matrix() -> NDArray[np.float64]:
        flat = draw(st.lists(numbers, min_size=m * n, max_size=m * n))
        return np.array(flat).reshape(m, n)

    problem = Problem(
        PrefixTree(parents),
        [Worker(f"w{i}", draw(st.integers(0, n))) for i in range(m)],
        Demand.from_dense(matrix(), shape=(m, n)),
        DenseCost(matrix()),
        DenseCost(matrix()),
    )
    sets = closed_sets(problem, n)
    held = np.stack([draw(st.sampled_from(sets)) for _ in range(m)])
    return problem, held


def closed_sets(problem: Problem, budget: int) -> list[Mask]:
    found = []
    for bits in itertools.product([False, True], repeat=problem.n):
        mask = np.array(bits)
        if mask.sum() <= budget and problem.tree.orphan(mask) < 0:
            found.append(mask)
    return found


def plans(problem: Problem) -> Iterator[Mask]:
    choices = [closed_sets(problem, int(budget)) for budget in problem.budgets]
    return (np.stack(chosen) for chosen in itertools.product(*choices))


def moves(held: Mask, old: Mask) -> int:
    return int((held & ~old).sum())


@given(instances(), st.integers(0, 6), st.sampled_from([0.0, 1.0, 4.0]))
def test_never_worse_than_keeping_and_never_better_than_the_optimum(
    instance: tuple[Problem, Mask], most: int, cost: float
) -> None:
    problem, old = instance
    new = replan(problem, old, max_moves=most, move_cost=cost)
    held = new.placement.held(problem.n)
    assert new.moves == moves(held, old) <= most
    assert new.drops == int((old & ~held).sum())
    worth = new.placement.value - cost * new.moves
    allowed = [plan for plan in plans(problem) if moves(plan, old) <= most]
    best = max(objective_value(problem, plan) - cost * moves(plan, old) for plan in allowed)
    assert worth <= best + 1e-9
    kept = max(objective_value(problem, plan) for plan in allowed if moves(plan, old) == 0)
    assert new.kept_value <= kept + 1e-9
    if all(old.sum(axis=1) <= problem.budgets):
        assert new.kept_value == pytest.approx(objective_value(problem, old))
    assert worth >= new.kept_value - 1e-9
    if problem.m == 1 and cost == 0.0 and most >= problem.n:
        assert worth == pytest.approx(best)


@given(instances())
def test_without_a_price_it_is_at_least_the_free_plan(instance: tuple[Problem, Mask]) -> None:
    problem, old = instance
    new = replan(problem, old)
    assert new.placement.value >= solve(problem).lower - 1e-9
    assert new.free.upper >= new.placement.value - 1e-9


@given(instances())
def test_one_worker_with_a_price_is_solved_exactly(instance: tuple[Problem, Mask]) -> None:
    whole, held = instance
    problem = Problem(
        whole.tree,
        whole.workers[:1],
        Demand.from_dense(whole.demand.dense()[:1], shape=(1, whole.n)),
        DenseCost(whole.recompute.values[:1]),  # type: ignore[union-attr]
        DenseCost(whole.fetch.values[:1]),  # type: ignore[union-attr]
    )
    old = held[:1]
    new = replan(problem, old, move_cost=3.0)
    best = max(objective_value(problem, plan) - 3.0 * moves(plan, old) for plan in plans(problem))
    assert new.placement.value - 3.0 * new.moves == pytest.approx(best)


def test_more_moves_save_more() -> None:
    problem = generate("rag", documents=20, seed=1)
    rng = np.random.default_rng(0)
    demand = problem.demand
    drifted = replace(
        problem,
        demand=Demand(
            demand.worker,
            demand.chunk,
            demand.value * rng.lognormal(0, 0.8, len(demand)),
            shape=demand.shape,
        ),
    )
    held = carry_over(problem, solve(problem).placement, drifted)
    results = [replan(drifted, held, max_moves=most) for most in (0, 2, 5, 10, 40)]
    values = [new.placement.value for new in results]
    assert values == sorted(values)
    assert values[-1] > values[0]
    assert [new.moves <= most for new, most in zip(results, (0, 2, 5, 10, 40), strict=True)]
    again = replan(drifted, held, max_moves=5)
    assert again.placement == results[2].placement


def test_options_out_of_range() -> None:
    problem = generate("rag", documents=2, seed=1)
    held = np.zeros((problem.m, problem.n), dtype=np.bool_)
    with pytest.raises(InputError, match="max_moves"):
        replan(problem, held, max_moves=-1)
    with pytest.raises(InputError, match="move_cost"):
        replan(problem, held, move_cost=float("nan"))
    with pytest.raises(InputError, match="expected shape"):
        replan(problem, held[:, :-1])
    held[0, np.argmax(problem.tree.depth)] = True
    with pytest.raises(InputError, match="without its parent"):
        replan(problem, held)
