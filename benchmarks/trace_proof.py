"""The whole hour of chat traffic: plan, certified gap, verified certificate.

    python benchmarks/trace_proof.py conversation_trace.jsonl [--gap 1e-3] [--time-limit 600]

M = 16 workers of 2,000 chunks (the shipped example ``two-racks-8`` with twice the workers), both
objectives, two routing rules. Each case runs in a process of its own; those that
``benchmarks/results/trace_proof.json`` has are kept. The table goes to ``trace_proof.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefixplace_opt.instances.clusters import Cluster
    from prefixplace_opt.problem import Problem

RESULTS = Path(__file__).parent / "results" / "trace_proof.md"
STORE = RESULTS.with_suffix(".json")
BUDGET = 2_000
ROUTES = ("prefix-affinity", "round-robin")


def problem_of(trace: Path, objective: str, route: str = ROUTES[0]) -> Problem:
    from prefixplace_opt.instances.trace_import import ImportOptions, import_traces

    options = ImportOptions(route=route, objective=objective)  # type: ignore[arg-type]
    imported, _ = import_traces([trace], cluster_of_16(BUDGET), options)
    return imported[0].problem


def cluster_of_16(budget: int) -> Cluster:
    """The shipped example with twice the workers of every kind."""
    from prefixplace_opt.instances import clusters

    shipped = Path(clusters.__file__).parent / "workers" / "two-racks-8.toml"
    text = shipped.read_text(encoding="utf-8")
    text = text.replace("count = 2", "count = 4").replace("budget = 1400", f"budget = {budget}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "two-racks-16.toml"
        file.write_text(text, encoding="utf-8")
        return clusters.read_cluster(file)


def one_case(
    trace: Path, objective: str, route: str, gap: float, time_limit: float, threads: int
) -> dict[str, Any]:
    from peak_memory import peak_mib

    import prefixplace_opt as pp

    problem = problem_of(trace, objective, route)
    imported = peak_mib()
    begun, processor = time.perf_counter(), time.process_time()
    plan = pp.solve(problem, method="plan", threads=threads)
    planned = time.perf_counter() - begun, time.process_time() - processor
    begun, processor = time.perf_counter(), time.process_time()
    result = pp.solve(problem, method="auto", gap=gap, time_limit=time_limit, threads=threads)
    proven = time.perf_counter() - begun, time.process_time() - processor
    solved_peak = peak_mib()
    begun = time.perf_counter()
    certificate = pp.certify(problem, result)
    certified = time.perf_counter() - begun
    begun = time.perf_counter()
    verdict = pp.verify(problem, certificate)
    verified = time.perf_counter() - begun
    return {
        "objective": objective,
        "route": route,
        "chunks": problem.n,
        "workers": problem.m,
        "entries": len(problem.demand),
        "imported": imported,
        "plan": planned,
        "plan_gap": plan.gap,
        "plan_to_bound": 1 - plan.lower / result.upper,
        "proof": proven,
        "status": result.status,
        "gap": result.gap,
        "nodes": result.statistics["nodes"],
        "evaluations": result.statistics["evaluations"],
        "certify": certified,
        "verify": verified,
        "verdict": "yes" if verdict.accepted else "no",
        "certified_gap": float(1 - certificate.lower / certificate.upper),
        "solved_peak": solved_peak,
        "peak": peak_mib(),
    }


def row(case: dict[str, Any]) -> str:
    return (
        f"| {case['objective']} | {case['route']} | {case['entries']:,} | {case['plan'][0]:.1f} "
        f"({case['plan'][1]:.1f}) | {100 * case['plan_to_bound']:.2f} % | "
        f"{case['proof'][0]:.0f} ({case['proof'][1]:.0f}) | {case['evaluations']} | "
        f"{case['nodes']} | {100 * case['gap']:.4f} % | {case['certify']:.1f} | "
        f"{case['verify']:.1f} | {case['verdict']} | {100 * case['certified_gap']:.4f} % | "
        f"{case['imported']:.0f} | {case['solved_peak']:.0f} | {case['peak']:.0f} |"
    )


def write(cases: list[dict[str, Any]], gap: float, threads: int) -> None:
    head = (
        f"12,031 requests, {cases[0]['chunks']:,} chunks, M = {cases[0]['workers']} workers of "
        f"{BUDGET:,} chunks (8 A100, 8 L4, two racks); `plan`, then `auto` to a gap of "
        f"{100 * gap:g} %, certificate, verification, with {threads} thread(s). Seconds are wall "
        "time, processor time in brackets; nothing else ran. *Plan below bound* is how far the "
        "planner's plan is from the bound that `auto` proves. Written by "
        "`benchmarks/trace_proof.py`."
    )
    columns = (
        "| objective | routing | demand entries | plan, s | plan below bound | proof, s "
        "| bounds evaluated | nodes | gap | certify, s | verify, s | verified | certified gap "
        "| peak after import, MiB | peak after proof, MiB | peak, MiB |"
    )
    lines = [
        "# Plan and proof of an hour of chat traffic",
        "",
        head,
        "",
        columns,
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|",
        *map(row, cases),
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Plan and prove the whole trace.")
    parser.add_argument("trace", type=Path)
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--time-limit", type=float, default=600.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    limits = (arguments.gap, arguments.time_limit, arguments.threads)
    if arguments.case:
        objective, route = arguments.case.split(",")
        print(json.dumps(one_case(arguments.trace, objective, route, *limits)))
        return
    cases: list[dict[str, Any]] = []
    if STORE.exists():
        cases = json.loads(STORE.read_text(encoding="utf-8"))
    for route in ROUTES:
        for objective in ("requester", "pairwise"):
            if any((case["objective"], case["route"]) == (objective, route) for case in cases):
                continue
            command = [sys.executable, __file__, *sys.argv[1:], "--case", f"{objective},{route}"]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            cases.append(json.loads(done.stdout))
            print(cases[-1], flush=True)
            STORE.write_text(json.dumps(cases, indent=1) + "\n", encoding="utf-8")
            write(cases, arguments.gap, arguments.threads)


if __name__ == "__main__":
    main()
