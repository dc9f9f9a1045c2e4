"""Method `config-lp`: equal to other statements of the same LP, and a plan beside it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import prefixplace_opt as pp
from prefixplace_opt.problem import savings
from prefixplace_opt.solvers.column_generation import configuration_lp
from prefixplace_opt.solvers.coverage_elements import CoverageElements
from prefixplace_opt.solvers.run import Options, Progress, Run
from prefixplace_opt.solvers.subproblem import Subproblem
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.solvers import proofs
from tests.strategies import problems


def test_bound_is_that_of_the_flow_lp(case_path: Path, expected: dict[str, dict[str, Any]]) -> None:
    problem = pp.read_problem(case_path)
    optimum = float(expected[problem.name]["optimum"])
    generated = pp.solve(problem, method="config-lp")
    assert generated.lower == optimum
    assert generated.upper >= optimum
    flow = pp.solve(problem, method="flow-lp")
    assert generated.upper == pytest.approx(flow.upper, rel=1e-7)


@given(problems(chunks=5, workers=3, integral=False))
@settings(max_examples=25)
def test_small_problems(problem: pp.Problem) -> None:
    best, _ = brute_force.optimum(problem)
    result = pp.solve(problem, method="config-lp")
    assert result.lower <= best * (1 + 1e-12) + 1e-300
    flow = pp.solve(problem, method="flow-lp")
    assert result.upper == pytest.approx(max(flow.upper, flow.lower), rel=1e-7, abs=1e-9)
    assert proofs.proven(problem, result.proof) <= result.upper * (1 + 1e-12)


@given(problems(chunks=8, workers=1))
@settings(max_examples=25)
def test_one_worker_is_the_tree_oracle(problem: pp.Problem) -> None:
    form = savings(problem)
    profit = form.priced_profits(0, np.zeros(form.rows))
    alone = TreeOracle(problem.tree).solve(profit, int(problem.budgets[0])).value
    result = pp.solve(problem, method="config-lp")
    assert result.lower == pytest.approx(alone, rel=1e-12)
    assert result.upper == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("name", ["rag-d20-m4-b10-g3.0-pair-s1", "rag-d40-m6-b10-g1.5-requ-s1"])
def test_rag_cases(shared: Path, rag_bounds: dict[str, dict[str, Any]], name: str) -> None:
    result = pp.solve(pp.read_problem(shared / f"cases/rag/{name}.json"), method="config-lp")
    known = rag_bounds[name]
    assert known["lower"] <= result.upper <= known["upper"] * (1 + 1e-6)
    assert result.upper == pytest.approx(result.statistics["lp_value"], rel=1e-9)
    history = result.statistics["history"]
    assert len(history["bound"]) == result.statistics["rounds"]
    for series, sign in (("master", 1), ("bound", -1), ("incumbent", 1)):
        assert all(sign * np.diff(history[series]) >= -1e-9 * known["upper"])
    assert all(
        master <= bound * (1 + 1e-9)
        for master, bound in zip(history["master"], history["bound"], strict=True)
    )


def test_stopped_before_the_lp_is_solved(shared: Path) -> None:
    problem = pp.read_problem(shared / "cases/rag/rag-d40-m6-b10-g1.5-requ-s1.json")
    whole = pp.solve(problem, method="config-lp")
    run: Run

    def stop(progress: Progress) -> None:
        if progress.phase == "column generation":
            run.interrupt()

    run = Run(Options(progress=stop))
    result = configuration_lp(problem, run)
    assert result.status == "interrupted"
    assert result.statistics["lp_value"] is None
    assert result.upper >= whole.upper * (1 - 1e-9)
    assert result.lower <= whole.upper


@given(problems(chunks=5, workers=3, objective="pairwise"))
@settings(max_examples=40)
def test_elements_add_up_to_the_rows(problem: pp.Problem) -> None:
    form = savings(problem)
    states = np.zeros((problem.m, problem.n), dtype=np.int8)
    sub = Subproblem.of(form, problem.tree, problem.budgets, states, with_credits=False)
    elements = CoverageElements.of(sub)
    rng = np.random.default_rng(0)
    for _ in range(5):
        taken = rng.random(sub.slots) < 0.5
        covered = np.zeros(elements.size, dtype=bool)
        for s in np.flatnonzero(taken):
            first, last = elements.slot_first[s], elements.slot_first[s + 1]
            covered[elements.slot_element[first:last]] = True
        value = elements.own[taken].sum() + elements.weight[covered].sum()
        assert sub.constant + value == pytest.approx(form.value(sub.held(taken)))
    assert elements.row_prices(elements.weight, sub.rows.size) == pytest.approx(
        np.bincount(elements.part_row, weights=elements.part_weight, minlength=sub.rows.size)
    )
