"""Reading the solution file of any solver: the values of ``x[worker,chunk]``.

What is common to such files is enough: the name of a column, then its value. That covers plain
``name value`` lines, HiGHS (raw and sparse), SCIP, Gurobi, CBC (number, name, value, reduced cost),
GLPK (name, status, value, the value possibly on the next line) and CPLEX (XML). The table that
HiGHS writes for people has the name last and is read by its heading. Columns that a file leaves out
are 0, as solvers do that write nonzeros only.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import InputError, Problem
from prefixplace_opt.problem.file_bytes import read_bytes

from .placement_model import worker_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]

_NAME = re.compile(r"([A-Za-z]\w*)[\[({]([^\[\](){}\s]*)[\])}]")
_STATUS_WORDS = frozenset({"*", "B", "NL", "NU", "NS", "NF", "BS", "FR", "**", "="})
_CPLEX = re.compile(r"<variable\b[^>]*?\bname=\"([^\"]*)\"[^>]*?\bvalue=\"([^\"]*)\"")
_OBJECTIVE = re.compile(
    r"objective(?:\s*value|StringValue)?\s*[:=]?\s*\"?(?:savings\s*=\s*)?([-+]?[\d.]+(?:e[-+]?\d+)?)",
    re.IGNORECASE,
)
_NONE = re.compile(r"\b(infeasible|unbounded|no solution available)\b", re.IGNORECASE)
#: Sections after the primal values of the columns.
_END = re.compile(r"\s*(#\s*(Rows|Dual|Basis)\b|Rows\s*$)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class SolutionFile:
    """What a solution file says.

    Attributes
    ----------
    residency
        x, shape (M, n), by chunk id.
    objective
        The objective value that the file states, or None.
    named
        How many x columns the file names.
    """

    residency: Floats
    objective: float | None
    named: int


def read_solution(path: str | os.PathLike[str], problem: Problem) -> SolutionFile:
    """Read the x columns from a solver's solution of an exported model of ``problem``.

    Raises
    ------
    InputError
        Where the file cannot be read, holds no solution, names a worker or chunk that the problem
        does not have, gives a column two values, or a value that no binary column can have.
    """
    source = os.fspath(path)
    try:
        return solution_of_text(_text(path), problem)
    except InputError as error:
        raise error.at(source=source) from None


def solution_of_text(text: str, problem: Problem) -> SolutionFile:
    """Return what the text of a solution file says; raises as :func:`read_solution`."""
    worker_of = {label: h for h, label in enumerate(worker_labels(problem))}
    values = np.full((problem.m, problem.n), np.nan)
    columns = 0
    for name, index, written in _columns(text):
        columns += 1
        if name != "x":
            continue
        at = _place(index, worker_of, problem.n)
        value = _value(written, f"x[{index}]")
        if not math.isnan(values[at]) and values[at] != value:
            raise InputError(f"stands twice, as {values[at]} and {value}", field=f"x[{index}]")
        values[at] = value
    stated = _OBJECTIVE.search(text)
    named = int(np.count_nonzero(~np.isnan(values)))
    if named == 0 and (columns == 0 or _NONE.search(text)):
        refusal = _NONE.search(text)
        if refusal or stated is None:
            says = f"the file says {refusal.group(1)!r}" if refusal else "there is none"
            raise InputError(f"expected values of columns named x[worker,chunk], but {says}")
    return SolutionFile(
        np.nan_to_num(values, nan=0.0), float(stated.group(1)) if stated else None, named
    )


def _text(path: str | os.PathLike[str]) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"expected UTF-8 text, but byte {error.start} is none", source=os.fspath(path)
        ) from None


def _columns(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield symbol, index and written value of every column."""
    if "<variable" in text:
        for name, value in _CPLEX.findall(text):
            match = _NAME.fullmatch(name)
            if match:
                yield match.group(1), match.group(2), value
        return
    lines = text.splitlines()
    if lines and lines[0].strip() == "Columns" and "Primal" in "".join(lines[1:2]):
        yield from _table_columns(lines[2:])
        return
    waiting: re.Match[str] | None = None
    for line in lines:
        if _END.match(line):
            return
        for word in line.split():
            match = _NAME.fullmatch(word)
            if match:
                waiting = match
            elif waiting is not None and word not in _STATUS_WORDS:
                yield waiting.group(1), waiting.group(2), word
                waiting = None


def _table_columns(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Read HiGHS' table: index, status (may be missing), lower, upper, primal, ..., name."""
    for line in lines:
        words = line.split()
        if _END.match(line):
            return
        match = _NAME.fullmatch(words[-1]) if len(words) > 4 else None
        if match:
            yield match.group(1), match.group(2), words[4 if words[1].isalpha() else 3]


def _place(index: str, worker_of: dict[str, int], n: int) -> tuple[int, int]:
    worker, _, chunk = index.rpartition(",")
    if worker not in worker_of:
        raise InputError(
            f"expected a worker of this instance ({', '.join(list(worker_of)[:8])}), "
            f"got {worker!r}: is it a solution of another instance?",
            field=f"x[{index}]",
        )
    if not (chunk.isascii() and chunk.isdigit() and int(chunk) < n):
        raise InputError(
            f"expected a chunk from 0 to {n - 1}, got {chunk!r}: "
            "is it a solution of another instance?",
            field=f"x[{index}]",
        )
    return worker_of[worker], int(chunk)


def _value(written: str, field: str) -> float:
    try:
        value = float(written)
    except ValueError:
        raise InputError(f"expected a number, got {written!r}", field=field) from None
    if not -0.5 < value < 1.5:
        raise InputError(f"expected a value from 0 to 1, got {written}", field=field)
    return value
