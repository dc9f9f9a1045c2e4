"""A table before it is printed: named, typed columns and raw values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """Rows of raw values under typed columns; a missing value is None, a note says more."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]
    note: str = ""

    def text(self) -> list[list[str]]:
        """Return the rows as people read them."""
        columns = [
            written_column([row.get(column.key) for row in self.rows], column.kind)
            for column in self.columns
        ]
        return [list(cells) for cells in zip(*columns, strict=True)]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows with raw values, keys in the columns' order; not finite becomes None."""
        return [
            {column.key: _finite(row.get(column.key)) for column in self.columns}
            for row in self.rows
        ]


def written(value: Any, kind: Kind = "number") -> str:
    """Return ``value`` as people read it; ``-`` for None and for what is not finite."""
    return written_column([value], kind)[0]


def written_column(values: Sequence[Any], kind: Kind = "number") -> list[str]:
    """Return a column's values as people read them, with as many decimals in every row.

    Numbers without a fixed format get the decimals that its largest number needs.
    """
    numbers = [v for v in values if isinstance(v, float) and math.isfinite(v)]
    decimals = _decimals(numbers, 6 if kind == "value" else 5)
    return [_cell(value, kind, decimals) for value in values]


def _cell(value: Any, kind: Kind, decimals: int) -> str:
    if _finite(value) is None:
        return "-"
    if kind == "share":
        return percent(value, 4)
    if kind == "seconds":
        return f"{value:,.2f}"
    if kind == "ratio":
        return f"{value:,.2f}x"
    if isinstance(value, float):
        return f"{value:,.{decimals}f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _decimals(numbers: Sequence[float], digits: int) -> int:
    """Return how many decimals give the largest number ``digits`` digits, without idle zeros."""
    largest = max(map(abs, numbers), default=0.0)
    if largest == 0.0 or largest >= 10_000:
        return 0
    most = min(12, max(0, digits - 1 - math.floor(math.log10(largest))))
    texts = [f"{number:.{most}f}" for number in numbers]
    return max((len(text.rstrip("0").partition(".")[2]) for text in texts), default=0)


def percent(share: float, digits: int = 2) -> str:
    """Return a share as a percentage; one too small for the digits is below the last of them."""
    scaled = 100 * share
    if 0 < abs(scaled) < 0.5 * 10**-digits:
        return f"< {10**-digits:.{digits}f} %"
    return f"{scaled:,.{digits}f} %"


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return ``1 root``, ``2 roots``: the number with its noun."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
