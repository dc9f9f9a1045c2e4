"""WEKA conversations: one object each, its requests nested, times in seconds from its start.

``hash_id_scope`` "local" says that ids mean nothing outside their conversation. A subagent's
requests stand nested below a marker; some producers time them from the marker, others from the
start of the conversation: an inner time before its marker's tells which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prefixplace_opt.problem import InputError, whole_number
from prefixplace_opt.problem.errors import shorten

from .request import (
    Report,
    Request,
    Row,
    block_ids,
    length,
    milliseconds,
    note_length,
    object_row,
)
from .turns import identity

#: Subagents of subagents, and so on, go no deeper.
MOST_DEPTH = 32


class WekaReader:
    """Conversations with ``id``, ``requests`` (``t``, ``in``, ``out``, ``hash_ids``)."""

    def __init__(self, block_tokens: int | None = None) -> None:
        self.block_tokens: int | None = block_tokens
        self._models: dict[str, None] = {}
        self._count = 0

    def requests(self, rows: Iterable[Row], report: Report) -> Iterator[Request]:
        """Yield the requests conversation by conversation, each in order of time."""
        for row in rows:
            value = object_row(row)
            self._count += 1
            self._block_size(value, row.where)
            found: list[tuple[float, Request]] = []
            relative = _times_are_relative(value.get("requests"), 0)
            if relative:
                report.note("conversations whose nested requests are timed from their marker")
            scope = value.get("hash_id_scope", "local")
            if scope not in ("local", "global"):
                raise InputError(
                    f"expected 'local' or 'global', got {shorten(scope)}",
                    field=f"{row.where}.hash_id_scope",
                )
            name = identity(value.get("id"), f"{row.where}.id")
            session = f"conversation {self._count}" if name is None else name
            space = f"{self._count}:{session}" if scope == "local" else ""
            walk = _Walk(self, report, session, space, relative)
            walk.add(value.get("requests"), f"{row.where}.requests", 0.0, 0, found)
            found.sort(key=lambda item: item[0])
            yield from (request for _, request in found)

    def _block_size(self, value: dict[str, Any], where: str) -> None:
        size = whole_number(value.get("block_size", 64), field=f"{where}.block_size", least=1)
        if self.block_tokens is None:
            self.block_tokens = size
        elif "block_size" in value and size != self.block_tokens:
            raise InputError(
                f"expected {self.block_tokens} as before, got {size}", field=f"{where}.block_size"
            )

    def namespace(self, space: str, model: str) -> str:
        """Return what sets a request's ids apart: its conversation, and any model but the first."""
        self._models.setdefault(model)
        parts = [space, "" if model == next(iter(self._models)) else model]
        return "/".join(part for part in parts if part)


class _Walk:
    """Collects the requests of one conversation."""

    def __init__(
        self, reader: WekaReader, report: Report, session: Any, space: str, relative: bool
    ) -> None:
        self._reader = reader
        self._report = report
        self._session = session
        self._space = space
        self._relative = relative

    def add(
        self, entries: Any, where: str, start: float, depth: int, found: list[tuple[float, Request]]
    ) -> None:
        """Add the requests of a list, and of the subagents in it."""
        if not isinstance(entries, list):
            raise InputError(f"expected a list of requests, got {shorten(entries)}", field=where)
        if depth > MOST_DEPTH:
            raise InputError(f"expected subagents at most {MOST_DEPTH} deep", field=where)
        for at, entry in enumerate(entries):
            field = f"{where}[{at}]"
            if not isinstance(entry, dict):
                raise InputError(f"expected an object, got {shorten(entry)}", field=field)
            if "t" not in entry:
                raise InputError("missing key 't'", field=field)
            time = start + milliseconds(entry["t"], f"{field}.t", unit=1e3)
            if "requests" in entry:
                self._report.note("subagents")
                origin = time if self._relative else start
                self.add(entry["requests"], f"{field}.requests", origin, depth + 1, found)
                continue
            self._report.rows += 1
            if entry.get("hash_ids") is None:
                self._report.note("rows without structure (no ids)")
                continue
            found.append((time, self._request(entry, field, time)))

    def _request(self, entry: dict[str, Any], field: str, time: float) -> Request:
        if "in" not in entry:
            raise InputError("missing key 'in'", field=field)
        tokens = length(entry["in"], f"{field}.in")
        blocks = block_ids(entry["hash_ids"], f"{field}.hash_ids")
        size = self._reader.block_tokens or 64
        note_length(self._report, tokens, len(blocks), size)
        model = entry.get("model", "")
        if not isinstance(model, str):
            raise InputError(f"expected a string, got {shorten(model)}", field=f"{field}.model")
        space = self._reader.namespace(self._space, model)
        if space and blocks:
            blocks = [f"{space}/{blocks[0]}", *blocks[1:]]
        return Request(time, blocks, tokens, self._session)


def _times_are_relative(entries: Any, depth: int) -> bool:
    """Whether a nested request comes before its marker, were both timed from the start."""
    if not isinstance(entries, list) or depth > MOST_DEPTH:
        return False
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("requests"), list):
            continue
        marker = entry.get("t")
        for inner in entry["requests"]:
            time = inner.get("t") if isinstance(inner, dict) else None
            if isinstance(time, int | float) and isinstance(marker, int | float) and time < marker:
                return True
        if _times_are_relative(entry["requests"], depth + 1):
            return True
    return False
