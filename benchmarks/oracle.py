"""The tree oracle against the plain dynamic programme, side by side in one run.

    python benchmarks/oracle.py conversation_trace.jsonl

On the tree of an hour of chat traffic (two-racks-8, prefix-affinity): one worker's own demand, its
marginals beside the popularity plan, and total demand, each at four budgets. Both run on the same
input, one after the other, several times; figures are medians of processor time. Then random
forests, the smaller of which the oracle must not lose on. Peak memory comes from a process of its
own for each budget. The tables go to ``benchmarks/results/oracle.md``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from peak_memory import peak_mib
from plain_oracle import PlainOracle

from prefixplace_opt.problem import Holders, PrefixTree, savings
from prefixplace_opt.problem.objective import own_savings
from prefixplace_opt.solvers import greedy
from prefixplace_opt.solvers.tree_oracle import TreeOracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prefixplace_opt.problem import Problem

RESULTS = Path(__file__).parent / "results" / "oracle.md"
BUDGETS = (500, 1400, 5000, 15_000)
ROUNDS = 5
SMALL = [(n, k) for n in (50, 300, 1000, 3000, 10_000) for k in (5, 60, 600) if k < n]


def problem_of(trace: Path) -> Problem:
    from prefixplace_opt.instances.clusters import read_cluster
    from prefixplace_opt.instances.trace_import import ImportOptions, import_traces

    options = ImportOptions(route="prefix-affinity", objective="requester")
    imported, _ = import_traces([trace], read_cluster("two-racks-8"), options)
    return imported[0].problem


def profits(problem: Problem) -> dict[str, NDArray[np.float64]]:
    """Profits by position."""
    tree, demand = problem.tree, problem.demand
    worker = int(np.argmax(np.bincount(demand.worker)))
    mine = demand.worker == worker
    own = np.zeros(tree.n)
    own[tree.position[demand.chunk[mine]]] = own_savings(problem)[mine]
    form = savings(problem)
    holders = Holders(form, greedy.popularity(problem, TreeOracle(tree)))
    return {
        "one worker's demand": own,
        "one worker's marginals": holders.profits(worker),
        "total demand": demand.total()[tree.order],
    }


def side_by_side(
    tree: PrefixTree, profit: NDArray[np.float64], budget: int, rounds: int
) -> tuple[float, float]:
    """Median processor seconds of the plain programme and of the oracle; the optima must agree."""
    plain, core = PlainOracle(tree), TreeOracle(tree)
    seconds: dict[str, list[float]] = {"plain": [], "core": []}
    values: dict[str, float] = {}
    for _ in range(rounds):
        for name, oracle in (("plain", plain), ("core", core)):
            start = time.process_time()
            values[name] = oracle.solve(profit, budget).value
            seconds[name].append(time.process_time() - start)
    assert abs(values["plain"] - values["core"]) <= 1e-12 * abs(values["plain"]), values
    return statistics.median(seconds["plain"]), statistics.median(seconds["core"])


def small_rows() -> list[str]:
    rng = np.random.default_rng(0)
    rows = []
    for n, k in SMALL:
        tree = PrefixTree([-1, *(int(rng.integers(max(-1, v - 30), v)) for v in range(1, n))])
        kinds = {
            "heavy-tailed": rng.pareto(1.2, n),
            "signed": rng.normal(size=n),
            "small integers": rng.integers(0, 10, n).astype(float),
        }
        ratios = {}
        for name, profit in kinds.items():
            plain, core = side_by_side(tree, profit, k, 41)
            ratios[name] = f"{core / plain:.2f}"
            microseconds = 1e6 * plain
        rows.append(f"| {n:,} | {k} | {microseconds:.0f} | " + " | ".join(ratios.values()) + " |")
    return rows


def peak(trace: Path, budget: int) -> None:
    """Print peak memory in MiB before and after the oracle's calls, for a parent to read."""
    problem = problem_of(trace)
    chosen = profits(problem)
    oracle = TreeOracle(problem.tree)
    before = peak_mib()
    for profit in chosen.values():
        oracle.solve(profit, budget)
    print(json.dumps([before, peak_mib()]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the tree oracle.")
    parser.add_argument("trace", type=Path)
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak is not None:
        peak(arguments.trace, arguments.peak)
        return
    problem = problem_of(arguments.trace)
    rows = []
    for name, profit in profits(problem).items():
        for budget in BUDGETS:
            plain, core = side_by_side(problem.tree, profit, budget, ROUNDS)
            rows.append(
                f"| {name} | {budget:,} | {1e3 * plain:.1f} | {1e3 * core:.2f} | "
                f"{plain / core:.0f} |"
            )
            print(rows[-1], flush=True)
    memory = []
    for budget in BUDGETS:
        command = [sys.executable, __file__, str(arguments.trace), "--peak", str(budget)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        before, after = json.loads(done.stdout)
        memory.append(f"| {budget:,} | {before:.0f} | {after:.0f} |")
        print(memory[-1], flush=True)
    write(problem.n, rows, memory, small_rows())


def write(n: int, rows: list[str], memory: list[str], small: list[str]) -> None:
    head = (
        f"An hour of chat traffic, {n:,} chunks; medians of {ROUNDS} alternating runs, processor "
        "time, one thread. "
        "*Plain* is the vectorised table over the whole forest (about four times as fast as the "
        "recurrence written as a loop). Optima agree. Written by `benchmarks/oracle.py`."
    )
    lines: list[Any] = [
        "# The tree oracle against the plain dynamic programme",
        "",
        head,
        "",
        "| profits | budget k | plain, ms | core, ms | plain / core |",
        "|---|---:|---:|---:|---:|",
        *rows,
        "",
        "Peak memory of a process that imports the trace and then calls the oracle, MiB:",
        "",
        "| budget k | before the calls | with them |",
        "|---:|---:|---:|",
        *memory,
        "",
        "Random forests, times of core / plain (at most 1.1 wanted):",
        "",
        "| n | k | plain, µs | heavy-tailed | signed | small integers |",
        "|---:|---:|---:|---:|---:|---:|",
        *small,
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
