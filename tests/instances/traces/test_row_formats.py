"""What is particular to each format of rows: each trap is handled and told."""

import json
from pathlib import Path
from typing import Any

import pytest

from prefixplace_opt.instances.clusters import cluster_from_document
from prefixplace_opt.instances.trace_import import import_traces
from prefixplace_opt.problem import InputError
from tests.instances.traces.writing import (
    SIZE,
    bailian,
    dynamo,
    imported,
    lmcache,
    mooncake,
    weka,
    write,
)

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
