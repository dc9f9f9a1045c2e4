"""Trace files as streams of rows: plain, gzip or zstd; JSON lines, one JSON value, or msgpack.

Nothing is held but the row at hand. What a file unpacks to is bounded relative to its size, and so
is a row.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from prefixplace_opt.problem import InputError, SolverError
from prefixplace_opt.problem.file_bytes import (
    GZIP_FREE_BYTES,
    GZIP_MAGIC,
    GZIP_RATIO,
    opened,
)
from prefixplace_opt.problem.json_files import parse_json

from .msgpack import unpack_stream
from .request import Row

#: Most bytes of one row, and of a file that is one JSON value.
MOST_ROW_BYTES = 64 * 2**20
MOST_VALUE_BYTES = 512 * 2**20

#: Most lines too short to be a row; skipping millions of them is no reading.
MOST_SHORT_LINES = 1_000_000

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

#: Called now and then with the bytes of the file read so far.
OnBytes = Callable[[int], None]


def read_rows(path: str | os.PathLike[str], on_bytes: OnBytes | None = None) -> Iterator[Row]:
    """Yield the records of a trace file.

    A file of JSON lines gives its lines; one that holds a single JSON value gives that value, or
    the objects of a list of objects; anything else is taken as msgpack values one after another.

    Raises
    ------
    InputError
        Where the file cannot be read, is damaged, unpacks to an absurd size, or a record is no
        JSON; the error names file and line.
    """
    with opened(path) as file, _unpacked(file) as stream:
        bounded = _Bounded(stream, os.fstat(file.fileno()).st_size)
        for count, row in enumerate(_rows(bounded)):
            if on_bytes is not None and count % 256 == 0:
                on_bytes(file.tell())
            yield row


class _Bounded:
    """A stream of lines or bytes that ends with an error where it unpacks to too much."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._short = 0
        self._left = max(GZIP_FREE_BYTES, GZIP_RATIO * size)

    def readline(self) -> bytes:
        """Return the next line, empty at the end."""
        line = self._stream.readline(MOST_ROW_BYTES + 1)
        if len(line) > MOST_ROW_BYTES:
            raise InputError(f"expected rows of at most {MOST_ROW_BYTES} bytes, got a longer one")
        if len(line) < 3:
            self._short += 1
            if self._short > MOST_SHORT_LINES:
                raise InputError(f"expected rows, got over {MOST_SHORT_LINES} empty lines")
        return self._counted(line)

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, fewer only at the end."""
        return self._counted(self._stream.read(size))

    def _counted(self, raw: bytes) -> bytes:
        self._left -= len(raw)
        if self._left < 0:
            raise InputError(f"unpacks {self._size} bytes to an absurd size, which no trace does")
        return raw


def _rows(stream: _Bounded) -> Iterator[Row]:
    first = stream.readline()
    number = 1
    while first and not first.strip():
        first = stream.readline()
        number += 1
    start = first.lstrip()[:1]
    if not first:
        return
    if start not in (b"{", b"["):
        if start in (b'"', b"#", b"/") or first[:1].isalpha() or first[:3] == b"\xef\xbb\xbf":
            raise InputError("expected JSON lines, a JSON value or msgpack", field=f"line {number}")
        yield from _msgpack_rows(first, stream)
        return
    try:
        value = parse_json(first, first_line=number)
    except InputError as error:
        yield from _one_value(first, stream, number, error)
        return
    second = stream.readline()
    if isinstance(value, list) and _is_list_of_objects(value) and not second.strip():
        yield from (Row(f"[{at}]", item) for at, item in enumerate(value))
        return
    yield Row(f"line {number}", value)
    del value, first
    line = second
    while line:
        number += 1
        if not line.isspace():
            try:
                yield Row(f"line {number}", parse_json(line, first_line=number))
            except InputError as error:
                raise error.at(field=f"line {number}") if not error.source else error from None
        line = stream.readline()


def _one_value(first: bytes, stream: _Bounded, number: int, fault: InputError) -> Iterator[Row]:
    # The first line is no JSON: a value over several lines, or a fault in the first row.
    raw = bytearray(first)
    while part := stream.read(1 << 20):
        raw += part
        if len(raw) > MOST_VALUE_BYTES:
            raise InputError(
                f"expected JSON lines, or a JSON value of at most {MOST_VALUE_BYTES} bytes"
            )
    try:
        value = parse_json(bytes(raw), first_line=number)
    except InputError:
        raise fault.at(field=f"line {number}") from None
    if _is_list_of_objects(value):
        yield from (Row(f"[{at}]", item) for at, item in enumerate(value))
    else:
        yield Row(f"line {number}", value)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _msgpack_rows(first: bytes, stream: _Bounded) -> Iterator[Row]:
    pending = io.BytesIO(first)

    def read(size: int) -> bytes:
        raw = pending.read(size)
        return raw if len(raw) == size else raw + stream.read(size - len(raw))

    for number, value in enumerate(unpack_stream(read), start=1):
        yield Row(f"value {number}", value)


@contextmanager
def _unpacked(file: BinaryIO) -> Iterator[BinaryIO]:
    magic = file.read(4)
    file.seek(0)
    if magic[:2] == GZIP_MAGIC:
        with gzip.open(file, "rb") as stream:
            yield cast("BinaryIO", stream)
    elif magic == ZSTD_MAGIC:
        with _zstd(file) as stream:
            yield stream
    else:
        yield file


@contextmanager
def _zstd(file: BinaryIO) -> Iterator[BinaryIO]:
    try:
        import zstandard
    except ImportError:
        raise SolverError(
            "reading zstd needs the package zstandard: pip install 'prefixplace-opt[zstd]'"
        ) from None
    try:
        yield cast("BinaryIO", io.BufferedReader(_ZstdStream(file, zstandard), 1 << 20))
    except zstandard.ZstdError as error:
        raise InputError(f"expected a whole zstd file, but it is damaged: {error}") from None


class _ZstdStream(io.RawIOBase):
    """Frames one after another; unlike the library's own reader, it notices a truncated one."""

    #: Bytes unpacked at a step: a block of 128 KiB may take 4, so a step gives at most 32 MiB.
    STEP = 1024

    def __init__(self, file: BinaryIO, zstandard: Any) -> None:
        self._file = file
        self._fresh = zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._packed = b""
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._plain:
            step = self._packed or self._file.read(self.STEP)
            self._packed = b""
            if not step:
                if self._frame is not None:
                    raise InputError("expected a whole zstd file, but it is truncated")
                return 0
            if self._frame is None:
                self._frame = self._fresh()
            self._plain = memoryview(self._frame.decompress(step))
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        size = min(len(buffer), len(self._plain))
        buffer[:size] = self._plain[:size]
        self._plain = self._plain[size:]
        return size
