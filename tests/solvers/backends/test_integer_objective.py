"""The scaled objective bounds the true one by its stated error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.problem import SolverError
from prefixplace_opt.solvers.backends.cp_sat import CpSat
from prefixplace_opt.solvers.backends.integer_objective import LARGEST_SUM, integer_objective
from tests.solvers.backends import models

COSTS = st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=12)


@given(COSTS, st.randoms(use_true_random=False))
def test_error_repays_the_rounding(costs, random) -> None:
    cost = np.array(costs)
    lower, upper = np.zeros(cost.size), np.ones(cost.size)
    scaled = integer_objective(cost, lower, upper)
    assert np.abs(scaled.cost).sum() <= 2 * LARGEST_SUM + 2**52
    point = [random.choice([0, 1]) for _ in costs]
    true = sum(Fraction(c) * v for c, v in zip(costs, point, strict=True))
    stated = Fraction(sum(int(c) * v for c, v in zip(scaled.cost, point, strict=True)))
    assert true <= stated / Fraction(scaled.scale) + Fraction(scaled.error)
    assert scaled.error <= 1e-12 * sum(map(abs, costs))


def test_whole_and_dyadic_costs_are_exact() -> None:
    ends = np.zeros(3), np.ones(3)
    assert integer_objective(np.array([3.0, 7.0, 0.0]), *ends).scale == 1.0
    halves = integer_objective(np.array([0.5, 7.0, 1.25]), *ends)
    assert (halves.scale, halves.error) == (4.0, 0.0)
    assert integer_objective(np.zeros(3), *ends).error == 0.0
    assert integer_objective(np.array([0.2, 1e9, 3.0]), *ends).error > 0.0


def test_bound_and_reason_state_the_error() -> None:
    model = models.model([0.1, 0.2, 0.3], [1.0, 1.0, 1.0], upper=2.0)
    answer = CpSat().solve(model, models.run())
    assert answer.ending == "optimal"
    assert 0 < answer.objective_error < 1e-12
    assert 0.5 <= answer.bound < 0.5 + 1e-12
    assert "repay the rounding" in answer.reason


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (models.knapsack(integral=False), "integer columns only"),
        (models.model([1.0], [0.5], upper=1.0), "whole coefficients only"),
        (models.unbounded(), "finite bounds only"),
    ],
)
def test_what_cp_sat_does_not_take_is_named(model, message) -> None:
    with pytest.raises(SolverError, match=message):
        CpSat().solve(model, models.run())
