"""The command `prefixplace`: one module a subcommand, each light until its body runs.

A new subcommand is a module beside this one and a line below. Its function takes the shared
arguments of ``arguments`` where it can, imports what it works with inside its body, prints through
``output``, and raises :class:`~prefixplace_opt.InputError` for bad input: ``failures`` turns that
into a message and the exit status.
"""

from typing import Annotated

import typer

from prefixplace_opt import __version__

from . import (
    bench,
    certify,
    compare_formulations,
    demo,
    export,
    export_model,
    generate,
    import_solution,
    import_traffic,
    replan,
    report,
    show,
    show_catalogue,
    show_crossover,
    solve,
    suite,
    verify,
)
from .failures import Commands, usable_streams

app = typer.Typer(
    name="prefixplace",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"prefixplace {__version__}")
        raise typer.Exit


@app.callback(
    epilog="Exit status: 0 done; 1 a check failed; 2 bad input or usage; 130 interrupted."
)
def _prefixplace(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Plan which prefix chunks each LLM worker keeps, and prove how good the plan is."""


app.command("demo", short_help="Plan and certify a generated instance.")(demo.demo)
app.command("solve", short_help="Plan which chunks each worker keeps.")(solve.solve)
app.command("certify", short_help="Prove a bound for any placement.")(certify.certify)
app.command("verify", short_help="Check a certificate.")(verify.verify)
app.add_typer(generate.app, name="generate", short_help="Generate instances and suites.")
app.command("import", short_help="Make an instance of recorded traffic.")(
    import_traffic.import_traffic
)
app.add_typer(show.app, name="show", short_help="Show an instance or a placement.")
app.add_typer(suite.app, name="suite", short_help="Show, check and improve suites.")
app.command("report", short_help="Compare methods in a table.")(report.report)
app.command("bench", short_help="Run methods under one protocol.")(bench.bench)
show.app.command("crossover")(show_crossover.crossover)
show.app.command("hardware")(show_catalogue.hardware)
show.app.command("traces")(show_catalogue.traces)
app.command("replan", short_help="Plan again without moving much.")(replan.replan)
app.command("export", short_help="Write a plan for other software.")(export.export)
app.command("export-model", short_help="Write a formulation as MPS or LP.")(
    export_model.export_model
)
app.command("import-solution", short_help="Read any solver's solution.")(
    import_solution.import_solution
)
app.command("compare-formulations", short_help="Solve formulations side by side.")(
    compare_formulations.compare_formulations
)


def main() -> None:
    """Run the command line."""
    with usable_streams():
        app()
