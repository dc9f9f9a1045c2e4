"""KV events: wire shapes, and everything that goes wrong on the way."""

import base64
from pathlib import Path
from typing import Any

import pytest

from prefixplace_opt.problem import InputError
from tests.instances.traces.writing import imported, packed, write

STORE = {
    "type": "BlockStored",
    "block_hashes": [2**63 + 1, 5],
    "parent_block_hash": None,
    "token_ids": [1] * 128,
    "block_size": 64,
    "medium": "GPU",
}


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
