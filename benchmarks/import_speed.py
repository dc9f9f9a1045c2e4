"""Requests a minute that `import` reads, JSON included, and the memory that it takes.

    python benchmarks/import_speed.py conversation_trace.jsonl [--hours 24]

Writes a long trace to a scratch file: the given hour again and again, each copy later in time; in
every ``--fresh``-th copy the content is new (other ids), so that the tree grows as well. Then
imports it in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "import_speed.md"


def write_long(trace: Path, target: Path, hours: int, fresh: int) -> None:
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    with target.open("w", encoding="utf-8") as file:
        for hour in range(hours):
            shift = hour // fresh * 10**7
            for row in rows:
                ids = [block + shift for block in row["hash_ids"]]
                time_ms = row["timestamp"] + hour * 3_600_000
                file.write(json.dumps({**row, "timestamp": time_ms, "hash_ids": ids}) + "\n")


def import_once(path: Path, route: str) -> dict[str, float]:
    from peak_memory import peak_mib

    from prefixplace_opt.instances.clusters import read_cluster
    from prefixplace_opt.instances.trace_import import ImportOptions, import_traces

    started, worked = time.perf_counter(), time.process_time()
    options = ImportOptions(route=route, keys=False)
    imported, summary = import_traces([path], read_cluster("a100-l4-8"), options)
    seconds, busy = time.perf_counter() - started, time.process_time() - worked
    return {
        "route": route,
        "requests": summary.requests,
        "chunks": imported[0].problem.n,
        "seconds": seconds,
        "cpu_seconds": busy,
        "peak_mib": peak_mib(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--fresh", type=int, default=4)
    parser.add_argument("--route", help="import TRACE as it is and print its figures")
    arguments = parser.parse_args()
    if arguments.route:
        print(json.dumps(import_once(arguments.trace, arguments.route)))
        return
    with tempfile.TemporaryDirectory() as folder:
        long = Path(folder) / "long.jsonl"
        write_long(arguments.trace, long, arguments.hours, arguments.fresh)
        rows = []
        for route in ("round-robin", "prefix-affinity"):
            command = [sys.executable, __file__, str(long), "--route", route]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append(json.loads(done.stdout))
            print(done.stdout, file=sys.stderr, flush=True)
        megabytes = long.stat().st_size / 1e6
    lines = [
        "# Speed of `import`",
        "",
        (
            f"{arguments.hours} copies of an hour of chat traffic, new content every "
            f"{arguments.fresh} copies; {megabytes:,.0f} MB of JSON lines, 8 workers, one thread. "
            "Nothing else ran. "
            "Written by `benchmarks/import_speed.py`."
        ),
        "",
        "| routing | requests | chunks | seconds | CPU, s | requests a minute | peak, MiB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['route']} | {row['requests']:,} | {row['chunks']:,} | {row['seconds']:.1f} "
        f"| {row['cpu_seconds']:.1f} | {60 * row['requests'] / row['seconds']:,.0f} "
        f"| {row['peak_mib']:,.0f} |"
        for row in rows
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
