"""What every trace format is read as: requests, and a report of what the reader met."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.errors import shorten

BlockId = int | str

#: Numbers as ids have at most 256 bits.
MOST_ID = 2**256 - 1


class Request(NamedTuple):
    """One prompt.

    Attributes
    ----------
    time_ms
        When it arrived, on the clock of its trace.
    blocks
        Ids of its blocks from the root down; an id means what it means below its predecessors.
    tokens
        Length of the prompt; the last block may be partial.
    session
        What it belongs to (a conversation), for sampling; None where the trace does not say.
    """

    time_ms: float
    blocks: Sequence[BlockId]
    tokens: int
    session: Hashable | None


@dataclass
class Report:
    """What a reader met: counts of everything that is not a plain request, by name.

    Attributes
    ----------
    rows
        Rows, or events, read.
    requests
        Requests that they gave.
    notes
        How often each trap occurred.
    bytes_per_token
        Bytes of KV tensors a token, where the trace says so.
    """

    rows: int = 0
    requests: int = 0
    notes: dict[str, int] = field(default_factory=dict)
    bytes_per_token: float | None = None

    def note(self, what: str, times: int = 1) -> None:
        """Count ``times`` occurrences of ``what``."""
        self.notes[what] = self.notes.get(what, 0) + times


class Row(NamedTuple):
    """One parsed record and where it stands (``"line 7"``)."""

    where: str
    value: Any


class TraceReader(Protocol):
    """Reads one format; made once an import, so that it may remember across files.

    Attributes
    ----------
    block_tokens
        Tokens of a block, None until the trace has said so.
    """

    block_tokens: int | None

    def requests(self, rows: Iterable[Row], report: Report) -> Iterator[Request]:
        """Yield the requests of one file's rows in their order; raises InputError."""
        ...


def object_row(row: Row) -> dict[str, Any]:
    """Return the row as an object; raises InputError."""
    if not isinstance(row.value, dict):
        raise InputError(f"expected an object, got {shorten(row.value)}", field=row.where)
    return row.value


def block_ids(value: Any, where: str) -> list[BlockId]:
    """Return a list of ids: whole numbers of up to 256 bits, or strings.

    A string that is the decimal form of a number is that number, so that traces that write ids as
    strings and traces that write them as numbers say the same.
    """
    if not isinstance(value, list):
        raise InputError(f"expected a list of ids, got {shorten(value)}", field=where)
    ids: list[BlockId] = value
    if not set(map(type, value)) <= {int}:
        ids = [_block_id(item, f"{where}[{at}]") for at, item in enumerate(value)]
    elif ids and (max(value) > MOST_ID or min(value) < -MOST_ID):
        at = next(at for at, item in enumerate(value) if abs(item) > MOST_ID)
        raise InputError("expected an id of at most 256 bits", field=f"{where}[{at}]")
    return ids


def block_id(value: Any, where: str) -> BlockId:
    """Return one id; see :func:`block_ids`."""
    return block_ids([value], where)[0]


def length(value: Any, where: str) -> int:
    """Return a number of tokens: whole, >= 0, below 2**53."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value < 2**53:
        raise InputError(
            f"expected a whole number of tokens >= 0, got {shorten(value)}", field=where
        )
    return value


def milliseconds(value: Any, where: str, *, unit: float = 1.0) -> float:
    """Return a time in ms, given in units of ``unit`` ms; finite, within +-2**53."""
    # Compared before it is multiplied: an integer may be larger than any double.
    if type(value) not in (int, float) or not abs(value) < 2**53 / unit:
        raise InputError(f"expected a finite time, got {shorten(value)}", field=where)
    return float(value) * unit


def note_length(report: Report, tokens: int, blocks: int, size: int) -> None:
    """Count a row whose ids do not cover its prompt, the last block maybe in part."""
    if not (blocks - 1) * size < tokens <= blocks * size and blocks:
        report.note("rows whose length does not fit their ids")


def _block_id(value: Any, where: str) -> BlockId:
    if type(value) is int:
        return block_ids([value], where)[0]
    if type(value) is str and value:
        digits = value[1:] if value[0] == "-" else value
        plain = digits.isascii() and digits.isdigit() and len(digits) < 77
        if plain and (digits[0] != "0" or value == "0"):
            return int(value)
        return value
    raise InputError(
        f"expected an id (a whole number or a string), got {shorten(value)}", field=where
    )
