"""`prefixplace show`: what a file says, which methods there are, the files' schemas."""

from typing import Any

import typer
from typer.core import TyperGroup

from . import arguments
from .output import print_json, print_table


class FileByDefault(TyperGroup):
    """A group in which a word that names no subcommand is a file: `show x.json` shows it."""

    DEFAULT = "file"

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the default subcommand in front of anything that names none."""
        if args and self.get_command(ctx, args[0]) is None:
            args = [self.DEFAULT, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=FileByDefault,
    no_args_is_help=True,
    subcommand_metavar="FILE | COMMAND [ARGS]...",
    help="Show an instance or a placement, the methods, or a file format's schema.",
)


@app.command("methods")
def methods(json: arguments.Json = False) -> None:
    """List the methods of `prefixplace solve`."""
    from prefixplace_opt.solvers.methods import METHODS

    if json:
        rows = [
            {"name": method.name, "summary": method.summary, "proves": method.proves}
            for method in METHODS.values()
        ]
        print_json({"command": "show methods", "methods": rows})
    else:
        print_table(
            ("method", "what it does", "closes the gap"),
            [(m.name, m.summary, "yes" if m.proves else "no") for m in METHODS.values()],
            left=("what it does", "closes the gap"),
        )
