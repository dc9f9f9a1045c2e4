"""`prefixplace report`: results of many instances and methods as one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import arguments
from .bench import KnownFile, Methods, default_methods, print_reasons, print_results, run_with_bar
from .failures import naming_options
from .output import print_json

if TYPE_CHECKING:
    from prefixplace_opt.report import Table, Trials

#: Seconds for each run; without a limit `auto` may take hours on one large instance.
TIME_LIMIT = 60.0
#: The output file's ending decides how tables are written.
ENDINGS = (".md", ".csv", ".html", ".json")


def report(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS|INSTANCE|FOLDER...",
            help="Files that `prefixplace bench` wrote; or instances, which are then solved.",
        ),
    ],
    method: Methods = None,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit", metavar="SECONDS", help="For each run, where instances are solved."
        ),
    ] = TIME_LIMIT,
    threads: arguments.Threads = 1,
    best_known: KnownFile = None,
    json: arguments.Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the tables: .md, .csv, .html or .json."
        ),
    ] = None,
) -> None:
    """Compare methods over instances: value, bound, gap, time, winner."""
    from prefixplace_opt.problem import InputError
    from prefixplace_opt.report import read_best_known, results_table

    if output is not None and output.suffix not in ENDINGS:
        raise InputError(f"expected a name that ends in {', '.join(ENDINGS)}", source=str(output))
    known = {} if best_known is None else read_best_known(best_known)
    trials = _trials(paths, method, time_limit, threads)
    tables = results_table(trials, known)
    if output is not None:
        _write(tables, output)
    if json:
        print_json({"command": "report", **{table.title: table.records() for table in tables}})
        return
    print_results(tables)
    print_reasons(trials)
    if output is not None:
        typer.echo(f"tables written to {output}")


def _trials(
    paths: list[Path], methods: list[str] | None, time_limit: float, threads: int
) -> "Trials":
    from prefixplace_opt.problem import InputError
    from prefixplace_opt.report import Protocol, Trials, read_trials

    from .instance_files import is_format

    if not all(path.is_file() and is_format(path, "prefixplace-trials") for path in paths):
        with naming_options("method", "time_limit", "threads"):
            chosen = tuple(dict.fromkeys(methods or default_methods()))
            protocol = Protocol(methods=chosen, time_limit=time_limit, threads=threads)
            return run_with_bar(paths, protocol)
    read = [read_trials(path) for path in paths]
    for path, trials in zip(paths, read, strict=True):
        if trials.protocol != read[0].protocol:
            raise InputError("expected runs of one protocol, got another", source=str(path))
    rows = {trial.key: trial for trials in read for trial in trials.rows}
    kept = [t for t in rows.values() if methods is None or t.method in methods]
    return Trials(read[0].protocol, read[0].machine, tuple(kept))


def _write(tables: "tuple[Table, ...]", output: Path) -> None:
    from prefixplace_opt.problem.file_bytes import write_bytes
    from prefixplace_opt.problem.json_files import write_json
    from prefixplace_opt.report import as_csv, as_html, as_markdown

    match output.suffix:
        case ".md":
            text = as_markdown(tables)
        case ".csv":
            text = as_csv(tables[0])
        case ".html":
            text = as_html(tables, "Placement methods compared")
        case _:
            write_json(output, {table.title: table.records() for table in tables})
            return
    write_bytes(output, text.encode("utf-8"))
