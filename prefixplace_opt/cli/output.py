"""What subcommands print: one JSON object for machines, or tables for people."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from prefixplace_opt.report.table import Table


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON object: finite numbers only, infinite bounds as null."""
    typer.echo(json.dumps(_finite(document), allow_nan=False, ensure_ascii=False))


def print_report(table: "Table") -> None:
    """Print a table of the report room."""
    print_table(
        [column.heading for column in table.columns],
        table.text(),
        title=table.title,
        left=[column.heading for column in table.columns if column.kind == "text"],
    )


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    left: Sequence[str] = (),
) -> None:
    """Print rows; columns are right-aligned unless they are the first or named in ``left``."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from prefixplace_opt.report.table import written

    table = RichTable(box=SIMPLE_HEAD)
    for at, heading in enumerate(headings):
        if at == 0 or heading in left:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(written(cell)) for cell in row))
    console = Console(highlight=False)
    if title:
        console.print(Text(title, style="bold"))
    console.print(table)


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
