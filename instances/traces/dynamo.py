"""Rows of Dynamo and of AIPerf: Mooncake's, with aliases, sessions and delays.

Both are the same rows with other defaults, so that one reader serves them. Rows of one
``session_id`` are turns in a closed loop. A row without ids carries no structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prefixplace_opt.problem import InputError, whole_number

from .request import Report, Request, Row, block_ids, length, note_length, object_row
from .turns import RequestIds, SessionClock, identity

#: Names of the same thing; a row gives at most one of each.
ALIASES = {
    "input_length": ("input_length", "input_tokens"),
    "timestamp": ("timestamp", "created_time"),
    "delay": ("delay", "delay_ms"),
}
#: What an AIPerf row may give a prompt as; only the first comes with ids.
PROMPTS = ("input_length", "text_input", "messages", "payload")


class DynamoReader:
    """Dynamo rows; the block size stands in a header line, or is given from outside."""

    def __init__(self, block_tokens: int | None = None) -> None:
        self.block_tokens: int | None = block_tokens
        self._given = block_tokens is not None
        self._clock = SessionClock()
        self._ids = RequestIds()
        self._files = 0

    def requests(self, rows: Iterable[Row], report: Report) -> Iterator[Request]:
        """Yield one request a row that has ids."""
        self._files += 1
        scope = ""
        for row in rows:
            report.rows += 1
            value = object_row(row)
            if not _is_request(value):
                scope = self._header(value, row.where, report) or scope
                continue
            request = self._request(value, row.where, report)
            if request is None:
                continue
            if scope and request.blocks:
                request = request._replace(
                    blocks=[f"{scope}/{request.blocks[0]}", *request.blocks[1:]]
                )
            yield request

    def _header(self, value: dict[str, Any], where: str, report: Report) -> str:
        """Take the block size from a line that is no request; return a namespace for its ids."""
        report.note("header lines")
        if value.get("block_size") is not None:
            size = whole_number(value["block_size"], field=f"{where}.block_size", least=1)
            if not self._given:
                if self.block_tokens not in (None, size):
                    raise InputError(
                        f"expected {self.block_tokens} as before, got {size}",
                        field=f"{where}.block_size",
                    )
                self.block_tokens = size
        # Local ids mean nothing outside their file.
        return f"file {self._files}" if value.get("hash_id_scope") == "local" else ""

    def _request(self, value: dict[str, Any], where: str, report: Report) -> Request | None:
        session = identity(value.get("session_id"), f"{where}.session_id")
        timestamp, delay = _alias(value, "timestamp", where), _alias(value, "delay", where)
        time = self._clock.time(session, timestamp, delay, where, report)
        if self._ids.repeated(identity(value.get("request_id"), f"{where}.request_id")):
            report.note("repeated request ids (left out)")
            return None
        if value.get("hash_ids") is None:
            report.note("rows without structure (no ids)")
            return None
        given = _alias(value, "input_length", where)
        if given is None:
            raise InputError("missing key 'input_length', which 'hash_ids' comes with", field=where)
        tokens = length(given, f"{where}.input_length")
        blocks = block_ids(value["hash_ids"], f"{where}.hash_ids")
        if self.block_tokens is not None:
            note_length(report, tokens, len(blocks), self.block_tokens)
        return Request(time, blocks, tokens, session)


class AiperfReader(DynamoReader):
    """AIPerf rows: blocks of 512 tokens unless said otherwise (its own converters write 64)."""

    def __init__(self, block_tokens: int | None = None) -> None:
        super().__init__(block_tokens or 512)

    def _request(self, value: dict[str, Any], where: str, report: Report) -> Request | None:
        given = [key for key in PROMPTS if value.get(key) is not None]
        if len(given) != 1:
            raise InputError(
                f"expected exactly one of {', '.join(PROMPTS)}, got {', '.join(given) or 'none'}",
                field=where,
            )
        if given[0] != "input_length" and value.get("hash_ids") is not None:
            raise InputError(f"expected no 'hash_ids' beside {given[0]!r}", field=where)
        return super()._request(value, where, report)


def _is_request(value: dict[str, Any]) -> bool:
    # A header line names a schema or a block size and no prompt.
    return any(key in value for key in (*ALIASES["input_length"], *PROMPTS, "hash_ids"))


def _alias(value: dict[str, Any], name: str, where: str) -> Any:
    given = [key for key in ALIASES[name] if value.get(key) is not None]
    if len(given) > 1:
        raise InputError(f"expected one of {', '.join(given)}, got both", field=where)
    return value[given[0]] if given else None


def looks_like_dynamo(value: Any) -> bool:
    """Whether a row has what only Dynamo rows have."""
    if not isinstance(value, dict):
        return False
    names = ("input_tokens", "output_tokens", "created_time", "delay", "delay_ms", "session_id")
    more = ("request_id", "output_token_ids", "priority")
    schema = value.get("schema")
    by_schema = isinstance(schema, str) and schema.startswith("dynamo")
    return by_schema or ("hash_ids" in value and any(key in value for key in (*names, *more)))


def looks_like_aiperf(value: Any) -> bool:
    """Whether a row has what only AIPerf rows have."""
    return isinstance(value, dict) and any(key in value for key in PROMPTS[1:])
