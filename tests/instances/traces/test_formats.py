"""Every format: the same traffic gives the same instance, and each trap is handled and told."""

import base64
import gzip
import json
import struct
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixplace_opt.instances.clusters import Cluster, cluster_from_document
from prefixplace_opt.instances.trace_import import ImportOptions, ImportSummary, import_traces
from prefixplace_opt.instances.traces import FORMATS, read_rows, sniff
from prefixplace_opt.problem import InputError, Problem

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
traffic = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=20)


def test_a_writer_for_every_format() -> None:
    assert {*WRITERS, "kv-events"} == set(FORMATS)


@settings(max_examples=30)
@given(traffic, st.sampled_from([1, 2]), st.booleans())
def test_the_same_traffic_gives_the_same_instance(
    tmp_path_factory: pytest.TempPathFactory, paths: list[Path_], blocks: int, tail: bool
) -> None:
    if blocks == 2 and not tail:
        paths = [[9, 9], *paths]
    folder = tmp_path_factory.mktemp("trace")
    digests = {}
    for name, (writer, options) in WRITERS.items():
        path = write(folder / f"{name}.jsonl", writer(paths))
        problem, summary = imported(
            path, chunk_tokens=blocks * SIZE, partial_tail=tail, route="prefix-affinity", **options
        )
        assert summary.format == name
        assert summary.hits.chunks == sum(
            -(-len(p) // blocks) if tail else len(p) // blocks for p in paths
        )
        digests[name] = problem.digest
    assert len(set(digests.values())) == 1


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=12))
def test_events_give_the_instance_of_their_requests(
    tmp_path_factory: pytest.TempPathFactory, paths: list[Path_]
) -> None:
    # Every prompt ends in a block of its own, so that every prompt causes a store.
    paths = [[*path, 100 + at] for at, path in enumerate(paths)]
    folder = tmp_path_factory.mktemp("trace")
    rows = [
        {
            **row,
            "hash_ids": [chained(row["hash_ids"][: k + 1]) for k in range(len(row["hash_ids"]))],
        }
        for row in mooncake(paths)
    ]
    expected, _ = imported(write(folder / "m.jsonl", rows), block_tokens=SIZE)
    events, summary = imported(write(folder / "e.jsonl", kv_events(paths)))
    assert summary.format == "kv-events"
    assert events.digest == expected.digest


def test_packed_files_are_the_same_trace(tmp_path: Path) -> None:
    rows = mooncake([[1, 2], [1, 3], [2]])
    plain = write(tmp_path / "plain.jsonl", rows)
    raw = plain.read_bytes()
    (tmp_path / "a.gz").write_bytes(gzip.compress(raw[:40]) + gzip.compress(raw[40:]))
    frames = zstandard.compress(raw[:40]) + zstandard.compress(raw[40:])
    (tmp_path / "a.zst").write_bytes(frames)
    (tmp_path / "list.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (tmp_path / "blank.jsonl").write_bytes(b"\n\n" + raw.replace(b"\n", b"\r\n\n"))
    for name in ("a.gz", "a.zst", "list.json", "blank.jsonl"):
        assert imported(tmp_path / name)[0].digest == imported(plain)[0].digest, name


# Bailian: ids are not chained.


def test_an_id_twice_in_a_row_and_below_two_prefixes(tmp_path: Path) -> None:
    rows = bailian([[7, 8, 7, 9], [8, 7], [7, 8, 7, 7]])
    problem, summary = imported(write(tmp_path / "b.jsonl", rows), block_tokens=SIZE)
    assert problem.tree.parents.tolist() == [-1, 0, 1, 2, -1, 4, 2]
    assert problem.tree.keys == ("7", "8", "7", "9", "8", "7", "7")
    assert problem.demand.total().tolist() == [2, 2, 2, 1, 1, 1, 1]
    assert summary.report.notes["rows with an id more than once"] == 2
    assert summary.recurring_ids == 4


def test_chats_are_sessions_and_turns_are_not_added_up(tmp_path: Path) -> None:
    rows = bailian([[1], [1, 2], [5], [1, 2, 3]])
    rows[1]["parent_chat_id"] = 0
    rows[3]["parent_chat_id"] = 1
    rows[2]["parent_chat_id"] = 77
    rows[0]["input_length"] = 60
    path = write(tmp_path / "b.jsonl", rows)
    problem, summary = imported(path, block_tokens=SIZE)
    assert summary.report.notes == {
        "turns whose parent row is missing": 1,
        "partial last blocks": 1,
    }
    assert problem.demand.total()[0] == 3
    sizes = {imported_or_none(path, block_tokens=SIZE, sample=0.5, seed=seed) for seed in range(30)}
    # A sample keeps the chat of three turns as a whole or not at all.
    assert sizes == {None, 1, 3, 4}


def imported_or_none(path: Path, **options: Any) -> int | None:
    try:
        return imported(path, **options)[1].requests
    except InputError:
        return None


def test_bailian_time_is_in_seconds(tmp_path: Path) -> None:
    rows = bailian([[1], [2], [3]])
    for at, row in enumerate(rows):
        row["timestamp"] = float(at)
    _, summary = imported(write(tmp_path / "b.jsonl", rows), start_s=1.0)
    assert summary.requests == 2


# Dynamo and AIPerf: aliases, sessions, rows without structure.


def test_dynamo_needs_a_block_size(tmp_path: Path) -> None:
    rows = dynamo([[1], [2]])[1:]
    path = write(tmp_path / "d.jsonl", rows)
    with pytest.raises(InputError, match="block_tokens: expected the size of a block"):
        imported(path)
    assert imported(path, block_tokens=SIZE)[1].format == "dynamo"


def test_turns_follow_by_delay(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"session_id": "a", "timestamp": 1000.5, "hash_ids": [1], "input_length": 64},
        {"session_id": "a", "delay": 500, "hash_ids": [1, 2], "input_length": 128},
        {"session_id": "a", "delay_ms": 600.0, "hash_ids": [1, 2, 3], "input_length": 192},
    ]
    path = write(tmp_path / "d.jsonl", rows)
    _, summary = imported(path, block_tokens=SIZE, start_s=2.0)
    assert summary.requests == 1
    assert summary.report.notes["turns timed by their delay alone"] == 2


def test_repeated_requests_and_rows_without_ids(tmp_path: Path) -> None:
    rows = dynamo([[1], [2]])
    rows += [rows[1], {"input_tokens": 5, "output_tokens": 1, "created_time": 1}]
    _, summary = imported(write(tmp_path / "d.jsonl", rows))
    assert summary.requests == 2
    assert summary.report.notes == {
        "header lines": 1,
        "repeated request ids (left out)": 1,
        "rows without structure (no ids)": 1,
    }


def test_local_ids_are_kept_apart_by_file(tmp_path: Path) -> None:
    rows = dynamo([[1, 2]])
    rows[0]["hash_id_scope"] = "local"
    files = [write(tmp_path / f"{name}.jsonl", rows) for name in "ab"]
    files[1].write_text(files[1].read_text(encoding="utf-8").replace("r0", "r9"), encoding="utf-8")
    assert imported(files)[0].n == 4
    rows[0]["hash_id_scope"] = "global"
    write(files[0], rows)
    assert imported(files[0])[0].n == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input_length": 5, "text_input": "x"}, "line 2: expected exactly one of input_length"),
        ({"messages": [], "hash_ids": [1]}, "line 2: expected no 'hash_ids' beside 'messages'"),
        ({"hash_ids": [1]}, "line 2: expected exactly one of .* got none"),
    ],
)
def test_aiperf_rows_give_one_prompt(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        imported(write(tmp_path / "a.jsonl", [{"text_input": "x"}, row, *mooncake([[1]])]))


def test_both_aliases_are_one_too_many(tmp_path: Path) -> None:
    row = {"input_length": 5, "input_tokens": 5, "hash_ids": [1], "session_id": "a"}
    with pytest.raises(InputError, match="line 1: expected one of input_length, input_tokens"):
        imported(write(tmp_path / "d.jsonl", [row]), block_tokens=5)


# LMCache: models, repeated lookups, bytes of a chunk.


def test_lmcache_says_what_a_chunk_weighs(tmp_path: Path) -> None:
    line = {"base_ms": 10, "per_prefix_token_ms": 0.1}
    worker = {"name": "w", "budget_gb": 64e-6, "goodput_gbps": 2, "recompute": line}
    bare = cluster_from_document({"workers": [worker]})
    path = write(tmp_path / "l.jsonl", lmcache([[1, 2]]))
    problem = import_traces([path], bare)[0][0].problem
    assert problem.tree.chunk_bytes == 2 * 5 * SIZE * 5 * 2
    assert problem.workers[0].budget == 10


def test_lmcache_models_and_repeats(tmp_path: Path) -> None:
    rows = lmcache([[1], [1], [1]])
    rows[1]["model_name"] = "other"
    rows[2]["request_id"] = "r0"
    problem, summary = imported(write(tmp_path / "l.jsonl", rows))
    assert problem.tree.keys == ("1", "other/1")
    assert summary.report.notes == {
        "rows of further models (their chunks kept apart)": 1,
        "repeated request ids (left out)": 1,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chunk_size": 32}, "line 2.chunk_size: expected 64 as before, got 32"),
        ({"chunk_size": 0}, "line 2.chunk_size: expected a whole number"),
        ({"chunk_hashes": "ab"}, "line 2.chunk_hashes: expected a list of ids"),
        ({"seq_len": -1}, "line 2.seq_len: expected a whole number of tokens"),
    ],
)
def test_lmcache_faults(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    rows = lmcache([[1], [2]])
    rows[1].update(change)
    with pytest.raises(InputError, match=message):
        imported(write(tmp_path / "l.jsonl", rows))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtypes": ["complex"]}, r"line 1.dtypes\[0\]: expected a type such as"),
        ({"dtypes": []}, "line 1.dtypes: expected 1 types, got 0"),
        ({"shapes": [[-1]]}, r"line 1.shapes\[0\]: expected a whole number"),
        ({"shapes": [[2**30, 2**30]]}, r"line 1.shapes: expected 1 to 2\*\*53 bytes"),
    ],
)
def test_lmcache_shapes(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    row = {**lmcache([[1]])[0], **change}
    with pytest.raises(InputError, match=message):
        imported(write(tmp_path / "l.jsonl", [row]))


# WEKA: local ids, subagents in both conventions of time.


def test_local_ids_mean_nothing_outside_their_conversation(tmp_path: Path) -> None:
    conversations = [{**weka([[1, 2], [1, 3]])[0], "id": f"c{at}"} for at in range(2)]
    path = write(tmp_path / "w.jsonl", conversations)
    assert imported(path)[0].n == 3
    for each in conversations:
        each["hash_id_scope"] = "local"
    problem, _ = imported(write(path, conversations))
    assert problem.n == 6
    for each in conversations:
        each["id"] = "same"
    assert imported(write(path, conversations))[0].n == 6


@pytest.mark.parametrize(("inner", "relative"), [(2.0, True), (12.0, False)])
def test_subagents_in_both_conventions_of_time(
    tmp_path: Path, inner: float, relative: bool
) -> None:
    conversation = weka([[1], [1, 2]])[0]
    conversation["requests"][1]["t"] = 20.0
    request = {"t": inner, "type": "n", "model": "m", "in": 128, "out": 1, "hash_ids": [1, 5]}
    marker = {"t": 10.0, "type": "subagent", "requests": [request]}
    conversation["requests"].append(marker)
    path = tmp_path / "w.json"
    path.write_text(json.dumps(conversation, indent=2), encoding="utf-8")
    problem, summary = imported(path, start_s=11.9, stop_s=12.1)
    assert summary.requests == 1
    assert problem.tree.keys == ("1", "5")
    note = "conversations whose nested requests are timed from their marker"
    assert (note in summary.report.notes) == relative
    # Requests come out in order of time: the subagent's between the other two.
    assert imported(path)[0].tree.keys == ("1", "5", "2")


def test_other_models_share_no_blocks(tmp_path: Path) -> None:
    conversation = weka([[1], [1]])[0]
    conversation["requests"][1]["model"] = "small"
    assert imported(write(tmp_path / "w.jsonl", [conversation]))[0].tree.keys == ("1", "small/1")


# KV events: wire shapes, and everything that goes wrong on the way.

STORE = {
    "type": "BlockStored",
    "block_hashes": [2**63 + 1, 5],
    "parent_block_hash": None,
    "token_ids": [1] * 128,
    "block_size": 64,
    "medium": "GPU",
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


POSITIONAL = ["BlockStored", [2**63 + 1, 5], None, [1] * 128, 64]
SHAPES: dict[str, Any] = {
    "arrays": [1.5, [POSITIONAL], 0],
    "array of maps": [1.5, [STORE]],
    "maps": {"ts": 1.5, "events": [STORE], "data_parallel_rank": 0},
    "sglang": [1.5, [[*POSITIONAL, None, "GPU"]]],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_wire_shapes_as_json_and_msgpack(tmp_path: Path, shape: str) -> None:
    value = SHAPES[shape]
    path = write(tmp_path / "e.jsonl", [value])
    expected = imported(path)[0]
    assert expected.tree.keys == (str(2**63 + 1), "5")
    raw = tmp_path / "e.msgpack"
    raw.write_bytes(packed(value))
    assert imported(raw)[0].digest == expected.digest
    framed = packed(["kv", (7).to_bytes(8, "big"), packed(value)])
    raw.write_bytes(framed)
    assert imported(raw)[0].digest == expected.digest
    text = base64.b64encode(packed(value)).decode()
    for wrapped in (
        ["kv", 7, value],
        {"topic": "kv", "seq": 7, "payload": text},
        {"seq": 7, "batch": value},
    ):
        assert imported(write(path, [wrapped]))[0].digest == expected.digest


def batches(*events: list[Any], step: float = 10.0) -> list[Any]:
    return [[at * step, each] for at, each in enumerate(events)]


def stored(hashes: list[Any], parent: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "type": "BlockStored",
        "block_hashes": hashes,
        "parent_block_hash": parent,
        "block_size": 64,
        **more,
    }


def test_pieces_of_a_prompt_are_one_request(tmp_path: Path) -> None:
    rows = batches(
        [stored(["a", "b"])],
        [stored(["c"], "b")],
        [stored(["d"], "c")],
        [stored(["x"], "b")],
        step=0.5,
    )
    problem, summary = imported(write(tmp_path / "e.jsonl", rows))
    assert summary.requests == 2
    assert problem.tree.keys == ("a", "b", "c", "d", "x")
    assert problem.demand.total().tolist() == [2, 2, 1, 1, 1]
    slow = batches([stored(["a", "b"])], [stored(["c"], "b")], step=60)
    assert imported(write(tmp_path / "e.jsonl", slow))[1].requests == 2


def test_parents_late_lost_and_contradicted(tmp_path: Path) -> None:
    rows = batches(
        [stored(["c", "d"], "b")],
        [stored(["z"], "never")],
        [stored(["a", "b"])],
        [stored(["c"], "a")],
        [stored(["e", "f", "e"])],
    )
    problem, summary = imported(write(tmp_path / "e.jsonl", rows))
    keys = problem.tree.keys
    assert keys is not None
    paths = {"".join(keys[c] for c in problem.tree.path(chunk)) for chunk in range(problem.n)}
    assert paths == {"a", "ab", "abc", "abcd", "e"}
    notes = summary.report.notes
    assert notes["stores before their parent's"] == 2
    assert notes["stores whose parent was never reported (left out)"] == 1
    assert notes["blocks reported below a second parent (the first is kept)"] == 2


def test_a_block_that_is_its_own_ancestor_does_no_harm(tmp_path: Path) -> None:
    rows = batches([stored(["a"], "a")], [stored(["b", "c"], "d")], [stored(["d"], "c")])
    with pytest.raises(InputError, match="expected requests, got none"):
        imported(write(tmp_path / "e.jsonl", rows))


def test_tiers_groups_removals_and_token_ids(tmp_path: Path) -> None:
    rows = batches(
        [stored(["a", "b"], token_ids=[1] * 200)],
        [stored(["a", "b"], medium="CPU_PINNED"), stored(["q"], group_idx=1)],
        [{"type": "BlockRemoved", "block_hashes": ["b"], "medium": "GPU"}],
        [stored(["b"], "a", token_ids=[1] * 10), stored(["a"])],
        [{"type": "AllBlocksCleared"}],
        [stored(["a"])],
    )
    problem, summary = imported(write(tmp_path / "e.jsonl", rows))
    assert problem.n == 2
    assert summary.report.notes == {
        "stores with more token ids than their blocks hold": 1,
        "stores with fewer token ids than their blocks hold": 1,
        "stores on other tiers (no request)": 1,
        "stores of further cache groups (left out)": 1,
        "blocks removed": 1,
        "blocks stored though held": 1,
        "caches cleared": 1,
    }
    assert summary.requests == 4


def test_gaps_and_late_joiners(tmp_path: Path) -> None:
    rows = [
        {"topic": topic, "seq": seq, "batch": [float(at), [stored([f"{topic}{at}"])]]}
        for at, (topic, seq) in enumerate([("a", 0), ("b", 5), ("a", 1), ("a", 4), ("b", 6)])
    ]
    _, summary = imported(write(tmp_path / "e.jsonl", rows))
    assert summary.report.notes == {
        "streams joined late": 1,
        "gaps in the sequence of batches": 1,
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0, [["BlockMoved", []]]], r"line 1.events\[0\]\[0\]: expected one of BlockStored"),
        ([1.0, [["BlockStored", 3]]], "block_hashes: expected a list of hashes"),
        (["x", [POSITIONAL]], "line 1.ts: expected a finite time"),
        ([1.0, [stored(["a"], block_size=None)]], "block_tokens: expected 'block_size'"),
        ([1.0, [POSITIONAL, stored(["b"], block_size=16)]], "expected 64 as before, got 16"),
        ({"seq": 1, "payload": "!!"}, "line 1.payload: expected base64"),
        ({"seq": 1, "payload": "kg=="}, "line 1.payload.*ends within it"),
        ({"seq": -1, "batch": SHAPES["arrays"]}, "line 1.seq: expected a whole number"),
    ],
)
def test_event_faults(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        imported(write(tmp_path / "e.jsonl", [row]))


# Files and rows in general.


def test_format_can_be_overridden(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", mooncake([[1]]))
    assert imported(path, format="aiperf")[1].format == "aiperf"


def test_unknown_rows_name_the_formats(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [{"x": 1}])
    with pytest.raises(InputError, match=r"t.jsonl: line 1: expected a trace in one of .*mooncake"):
        imported(path)
    assert sniff(list(read_rows(write(path, mooncake([[1]]))))) == "mooncake"


WRONG = {
    "torn": (b'{"timestamp": 1, "inp', "line 1: expected JSON"),
    "torn later": (
        b'{"timestamp":1,"input_length":1,"hash_ids":[1]}\n{"a',
        "line 2: expected JSON",
    ),
    "UTF-8": (b'{"timestamp": "\xff"}', "expected UTF-8"),
    "twice": (b'{"hash_ids": [1], "hash_ids": [2]}', "stands twice"),
    "NaN": (b'{"hash_ids": [1], "timestamp": NaN, "input_length": 1}', "expected finite numbers"),
    "huge": (
        b'{"hash_ids":[1],"timestamp":1e999,"input_length":1}',
        "timestamp: expected a finite",
    ),
    "id": (
        b'{"hash_ids": [1.5], "timestamp": 1, "input_length": 1}',
        r"hash_ids\[0\]: expected an id",
    ),
    "bool": (b'{"hash_ids": [true], "timestamp": 1, "input_length": 1}', "expected an id"),
    "long id": (
        b'{"hash_ids": [1' + b"0" * 400 + b'], "timestamp": 1, "input_length": 1}',
        r"hash_ids\[0\]: expected an id of at most 256 bits",
    ),
    "digits": (b'{"hash_ids": [1' + b"0" * 9000 + b"]}", "expected numbers that fit"),
    "deep": (b"[" * 100_000, "nests too deep"),
    "length": (b'{"hash_ids": [1], "timestamp": 1, "input_length": "5"}', "input_length: expected"),
    "empty": (b"", "expected requests, got none"),
    "text": (b"timestamp,hash_ids\n1,2\n", "expected JSON lines"),
    "truncated gzip": (gzip.compress(b"x" * 1000)[:-10], "expected a whole gzip file"),
    "truncated zstd": (zstandard.compress(bytes(range(256)) * 9)[:-5], "zstd file"),
    "damaged zstd": (b"\x28\xb5\x2f\xfd" + b"\xff" * 50, "expected a whole zstd file"),
    "msgpack": (b"\x93\x01", "value 1: expected a whole msgpack value"),
    "msgpack type": (b"\xc1", "value 1: expected plain msgpack"),
    "msgpack deep": (b"\x91" * 100_000, "value 1: expected msgpack at most 64 deep"),
    "msgpack long": (b"\xdd\xff\xff\xff\xff", "value 1: expected a whole msgpack value"),
    "msgpack bytes": (b"\xc6\xff\xff\xff\xff", "value 1: expected msgpack values of at most"),
}


@pytest.mark.parametrize("case", WRONG)
def test_every_fault_has_one_clear_error(case: str, tmp_path: Path) -> None:
    raw, message = WRONG[case]
    path = tmp_path / "trace"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=message) as caught:
        imported(path)
    assert caught.value.source == str(path)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("byte", [b"\n", b" ", b"{"], ids=["lines", "spaces", "one row"])
def test_bombs_do_not_go_off(tmp_path: Path, pack: Any, byte: bytes) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(byte * (80 * 2**20)))
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match=r"absurd size|rows of at most|empty lines"):
        imported(path)
