"""What subcommands print: one JSON object for machines, or tables for people."""

import json
import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from prefixplace_opt.report.table import Table

PIPE_WIDTH = 240
#: Narrow terminals break text beyond this many characters.
LEAST_TEXT = 16


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON object: finite numbers only, infinite bounds as null."""
    typer.echo(json.dumps(_finite(document), allow_nan=False, ensure_ascii=False))


def print_report(table: "Table", only: Collection[str] | None = None) -> None:
    """Print a table of the report room, or those of its columns whose keys are in ``only``."""
    shown = [at for at, each in enumerate(table.columns) if only is None or each.key in only]
    columns = [table.columns[at] for at in shown]
    print_table(
        [column.heading for column in columns],
        [[cells[at] for at in shown] for cells in table.text()],
        title=table.title,
        left=[column.heading for column in columns if column.kind == "text"],
        note=table.note,
    )


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    left: Sequence[str] = (),
    note: str = "",
) -> None:
    """Print rows and a note; columns are right-aligned unless the first or named in ``left``."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from prefixplace_opt.report.table import written_column

    columns = [written_column(column) for column in zip(*rows, strict=True)]
    cells = list(zip(*columns, strict=True))
    table = RichTable(box=SIMPLE_HEAD)
    for at, heading in enumerate(headings):
        longest = max((len(row[at]) for row in cells), default=0)
        if at == 0 or heading in left:
            table.add_column(heading, overflow="fold", min_width=min(longest, LEAST_TEXT))
        else:
            # Headings may break, figures never.
            table.add_column(heading, justify="right", min_width=longest)
    for row in cells:
        table.add_row(*map(Text, row))

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the process here, with the status of a failed check.
            raise BrokenPipeError

    # A pipe has no width: nothing is cut or wrapped there.
    console = Pipe(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    if title:
        console.print(Text(title, style="bold"))
    console.print(table)
    if note:
        console.print(Text(note))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return _finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
