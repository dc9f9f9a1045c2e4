"""LMCache lookup records: hashes of the full chunks of a prompt, and what a chunk weighs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from prefixplace_opt.problem import InputError, whole_number
from prefixplace_opt.problem.errors import shorten

from .request import Report, Request, Row, block_ids, length, milliseconds, object_row
from .turns import RequestIds, identity

#: Bytes of an element by the name of its type, without the prefix of its library.
ELEMENT_BYTES = {
    **dict.fromkeys(("float64", "int64", "double", "long"), 8),
    **dict.fromkeys(("float32", "int32", "float", "int"), 4),
    **dict.fromkeys(("bfloat16", "float16", "int16", "half", "short"), 2),
    **dict.fromkeys(("uint8", "int8", "bool"), 1),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"), 1),
}


class LmcacheReader:
    """Rows with ``timestamp`` (s), ``chunk_size``, ``seq_len``, ``chunk_hashes``."""

    def __init__(self, block_tokens: int | None = None) -> None:
        self.block_tokens: int | None = block_tokens
        self._models: list[str] = []
        self._ids = RequestIds()

    def requests(self, rows: Iterable[Row], report: Report) -> Iterator[Request]:
        """Yield one request a row; chunks of different models are different chunks."""
        for row in rows:
            report.rows += 1
            value = object_row(row)
            for key in ("timestamp", "chunk_size", "seq_len", "chunk_hashes"):
                if key not in value:
                    raise InputError(f"missing key {key!r}", field=row.where)
            where = row.where
            size = whole_number(value["chunk_size"], field=f"{where}.chunk_size", least=1)
            if self.block_tokens is None:
                self.block_tokens = size
            elif self.block_tokens != size:
                raise InputError(
                    f"expected {self.block_tokens} as before, got {size}",
                    field=f"{where}.chunk_size",
                )
            self._weigh(value, size, where, report)
            if self._ids.repeated(identity(value.get("request_id"), f"{where}.request_id")):
                report.note("repeated request ids (left out)")
                continue
            time = milliseconds(value["timestamp"], f"{where}.timestamp", unit=1e3)
            tokens = length(value["seq_len"], f"{where}.seq_len")
            blocks = block_ids(value["chunk_hashes"], f"{where}.chunk_hashes")
            if len(blocks) != tokens // size:
                report.note("rows whose length does not fit their ids")
            yield Request(time, self._of_model(value, blocks, where, report), tokens, None)

    def _of_model(
        self, value: dict[str, Any], blocks: list[int | str], where: str, report: Report
    ) -> list[int | str]:
        model = value.get("model_name", "")
        if not isinstance(model, str):
            raise InputError(
                f"expected a string, got {shorten(model)}", field=f"{where}.model_name"
            )
        if model not in self._models:
            self._models.append(model)
        if model == self._models[0] or not blocks:
            return blocks
        report.note("rows of further models (their chunks kept apart)")
        return [f"{model}/{blocks[0]}", *blocks[1:]]

    def _weigh(self, value: dict[str, Any], size: int, where: str, report: Report) -> None:
        """Take the bytes of a token from the first row that states shapes and types."""
        if report.bytes_per_token is not None or value.get("shapes") is None:
            return
        shapes, dtypes = value["shapes"], value.get("dtypes")
        if not isinstance(shapes, list) or not isinstance(dtypes, list):
            raise InputError("expected lists of shapes and of dtypes", field=f"{where}.shapes")
        if len(shapes) != len(dtypes):
            raise InputError(
                f"expected {len(shapes)} types, got {len(dtypes)}", field=f"{where}.dtypes"
            )
        total = 0
        for at, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
            name = str(dtype).rsplit(".", 1)[-1]
            if name not in ELEMENT_BYTES:
                raise InputError(
                    f"expected a type such as 'bfloat16', got {shorten(dtype)}",
                    field=f"{where}.dtypes[{at}]",
                )
            if not isinstance(shape, list):
                raise InputError(
                    f"expected a list of sizes, got {shorten(shape)}", field=f"{where}.shapes[{at}]"
                )
            sizes = [
                whole_number(each, field=f"{where}.shapes[{at}]", most=2**40) for each in shape
            ]
            total += math.prod(sizes) * ELEMENT_BYTES[name]
        if not 0 < total < 2**53:
            raise InputError(f"expected 1 to 2**53 bytes, got {total}", field=f"{where}.shapes")
        report.bytes_per_token = total / size
