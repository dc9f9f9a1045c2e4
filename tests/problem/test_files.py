import base64
import copy
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given

import prefixplace_opt as pp
from prefixplace_opt.problem import InputError, objective_value
from prefixplace_opt.problem.instance_file import document_of_problem, problem_from_document
from prefixplace_opt.problem.json_arrays import numeric, packed
from prefixplace_opt.problem.json_files import read_json, write_json
from prefixplace_opt.problem.placement_file import document_of_placement, placement_from_document
from prefixplace_opt.problem.schema import schema
from tests.strategies import problems

SMALL: dict[str, Any] = {
    "format": "prefixplace-instance",
    "version": 1,
    "name": "two workers",
    "objective": "requester",
    "tree": {"parents": [1, -1, 1], "chunk_tokens": 16, "chunk_bytes": 2_000_000},
    "workers": [
        {"name": "a", "budget": 2},
        {"name": "b", "budget": 1, "hardware": "L4", "compatibility": "x"},
    ],
    "demand": {"sparse": {"worker": [0, 1, 0], "chunk": [1, 0, 1], "value": [2, 3, 0.5]}},
    "recompute": {"affine": {"base": [10, 20], "per_prefix_token": [0.25, 0.5]}},
    "fetch": {"goodput_gbps": [4, 0], "latency_ms": [1, 2]},
}


def changed(**changes: Any) -> dict[str, Any]:
    """SMALL with entries replaced by dotted path (`tree__parents`); `...` deletes one."""
    document = copy.deepcopy(SMALL)
    for path, value in changes.items():
        *outer, last = path.split("__")
        target: Any = document
        for key in outer:
            target = target[int(key)] if key.isdigit() else target[key]
        if value is ...:
            del target[last]
        else:
            target[last] = value
    return document


def test_numbers_are_those_of_the_file() -> None:
    problem = problem_from_document(SMALL)
    assert problem.demand.dense().tolist() == [[0, 2.5, 0], [3, 0, 0]]
    # Chunk 0 is below chunk 1, so 16 tokens come before it; entries are (0, 1) and (1, 0).
    assert problem.recompute_costs.tolist() == [10, 20 + 0.5 * 16]
    assert problem.fetch_costs(0).tolist() == [2_000_000 * 8 / (4 * 1e6) + 1, np.inf]


@given(problems(integral=False))
def test_round_trip(problem: pp.Problem) -> None:
    document = json.loads(json.dumps(document_of_problem(problem), allow_nan=False))
    again = problem_from_document(document)
    assert again.digest == problem.digest
    held = np.ones((problem.m, problem.n), dtype=bool)
    assert objective_value(again, held) == objective_value(problem, held)


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_files_round_trip_to_the_byte(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    problem = problem_from_document(SMALL)
    pp.write_problem(problem, path)
    first = path.read_bytes()
    assert pp.read_problem(path).digest == problem.digest
    pp.write_problem(pp.read_problem(path), path)
    assert path.read_bytes() == first
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_handed_cases_round_trip(case_path: Path, tmp_path: Path) -> None:
    problem = pp.read_problem(case_path)
    pp.write_problem(problem, tmp_path / "x.json.gz")
    assert pp.read_problem(tmp_path / "x.json.gz").digest == problem.digest


def test_digest_is_of_the_content_alone() -> None:
    digest = problem_from_document(SMALL).digest
    same = [
        {"name": "other"},
        {"provenance": {"seed": 3}},
        {"workers__1__hardware": "A100"},
        {"demand": {"dense": [[-0.0, 2.5, 0], [3, 0, 0]]}},
    ]
    other: list[dict[str, Any]] = [
        {"objective": "pairwise"},
        {"tree__parents": [-1, -1, 1]},
        {"tree__chunk_tokens": 17},
        {"tree__chunk_bytes": 2_000_001},
        {"tree__keys": ["a", "b", "c"]},
        {"workers__0__name": "c"},
        {"workers__0__budget": 1},
        {"workers__0__compatibility": "x"},
        {"demand__sparse__value": [2, 3, 0.25]},
        {"recompute": 3},
        {"fetch__latency_ms": [1, 3]},
    ]
    assert {problem_from_document(changed(**change)).digest for change in same} == {digest}
    digests = {problem_from_document(changed(**change)).digest for change in other}
    assert len(digests) == len(other)
    assert digest not in digests


def test_digest_is_fixed() -> None:
    # The same on every machine and in every release that writes version 1.
    assert problem_from_document(SMALL).digest == (
        "919ae678ecf2e0d0a63bc7cde2abe8f27641872ec0d10775d1f29414c13fefd5"
    )


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"format": "else"}, "format", "prefixplace-instance"),
    ({"version": 2}, "version", "expected version 1, got 2"),
    ({"version": True}, "version", "expected version 1"),
    ({"extra": 1}, "", "unknown key 'extra'"),
    ({"tree": ...}, "", "missing key 'tree'"),
    ({"objective": "both"}, "objective", "'both'"),
    ({"objective": ["requester"]}, "objective", "expected 'requester'"),
    ({"name": 3}, "name", "string"),
    ({"provenance": 3}, "provenance", "object"),
    ({"tree__parents": [1, 0, 1]}, "tree.parents[0]", "cycle"),
    ({"tree__parents": [1, -1, 3]}, "tree.parents[2]", "got 3"),
    ({"tree__parents": [1, None, 1]}, "tree.parents[1]", "null"),
    ({"tree__parents": "abc"}, "tree.parents", "array of numbers"),
    ({"tree__chunk_tokens": 0}, "tree.chunk_tokens", "from 1"),
    ({"tree__chunk_bytes": ...}, "fetch.goodput_gbps", "chunk_bytes"),
    ({"tree__keys": ["a"]}, "tree.keys", "one key a chunk"),
    ({"tree__keys": ["a", 1, "c"]}, "tree.keys[1]", "string"),
    ({"tree__shape": 1}, "tree", "unknown key 'shape'"),
    ({"workers": []}, "workers", "at least one"),
    ({"workers__0__budget": 1.5}, "workers[0].budget", "got 1.5"),
    ({"workers__0__budget": -1}, "workers[0].budget", "got -1"),
    ({"workers__0__budget": True}, "workers[0].budget", "True"),
    ({"workers__0__budget": "3"}, "workers[0].budget", "'3'"),
    ({"workers__0__speed": 1}, "workers[0]", "unknown key 'speed'"),
    ({"workers__0__name": "b"}, "workers[1].name", "unique"),
    ({"workers__0__name": ""}, "workers[0].name", "non-empty"),
    ({"demand": {"dense": [[1, 2], [3, 4]]}}, "demand.dense", r"\(2, 3\)"),
    ({"demand": {"dense": [[1, 2, 3], [4, 5]]}}, "demand.dense", "equal length"),
    ({"demand": {"dense": [[1, 2, 3], [4, -5, 6]]}}, "demand.dense[1][1]", "got -5"),
    ({"demand": {"dense": [[1, 2, 3], [4, 10**400, 6]]}}, "demand.dense[1][1]", "finite"),
    ({"demand": {"dense": [[1, 2, 3], [4, None, 6]]}}, "demand.dense[1][1]", "null"),
    ({"demand": {"dense": [[1, 2, 3], [4, True, 6]]}}, "demand.dense[1][1]", "True"),
    ({"demand": {"other": []}}, "demand", "dense, sparse"),
    ({"demand__sparse__chunk": [1, 3, 1]}, "demand.sparse.chunk[1]", "got 3"),
    ({"demand__sparse__worker": [0, 2, 0]}, "demand.sparse.worker[1]", "got 2"),
    ({"demand__sparse__value": [1]}, "demand.sparse", "equal length"),
    ({"demand__sparse__value": [1e300, 3, 1e300]}, "demand", "more than a double"),
    (
        {"demand__sparse__value": [1, 1e-310, 1]},
        "demand",
        "too small .* got 1e-310 times .* for chunk [012] at worker [01]",
    ),
    ({"recompute": None}, "recompute", "None"),
    ({"recompute": -1}, "recompute", ">= 0"),
    ({"recompute": {"dense": [[1, 2, 3]]}}, "recompute.dense", r"\(2, 3\)"),
    ({"recompute": {"dense": [[1, 2, 3], [1, 2, None]]}}, "recompute.dense[1][2]", "null"),
    ({"recompute": {"pairwise": []}}, "recompute", "dense, affine, table"),
    ({"recompute__affine__base": [1]}, "recompute.affine.base", r"\(2,\)"),
    (
        {"recompute": {"table": {"prefix_tokens": [0, 0], "cost": [[1, 2], [1, 2]]}}},
        "recompute.table.prefix_tokens",
        "increasing",
    ),
    (
        {"recompute": {"table": {"prefix_tokens": [0, 9], "cost": [[1, 2]]}}},
        "recompute.table.cost",
        "shape",
    ),
    ({"fetch": {"goodput_gbps": [1, 2]}}, "fetch", "latency_ms"),
    ({"fetch__goodput_gbps": [1, 2, 3]}, "fetch.goodput_gbps", r"\(2,\)"),
    (
        {"fetch": {"goodput_gbps": [[1, 2]] * 2, "latency_ms": [[0, 0]] * 2}},
        "objective",
        "pairwise",
    ),
    ({"fetch": {"pairwise": [[[1, 2, 3]] * 2] * 2}}, "objective", "pairwise"),
    ({"fetch": {"dense": [[1, None, 3], [1, 2]]}}, "fetch.dense", "equal length"),
    (
        {"fetch": {"dense": {"base64": "AAAA", "dtype": "<f8", "shape": [2, 3]}}},
        "fetch.dense.base64",
        "48 bytes",
    ),
    (
        {"fetch": {"dense": {"base64": "A?==", "dtype": "<f8", "shape": [2, 3]}}},
        "fetch.dense.base64",
        "base64",
    ),
    (
        {"fetch": {"dense": {"base64": "", "dtype": "object", "shape": [2, 3]}}},
        "fetch.dense.dtype",
        "<f8",
    ),
    (
        {"fetch": {"dense": {"base64": "", "dtype": "<f8", "shape": [-2, 3]}}},
        "fetch.dense.shape",
        "sizes",
    ),
]


@pytest.mark.parametrize(("change", "field", "message"), WRONG)
def test_what_is_wrong_is_named(
    change: dict[str, Any], field: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(changed(**change)), encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        pp.read_problem(path)
    assert (raised.value.field, raised.value.source) == (field, str(path))
    assert str(raised.value).startswith(f"{path}: {field}")


def test_null_is_not_fetchable() -> None:
    fetch = {"dense": [[1, None, 3], [4, 2, 3]]}
    problem = problem_from_document(changed(fetch=fetch, workers__1__compatibility=...))
    # Entries: worker 0 needs chunk 1, worker 1 needs chunk 0.
    assert problem.fetch_costs(1)[0] == np.inf
    assert problem.fetch_costs(0)[1] == 4


def test_too_large_a_number_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    text = json.dumps(changed(demand={"dense": [[1, 2, 3], [4, 5, 6]]}))
    path.write_text(text.replace("[4, 5, 6]", "[4, 1e999, 6]"), encoding="utf-8")
    with pytest.raises(InputError, match="finite number >= 0, got inf") as raised:
        pp.read_problem(path)
    assert raised.value.field == "demand.dense[1][1]"


def damaged(make: Callable[[bytes], bytes]) -> bytes:
    return make(json.dumps(SMALL).encode())


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "expected JSON"),
        (b"{", "line 1 column 2"),
        (b"\xff\xfe", "UTF-8"),
        (damaged(lambda raw: gzip.compress(raw)[:-9]), "damaged"),
        (damaged(lambda raw: gzip.compress(raw)[:40] + b"\0" * 40), "damaged"),
        (gzip.compress(b" " * 2**27), "unpacks"),
        (b"[" * 100_000, "too deep"),
        (b'{"a": 1, "a": 2}', "a: the key stands twice"),
        (b'{"": {"a": 1, "a": 2}}', '"".a: the key stands twice'),
        (b'{"b": [0, {"a": 1, "a": 2}]}', r"b\[1\]\.a: the key stands twice"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "Infinity"),
        (b"[" + b"9" * 5000 + b"]", "fit a double"),
        (b"3", "object"),
    ],
    ids=range(14),
)
def test_damaged_files_are_named(raw: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=message) as raised:
        pp.read_problem(path)
    assert raised.value.source == str(path)


def test_missing_file_and_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            pp.read_problem(path)
    problem = problem_from_document(SMALL)
    for path in (tmp_path / "no" / "such.json", tmp_path):
        with pytest.raises(InputError, match="cannot be written"):
            pp.write_problem(problem, path)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"old": True})

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InputError, match="No space left"):
        write_json(path, {"new": True})
    assert read_json(path) == {"old": True}
    assert os.listdir(tmp_path) == ["x.json"]  # noqa: PTH208


@pytest.mark.parametrize("dtype", ["f8", "i4", "i8"])
@pytest.mark.parametrize("size", [0, 3, 5000])
def test_arrays_survive_packing(dtype: str, size: int) -> None:
    array = np.arange(size, dtype=dtype) * (3 if dtype == "i4" else 2**20)
    restored = np.asarray(numeric(json.loads(json.dumps(packed(array))), "x"))
    assert restored.tolist() == array.tolist()


def test_large_arrays_are_little_endian_base64() -> None:
    entry = packed(np.arange(5000, dtype=">f8"))
    assert (entry["dtype"], entry["shape"]) == ("<f8", [5000])
    raw = base64.b64decode(entry["base64"])
    assert np.frombuffer(raw, "<f8").tolist() == list(range(5000))


PLACEMENT: dict[str, Any] = {
    "format": "prefixplace-placement",
    "version": 1,
    "objective": "requester",
    "resident": [[1], []],
    "value": 25,
}


def placement_document(**changes: Any) -> dict[str, Any]:
    return {**PLACEMENT, "instance": problem_from_document(SMALL).digest, **changes}


def test_placement_round_trip(tmp_path: Path) -> None:
    problem = problem_from_document(SMALL)
    placement = placement_from_document(placement_document(), problem)
    assert placement.value == 2.5 * 10
    pp.write_placement(placement, tmp_path / "p.json")
    assert pp.read_placement(tmp_path / "p.json", problem) == placement
    assert document_of_placement(placement) == placement_document(value=25.0)


def test_value_of_a_placement_made_by_hand_may_be_left_out() -> None:
    document = placement_document()
    del document["value"]
    jsonschema.validate(document, schema("placement"))
    assert placement_from_document(document, problem_from_document(SMALL)).value == 25.0


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"instance": "0" * 64}, "instance", "another instance"),
        ({"instance": 3}, "instance", "another instance"),
        ({"objective": "pairwise"}, "objective", "requester"),
        ({"resident": [[1]]}, "resident", "2 workers"),
        ({"resident": {}}, "resident", "list of lists"),
        ({"resident": [[3], []]}, "resident[0][0]", "got 3"),
        ({"resident": [[-1], []]}, "resident[0][0]", "got -1"),
        ({"resident": [[1, 1], []]}, "resident[0]", "more than once"),
        ({"resident": [[0], []]}, "resident[0]", "without its parent 1"),
        ({"resident": [[], [1, 0]]}, "resident[1]", "budget of 1"),
        ({"resident": [["x"], []]}, "resident[0][0]", "number"),
        ({"value": 25.1}, "value", "expected 25.0"),
        ({"value": None}, "value", "expected 25.0"),
        ({"extra": 0}, "", "unknown key"),
        ({"version": 0}, "version", "version 1"),
    ],
)
def test_wrong_placements_are_named(change: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        placement_from_document(placement_document(**change), problem_from_document(SMALL))
    assert raised.value.field == field
