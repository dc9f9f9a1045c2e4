"""Bailian (Qwen) rows: whole prompts in 16-token blocks whose ids are hashes of a block's content.

The ids are not chained: one recurs below other prefixes, and even twice in one row. That a chunk is
a path makes this right without further ado. ``timestamp`` is in seconds. Every row is a whole
prompt, so that the turns of a chat are never added up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

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
from .turns import identity


class BailianReader:
    """Rows with ``chat_id``, ``parent_chat_id`` (-1: a root), ``timestamp``, ``hash_ids``."""

    def __init__(self, block_tokens: int | None = None) -> None:
        self._size = block_tokens or 16
        self.block_tokens: int | None = self._size
        self._root: dict[Hashable, Hashable] = {}

    def requests(self, rows: Iterable[Row], report: Report) -> Iterator[Request]:
        """Yield one request a row; its session is the root of its chat."""
        for row in rows:
            report.rows += 1
            value = object_row(row)
            for key in ("chat_id", "timestamp", "input_length", "hash_ids"):
                if key not in value:
                    raise InputError(f"missing key {key!r}", field=row.where)
            time = milliseconds(value["timestamp"], f"{row.where}.timestamp", unit=1e3)
            tokens = length(value["input_length"], f"{row.where}.input_length")
            blocks = block_ids(value["hash_ids"], f"{row.where}.hash_ids")
            note_length(report, tokens, len(blocks), self._size)
            if len(set(blocks)) < len(blocks):
                report.note("rows with an id more than once")
            chat = identity(value["chat_id"], f"{row.where}.chat_id")
            parent = identity(value.get("parent_chat_id", -1), f"{row.where}.parent_chat_id")
            yield Request(time, blocks, tokens, self._session(chat, parent, report))

    def _session(
        self, chat: Hashable | None, parent: Hashable | None, report: Report
    ) -> Hashable | None:
        root = chat
        if parent not in (-1, "-1", None):
            if parent not in self._root:
                report.note("turns whose parent row is missing")
            root = self._root.get(parent, parent)
        if chat in self._root:
            report.note("repeated chat ids")
        self._root[chat] = root
        return root
