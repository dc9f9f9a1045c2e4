"""Every reader as a function of bytes: nothing but the product's own errors may come out."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prefixplace_opt.certificates import document_of_certificate, read_certificate, verify
from prefixplace_opt.certificates.certificate import Certificate, ServicePrices
from prefixplace_opt.formulations.solution_file import read_solution
from prefixplace_opt.instances.clusters import cluster_from_document, read_cluster
from prefixplace_opt.instances.suites import read_suite
from prefixplace_opt.instances.suites.manifest import MANIFEST
from prefixplace_opt.instances.suites.suite_file import read_suite_file
from prefixplace_opt.instances.trace_import import ImportOptions, import_traces
from prefixplace_opt.instances.traces import FORMATS
from prefixplace_opt.problem import (
    Leaf,
    Placement,
    PrefixPlaceError,
    read_placement,
    read_problem,
)
from prefixplace_opt.problem.instance_file import problem_from_document
from prefixplace_opt.problem.placement_file import document_of_placement
from prefixplace_opt.report.best_known import read_best_known
from prefixplace_opt.report.trials import (
    Protocol,
    Trial,
    Trials,
    document_of_trials,
    read_trials,
)

INSTANCE: dict[str, Any] = {
    "format": "prefixplace-instance",
    "version": 1,
    "name": "seed",
    "objective": "pairwise",
    "tree": {
        "parents": {"base64": "/////wAAAAAAAAAA", "dtype": "<i4", "shape": [3]},
        "chunk_tokens": 16,
        "chunk_bytes": 1000,
        "keys": ["a", "b", "c"],
    },
    "workers": [
        {"name": "x", "budget": 2, "hardware": "A100"},
        {"name": "y", "budget": 1, "compatibility": "z"},
    ],
    "demand": {"sparse": {"worker": [0, 0, 1], "chunk": [0, 1, 2], "value": [3, 1.5, 2]}},
    "recompute": {"affine": {"base": [5, 6], "per_prefix_token": [0.1, 0.2]}},
    "fetch": {"goodput_gbps": [[1, 2], [3, 4]], "latency_ms": [[0, 1], [1, 0]]},
    "provenance": {"seed": 1},
}
OTHER_TABLES = [
    {"recompute": 3, "fetch": None, "objective": "requester"},
    {"recompute": {"dense": [[1, 2, 3], [4, 5, 6]]}, "fetch": {"dense": [[1, None, 3], [4, 5, 6]]}},
    {"recompute": {"table": {"prefix_tokens": [0, 16], "cost": [[1, 2], [3, 4]]}}},
    {"fetch": {"pairwise": [[[1, 2, None], [1, 2, 3]], [[1, 2, 3], [4, 5, 6]]]}},
    {"demand": {"dense": [[1, 2, 3], [0, 1, 0]]}},
]
PROBLEM = problem_from_document(INSTANCE)
PLACEMENT = Placement.of(PROBLEM, [[0, 1], [0]])
CERTIFICATE = document_of_certificate(
    Certificate(
        PROBLEM.digest,
        PROBLEM.objective,
        list(PLACEMENT.resident),
        PLACEMENT.value,
        1e6,
        prices=[ServicePrices([0], [0], [1.5])],
        nodes=[Leaf(0)],
    )
)
WORKERS = b"""model = "qwen2.5-7b"
[[workers]]
name = "a"
count = 2
hardware = "A100"
budget_gb = 1.5
goodput_gbps = 3
rack = "r"
[[workers]]
name = "b"
budget_share = 0.5
goodput_gbps = 1
latency_ms = 2
rack = "s"
compatibility = "c"
recompute = { prefix_tokens = [0, 512], cost_ms = [5, 9], chunk_tokens = 256 }
[links]
same_rack = { goodput_gbps = 7.5, latency_ms = 0.5 }
[[links.pair]]
requester = "b"
holder = "a-0"
goodput_gbps = 0.5
"""
SUITE_FILE = b"""name = "small"
description = "two sizes"
[defaults]
objective = ["requester", "pairwise"]
[[instances]]
family = "rag"
documents = [3, 4]
seed = [0, 1]
[[instances]]
family = "trace"
trace = "chat.jsonl"
stop_s = 60.0
"""
MANIFEST_DOCUMENT = {
    "format": "prefixplace-suite",
    "version": 1,
    "name": "small",
    "description": "",
    "instances": [],
}
KNOWN = [{"instance": "a", "lower": "1.5", "upper": 2}, {"instance": "b", "optimum": 3}]
TRIALS = document_of_trials(
    Trials(
        Protocol(methods=("plan",), seeds=(0,)),
        {"python": "3"},
        (Trial("i", "0" * 64, "requester", 3, 2, "plan", 0, 1.0, 2.0, "feasible", 0.1),),
    )
)
SOLUTION = b"""# Objective 12.5
x[x,0] 1
x[x,1] 1
x[y,0] 0.999999
z[0] 1
"""
STORED = {"type": "BlockStored", "block_hashes": [7, "x"], "parent_block_hash": None}
TRACES: dict[str, list[Any]] = {
    "mooncake": [
        {"timestamp": 0, "input_length": 1000, "output_length": 1, "hash_ids": [1, 2]},
        {"timestamp": 5, "input_length": 1024, "output_length": 1, "hash_ids": [1, 3]},
    ],
    "dynamo": [
        {"schema": "dynamo.agentic_mooncake", "block_size": 16, "hash_id_scope": "local"},
        {
            "created_time": 1.5,
            "input_tokens": 20,
            "session_id": "s",
            "request_id": 3,
            "hash_ids": ["1", "x"],
        },
        {"delay_ms": 5, "input_length": 20, "session_id": "s", "hash_ids": [1, 2]},
    ],
    "aiperf": [
        {"timestamp": 1, "text_input": "t"},
        {"delay": 2, "input_length": 600, "hash_ids": [1, 2], "session_id": 4},
    ],
    "bailian": [
        {
            "chat_id": 1,
            "parent_chat_id": -1,
            "timestamp": 0.5,
            "input_length": 30,
            "output_length": 1,
            "type": "text",
            "turn": 1,
            "hash_ids": [5, 5],
        },
        {"chat_id": 2, "parent_chat_id": 1, "timestamp": 1, "input_length": 9, "hash_ids": [5]},
    ],
    "lmcache": [
        {
            "timestamp": 1.5,
            "request_id": "r",
            "model_name": "m",
            "chunk_size": 4,
            "seq_len": 9,
            "dtypes": ["torch.bfloat16"],
            "shapes": [[2, 2, 4, 2]],
            "chunk_hashes": ["ab", "cd"],
        },
        {"timestamp": 2, "chunk_size": 4, "seq_len": 5, "chunk_hashes": ["0xab"]},
    ],
    "weka": [
        {
            "id": "c",
            "block_size": 4,
            "hash_id_scope": "global",
            "requests": [
                {"t": 0.5, "type": "n", "model": "m", "in": 8, "out": 1, "hash_ids": [1, 2]},
                {
                    "t": 3,
                    "type": "subagent",
                    "requests": [{"t": 1, "in": 6, "hash_ids": [1, 3], "model": "k"}],
                },
            ],
        }
    ],
    "kv-events": [
        [1.0, [["BlockStored", [1, 2], None, [0] * 8, 4, None, "GPU"]], 0],
        [2.0, [{**STORED, "block_size": 4}, ["BlockRemoved", [2]], ["AllBlocksCleared"]]],
        {"ts": 3.0, "events": [["BlockStored", [9], 7, [0] * 4, 4]], "data_parallel_rank": 1},
        {"topic": "kv", "seq": 4, "payload": "kstAEAAAAAAAAJA="},
    ],
}
CLUSTER = cluster_from_document(
    {
        "bytes_per_token": 10,
        "workers": [
            {
                "name": "w",
                "count": 2,
                "budget": 1,
                "goodput_gbps": 1,
                "recompute": {"base_ms": 1, "per_prefix_token_ms": 0.1, "chunk_tokens": 1},
            }
        ],
    }
)


def trace_bytes(name: str) -> bytes:
    """Return the seed trace of a format."""
    return "".join(json.dumps(row) + "\n" for row in TRACES[name]).encode()


def _instance(path: Path) -> None:
    read_problem(path)


def _placement(path: Path) -> None:
    read_placement(path, PROBLEM)


def _certificate(path: Path) -> None:
    verify(PROBLEM, read_certificate(path))


def _workers(path: Path) -> None:
    cluster = read_cluster(path)
    cluster.check_objective(cluster.default_objective)
    sized = cluster.sized(512)
    sized.workers(1000)
    sized.recompute(10)
    sized.fetch(cluster.default_objective)


def _suite_file(path: Path) -> None:
    read_suite_file(path)


def _manifest(path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        (Path(folder) / MANIFEST).write_bytes(path.read_bytes())
        read_suite(folder)


def _best_known(path: Path) -> None:
    read_best_known(path)


def _trials(path: Path) -> None:
    read_trials(path)


def _solution(path: Path) -> None:
    read_solution(path, PROBLEM)


def _trace(name: str | None) -> Callable[[Path], None]:
    options = ImportOptions(format=name, route="round-robin")
    return lambda path: import_traces([path], CLUSTER, options) and None


READERS: dict[str, Callable[[Path], None]] = {
    "instance": _instance,
    "placement": _placement,
    "certificate": _certificate,
    "workers": _workers,
    "suite-file": _suite_file,
    "manifest": _manifest,
    "best-known": _best_known,
    "trials": _trials,
    "solution": _solution,
    "trace": _trace(None),
    **{name: _trace(name) for name in FORMATS},
}

SEEDS: dict[str, list[bytes]] = {
    "instance": [json.dumps({**INSTANCE, **change}).encode() for change in ({}, *OTHER_TABLES)],
    "placement": [json.dumps(document_of_placement(PLACEMENT)).encode()],
    "certificate": [json.dumps(CERTIFICATE).encode()],
    "workers": [WORKERS],
    "suite-file": [SUITE_FILE],
    "manifest": [json.dumps(MANIFEST_DOCUMENT).encode()],
    "best-known": [json.dumps(KNOWN).encode()],
    "trials": [json.dumps(TRIALS).encode()],
    "solution": [SOLUTION],
    "trace": [trace_bytes(name) for name in TRACES],
    **{name: [trace_bytes(name)] for name in TRACES},
}

#: In memory where there is such a file system.
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108


def read(reader: str, raw: bytes) -> bool:
    """Give ``raw`` to a reader as a file; return whether it was taken.

    Any exception but the product's own passes through, and so does a warning made an error.
    """
    handle, name = tempfile.mkstemp(dir=FOLDER, prefix="prefixplace-fuzz-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        READERS[reader](Path(name))
    except PrefixPlaceError:
        return False
    else:
        return True
    finally:
        Path(name).unlink()
