"""Time of the verifier: the largest RAG cases, an hour of chat traffic, and its largest size.

    python benchmarks/verifier.py ../shared [--seconds 60] [--rag-seconds 20]

Every certificate is made here: by `auto` within --seconds for the traffic (M = 8 workers of 1,400
chunks, the shipped example ``two-racks-8``), by `exact` within --rag-seconds for the RAG cases,
for the branched traffic from that of `auto` (400 chunks fixed by prices a little worse than its
own, two branches, and its own prices at three leaves), and for the largest size (the same tree,
M = 16 workers of 2,000 chunks) from half of every row's worth as its price. The table goes to
``benchmarks/results/verifier.md``; what is timed is the reading of the certificate's file and the
verification, in processor seconds of one thread, with compiled code warm.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "verifier.md"
RAG = (
    "rag-d100-m8-b10-g3.0-requ-s1",
    "rag-d100-m8-b10-g3.0-pair-s1",
    "rag-d100-m8-b5-g3.0-requ-s1",
)
CASES = [
    *[("rag", name) for name in RAG],
    ("traffic", "requester"),
    ("traffic", "pairwise"),
    ("branched", "requester"),
    ("branched", "pairwise"),
    ("largest", "requester"),
    ("largest", "pairwise"),
]


def one_case(kind: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    import prefixplace_opt as pp
    from prefixplace_opt.certificates import certificate_of
    from prefixplace_opt.problem import Proof, savings

    if kind == "rag":
        problem = pp.read_problem(options.shared / "cases" / "rag" / f"{name}.json")
        result = pp.solve(problem, method="exact", time_limit=options.rag_seconds)
        placement, proof = result.placement, result.proof
    else:
        problem = traffic(options.shared, name, copies=2 if kind == "largest" else 1)
        if kind in ("traffic", "branched"):
            result = pp.solve(problem, method="auto", time_limit=options.seconds)
            placement, proof = result.placement, result.proof
            if kind == "branched":
                proof = branched(problem, proof.prices[0])
        else:
            placement = pp.Placement.of(problem, [[] for _ in problem.workers])
            proof = Proof.single(savings(problem).row_best / 2)
    claimed = time.process_time()
    certificate = certificate_of(problem, placement, proof)
    claim_seconds = time.process_time() - claimed
    row = {
        "instance": name if kind == "rag" else f"{kind}, {name}",
        "chunks": problem.n,
        "workers": problem.m,
        "budget": max(worker.budget for worker in problem.workers),
        "claim_seconds": claim_seconds,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.json.gz"
        pp.write_certificate(certificate, path)
        row["file_kib"] = path.stat().st_size / 1024
        for arithmetic in ("directed", "exact"):
            if arithmetic == "exact" and kind != "rag":
                continue
            pp.verify(problem, path, arithmetic="directed")  # compiled, digest known
            started = time.process_time()
            report = pp.verify(problem, path, arithmetic=arithmetic)  # type: ignore[arg-type]
            row[f"{arithmetic}_seconds"] = time.process_time() - started
            if not report.accepted:
                raise SystemExit(f"{row['instance']}: {report.reasons}")
    return row | {
        "leaves": report.leaves,
        "refuted": report.refuted,
        # The largest case has prices without a plan.
        "gap": None if kind == "largest" else report.gap,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def branched(problem: Any, prices: Any) -> Any:
    """A proof with 400 fixed chunks and three leaves; shortening may leave fewer.

    Fixed are the 50 chunks of each worker that are missed the most.
    """
    from prefixplace_opt.problem import Branch, Decision, Fixing, Leaf, Proof, savings
    from prefixplace_opt.solvers.tree_oracle import TreeOracle

    form, oracle = savings(problem), TreeOracle(problem.tree)
    dense = prices.dense(form.rows) * 0.9999
    decisions = []
    for worker in range(problem.m):
        profit = form.priced_profits(worker, dense)
        _, outside = oracle.forced_values(profit, int(problem.budgets[worker]))
        missed = problem.tree.order[outside.argsort(kind="stable")[:50]]
        decisions += [Decision(worker, chunk, inside=True) for chunk in missed.tolist()]
    last = int(problem.tree.order[-1])
    return Proof(
        (replace(prices, values=prices.values * 0.9999), prices),
        (
            Fixing(0, tuple(decisions), child=1),
            Branch(0, last, inside=2, outside=3),
            Leaf(1),
            Branch(1, last, inside=4, outside=5),
            Leaf(1),
            Leaf(1),
        ),
    )


def traffic(shared: Path, objective: str, copies: int) -> Any:
    """The hour of chat requests on eight workers, or on twice as many with larger budgets."""
    from prefixplace_opt.instances.clusters import read_cluster
    from prefixplace_opt.instances.trace_import import ImportOptions, import_traces
    from prefixplace_opt.problem import Demand, PairwiseCost, Problem, UniformCost

    trace = shared / "traces" / "conversation_trace.jsonl"
    options = ImportOptions(objective=objective)  # type: ignore[arg-type]
    imported, _ = import_traces([trace], read_cluster("two-racks-8"), options)
    problem = imported[0].problem
    if copies == 1:
        return problem
    import numpy as np

    shape = (copies * problem.m, problem.n)
    old = problem.demand
    demand = Demand(
        np.concatenate([old.worker + problem.m * copy for copy in range(copies)]),
        np.concatenate([old.chunk] * copies),
        np.concatenate([old.value] * copies),
        shape=shape,
    )
    workers = [
        replace(worker, name=f"{worker.name}-{copy}", budget=2000)
        for copy in range(copies)
        for worker in problem.workers
    ]
    fetch: Any = UniformCost(20.0)
    if objective == "pairwise":
        links = np.random.default_rng(0).uniform(5, 60, (shape[0], shape[0], 1))
        fetch = PairwiseCost(np.broadcast_to(links, (shape[0], *shape)))
    return Problem(
        problem.tree,
        workers,
        demand,
        UniformCost(45.0),
        fetch,
        objective,  # type: ignore[arg-type]
    )


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Time of the verifier",
        "",
        (
            "Processor seconds of one thread (what a quiet machine's clock shows), compiled code "
            "warm, reading the certificate's file included. `exact` is "
            "rationals, `directed` 64-bit integers; the largest cases are checked by the latter "
            "alone. `claim` is the time to make a certificate of a finished proof. A branched "
            "proof has 400 fixed chunks; with tables of all chunks and budgets, as they were "
            "before the budget was priced, its claim took 19.4 s, its verification 17.0 s and "
            "2,370 MiB. Written by `benchmarks/verifier.py`."
        ),
        "",
        (
            "| instance | chunks | workers x budget | gap | leaves | refuted decisions | file, KiB "
            "| claim, s | directed, s | exact, s | peak, MiB |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        exact = f"{row['exact_seconds']:.2f}" if "exact_seconds" in row else "-"
        gap = "-" if row["gap"] is None else f"{100 * row['gap']:.2g} %"
        lines.append(
            f"| {row['instance']} | {row['chunks']:,} | {row['workers']} x {row['budget']:,} "
            f"| {gap} | {row['leaves']:,} | {row['refuted']:,} "
            f"| {row['file_kib']:,.0f} | {row['claim_seconds']:.2f} "
            f"| {row['directed_seconds']:.2f} | {exact} | {row['peak_mib']:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path, help="folder with cases/ and traces/")
    parser.add_argument("--seconds", type=float, default=60, help="of auto on the traffic")
    parser.add_argument("--rag-seconds", type=float, default=20, help="of exact on a RAG case")
    parser.add_argument("--case", nargs=2, metavar=("KIND", "NAME"), help="run only one")
    options = parser.parse_args()
    if options.case:
        print(json.dumps(one_case(*options.case, options)))
        return
    rows = []
    for case in CASES:
        command = [sys.executable, __file__, *sys.argv[1:], "--case", *case]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(done.stdout))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
