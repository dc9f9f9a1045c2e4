"""What subcommands print: one JSON object for machines, or tables for people."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON object: finite numbers only, infinite bounds as null."""
    typer.echo(json.dumps(_finite(document), allow_nan=False, ensure_ascii=False))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    left: Sequence[str] = (),
) -> None:
    """Print a table; columns are right-aligned unless they are the first or named in ``left``."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD)
    for at, name in enumerate(columns):
        aligned = "left" if at == 0 or name in left else "right"
        table.add_column(name, justify=aligned, no_wrap=aligned == "right")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    console = Console(highlight=False)
    if title:
        console.print(Text(title, style="bold"))
    console.print(table)


def shown(value: object) -> str:
    """Return a cell's text: thousands grouped, five significant digits, '-' for nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return "-"
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.5g}"
    return f"{value:,}"


def percent(share: float | None, digits: int = 2) -> str:
    """Return a share as a percentage; one too small for the digits keeps its order of magnitude."""
    if share is None or not math.isfinite(share):
        return "-"
    scaled = 100 * share
    if 0 < abs(scaled) < 0.5 * 10**-digits:
        return f"{scaled:.0e} %"
    return f"{scaled:.{digits}f} %"


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
