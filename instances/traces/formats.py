"""The formats by name, and how a file's first rows tell which it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.errors import shorten

from .bailian import BailianReader
from .dynamo import AiperfReader, DynamoReader, looks_like_aiperf, looks_like_dynamo
from .event_wire import is_batch
from .kv_events import KvEventsReader
from .lmcache import LmcacheReader
from .mooncake import MooncakeReader
from .request import Row, TraceReader
from .weka import WekaReader

#: Rows that are looked at to tell a format.
SNIFFED_ROWS = 64


@dataclass(frozen=True)
class TraceFormat:
    """A format: its name, its reader, and whether a row looks like one of its own."""

    name: str
    summary: str
    reader: Callable[[int | None], TraceReader]
    recognises: Callable[[Any], bool]


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and any(key in value for key in keys)


#: In the order in which they are tried: what only one format has comes first.
FORMATS: Mapping[str, TraceFormat] = {
    each.name: each
    for each in (
        TraceFormat("kv-events", "KV-cache events of vLLM or SGLang", KvEventsReader, is_batch),
        TraceFormat("lmcache", "LMCache lookup records", LmcacheReader, _has("chunk_hashes")),
        TraceFormat(
            "weka", "WEKA conversations, blocks of 64 tokens", WekaReader, _has("requests")
        ),
        TraceFormat(
            "bailian", "Bailian (Qwen) rows, blocks of 16 tokens", BailianReader, _has("chat_id")
        ),
        TraceFormat("aiperf", "AIPerf rows, blocks of 512 tokens", AiperfReader, looks_like_aiperf),
        TraceFormat("dynamo", "Dynamo rows, block size given", DynamoReader, looks_like_dynamo),
        TraceFormat(
            "mooncake", "Mooncake rows, blocks of 512 tokens", MooncakeReader, _has("hash_ids")
        ),
    )
}


def reader_for(name: str, block_tokens: int | None = None) -> TraceReader:
    """Return a fresh reader of the format ``name``; ``block_tokens`` overrides its block size."""
    if name not in FORMATS:
        raise InputError(
            f"expected one of {', '.join(FORMATS)}, got {shorten(name)}", field="format"
        )
    return FORMATS[name].reader(block_tokens)


def sniff(rows: Sequence[Row]) -> str:
    """Return the name of the format that the first rows of a file are in; raises InputError."""
    for name, each in FORMATS.items():
        if any(each.recognises(row.value) for row in rows):
            return name
    found = shorten(sorted(rows[0].value) if isinstance(rows[0].value, dict) else rows[0].value)
    raise InputError(
        f"expected a trace in one of the formats {', '.join(FORMATS)}, got {found}",
        field=rows[0].where,
    )
