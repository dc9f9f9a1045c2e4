"""What a second thread gains: plan and proof of an hour of chat traffic.

    python benchmarks/threads.py conversation_trace.jsonl [--repeats 3]

M = 16 workers of 2,000 chunks, prefix-affinity routing; `plan`, then `auto` to a gap of 0.1 %, with
one and two threads, alternating. The table goes to ``benchmarks/results/threads.md``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from trace_proof import problem_of

import prefixplace_opt as pp

RESULTS = Path(__file__).parent / "results" / "threads.md"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time one thread and two.")
    parser.add_argument("trace", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    lines = [
        "# One thread and two",
        "",
        (
            "An hour of chat traffic, 182,790 chunks, M = 16 workers of 2,000 chunks, on two cores "
            f"with nothing else running; medians of {arguments.repeats} alternating runs, wall "
            "time. *Same* says that all runs returned the same plan and bound, to the last bit. "
            "Written by `benchmarks/threads.py`."
        ),
        "",
        "| objective | method | 1 thread, s | 2 threads, s | ratio | same |",
        "|---|---|---:|---:|---:|---|",
    ]
    for objective in ("requester", "pairwise"):
        problem = problem_of(arguments.trace, objective)
        pp.solve(problem, method="auto", gap=0.05)  # warms the compiled code
        for method in ("plan", "auto"):
            seconds: dict[int, list[float]] = {1: [], 2: []}
            found = set()
            for _ in range(arguments.repeats):
                for threads, taken in seconds.items():
                    begun = time.perf_counter()
                    result = pp.solve(problem, method=method, gap=1e-3, threads=threads)
                    taken.append(time.perf_counter() - begun)
                    held = result.placement.held(problem.n).tobytes()
                    found.add((result.lower, result.upper, held))
            one, two = (statistics.median(taken) for taken in seconds.values())
            lines.append(
                f"| {objective} | `{method}` | {one:.2f} | {two:.2f} | {one / two:.2f} "
                f"| {'yes' if len(found) == 1 else 'no'} |"
            )
            print(lines[-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
