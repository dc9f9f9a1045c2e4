"""A table before it is printed: named, typed columns and raw values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

#: How a column's values are written for people: ``share`` as a percentage, ``value`` in ms per
#: epoch, ``seconds``, ``ratio`` as a multiple, ``number`` and ``text`` as they are.
Kind = Literal["text", "number", "value", "share", "seconds", "ratio"]


@dataclass(frozen=True)
class Column:
    """A column: its key in rows, its heading, how its values are written."""

    key: str
    heading: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Table:
    """Rows of raw values under typed columns; a missing value is None."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]

    def text(self) -> list[list[str]]:
        """Return the rows as people read them."""
        return [
            [written(row.get(column.key), column.kind) for column in self.columns]
            for row in self.rows
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows with raw values, keys in the columns' order; not finite becomes None."""
        return [
            {column.key: _finite(row.get(column.key)) for column in self.columns}
            for row in self.rows
        ]


def written(value: Any, kind: Kind = "number") -> str:
    """Return ``value`` as people read it; ``-`` for None and for what is not finite."""
    if _finite(value) is None:
        return "-"
    if kind == "share":
        return percent(value)
    if kind == "seconds":
        return f"{value:.2f}"
    if kind == "ratio":
        return f"{value:.2f}x"
    if kind == "value":
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.6g}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def percent(share: float, digits: int = 2) -> str:
    """Return a share as a percentage; one too small for the digits keeps its order of magnitude."""
    scaled = 100 * share
    if 0 < abs(scaled) < 0.5 * 10**-digits:
        return f"{scaled:.0e} %"
    return f"{scaled:.{digits}f} %"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
