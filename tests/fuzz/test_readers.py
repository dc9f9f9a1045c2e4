"""Readers on broken input: mutated documents, mutated bytes, and files made to do harm."""

import copy
import gzip
import json
import resource
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import READERS, SEEDS, read

TOML_READERS = ["workers", "suite-file"]
JSON_READERS = [name for name in READERS if name not in (*TOML_READERS, "solution")]

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3.5, -0.0, 1e-320, 1e308, 1e16),
    *(2**31 - 1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**400),
    *(float("nan"), float("inf"), float("-inf")),
    *("", "x", "7", "\ud800", "\0", "requester", "dense", "BlockStored"),
    *([], {}, [[]], [[], []], [1, "a"], [None], [[1], [1, 2]], [0, 1, 2], {"": 0}, {"dense": []}),
    {"base64": "", "dtype": "<f8", "shape": [0, 10**30]},
    {"base64": "", "dtype": "<f8", "shape": [10**9, 0]},
    {"base64": "AAAAAAAA8H8=", "dtype": "<f8", "shape": [1]},
    {"base64": "AAAAAAAA+H8=", "dtype": "<f8", "shape": [1] * 70},
    {"base64": "AQAAAA==", "dtype": "<i4", "shape": []},
    {"base64": "//////////8=", "dtype": "<u8", "shape": [1]},
    {"base64": "AAAA", "dtype": "<f8", "shape": [-1]},
]


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    found = []
    todo = [document]
    while todo:
        node = todo.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            found.append((node, key))
            if isinstance(value, dict | list):
                todo.append(value)
    return found


def mutate(draw: Callable[..., Any], root: list[Any]) -> None:
    """Change one place of the document in ``root[0]``."""
    node, key = draw(st.sampled_from(places(root)))
    how = draw(st.sampled_from(["replace", "replace", "delete", "double", "wrap", "deep", "add"]))
    if how == "replace":
        node[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    elif how == "delete" and node is not root:
        del node[key]
    elif how == "double" and isinstance(node, list):
        node.append(copy.deepcopy(node[key]))
    elif how == "wrap":
        node[key] = [node[key]]
    elif how == "deep":
        for _ in range(draw(st.sampled_from([10, 70]))):
            node[key] = [node[key]]
    elif how == "add" and isinstance(node, dict):
        node[draw(st.text(max_size=3))] = copy.deepcopy(draw(st.sampled_from(ODD)))


@st.composite
def documents(draw: st.DrawFn, reader: str) -> bytes:
    """One of the reader's seeds with up to four mutations, as JSON lines."""
    lines = draw(st.sampled_from(SEEDS[reader])).decode().splitlines()
    root = [[json.loads(line) for line in lines]]
    for _ in range(draw(st.integers(1, 4))):
        mutate(draw, root)
    rows = root[0] if isinstance(root[0], list) else [root[0]]
    return "".join(json.dumps(row) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def toml(value: Any) -> str:
    """Write a value as inline TOML; null, which TOML has not, becomes text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        items = (f"{json.dumps(key)} = {toml(item)}" for key, item in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if value is None or isinstance(value, str):
        return json.dumps(value or "").replace("\\ud800", "\\u0000")
    return repr(value)


@st.composite
def toml_documents(draw: st.DrawFn, reader: str) -> bytes:
    """One of the reader's seeds with up to four mutations, as TOML."""
    root = [tomllib.loads(draw(st.sampled_from(SEEDS[reader])).decode())]
    for _ in range(draw(st.integers(1, 4))):
        mutate(draw, root)
    document = root[0] if isinstance(root[0], dict) else {"x": root[0]}
    lines = (f"{json.dumps(key)} = {toml(item)}\n" for key, item in document.items())
    return "".join(lines).encode("utf-8", "surrogatepass")


@st.composite
def corrupted(draw: st.DrawFn, reader: str) -> bytes:
    """One of the reader's seeds with bytes changed, cut, doubled or put in; perhaps packed."""
    raw = bytearray(draw(st.sampled_from(SEEDS[reader])))
    packing = draw(st.sampled_from(["plain", "plain", "gzip", "zstd", "gzip then break"]))
    if packing == "gzip then break":
        raw = bytearray(gzip.compress(bytes(raw), mtime=0))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(raw)))
        to = draw(st.integers(at, min(len(raw), at + 40)))
        how = draw(st.sampled_from(["change", "cut", "double", "insert", "end"]))
        if how == "change" and at < len(raw):
            raw[at] = draw(st.integers(0, 255))
        elif how == "cut":
            del raw[at:to]
        elif how == "double":
            raw[at:at] = raw[at:to]
        elif how == "insert":
            raw[at:at] = draw(
                st.sampled_from([b"[", b"{", b"\n", b"1e999", b"-", b"\xff", b'"', b"9" * 30])
            )
        elif how == "end":
            del raw[at:]
    if packing == "gzip":
        return gzip.compress(bytes(raw), mtime=0)
    return zstandard.compress(bytes(raw)) if packing == "zstd" else bytes(raw)


@pytest.mark.parametrize("reader", SEEDS)
def test_seeds_are_taken(reader: str) -> None:
    for raw in SEEDS[reader]:
        assert read(reader, raw)


@pytest.mark.parametrize("reader", JSON_READERS)
@settings(max_examples=60)
@given(data=st.data())
def test_mutated_documents(reader: str, data: st.DataObject) -> None:
    read(reader, data.draw(documents(reader)))


@pytest.mark.parametrize("reader", TOML_READERS)
@settings(max_examples=100)
@given(data=st.data())
def test_mutated_toml(reader: str, data: st.DataObject) -> None:
    read(reader, data.draw(toml_documents(reader)))


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=60)
@given(data=st.data())
def test_corrupted_bytes(reader: str, data: st.DataObject) -> None:
    read(reader, data.draw(corrupted(reader)))


@pytest.mark.parametrize("reader", READERS)
@given(raw=st.binary(max_size=60))
@settings(max_examples=60)
def test_noise(reader: str, raw: bytes) -> None:
    read(reader, raw)


def _array(shape: list[int], dtype: str = "<f8", text: str = "") -> bytes:
    array = {"base64": text, "dtype": dtype, "shape": shape}
    document = json.loads(SEEDS["instance"][0])
    document["demand"] = {"dense": array}
    return json.dumps(document).encode()


HOSTILE = {
    "gzip of zeros": gzip.compress(bytes(2**28)),
    "gzip of lines": gzip.compress(b"\n" * 2**26),
    "gzip of an array": gzip.compress(b"[" + b"0," * 2**25 + b"0]"),
    "zstd of zeros": zstandard.compress(bytes(2**28)),
    "deep list": b"[" * 100_000,
    "deep list closed": b"[" * 100_000 + b"]" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "deep toml": b"a = " + b"[" * 100_000,
    "deep toml table": b"[" + b"a." * 50_000 + b"a]",
    "huge integer": b'{"timestamp": 1' + b"0" * 400 + b"}",
    "longer integer": b'{"timestamp": 1' + b"0" * 100_000 + b"}",
    "huge exponent": b'{"timestamp": 1e999999999999}',
    "NaN": b'{"timestamp": NaN}',
    "double key": b'{"version": 1, "version": 1}',
    "not UTF-8": b'{"format": "\xff\xfe"}',
    "shape too large": _array([2**62, 4]),
    "shape lies": _array([2, 3], text="AAAA"),
    "shape of nothing": _array([0, 10**30]),
    "shape of many": _array([1] * 200, text="AAAAAAAAAAA="),
    "shape negative": _array([-1]),
    "msgpack array": b"\xdd\xff\xff\xff\xff" * 1000,
    "msgpack bytes": b"\xc6\x3f\xff\xff\xff" + b"x" * 100,
    "zero byte": b"\0" * 1000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_end_soon_and_small(case: str) -> None:
    raw = HOSTILE[case]
    for reader in READERS if len(raw) < 500 else ("instance", "workers", "trace", "kv-events"):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert not read(reader, raw)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 2**10


def _with(reader: str, key: str, value: Any) -> bytes:
    rows = [json.loads(line) for line in SEEDS[reader][0].splitlines()]
    return "".join(json.dumps({**row, key: value}) + "\n" for row in rows).encode()


#: What fuzzing found, and mending made an error of the product's own.
FOUND = {
    "placement value beyond doubles": ("placement", _with("placement", "value", 10**400)),
    "time beyond doubles": ("mooncake", _with("mooncake", "timestamp", 10**400)),
    "delay beyond doubles": ("dynamo", _with("dynamo", "delay", 10**400)),
    "bound beyond doubles": ("best-known", b'[{"instance": "a", "optimum": 1' + b"0" * 400 + b"}]"),
    "bound that is no number": ("best-known", b'[{"instance": "a", "optimum": "nan"}]'),
    "parameter beyond doubles": (
        "suite-file",
        SEEDS["suite-file"][0].replace(b"[3, 4]", b"1" + b"0" * 400),
    ),
    "lists that multiply to billions": (
        "suite-file",
        b'name = "x"\n[[instances]]\nfamily = "rag"\n'
        + b"".join(
            name + b" = [" + b"2," * 500 + b"]\n"
            for name in (b"documents", b"seed", b"workers", b"goodput_gbps")
        ),
    ),
    "lists in lists": (
        "workers",
        SEEDS["workers"][0].replace(b"[5, 9]", b"[" * 60 + b'{"a" = 1}' + b"]" * 60),
    ),
    "goodput as one number": (
        "instance",
        _with(
            "instance",
            "fetch",
            {"goodput_gbps": {"base64": "AAAAAAAA8D8=", "dtype": "<f8", "shape": []}},
        ),
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_fuzzing_found(case: str) -> None:
    reader, raw = FOUND[case]
    assert not read(reader, raw)
