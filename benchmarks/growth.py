"""Growth of the planner's time and memory with chunks, budgets and workers.

    python benchmarks/growth.py [--largest 1000000] [--only n|budget|workers]

Each point plans a generated instance (``grown_traffic.py``) in a process of its own, one thread:
processor seconds of the plan and of the oracle's calls in one start, wall seconds, peak memory.
Points that ``benchmarks/results/growth.json`` has already are kept, so that a stopped run goes on;
delete the file to begin anew. Writes ``growth.md``, with exponents fitted to the points from
10,000 chunks on, and the picture ``docs/growth.png``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "results"
STORE, TABLE = FOLDER / "growth.json", FOLDER / "growth.md"
PICTURE = Path(__file__).parents[1] / "docs" / "growth.png"
OBJECTIVES = ("requester", "pairwise")
SERIES: dict[str, list[tuple[int, int, int]]] = {
    # (chunks, workers, budget)
    "n": [(10**e, 8, max(10**e // 200, 20)) for e in (3, 4, 5, 6, 7)],
    "budget": [(100_000, 8, k) for k in (100, 500, 2500, 12_500, 50_000)],
    "workers": [(100_000, m, 500) for m in (2, 4, 8, 16, 32)],
}
LABELS = {"n": "chunks n", "budget": "budget k", "workers": "workers M"}
#: Fits begin here: below, fixed costs show.
FIT_FROM = 10_000


def measure(n: int, m: int, budget: int, objective: str) -> dict[str, Any]:
    from grown_traffic import grown_problem
    from peak_memory import peak_mib

    import prefixplace_opt as pp
    from prefixplace_opt.problem import Holders, savings
    from prefixplace_opt.solvers.tree_oracle import TreeOracle

    pp.solve(grown_problem(1000, 6, 20, objective), method="plan")
    begun = time.process_time()
    problem = grown_problem(n, m, budget, objective)
    built = time.process_time() - begun
    begun, wall = time.process_time(), time.perf_counter()
    result = pp.solve(problem, method="plan")
    seconds, wall = time.process_time() - begun, time.perf_counter() - wall
    holders, oracle = Holders(savings(problem)), TreeOracle(problem.tree)
    spent = 0.0
    for worker in range(m):
        profit = holders.profits(worker)
        begun = time.process_time()
        best = oracle.solve(profit, budget)
        spent += time.process_time() - begun
        holders.replace(worker, best.resident)
    return {
        "chunks": n,
        "workers": m,
        "budget": budget,
        "objective": objective,
        "entries": len(problem.demand),
        "build": built,
        "plan": seconds,
        "wall": wall,
        "oracle": spent / m,
        "starts": result.statistics["starts"],
        "sweeps": sum(result.statistics["sweeps"]),
        "peak": peak_mib(),
        "value": result.lower,
    }


def stored() -> list[dict[str, Any]]:
    if not STORE.exists():
        return []
    points: list[dict[str, Any]] = json.loads(STORE.read_text(encoding="utf-8"))
    return points


def find(points: list[dict[str, Any]], key: tuple[int, int, int], objective: str) -> Any:
    wanted = (*key, objective)
    for point in points:
        if (point["chunks"], point["workers"], point["budget"], point["objective"]) == wanted:
            return point
    return None


def exponent(points: list[dict[str, Any]], by: str, what: str) -> float:
    """Slope of the logarithms."""
    x = np.log([point[by] for point in points])
    y = np.log([max(point[what], 1e-6) for point in points])
    return float(np.polyfit(x, y, 1)[0])


def bandwidth() -> float:
    """Bytes a second that one thread reads from memory, by processor time."""
    array = np.ones(30_000_000)
    best = float("inf")
    for _ in range(20):
        begun = time.process_time()
        array.sum()
        best = min(best, time.process_time() - begun)
    return float(array.nbytes / best)


def write(points: list[dict[str, Any]]) -> None:
    lines = [
        "# Growth of the planner",
        "",
        (
            "Generated instances (`grown_traffic.py`), method `plan`, one thread; processor "
            "seconds, so that other work on the machine hardly shows. *Oracle* is one call of the "
            "tree oracle, averaged over one start; peak memory is that of the whole process. "
            f"One thread reads {bandwidth() / 1e9:.1f} GB/s from memory. Written by "
            "`benchmarks/growth.py`."
        ),
    ]
    for series, keys in SERIES.items():
        by = {"n": "chunks", "budget": "budget", "workers": "workers"}[series]
        lines += [
            "",
            f"## By {LABELS[series]}",
            "",
            (
                "| objective | chunks n | workers M | budget k | demand entries | build, s "
                "| plan, s | wall, s | starts | sweeps | oracle, ms | peak, MiB |"
            ),
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        fits = []
        for objective in OBJECTIVES:
            own = [p for key in keys if (p := find(points, key, objective)) is not None]
            lines += [
                f"| {p['objective']} | {p['chunks']:,} | {p['workers']} | {p['budget']:,} | "
                f"{p['entries']:,} | {p['build']:.2f} | {p['plan']:.2f} | {p['wall']:.1f} | "
                f"{p['starts']} | {p['sweeps']} | {1e3 * p['oracle']:.2f} | {p['peak']:.0f} |"
                for p in own
            ]
            large = [p for p in own if p["chunks"] >= FIT_FROM]
            if len(large) >= 2:
                fits.append(
                    f"{objective}: plan ~ {by}^{exponent(large, by, 'plan'):.2f}, oracle ~ "
                    f"{by}^{exponent(large, by, 'oracle'):.2f}"
                )
            if series == "n" and len(large) >= 3:
                # What the program takes without an instance is no growth.
                least = min(p["peak"] for p in own)
                above = [{**p, "peak": p["peak"] - least} for p in large[1:]]
                fits[-1] += (
                    f", memory beyond the smallest run's ~ {by}^{exponent(above, by, 'peak'):.2f}"
                )
        lines += ["", "Fitted: " + "; ".join(fits) + "."]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(points)


def draw(points: list[dict[str, Any]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, 3, figsize=(11, 6), sharex="col", sharey="row", layout="constrained"
    )
    for column, (series, keys) in enumerate(SERIES.items()):
        by = {"n": "chunks", "budget": "budget", "workers": "workers"}[series]
        for objective, color in zip(OBJECTIVES, ("C0", "C1"), strict=True):
            own = [p for key in keys if (p := find(points, key, objective)) is not None]
            x = [p[by] for p in own]
            for what, style in (("plan", "o-"), ("oracle", "s:")):
                axes[0, column].loglog(
                    x, [p[what] for p in own], style, color=color, label=f"{what}, {objective}"
                )
            axes[1, column].loglog(x, [p["peak"] for p in own], "o-", color=color, label=objective)
        axes[1, column].set_xlabel(LABELS[series])
        fixed = {"n": "M = 8, k = n / 200", "budget": "n = 100,000, M = 8"}
        axes[0, column].set_title(fixed.get(series, "n = 100,000, k = 500"), fontsize=10)
        for row in (0, 1):
            axes[row, column].grid(visible=True, which="major", alpha=0.3)
    workers = [m for _, m, _ in SERIES["workers"]]
    axes[1, 2].set_xticks(workers, [str(m) for m in workers])
    axes[1, 2].minorticks_off()
    axes[0, 0].set_ylabel("processor seconds")
    axes[1, 0].set_ylabel("peak memory, MiB")
    axes[1, 0].set_ylim(bottom=100)
    axes[0, 0].legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the planner's growth.")
    parser.add_argument("--largest", type=int, default=1_000_000, help="most chunks to plan")
    parser.add_argument("--only", choices=list(SERIES), help="one series")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.point:
        n, m, budget, objective = arguments.point.split(",")
        print(json.dumps(measure(int(n), int(m), int(budget), objective)))
        return
    FOLDER.mkdir(exist_ok=True)
    for series, keys in SERIES.items():
        if arguments.only not in {None, series}:
            continue
        for key in keys:
            for objective in OBJECTIVES:
                points = stored()
                if key[0] > arguments.largest or find(points, key, objective) is not None:
                    continue
                point = ",".join(map(str, (*key, objective)))
                command = [sys.executable, __file__, "--point", point]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                points.append(json.loads(done.stdout))
                STORE.write_text(json.dumps(points, indent=1) + "\n", encoding="utf-8")
                print(points[-1], flush=True)
    write(stored())


if __name__ == "__main__":
    main()
