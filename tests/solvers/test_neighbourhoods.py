"""Searching a plan's neighbourhoods, and the incumbent that is improved."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import prefixplace_opt as pp
from prefixplace_opt.problem import savings
from prefixplace_opt.solvers.incumbent import Incumbent, granularity
from prefixplace_opt.solvers.neighbourhoods import Neighbourhoods
from prefixplace_opt.solvers.run import Options, Run
from prefixplace_opt.solvers.subproblem import FullPrices
from tests import brute_force
from tests.strategies import problems


@given(problems(chunks=5, workers=3, integral=False))
@settings(max_examples=40)
def test_search_makes_plans_better_and_solves_two_workers(problem: pp.Problem) -> None:
    form = savings(problem)
    incumbent = Incumbent(form, np.zeros((problem.m, problem.n), dtype=bool), 0.0)
    search = Neighbourhoods(form, problem.tree, problem.budgets, Run(Options()), incumbent)
    bound = 1 + form.row_best.sum() + sum(value.sum() for value in form.local_value)
    search.improve(FullPrices(form.row_best / 2), bound)
    best, _ = brute_force.optimum(problem)
    held = np.empty_like(incumbent.held)
    held[:, problem.tree.order] = incumbent.held
    placement = pp.Placement.of(problem, [np.flatnonzero(row) for row in held])
    assert placement.value == pytest.approx(incumbent.value, rel=1e-12)
    assert placement.value <= float(best) * (1 + 1e-12)
    if problem.m == 2:
        assert placement.value == pytest.approx(float(best), rel=1e-9)
    # What was searched in vain is not searched again.
    before = search.searched
    search.improve(FullPrices(form.row_best / 2), bound)
    assert search.searched == before


@given(problems(chunks=5, workers=3))
@settings(max_examples=40)
def test_granularity_divides_every_plan(problem: pp.Problem) -> None:
    form = savings(problem)
    step = granularity(problem, form)
    assume(step > 0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        held = rng.random((problem.m, problem.n)) < 0.5
        assert form.value(held) % step == 0


def test_cutoff_is_what_leaves_nothing_to_prove(shared) -> None:  # type: ignore[no-untyped-def]
    problem = pp.read_problem(shared / "cases/small-rag.json")
    form = savings(problem)
    plan = pp.solve(problem, method="plan").placement
    held = plan.held(problem.n)[:, problem.tree.order]
    step = granularity(problem, form)
    exact, within = Incumbent(form, held, 0.0, step), Incumbent(form, held, 0.01, step)
    assert exact.granularity == 1
    assert plan.value < exact.cutoff < plan.value + 1
    assert exact.proven(exact.cutoff) == plan.value
    assert exact.proven(plan.value + 1) == plan.value + 1
    assert 1 - plan.value / within.cutoff == pytest.approx(0.01)
    assert not exact.offer(plan.value, lambda: held)


def test_the_gap_is_measured_to_the_reference_while_that_is_possible(shared) -> None:  # type: ignore[no-untyped-def]
    problem = pp.read_problem(shared / "cases/small-rag.json")
    form = savings(problem)
    held = pp.solve(problem, method="plan").placement.held(problem.n)[:, problem.tree.order]
    own = Incumbent(form, held, 0.5)
    assert own.cutoff == pytest.approx(2 * own.value, rel=1e-9)
    for share, cutoff in ((1.0, 2.0), (0.75, 1.5), (0.5, 1.0), (0.4, 2.0)):
        measured = Incumbent(form, held, 0.5, reference=share * own.value)
        assert measured.cutoff == pytest.approx(cutoff * own.value, rel=1e-8)
