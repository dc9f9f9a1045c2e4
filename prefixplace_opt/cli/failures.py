"""What a fault means for the caller: a message on standard error and an exit status."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

#: A check that was asked for failed: not verified, gap target missed.
CHECK_FAILED = 1
#: Bad input or usage, or a back end that is missing.
BAD_INPUT = 2
#: Ctrl-C before there was anything to return: what shells report for SIGINT.
INTERRUPTED = 130


class Commands(TyperGroup):
    """The group of all subcommands: the product's errors never reach the user as tracebacks."""

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand; turn its errors into ``error: file: field: message``."""
        # Imported only once something went wrong: `problem` brings numpy and numba.
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, RuntimeError, MemoryError) as error:
            from prefixplace_opt.problem import PrefixPlaceError

            if isinstance(error, PrefixPlaceError):
                message = str(error)
            elif isinstance(error, MemoryError):
                message = f"out of memory: {error}" if str(error) else "out of memory"
            else:
                raise
            typer.echo(f"error: {message}", err=True)
            raise typer.Exit(BAD_INPUT) from None


@contextmanager
def naming_options(*fields: str) -> Iterator[None]:
    """Let an error about the field ``time_limit`` name the option ``--time-limit`` instead."""
    from prefixplace_opt.problem import InputError

    try:
        yield
    except InputError as error:
        if error.field in fields and not error.source:
            option = "--" + error.field.replace("_", "-")
            raise InputError(error.message, field=option) from None
        raise
