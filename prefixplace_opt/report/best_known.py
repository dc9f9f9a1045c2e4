"""Best-known values of instances, from a file that names them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.json_files import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class BestKnown:
    """The best plan's value and the best bound that are known, in ms per epoch."""

    lower: float
    upper: float


def read_best_known(path: str | os.PathLike[str]) -> dict[str, BestKnown]:
    """Read a JSON list of ``{"instance": name, "lower": ..., "upper": ...}``.

    Instead of both bounds an entry may give ``"optimum"``. Numbers may be strings (exact decimal
    values); other keys are ignored.

    Raises
    ------
    InputError
        Where the file is no such list, or a lower bound is above its upper bound.
    """
    source = os.fspath(path)
    document = read_json(path)
    if not isinstance(document, list):
        raise InputError(f"expected a list, got {shorten(document)}", source=source)
    try:
        return dict(_entries(document))
    except InputError as error:
        raise error.at(source=source) from None


def _entries(document: list[Any]) -> Iterable[tuple[str, BestKnown]]:
    for at, row in enumerate(document):
        field = f"[{at}]"
        if not isinstance(row, dict) or not isinstance(row.get("instance"), str):
            raise InputError(f'expected an object with "instance", got {shorten(row)}', field=field)
        optimum = row.get("optimum")
        lower = _value(row.get("lower", optimum), f"{field}.lower")
        upper = _value(row.get("upper", optimum), f"{field}.upper")
        if lower > upper:
            raise InputError(f"expected at most the upper {upper!r}, got {lower!r}", field=field)
        yield row["instance"], BestKnown(lower, upper)


def _value(value: Any, field: str) -> float:
    try:
        result = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if math.isnan(result):
        raise InputError(f"expected a number, got {shorten(value)}", field=field)
    return result
