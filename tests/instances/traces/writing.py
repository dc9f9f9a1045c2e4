"""Traces to import: the same requests in every format, and what an import makes of a file."""

import json
import struct
from pathlib import Path
from typing import Any

from prefixplace_opt.instances.clusters import Cluster, cluster_from_document
from prefixplace_opt.instances.trace_import import ImportOptions, ImportSummary, import_traces
from prefixplace_opt.problem import Problem

SIZE = 64
#: A path of ids, in blocks of 64 tokens, every block full.
Path_ = list[int]


def cluster() -> Cluster:
    line = {"base_ms": 10, "per_prefix_token_ms": 0.1, "chunk_tokens": SIZE}
    worker = {"name": "w", "count": 3, "budget": 5, "goodput_gbps": 2, "recompute": line}
    return cluster_from_document({"bytes_per_token": 100, "workers": [worker]})


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def imported(path: Path | list[Path], **options: Any) -> tuple[Problem, ImportSummary]:
    paths = path if isinstance(path, list) else [path]
    instances, summary = import_traces(paths, cluster(), ImportOptions(**options))
    return instances[0].problem, summary


def mooncake(paths: list[Path_]) -> list[Any]:
    return [
        {"timestamp": 10 * at, "input_length": SIZE * len(p), "output_length": 1, "hash_ids": p}
        for at, p in enumerate(paths)
    ]


def dynamo(paths: list[Path_]) -> list[Any]:
    header = {"schema": "dynamo.agentic_mooncake", "version": 2, "block_size": SIZE}
    rows = [
        {
            "created_time": 10.5 * at,
            "input_tokens": SIZE * len(p),
            "output_tokens": 1,
            "session_id": f"s{at}",
            "request_id": f"r{at}",
            "hash_ids": [str(block) for block in p],
        }
        for at, p in enumerate(paths)
    ]
    return [header, *rows]


def aiperf(paths: list[Path_]) -> list[Any]:
    rows: list[Any] = [{"timestamp": 0, "text_input": "no structure"}]
    return [*rows, *({**row, "session_id": "one"} for row in mooncake(paths))]


def bailian(paths: list[Path_]) -> list[Any]:
    return [
        {
            "chat_id": at,
            "parent_chat_id": -1,
            "timestamp": 0.01 * at,
            "input_length": SIZE * len(p),
            "output_length": 1,
            "type": "text",
            "turn": 1,
            "hash_ids": p,
        }
        for at, p in enumerate(paths)
    ]


def lmcache(paths: list[Path_]) -> list[Any]:
    return [
        {
            "timestamp": 0.01 * at,
            "request_id": f"r{at}",
            "model_name": "m",
            "chunk_size": SIZE,
            "seq_len": SIZE * len(p) + 3,
            "dtypes": ["torch.bfloat16"],
            "shapes": [[2, 5, SIZE, 5]],
            "chunk_hashes": [str(block) for block in p],
        }
        for at, p in enumerate(paths)
    ]


def weka(paths: list[Path_]) -> list[Any]:
    requests = [
        {"t": 0.01 * at, "type": "n", "model": "m", "in": SIZE * len(p), "out": 1, "hash_ids": p}
        for at, p in enumerate(paths)
    ]
    return [{"id": "c", "block_size": SIZE, "hash_id_scope": "global", "requests": requests}]


def kv_events(paths: list[Path_]) -> list[Any]:
    """Each prompt as one store of what was not yet stored; hashes are chained."""
    known: set[str] = set()
    batches = []
    for at, path in enumerate(paths):
        hashes = [chained(path[: k + 1]) for k in range(len(path))]
        new = [h for h in hashes if h not in known]
        known.update(new)
        above = hashes[-len(new) - 1] if len(new) < len(path) else None
        batches.append(
            [10.0 * at, [["BlockStored", new, above, [1] * SIZE * len(new), SIZE, None]]]
        )
    return batches


def chained(path: Path_) -> str:
    return "h" + "-".join(map(str, path))


WRITERS = {
    "mooncake": (mooncake, {"block_tokens": SIZE}),
    "dynamo": (dynamo, {}),
    "aiperf": (aiperf, {"block_tokens": SIZE}),
    "bailian": (bailian, {"block_tokens": SIZE}),
    "lmcache": (lmcache, {}),
    "weka": (weka, {}),
}


def packed(value: Any) -> bytes:
    """Encode what the tests need as msgpack."""
    if value is None:
        return b"\xc0"
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, int):
        return struct.pack(">Bq", 0xD3, value) if value < 2**63 else struct.pack(">BQ", 0xCF, value)
    if isinstance(value, bytes):
        return struct.pack(">BI", 0xC6, len(value)) + value
    if isinstance(value, str):
        raw = value.encode()
        return struct.pack(">BI", 0xDB, len(raw)) + raw
    if isinstance(value, list):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
    items = b"".join(packed(k) + packed(v) for k, v in value.items())
    return struct.pack(">BI", 0xDF, len(value)) + items
