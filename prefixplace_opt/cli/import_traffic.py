"""`prefixplace import`: instances from recorded traffic."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments
from .failures import naming_options
from .live import QUIET_SECONDS
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.instances.trace_import import Imported, ImportSummary, OnProgress

OPTIONS = (
    *("format", "block_tokens", "chunk_tokens", "route", "load_cap", "objective", "seed"),
    *("epoch", "sample", "half_life", "from", "to"),
)
#: Fields of the options that bear another name on the command line.
RENAMED = {"start_s": "from", "stop_s": "to", "epoch_s": "epoch", "half_life_s": "half_life"}


def import_traffic(
    traces: Annotated[
        list[Path],
        typer.Argument(metavar="TRACE...", help="Trace files, read in this order; may be packed."),
    ],
    workers: Annotated[
        str,
        typer.Option(
            "--workers", "-w", metavar="FILE", help="Workers file (TOML), or a shipped example."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Write the instance file here."),
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Trace format; default: look at the rows."),
    ] = None,
    route: Annotated[
        str,
        typer.Option(
            "--route",
            metavar="round-robin|prefix-affinity|random",
            help="Which worker gets which request.",
        ),
    ] = "prefix-affinity",
    load_cap: Annotated[
        float,
        typer.Option(
            "--load-cap", metavar="FACTOR", help="Prefix affinity: most load, of the mean load."
        ),
    ] = 1.25,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            metavar="requester|pairwise",
            help="Default: what the links in the workers file are declared for.",
        ),
    ] = None,
    block_tokens: Annotated[
        int | None,
        typer.Option("--block-tokens", metavar="N", help="Tokens of a block in the trace."),
    ] = None,
    chunk_tokens: Annotated[
        int | None,
        typer.Option(
            "--chunk-tokens", metavar="N", help="Tokens of a placement chunk: whole blocks."
        ),
    ] = None,
    partial_tail: Annotated[
        bool,
        typer.Option(
            "--partial-tail/--no-partial-tail",
            help="Keep or drop the last chunk of a prompt where it is not full.",
        ),
    ] = True,
    start: Annotated[
        float | None,
        typer.Option("--from", metavar="SECONDS", help="Only requests from this time on."),
    ] = None,
    stop: Annotated[
        float | None, typer.Option("--to", metavar="SECONDS", help="Only requests before this.")
    ] = None,
    epoch: Annotated[
        float | None,
        typer.Option("--epoch", metavar="SECONDS", help="One instance for each such span."),
    ] = None,
    sample: Annotated[
        float, typer.Option("--sample", metavar="SHARE", help="Keep this share of the sessions.")
    ] = 1.0,
    half_life: Annotated[
        float | None,
        typer.Option("--half-life", metavar="SECONDS", help="Older requests count for less."),
    ] = None,
    keys: Annotated[
        bool, typer.Option("--keys/--no-keys", help="Keep or drop the blocks' ids.")
    ] = True,
    seed: arguments.Seed = 0,
    json: arguments.Json = False,
) -> None:
    """Make an instance from recorded traffic: which chunks are needed where, and at what cost."""
    from prefixplace_opt.instances.clusters import read_cluster
    from prefixplace_opt.instances.trace_import import ImportOptions, import_traces
    from prefixplace_opt.problem import InputError, write_problem

    started = time.perf_counter()
    with naming_options(*OPTIONS):
        try:
            options = ImportOptions(
                format=format_name,
                block_tokens=block_tokens,
                chunk_tokens=chunk_tokens,
                partial_tail=partial_tail,
                route=route,
                load_cap=load_cap,
                seed=seed,
                objective=objective,  # type: ignore[arg-type]
                keys=keys,
                start_s=start,
                stop_s=stop,
                epoch_s=epoch,
                sample=sample,
                half_life_s=half_life,
            )
            with _progress_bar(traces) as on_progress:
                imported, summary = import_traces(
                    traces, read_cluster(workers), options, on_progress=on_progress
                )
        except InputError as error:
            if error.field in RENAMED:
                raise InputError(error.message, field=RENAMED[error.field]) from None
            raise
    # With --epoch the names written are others.
    files = [_target(output, at) if epoch else output for at in range(len(imported))]
    for each, file in zip(imported, files, strict=True):
        write_problem(each.problem, file)
    seconds = time.perf_counter() - started
    if json:
        print_json(_document(imported, files, summary, seconds))
    else:
        _print_summary(summary, seconds)
        _print_instances(imported, files)


def _target(output: Path, at: int) -> Path:
    """Return where the epoch's instance goes: ``x.json.gz`` becomes ``x-0007.json.gz``."""
    stem, *suffixes = output.name.split(".")
    return output.with_name(".".join([f"{stem}-{at:04d}", *suffixes]))


@contextmanager
def _progress_bar(traces: list[Path]) -> "Iterator[OnProgress | None]":
    """Show a bar on a terminal, once the import takes more than a moment."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    sizes = [trace.stat().st_size for trace in traces if trace.is_file()]
    started = time.perf_counter()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=sum(sizes) or None, visible=False)

        def on_progress(done: int, requests: int) -> None:
            late = time.perf_counter() - started > QUIET_SECONDS
            bar.update(
                task, completed=done, visible=late, description=f"reading, {requests:,} requests"
            )

        yield on_progress


def _document(
    imported: "list[Imported]", files: list[Path], summary: "ImportSummary", seconds: float
) -> dict[str, Any]:
    return {
        "command": "import",
        "format": summary.format,
        "block_tokens": summary.block_tokens,
        "chunk_tokens": summary.chunk_tokens,
        "rows": summary.report.rows,
        "requests": summary.requests,
        "chunks": summary.chunks,
        "block_hit_rate": summary.hits.block_rate,
        "token_hit_rate": summary.hits.token_rate,
        "recurring_ids": summary.recurring_ids,
        "notes": summary.report.notes,
        "seconds": seconds,
        "instances": [
            {
                "file": str(file),
                "digest": each.problem.digest,
                "objective": each.problem.objective,
                "chunks": each.problem.n,
                "workers": each.problem.m,
                "requests": each.requests,
                "from": each.start_s,
                "to": each.stop_s,
            }
            for each, file in zip(imported, files, strict=True)
        ],
    }


def _print_summary(summary: "ImportSummary", seconds: float) -> None:
    from prefixplace_opt.report.table import percent

    rows = [
        ("format", summary.format),
        ("tokens of a block, of a chunk", f"{summary.block_tokens}, {summary.chunk_tokens}"),
        ("rows read", summary.report.rows),
        ("requests imported", summary.requests),
        ("chunks", summary.chunks),
        ("infinite cache: block hit rate", percent(summary.hits.block_rate)),
        ("infinite cache: token hit rate", percent(summary.hits.token_rate)),
        ("chunks whose id recurs elsewhere", summary.recurring_ids),
        *sorted(summary.report.notes.items()),
        ("seconds", round(seconds, 2)),
    ]
    print_table(("import", ""), rows)


def _print_instances(imported: "list[Imported]", files: list[Path]) -> None:
    print_table(
        ("instance", "requests", "chunks", "workers", "from, s", "to, s"),
        [
            (
                file.name,
                each.requests,
                each.problem.n,
                each.problem.m,
                each.start_s,
                each.stop_s,
            )
            for each, file in zip(imported, files, strict=True)
        ],
    )
