"""Savings are called exact only where no double rounds them, nor any sum of them."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.problem import Demand, DenseCost, PrefixTree, UniformCost, Worker, savings
from prefixplace_opt.problem.exactness import savings_are_exact
from tests import brute_force
from tests.strategies import problems


@given(problems(integral=False))
@settings(max_examples=150)
def test_exact_savings_are_those_of_fractions(problem: pp.Problem) -> None:
    if not savings_are_exact(problem):
        return
    form = savings(problem)
    best, placement = brute_force.optimum(problem)
    held = [[chunk in chunks for chunk in range(problem.n)] for chunks in placement]
    mask = pp.Placement.of(problem, [sorted(chunks) for chunks in placement]).held(problem.n)
    assert mask.tolist() == held
    assert Fraction(form.value(mask[:, problem.tree.order])) == best


def problem_of(demand: list[float], recompute: float, fetch: list[float]) -> pp.Problem:
    return pp.Problem(
        tree=PrefixTree([-1]),
        workers=[Worker(f"w{m}", 1) for m in range(len(demand))],
        demand=Demand.from_dense([[each] for each in demand], shape=(len(demand), 1)),
        recompute=UniformCost(recompute),
        fetch=DenseCost([[each] for each in fetch]),
        objective="requester",
    )


@pytest.mark.parametrize(
    ("demand", "recompute", "fetch", "exact"),
    [
        ([3.0, 5.0], 7.0, [2.0, 1.0], True),
        ([0.5, 0.25], 1.5, [0.125, 0.0], True),
        ([1e200, 3e200], 2.0**40, [0.0, 0.0], False),
        ([2.0**200, 2.0**201], 2.0**40, [0.0, 0.0], True),
        ([0.2, 0.0], 0.2, [0.1, 0.0], False),
        ([1.0, 1.0], 1.0, [1e-20, 0.0], False),
        ([1.0, 2.0**-60], 1.0, [0.0, 0.0], False),
        ([0.0, 0.0], 0.3, [0.1, 0.2], True),
    ],
)
def test_cases(demand: list[float], recompute: float, fetch: list[float], exact: bool) -> None:
    assert savings_are_exact(problem_of(demand, recompute, fetch)) is exact
