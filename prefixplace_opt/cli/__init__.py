"""The command `prefixplace`."""

from typing import Annotated

import typer

from prefixplace_opt import __version__

app = typer.Typer(name="prefixplace", no_args_is_help=True, add_completion=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"prefixplace {__version__}")
        raise typer.Exit


@app.callback()
def _prefixplace(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Plan which prefix chunks each LLM worker keeps, and prove how good the plan is."""


def main() -> None:
    """Run the command line."""
    app()
