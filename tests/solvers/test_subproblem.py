"""Subproblems under decisions, their prices and forced bounds, against exhaustion."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prefixplace_opt as pp
from prefixplace_opt.problem import Decision, Savings, savings
from prefixplace_opt.solvers.coordinate_refinement import Refinement
from prefixplace_opt.solvers.fixing import forced_bounds
from prefixplace_opt.solvers.pricing import Pricer
from prefixplace_opt.solvers.subproblem import FREE, IN, OUT, FullPrices, Subproblem, decide
from tests import brute_force
from tests.solvers import proofs
from tests.strategies import problems


@dataclass
class Drawn:
    """A problem, decisions on it, and what is left."""

    problem: pp.Problem
    form: Savings
    decisions: tuple[Decision, ...]
    states: np.ndarray
    rng: np.random.Generator

    def sub(self, *, with_credits: bool = True) -> Subproblem:
        problem = self.problem
        return Subproblem.of(
            self.form, problem.tree, problem.budgets, self.states, with_credits=with_credits
        )


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    problem = draw(problems(chunks=5, workers=3, integral=False))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    states = np.full((problem.m, problem.n), FREE, dtype=np.int8)
    decisions = []
    for _ in range(draw(st.integers(0, 4))):
        h, p = int(rng.integers(problem.m)), int(rng.integers(problem.n))
        if states[h, p] == FREE:
            state = IN if rng.random() < 0.5 else OUT
            decide(states, problem.tree, h, p, state)
            decisions.append(Decision(h, int(problem.tree.order[p]), inside=state == IN))
    return Drawn(problem, savings(problem), tuple(decisions), states, rng)


def close(value: float, exact: Fraction) -> bool:
    return value == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


@given(drawn(), st.booleans())
@settings(max_examples=60)
def test_bound_at_any_prices_is_that_of_the_theorem(case: Drawn, with_credits: bool) -> None:
    sub = case.sub(with_credits=with_credits)
    if not sub.feasible:
        assert (
            proofs.bound(case.problem, sub.proof_prices(sub.cap, case.problem.tree), case.decisions)
            < 0
        )
        return
    prices = case.rng.random(sub.cap.size) * sub.cap
    priced = Pricer(sub)(prices)
    proof = sub.proof_prices(prices, case.problem.tree)
    assert close(priced.bound, proofs.bound(case.problem, proof, case.decisions))
    assert priced.bound >= case.form.value(sub.held(priced.taken)) * (1 - 1e-12)
    # The slope is a subgradient.
    others = case.rng.random(sub.cap.size) * sub.cap
    assert Pricer(sub)(others).bound >= priced.bound + priced.slope @ (others - prices) - 1e-9


@given(drawn())
@settings(max_examples=60)
def test_forced_bounds_are_those_of_the_theorem(case: Drawn) -> None:
    sub = case.sub()
    if not sub.feasible:
        return
    prices = case.rng.random(sub.cap.size) * sub.cap
    inside, outside = forced_bounds(Pricer(sub), prices)
    proof = sub.proof_prices(prices, case.problem.tree)
    for s in range(sub.slots):
        chunk = int(case.problem.tree.order[sub.position[s]])
        for forced, bounds in ((True, inside), (False, outside)):
            decision = Decision(int(sub.worker[s]), chunk, inside=forced)
            exact = proofs.bound(case.problem, proof, (*case.decisions, decision))
            assert close(bounds[s], exact) or bounds[s] == -np.inf


@given(drawn())
@settings(max_examples=60)
def test_inherited_prices_bound_a_child_no_worse(case: Drawn) -> None:
    """The forced bound holds in the child from its first evaluation on."""
    sub = case.sub()
    if not sub.feasible or not sub.slots:
        return
    prices = case.rng.random(sub.cap.size) * sub.cap
    inside, outside = forced_bounds(Pricer(sub), prices)
    full = sub.extend(prices)
    for s in range(sub.slots):
        for state, bounds in ((IN, inside), (OUT, outside)):
            states = case.states.copy()
            decide(states, case.problem.tree, int(sub.worker[s]), int(sub.position[s]), state)
            problem = case.problem
            child = Subproblem.of(case.form, problem.tree, problem.budgets, states)
            if child.feasible:
                first = Pricer(child)(child.restrict(full)).bound
                assert first <= bounds[s] * (1 + 1e-9) + 1e-9
    # Nothing decided anew: the same prices give the same bound.
    again = Pricer(sub)(sub.restrict(full)).bound
    assert again == pytest.approx(Pricer(sub)(prices).bound, rel=1e-9, abs=1e-9)


@given(drawn())
@settings(max_examples=60)
def test_row_prices_become_credits_that_bound_no_worse(case: Drawn) -> None:
    rows, credited = case.sub(with_credits=False), case.sub()
    if not rows.feasible:
        return
    full = FullPrices(case.rng.random(case.form.rows) * case.form.row_best)
    by_rows = Pricer(rows)(rows.restrict(full)).bound
    assert Pricer(credited)(credited.restrict(full)).bound <= by_rows * (1 + 1e-9) + 1e-9


@given(drawn())
@settings(max_examples=60)
def test_refinement_obeys_the_decisions_and_knows_its_value(case: Drawn) -> None:
    sub = case.sub()
    if not sub.feasible:
        return
    pricer = Pricer(sub)
    start = pricer(case.rng.random(sub.cap.size) * sub.cap).taken
    value, taken = Refinement(pricer).refine(start)
    held = sub.held(taken)
    assert value == pytest.approx(case.form.value(held), rel=1e-9, abs=1e-9)
    assert value >= case.form.value(sub.held(start)) * (1 - 1e-9)
    assert (held.sum(axis=1) <= case.problem.budgets).all()
    assert held[case.states == IN].all()
    assert not held[case.states == OUT].any()
    by_id = np.empty_like(held)
    by_id[:, case.problem.tree.order] = held
    assert all(case.problem.tree.orphan(row) < 0 for row in by_id)


@given(problems(chunks=5, workers=3, integral=False), st.integers(0, 99))
@settings(max_examples=40)
def test_fixing_never_cuts_off_what_is_better_than_the_incumbent(
    problem: pp.Problem, seed: int
) -> None:
    best, placement = brute_force.optimum(problem)
    form = savings(problem)
    states = np.full((problem.m, problem.n), FREE, dtype=np.int8)
    sub = Subproblem.of(form, problem.tree, problem.budgets, states)
    prices = np.random.default_rng(seed).random(sub.cap.size) * sub.cap
    inside, outside = forced_bounds(Pricer(sub), prices)
    for s in range(sub.slots):
        held = int(problem.tree.order[sub.position[s]]) in placement[int(sub.worker[s])]
        assert (inside[s] if held else outside[s]) >= float(best) * (1 - 1e-12)
