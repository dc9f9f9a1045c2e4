"""Mooncake JSON lines: ``timestamp`` (ms), ``input_length``, ``output_length``, ``hash_ids``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prefixplace_opt.problem import InputError

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


class MooncakeReader:
    """Rows of 512-token blocks with chained ids; the block size does not stand in the row."""

    def __init__(self, block_tokens: int | None = None) -> None:
        self._size = block_tokens or 512
        self.block_tokens: int | None = self._size

    def requests(self, rows: Iterable[Row], report: Report) -> Iterator[Request]:
        """Yield one request a row."""
        for row in rows:
            report.rows += 1
            value = object_row(row)
            for key in ("timestamp", "input_length", "hash_ids"):
                if key not in value:
                    raise InputError(f"missing key {key!r}", field=row.where)
            tokens = length(value["input_length"], f"{row.where}.input_length")
            time = milliseconds(value["timestamp"], f"{row.where}.timestamp")
            blocks = block_ids(value["hash_ids"], f"{row.where}.hash_ids")
            note_length(report, tokens, len(blocks), self._size)
            yield Request(time, blocks, tokens, None)
