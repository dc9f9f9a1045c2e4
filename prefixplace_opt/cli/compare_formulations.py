"""`prefixplace compare-formulations`: LP value, MIP optimum, nodes and time side by side."""

from pathlib import Path
from typing import Annotated

import typer

from . import arguments
from .bar import Bar
from .failures import naming_options
from .output import print_json, print_report

SHOWN = (
    *("instance", "formulation", "rows", "columns", "lp_excess", "lp_seconds"),
    *("value", "mip_gap", "nodes", "mip_seconds"),
)


def compare_formulations(
    instances: Annotated[
        list[Path],
        typer.Argument(metavar="INSTANCE|FOLDER...", help="Instance files, or folders with some."),
    ],
    formulation: Annotated[
        list[str] | None,
        typer.Option(
            "--formulation",
            metavar="compact|compact-both|flow|configuration",
            help="A formulation to solve; may be repeated; by default all.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="SECONDS", help="Seconds for each LP and each MIP."),
    ] = None,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = 1,
    json: arguments.Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the table here: .md, .csv or .html."
        ),
    ] = None,
) -> None:
    """Solve each formulation of each instance as LP and as MIP, to a gap of 0."""
    from prefixplace_opt.problem import InputError
    from prefixplace_opt.problem.file_bytes import write_bytes
    from prefixplace_opt.report import as_csv, as_html, as_markdown
    from prefixplace_opt.report.formulation_table import formulation_table
    from prefixplace_opt.solvers.formulation_comparison import COMPARED
    from prefixplace_opt.solvers.formulation_comparison import compare_formulations as compare

    from .instance_files import instance_files, read_all

    if output is not None and output.suffix not in (".md", ".csv", ".html"):
        raise InputError("expected a file name in .md, .csv or .html", source=str(output))
    names = list(dict.fromkeys(formulation or COMPARED))
    files = instance_files(instances)
    runs = []
    options = ("formulation", "time_limit", "threads", "seed")
    with naming_options(*options), Bar(len(files) * len(names)) as bar:
        for problem in read_all(files):
            bar.begin(problem.name)
            for run in compare(
                problem, formulations=names, time_limit=time_limit, seed=seed, threads=threads
            ):
                runs.append(run)
                bar.step()
    table = formulation_table(runs)
    if output is not None:
        text = {
            ".md": lambda: as_markdown([table]),
            ".csv": lambda: as_csv(table),
            ".html": lambda: as_html([table], table.title),
        }[output.suffix]()
        write_bytes(output, text.encode("utf-8"))
    if json:
        print_json({"command": "compare-formulations", "rows": table.records()})
    else:
        print_report(table, SHOWN)
        if output is not None:
            typer.echo(f"table written to {output}")
