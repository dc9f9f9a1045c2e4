"""Writing a linear model as a file that any solver reads: MPS (free format) or LP.

Lines are streamed: the file is never in memory as a whole. Numbers are the shortest decimals that
read back as the same doubles. Names are those of the model, in square brackets in MPS and in round
ones in LP, whose grammar keeps square brackets for quadratic terms.
"""

from __future__ import annotations

import gzip
import itertools
import os
from typing import TYPE_CHECKING, Literal

import numpy as np

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.file_bytes import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .linear_model import LinearModel

ModelFormat = Literal["mps", "lp"]

#: Lines of an LP file stay below this; some readers stop at 255.
LINE = 100

OBJECTIVE = "savings"


def model_format(path: str | os.PathLike[str]) -> ModelFormat:
    """Return the format that a file name asks for (``.mps``, ``.lp``, either with ``.gz``)."""
    stem = os.fspath(path).lower().removesuffix(".gz")
    if stem.endswith(".mps"):
        return "mps"
    if stem.endswith(".lp"):
        return "lp"
    raise InputError(
        "expected a file name that ends in .mps, .lp, .mps.gz or .lp.gz", source=os.fspath(path)
    )


def write_model(
    model: LinearModel, path: str | os.PathLike[str], *, comments: Sequence[str] = ()
) -> None:
    """Write ``model`` in the format that the name of ``path`` asks for, all or nothing.

    Parameters
    ----------
    model
        What to write.
    path
        ``.mps`` or ``.lp``, gzipped where ``.gz`` follows.
    comments
        Lines for people at the head of the file.

    Raises
    ------
    InputError
        For another name, or a file that cannot be written.
    """
    lines = (mps_lines if model_format(path) == "mps" else lp_lines)(model, comments)
    with replacing(path) as file:
        if os.fspath(path).lower().endswith(".gz"):
            # Without a time stamp or a name the same model gives the same bytes.
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                _write(lines, packed.write)
        else:
            _write(lines, file.write)


def mps_lines(model: LinearModel, comments: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a free MPS file; the objective is maximised (``OBJSENSE MAX``)."""
    for comment in comments:
        yield f"* {comment}"
    yield f"NAME {_word(model.name)}"
    yield "OBJSENSE"
    yield "    MAX"
    yield "ROWS"
    yield f" N {OBJECTIVE}"
    rows = list(model.row_names())
    kinds = _kinds(model)
    for name, (kind, _) in zip(rows, kinds, strict=True):
        yield f" {kind} {name}"
    yield "COLUMNS"
    yield from _mps_columns(model, rows)
    yield "RHS"
    if model.constant:
        # The right-hand side of the objective row is minus its constant.
        yield f" rhs {OBJECTIVE} {_number(-model.constant)}"
    for name, (_, side) in zip(rows, kinds, strict=True):
        if side:
            yield f" rhs {name} {_number(side)}"
    yield "BOUNDS"
    bounds = (model.column_lower.tolist(), model.column_upper.tolist(), model.integral.tolist())
    for name, lower, upper, integral in zip(model.column_names(), *bounds, strict=True):
        if integral and (lower, upper) == (0.0, 1.0):
            yield f" BV bound {name}"
        elif lower == upper:
            yield f" FX bound {name} {_number(lower)}"
        else:
            if lower != 0.0:
                yield f" MI bound {name}" if lower == -np.inf else f" LO bound {name} {lower!r}"
            yield f" PL bound {name}" if upper == np.inf else f" UP bound {name} {_number(upper)}"
    yield "ENDATA"


def _mps_columns(model: LinearModel, rows: list[str]) -> Iterator[str]:
    by_column = np.argsort(model.entry_column, kind="stable")
    row = model.entry_row[by_column].tolist()
    value = model.entry_value[by_column].tolist()
    ends = np.cumsum(np.bincount(model.entry_column, minlength=model.columns)).tolist()
    cost, kind = model.cost.tolist(), model.integral.tolist()
    integral, marker, at = False, 0, 0
    for j, name in enumerate(model.column_names()):
        if kind[j] != integral:
            integral = not integral
            side = "INTORG" if integral else "INTEND"
            yield f" mark{marker} 'MARKER' '{side}'"
            marker += 1
        if cost[j] or at == ends[j]:
            yield f" {name} {OBJECTIVE} {_number(cost[j])}"
        for entry in range(at, ends[j]):
            yield f" {name} {rows[row[entry]]} {_number(value[entry])}"
        at = ends[j]
    if integral:
        yield f" mark{marker} 'MARKER' 'INTEND'"


def lp_lines(model: LinearModel, comments: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of an LP file."""
    for comment in comments:
        yield f"\\ {comment}"
    names = list(model.column_names("()"))
    column = model.entry_column.tolist()
    value = model.entry_value.tolist()
    start = model.row_start.tolist()
    yield "Maximize"
    used = np.bincount(model.entry_column, minlength=model.columns) > 0
    shown = np.flatnonzero((model.cost != 0.0) | ~used).tolist()
    cost = model.cost.tolist()
    terms = [_term(cost[j], names[j]) for j in shown]
    if model.constant:
        terms.append(_term(model.constant))
    yield from _wrapped(f" {OBJECTIVE}:", terms)
    yield "Subject To"
    signs = {"L": "<=", "G": ">=", "E": "="}
    for r, (name, (kind, side)) in enumerate(
        zip(model.row_names("()"), _kinds(model), strict=True)
    ):
        terms = [_term(value[e], names[column[e]]) for e in range(start[r], start[r + 1])]
        if not terms:
            if not names:  # LP has no way to state a row over no columns at all
                continue
            terms = [_term(0.0, names[0])]
        yield from _wrapped(f" {name}:", [*terms, f"{signs[kind]} {_number(side)}"])
    binary = model.integral & (model.column_lower == 0.0) & (model.column_upper == 1.0)
    yield "Bounds"
    lower, upper = model.column_lower.tolist(), model.column_upper.tolist()
    for j in np.flatnonzero(~binary).tolist():
        yield f" {_number(lower[j])} <= {names[j]} <= {_number(upper[j])}"
    for title, members in (("Binaries", binary), ("Generals", model.integral & ~binary)):
        if members.any():
            yield title
            for j in np.flatnonzero(members).tolist():
                yield f" {names[j]}"
    yield "End"


def _kinds(model: LinearModel) -> list[tuple[str, float]]:
    """Return every row's kind in MPS letters and its right-hand side."""
    lower, upper = model.row_lower, model.row_upper
    kind = np.select(
        [
            lower == upper,
            np.isneginf(lower) & np.isfinite(upper),
            np.isfinite(lower) & np.isposinf(upper),
        ],
        ["E", "L", "G"],
        default="",
    )
    if (kind == "").any():
        at = int(np.argmin(kind != ""))
        raise InputError(
            f"expected a row with one bound or two equal ones, got {lower[at]} and {upper[at]}",
            field=f"row_lower[{at}]",
        )
    side = np.where(kind == "G", lower, upper)
    return list(zip(kind.tolist(), side.tolist(), strict=True))


def _wrapped(head: str, words: Iterable[str]) -> Iterator[str]:
    line = head
    for word in words:
        if len(line) + len(word) >= LINE and line != head:
            yield line
            line = "   "
        line += f" {word}"
    yield line


def _number(value: float) -> str:
    text = repr(value)
    return text.removesuffix(".0")


def _term(value: float, name: str = "") -> str:
    """Return ``+ 2 x(a,0)``; a coefficient of one is left out."""
    sign = "-" if value < 0 else "+"
    words = [sign] if name and abs(value) == 1.0 else [sign, _number(abs(value))]
    return " ".join([*words, name] if name else words)


def _word(text: str) -> str:
    return "_".join(text.split()) or "model"


def _write(lines: Iterable[str], write: Callable[[bytes], object]) -> None:
    iterator = iter(lines)
    while batch := list(itertools.islice(iterator, 10_000)):
        write(("\n".join(batch) + "\n").encode("utf-8"))
