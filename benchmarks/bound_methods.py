"""How fast and how far the ways to lower the bound get, side by side.

    python benchmarks/bound_methods.py ../shared

On three RAG cases, from the same prices (half of what each row is worth) with the optimum's value
as target, one thread, compiled code warm; processor seconds. "Above" is the bound's distance from
the proven optimum, in per cent. The table goes to ``benchmarks/results/bound_methods.md``.

- plain: subgradient steps in the metric of the prices themselves (this script's own loop);
- quick, thorough: :mod:`prefixplace_opt.solvers.lagrangian` with prices of rows only;
- with credits: the same with credits where chunks have several rows (pairwise only);
- column generation: method ``config-lp`` from the planner's plan, without a plan at the end.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import prefixplace_opt as pp
from prefixplace_opt.problem import savings
from prefixplace_opt.solvers.column_generation import ColumnGeneration
from prefixplace_opt.solvers.incumbent import Incumbent
from prefixplace_opt.solvers.lagrangian import QUICK, THOROUGH, Pace, descend
from prefixplace_opt.solvers.pricing import Pricer
from prefixplace_opt.solvers.run import Options, Run
from prefixplace_opt.solvers.subproblem import FREE, FullPrices, Subproblem

RESULTS = Path(__file__).parent / "results" / "bound_methods.md"
CASES = (
    "rag-d40-m6-b10-g1.5-requ-s1",
    "rag-d100-m8-b10-g3.0-requ-s1",
    "rag-d100-m8-b10-g3.0-pair-s1",
)
MARKS = (50, 100, 250, 1000)
STEPS = 2500


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("shared", type=Path)
    shared = arguments.parse_args().shared
    lines = [
        "# Ways to lower the bound",
        "",
        (
            "Made by `benchmarks/bound_methods.py`, where the protocol stands. Per cent above the "
            "proven optimum after so many evaluations and at the end."
        ),
        "",
        f"| case | way | {' | '.join(f'{mark}' for mark in MARKS)} | end | evaluations | CPU, s |",
        f"|---|---|{'---:|' * (len(MARKS) + 3)}",
    ]
    for case in CASES:
        for row in rows(shared / "cases" / "rag" / f"{case}.json"):
            lines.append(f"| {case} | {' | '.join(row)} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows(path: Path) -> list[list[str]]:
    problem = pp.read_problem(path)
    proven = pp.solve(problem, method="exact", time_limit=120)
    form = savings(problem)
    states = np.full((problem.m, problem.n), FREE, dtype=np.int8)
    by_rows, credited = (
        Subproblem.of(form, problem.tree, problem.budgets, states, with_credits=credits_too)
        for credits_too in (False, True)
    )
    start = FullPrices(form.row_best / 2)
    plan = pp.solve(problem, method="plan").placement
    held = plan.held(problem.n)[:, problem.tree.order]

    def paced(sub: Subproblem, pace: Pace) -> Callable[[list[float]], None]:
        def walk(bounds: list[float]) -> None:
            def visit(_: object, best: float) -> float:
                bounds.append(best)
                return proven.lower

            descend(Pricer(sub), sub.restrict(start), STEPS, visit, pace)

        return walk

    def generate(bounds: list[float]) -> None:
        generation = ColumnGeneration(by_rows, Run(Options()), Incumbent(form, held, 0.0))
        generation.solve()
        bounds += generation.history.bound

    ways: dict[str, Callable[[list[float]], None]] = {
        "plain": lambda bounds: plain(by_rows, by_rows.restrict(start), proven.lower, bounds),
        "quick": paced(by_rows, QUICK),
        "thorough": paced(by_rows, THOROUGH),
    }
    if credited.group_slot.size:
        ways["quick, with credits"] = paced(credited, QUICK)
        ways["thorough, with credits"] = paced(credited, THOROUGH)
    ways["column generation"] = generate
    table = []
    for name, way in ways.items():
        way([])
        bounds: list[float] = []
        begun = time.process_time()
        way(bounds)
        seconds = time.process_time() - begun
        above = [f"{100 * (bound / proven.lower - 1):.4f}" for bound in bounds]
        marks = [above[mark - 1] if len(above) >= mark else "" for mark in MARKS]
        count = str(len(above))
        if name == "column generation":
            marks, count = [""] * len(MARKS), f"{len(above)} rounds"
        table.append([name, *marks, above[-1], count, f"{seconds:.2f}"])
    return table


def plain(sub: Subproblem, prices: np.ndarray, target: float, bounds: list[float]) -> None:
    """Polyak steps with the quick pace's memory, patience and shrinking, every row alike."""
    pricer, step, waited = Pricer(sub), QUICK.step, 0
    direction = np.zeros_like(prices)
    best, best_prices = np.inf, prices
    while len(bounds) < STEPS and step >= 1e-3:
        priced = pricer(prices)
        waited = 0 if priced.bound < best * (1 - 1e-7) else waited + 1
        if priced.bound < best:
            best, best_prices = priced.bound, prices
        bounds.append(best)
        if waited >= QUICK.patience:
            waited, step, prices = 0, step * QUICK.shrink, best_prices
            direction[:] = 0.0
            continue
        outward = ((prices <= 0) & (priced.slope > 0)) | ((prices >= sub.cap) & (priced.slope < 0))
        slope = np.where(outward, 0.0, priced.slope)
        direction = QUICK.memory * direction + (1 - QUICK.memory) * slope
        norm = float(direction @ direction)
        if norm == 0:
            break
        length = step * max(priced.bound - target, 0.0) / norm
        prices = np.clip(prices - length * direction, 0.0, sub.cap)


if __name__ == "__main__":
    main()
