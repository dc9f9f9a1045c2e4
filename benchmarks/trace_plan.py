"""Import and plan the hour of chat traffic: time of each part, peak memory, gain over baselines.

    python benchmarks/trace_plan.py conversation_trace.jsonl [--threads 2]

Plans M = 8 workers of 1,400 chunks each (four A100 and four L4 over two racks, the shipped example
``two-racks-8``), for either objective and two routing rules. Each case runs in a process of its
own, so that its peak memory is its own. The table goes to ``benchmarks/results/trace_plan.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "trace_plan.md"
CASES = [
    (objective, route)
    for route in ("prefix-affinity", "round-robin")
    for objective in ("requester", "pairwise")
]
BASELINES = ("independent", "popularity", "local-dedup")


def one_case(trace: Path, objective: str, route: str, threads: int) -> dict[str, Any]:
    from peak_memory import peak_mib

    import prefixplace_opt as pp
    from prefixplace_opt.instances.clusters import read_cluster
    from prefixplace_opt.instances.trace_import import ImportOptions, import_traces

    started, worked = time.perf_counter(), time.process_time()
    options = ImportOptions(route=route, objective=objective)  # type: ignore[arg-type]
    imported, summary = import_traces([trace], read_cluster("two-racks-8"), options)
    problem = imported[0].problem
    import_seconds, import_cpu = time.perf_counter() - started, time.process_time() - worked
    import_mib = peak_mib()
    started, worked = time.perf_counter(), time.process_time()
    result = pp.solve(problem, method="plan", threads=threads)
    plan_seconds, plan_cpu = time.perf_counter() - started, time.process_time() - worked
    values = result.statistics["values"]
    best = max(BASELINES, key=lambda name: values[name])
    return {
        "objective": objective,
        "route": route,
        "chunks": problem.n,
        "requests": summary.requests,
        "import_seconds": import_seconds,
        "import_cpu": import_cpu,
        "plan_cpu": plan_cpu,
        "import_mib": import_mib,
        "plan_seconds": plan_seconds,
        "parts": result.statistics["seconds"],
        "peak_mib": peak_mib(),
        "value": result.lower,
        "best_baseline": best,
        "gain": result.lower / values[best] - 1,
        "upper": result.upper,
    }


def table(rows: list[dict[str, Any]], threads: int) -> str:
    lines = [
        "# Import and plan an hour of chat traffic",
        "",
        (
            f"{rows[0]['requests']:,} requests, {rows[0]['chunks']:,} chunks, M = 8 workers of "
            f"1,400 chunks each, `plan` with {threads} threads on two cores; peak memory of the "
            "whole process, libraries included. Compiled code was warm, and nothing else ran. "
            "Written by `benchmarks/trace_plan.py`."
        ),
        "",
        (
            "| objective | routing | import, s (CPU) | plan, s (CPU) "
            "| of it starts, s | baselines, s "
            "| peak after import, MiB | peak, MiB | value, s saved an hour | best baseline | gain |"
        ),
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|---:|",
    ]
    lines += [
        f"| {row['objective']} | {row['route']} "
        f"| {row['import_seconds']:.2f} ({row['import_cpu']:.2f}) "
        f"| {row['plan_seconds']:.2f} ({row['plan_cpu']:.2f}) | {row['parts']['starts']:.2f} "
        f"| {row['parts']['baselines']:.2f} | {row['import_mib']:.0f} | {row['peak_mib']:.0f} "
        f"| {row['value'] / 1e3:,.1f} | {row['best_baseline']} | {100 * row['gain']:.2f} % |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--case", nargs=2, metavar=("OBJECTIVE", "ROUTE"), help="run only one")
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(one_case(arguments.trace, *arguments.case, arguments.threads)))
        return
    rows = []
    for case in [CASES[0], *CASES]:  # the first one warms the compiled code
        command = [sys.executable, __file__, str(arguments.trace)]
        command += ["--threads", str(arguments.threads), "--case", *case]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(done.stdout))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(table(rows[1:], arguments.threads), encoding="utf-8")


if __name__ == "__main__":
    main()
