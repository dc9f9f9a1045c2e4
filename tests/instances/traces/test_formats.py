"""Every format: the same traffic gives the same instance; files and rows in general."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixplace_opt.instances.traces import FORMATS, read_rows, sniff
from prefixplace_opt.problem import InputError
from tests.instances.traces.writing import (
    SIZE,
    WRITERS,
    Path_,
    chained,
    imported,
    kv_events,
    mooncake,
    write,
)

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
