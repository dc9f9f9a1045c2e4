"""`prefixplace bench`: chosen methods on chosen instances under one written protocol."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import arguments
from .bar import Bar
from .failures import naming_options
from .output import print_json, print_report

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem
    from prefixplace_opt.report import Protocol, Table, Trials

#: What is compared unless methods are named; those of them that there are.
DEFAULT_METHODS = ("plan", "auto", "independent", "popularity", "local-dedup")

SHOWN = ("instance", "method", "value", "gap", "to_best", "seconds", "time_ratio")

Instances = Annotated[
    list[Path],
    typer.Argument(metavar="INSTANCE|FOLDER...", help="Instance files, or folders with some."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", "-m", metavar="NAME", help="A method to run; may be repeated."),
]
Seeds = Annotated[int, typer.Option("--seeds", metavar="N", min=1, help="Run seeds 0 to N-1.")]
KnownFile = Annotated[
    Path | None,
    typer.Option(
        "--best-known", metavar="FILE", help="JSON list of best known bounds by instance name."
    ),
]


def bench(
    instances: Instances,
    method: Methods = None,
    seeds: Seeds = 1,
    gap: Annotated[float, typer.Option("--gap", metavar="SHARE", help="Gap to stop at.")] = 1e-4,
    time_limit: arguments.TimeLimit = None,
    threads: arguments.Threads = 1,
    memory_limit: arguments.MemoryLimit = None,
    cluster: arguments.Cluster = None,
    best_known: KnownFile = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the runs that the output file has already.")
    ] = False,
    json: arguments.Json = False,
    output: arguments.Output = None,
) -> None:
    """Run methods on instances: seeds, limits, gaps to the best known, time ratios side by side.

    Ratios refer to the first method. The output file is rewritten after each run, so that a
    stopped bench goes on with --resume; `prefixplace report` makes tables of it.
    """
    from prefixplace_opt.problem import InputError
    from prefixplace_opt.report import (
        Protocol,
        read_best_known,
        read_trials,
        results_table,
        write_trials,
    )
    from prefixplace_opt.report.trials import document_of_trials

    if resume and output is None:
        raise InputError("expected --output, the file to go on with", field="--resume")
    known = {} if best_known is None else read_best_known(best_known)
    with naming_options("method", "gap", "time_limit", "threads", "memory_limit"):
        protocol = Protocol(
            methods=tuple(dict.fromkeys(method or default_methods())),
            seeds=tuple(range(seeds)),
            gap=gap,
            time_limit=time_limit,
            threads=threads,
            memory_limit=arguments.bytes_of(memory_limit),
        )
        done = read_trials(output) if resume and output is not None and output.exists() else None
        trials = run_with_bar(
            instances,
            protocol,
            done=done,
            cluster=cluster,
            after=None if output is None else lambda so_far: write_trials(so_far, output),
        )
    tables = results_table(trials, known)
    if json:
        content = document_of_trials(trials)
        print_json({"command": "bench", **content, "tables": [t.records() for t in tables]})
        return
    print_results(tables)
    print_reasons(trials)
    if output is not None:
        typer.echo(f"runs written to {output}")


def print_results(tables: "tuple[Table, Table]") -> None:
    """Print the rows by instance, as many columns as a terminal holds, and the summary."""
    print_report(tables[0], SHOWN)
    print_report(tables[1])


def print_reasons(trials: "Trials") -> None:
    """Tell why runs ended without what was asked of them, on standard error."""
    for trial in trials.rows:
        if trial.status == "feasible" and trial.reason:
            typer.echo(f"{trial.instance}, {trial.method}: {trial.reason}", err=True)


def default_methods() -> list[str]:
    """Return the default methods that there are."""
    from prefixplace_opt.solvers.methods import METHODS

    return [name for name in DEFAULT_METHODS if name in METHODS]


def run_with_bar(
    paths: list[Path],
    protocol: "Protocol",
    *,
    done: "Trials | None" = None,
    after: "Callable[[Trials], None] | None" = None,
    cluster: str | None = None,
) -> "Trials":
    """Run the protocol on all instances of ``paths``, counting the runs on a terminal."""
    from prefixplace_opt.report import run_trials

    from .instance_files import instance_files, read_all

    files = instance_files(paths)
    with Bar(len(files) * len(protocol.methods) * len(protocol.seeds)) as bar:

        def before(problem: "Problem", method: str, seed: int) -> None:
            bar.begin(f"{problem.name}: {method}, seed {seed}")

        counted = 0 if done is None else len(done.rows)

        def finished(so_far: "Trials") -> None:
            nonlocal counted
            for _ in range(len(so_far.rows) - counted):
                bar.step()
            counted = len(so_far.rows)
            if after is not None:
                after(so_far)

        return run_trials(
            read_all(files), protocol, done=done, before=before, after=finished, cluster=cluster
        )
