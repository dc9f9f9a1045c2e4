"""Plans of one million and ten million generated chunks: time and memory.

    python benchmarks/huge.py [--ten-million]

One million chunks on 32 workers of 5,000, and, when asked for (it takes some minutes and several
GiB), ten million chunks on 8 workers of 50,000; each in a process of its own, with the threads that
there are. Rows of ``benchmarks/results/huge.json`` are kept. The table goes to ``huge.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
STORE, TABLE = FOLDER / "huge.json", FOLDER / "huge.md"
MILLION = (1_000_000, 32, 5_000)
TEN_MILLION = (10_000_000, 8, 50_000)


def measure(n: int, m: int, budget: int, objective: str, threads: int) -> dict[str, Any]:
    from grown_traffic import grown_problem
    from peak_memory import peak_mib

    import prefixplace_opt as pp
    from prefixplace_opt.solvers.memory import BASE, shared_bytes, start_bytes

    pp.solve(grown_problem(1000, 6, 20, objective), method="plan", threads=threads)
    begun = time.perf_counter()
    problem = grown_problem(n, m, budget, objective)
    built, built_peak = time.perf_counter() - begun, peak_mib()
    begun, processor = time.perf_counter(), time.process_time()
    result = pp.solve(problem, method="plan", threads=threads)
    wall, processor = time.perf_counter() - begun, time.process_time() - processor
    values = result.statistics["values"]
    baseline = max(values[name] for name in ("independent", "popularity", "local-dedup"))
    return {
        "chunks": n,
        "workers": m,
        "budget": budget,
        "objective": objective,
        "threads": threads,
        "entries": len(problem.demand),
        "build": built,
        "built_peak": built_peak,
        "wall": wall,
        "processor": processor,
        "peak": peak_mib(),
        "estimate": (BASE + shared_bytes(problem) + threads * start_bytes(problem)) / 2**20,
        "value": result.lower,
        "gain": result.lower / baseline - 1,
    }


def write(rows: list[dict[str, Any]]) -> None:
    head = (
        "Generated instances (`grown_traffic.py`), method `plan` (all starts and baselines), on "
        f"{os.cpu_count()} processors; *estimate* is what `memory_limit` would reckon with. "
        "Nothing else ran. Written by `benchmarks/huge.py`."
    )
    columns = (
        "| objective | chunks | workers | budget | demand entries | threads | build, s | plan, s "
        "| processor, s | peak after build, MiB | peak, MiB | estimate, MiB | over baselines |"
    )
    lines = ["# Plans of very large instances", "", head, "", columns]
    lines.append("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    lines += [
        f"| {row['objective']} | {row['chunks']:,} | {row['workers']} | {row['budget']:,} | "
        f"{row['entries']:,} | {row['threads']} | {row['build']:.1f} | {row['wall']:.1f} | "
        f"{row['processor']:.1f} | {row['built_peak']:.0f} | {row['peak']:.0f} | "
        f"{row['estimate']:.0f} | {100 * row['gain']:.1f} % |"
        for row in rows
    ]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Plan very large instances.")
    parser.add_argument("--ten-million", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--point", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.point:
        n, m, budget, objective = arguments.point.split(",")
        row = measure(int(n), int(m), int(budget), objective, arguments.threads)
        print(json.dumps(row))
        return
    FOLDER.mkdir(exist_ok=True)
    rows: list[dict[str, Any]] = []
    if STORE.exists():
        rows = json.loads(STORE.read_text(encoding="utf-8"))
    for size in (MILLION, TEN_MILLION) if arguments.ten_million else (MILLION,):
        for objective in ("requester", "pairwise"):
            if any((row["chunks"], row["objective"]) == (size[0], objective) for row in rows):
                continue
            point = ",".join(map(str, (*size, objective)))
            command = [sys.executable, __file__, "--threads", str(arguments.threads)]
            done = subprocess.run(
                [*command, "--point", point], check=True, capture_output=True, text=True
            )
            rows.append(json.loads(done.stdout))
            print(rows[-1], flush=True)
            STORE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    write(rows)


if __name__ == "__main__":
    main()
