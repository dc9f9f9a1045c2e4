"""What a fault means for the caller: a message on standard error and an exit status."""

import os
import signal
import sys
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
#: Whoever read our output has gone: what shells report for SIGPIPE.
BROKEN_PIPE = 141


class Commands(TyperGroup):
    """The group of all subcommands: the product's errors never reach the user as tracebacks."""

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand; turn its errors into ``error: file: field: message``."""
        # Imported only once something went wrong: `problem` brings numpy and numba.
        try:
            done = super().invoke(ctx)
            # Here, not at the interpreter's exit, where nobody could tell what went wrong.
            sys.stdout.flush()
        except OSError as error:
            _abandon_stdout()
            if isinstance(error, BrokenPipeError):
                raise typer.Exit(BROKEN_PIPE) from None
            typer.echo(f"error: standard output: {error.strerror or error}", err=True)
            raise typer.Exit(BAD_INPUT) from None
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
        return done


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


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, so that it leaves nothing unfinished behind."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def usable_streams() -> Iterator[None]:
    """Give a process that was started with closed standard streams somewhere to write."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - a device
        sys.stdout = sys.stdout or nowhere
        sys.stderr = sys.stderr or nowhere
        yield


def _abandon_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter's exit does not fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
