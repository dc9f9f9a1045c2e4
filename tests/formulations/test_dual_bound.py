from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace_opt as pp
from prefixplace_opt.formulations import LinearModel, compact_arrays, flow_arrays
from prefixplace_opt.formulations.dual_bound import dual_bound
from tests.formulations.highs import optimum, optimum_of, passed
from tests.strategies import problems


def exact(model: LinearModel, duals: np.ndarray) -> Fraction:
    """The bound of weak duality in rationals, one column at a time."""
    total = Fraction(model.constant)
    reduced = [Fraction(cost) for cost in model.cost.tolist()]
    for r, dual in enumerate(duals.tolist()):
        lower, upper = model.row_lower[r], model.row_upper[r]
        if dual == 0 or (dual > 0 and math.isinf(upper)) or (dual < 0 and math.isinf(lower)):
            continue
        total += Fraction(dual) * Fraction(float(upper if dual > 0 else lower))
        for e in range(model.row_start[r], model.row_start[r + 1]):
            reduced[model.entry_column[e]] -= Fraction(dual) * Fraction(float(model.entry_value[e]))
    for j, price in enumerate(reduced):
        total += max(
            price * Fraction(float(model.column_lower[j])),
            price * Fraction(float(model.column_upper[j])),
        )
    return total


@pytest.mark.parametrize("build", [compact_arrays, flow_arrays])
@given(problem=problems(chunks=6, workers=3, integral=False), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_any_duals_give_a_bound_that_rounding_cannot_undercut(
    build: object, problem: pp.Problem, seed: int
) -> None:
    model = build(problem).linear  # type: ignore[operator]
    rng = np.random.default_rng(seed)
    duals = rng.normal(size=model.rows) * 10.0 ** rng.integers(-3, 6, model.rows)
    bound = dual_bound(model, duals)
    assert Fraction(bound) >= exact(model, duals)
    assert bound <= float(exact(model, duals)) * (1 + 1e-12) + 1e-9
    assert bound >= optimum(model)[0] * (1 - 1e-9)


@pytest.mark.parametrize("build", [compact_arrays, flow_arrays])
@given(problem=problems(chunks=6, workers=3, integral=False))
@settings(max_examples=25)
def test_optimal_duals_give_the_lp_value(build: object, problem: pp.Problem) -> None:
    model = build(problem).linear  # type: ignore[operator]
    highs = passed(model, relaxed=True)
    value, _ = optimum_of(highs)
    bound = dual_bound(model, np.array(highs.getSolution().row_dual))
    assert bound == pytest.approx(value, rel=1e-7, abs=1e-7)


def test_an_unbounded_column_has_no_bound_unless_its_price_points_away() -> None:
    model = LinearModel(
        name="one",
        cost=np.array([1.0]),
        constant=2.0,
        column_lower=np.zeros(1),
        column_upper=np.array([np.inf]),
        integral=np.zeros(1, dtype=bool),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([3.0]),
        row_start=np.array([0, 1], dtype=np.int32),
        entry_column=np.zeros(1, dtype=np.int32),
        entry_value=np.ones(1),
        column_families=(),
        row_families=(),
    )
    assert dual_bound(model, np.zeros(1)) == math.inf
    assert dual_bound(model, np.array([2.0])) == pytest.approx(8.0)
    assert dual_bound(replace(model, cost=np.array([-1.0])), np.zeros(1)) == pytest.approx(2.0)
