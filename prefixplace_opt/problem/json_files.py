"""Strict JSON in and out: duplicate keys, NaN, bombs and half-written files do not get through."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import os
import tempfile
import zlib
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from .errors import InputError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

#: A gzip file may unpack to this many bytes whatever its size, and beyond that to
#: ``GZIP_RATIO`` times its size: our own files pack 5 to 40 times, a bomb 1,000 times.
GZIP_FREE_BYTES = 64 * 2**20
GZIP_RATIO = 200

#: Numeric arrays of at least this many entries are written as base64.
BASE64_FROM = 4096


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file, gzipped or not, and return its content.

    Raises
    ------
    InputError
        Where the file cannot be opened, is truncated, unpacks to an absurd size, is not UTF-8 or
        not JSON, nests too deep, repeats a key or holds NaN or Infinity.
    """
    source = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            raw = _unpacked(file, os.fstat(file.fileno()).st_size)
    except InputError as error:
        raise error.at(source=source) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"expected a whole gzip file, but it is damaged: {error}", source=source
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=source) from None
    try:
        return parse_json(raw)
    except InputError as error:
        raise error.at(source=source) from None


def parse_json(raw: bytes, *, first_line: int = 1) -> Any:
    """Parse UTF-8 JSON; ``first_line`` is where it stands in its file, for messages.

    Raises
    ------
    InputError
        As :func:`read_json` does.
    """
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8 text, but byte {error.start} is none") from None
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise InputError(
            f"expected JSON, but line {line} column {error.colno}: {error.msg}"
        ) from None
    except RecursionError:
        raise InputError("expected JSON of reasonable depth, but it nests too deep") from None
    except InputError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise InputError(f"expected numbers that fit a double: {error}") from None


def write_json(path: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    """Write ``document`` as UTF-8 JSON, gzipped where the name ends in ``.gz``, all or nothing.

    The same document gives the same bytes (gzip without time stamp or name).
    """
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    raw = text.encode("utf-8")
    if os.fspath(path).endswith(".gz"):
        raw = gzip.compress(raw, compresslevel=6, mtime=0)
    write_bytes(path, raw)


def write_bytes(path: str | os.PathLike[str], raw: bytes) -> None:
    """Write a file so that a reader finds the old content or the new one, never a part.

    Raises
    ------
    InputError
        Where the file cannot be written.
    """
    with replacing(path) as file:
        file.write(raw)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write, which takes the place of ``path`` when the block ends without error.

    Raises
    ------
    InputError
        Where the file cannot be written.
    """
    target = Path(path)
    temporary = ""
    try:
        if target.exists() and not target.is_file():
            # A device or pipe (/dev/stdout) cannot be replaced by renaming.
            if target.is_dir():
                raise InputError("cannot be written: it is a directory", source=os.fspath(path))
            with target.open("wb") as file:
                yield file
            return
        descriptor, temporary = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".part"
        )
        with os.fdopen(descriptor, "wb") as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(target)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}", source=os.fspath(path)
        ) from None
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def members(
    value: Any, field: str, *, required: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Return ``value`` as an object with exactly the known keys; the error names a key at fault."""
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {shorten(value)}", field=field)
    for key in value:
        if key not in required and key not in optional:
            known = ", ".join([*required, *optional])
            raise InputError(f"unknown key {shorten(key)}; expected one of {known}", field=field)
    for key in required:
        if key not in value:
            raise InputError(f"missing key {key!r}", field=field)
    return cast("dict[str, Any]", value)


def check_format(document: Any, name: str, version: int = 1) -> None:
    """Require ``"format": name`` and ``"version": version``."""
    if not isinstance(document, dict):
        raise InputError(f"expected an object, got {shorten(document)}")
    if document.get("format") != name:
        raise InputError(
            f"expected {name!r}, got {shorten(document.get('format'))}", field="format"
        )
    found = document.get("version")
    if found != version or isinstance(found, bool):
        raise InputError(f"expected version {version}, got {shorten(found)}", field="version")


def numeric(value: Any, field: str, *, null: float | None = None) -> Any:
    """Return a JSON array of numbers, nested lists or base64, ready for a numpy conversion.

    ``null`` is what a JSON null stands for (infinity in a fetch table); None forbids it.
    """
    if isinstance(value, dict):
        return _from_base64(value, field)
    if not isinstance(value, list):
        raise InputError(f"expected an array of numbers, got {shorten(value)}", field=field)
    return _plain_numbers(value, field, null)


def packed(array: NDArray[Any]) -> Any:
    """Return ``array`` as JSON: nested lists while small, base64 of little-endian bytes above.

    Infinity becomes null.
    """
    if array.size < BASE64_FROM:
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return _nulls(array.tolist())
        return _shortest(array)
    if array.dtype.kind == "f":
        kind = "<f8"
    else:
        kind = "<i4" if array.size and array.min() >= -(2**31) and array.max() < 2**31 else "<i8"
    raw = np.ascontiguousarray(array, dtype=kind).tobytes()
    return {
        "base64": base64.b64encode(raw).decode("ascii"),
        "dtype": kind,
        "shape": list(array.shape),
    }


def _shortest(array: NDArray[Any]) -> Any:
    # Whole doubles read better, and shorter, as integers: 3 instead of 3.0.
    if (
        array.dtype.kind == "f"
        and (array == np.floor(array)).all()
        and (np.abs(array) < 2**53).all()
    ):
        return array.astype(np.int64).tolist()
    return array.tolist()


def _nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_nulls(item) for item in value]
    return None if value == float("inf") else value


def _plain_numbers(value: list[Any], field: str, null: float | None) -> list[Any]:
    kinds = set(map(type, value))
    if kinds <= {int, float}:
        return value
    result: list[Any] = []
    for at, item in enumerate(value):
        if isinstance(item, list):
            result.append(_plain_numbers(item, f"{field}[{at}]", null))
        elif item is None and null is not None:
            result.append(null)
        elif type(item) in (int, float):
            result.append(item)
        else:
            raise InputError(
                f"expected a number, got {'null' if item is None else shorten(item)}",
                field=f"{field}[{at}]",
            )
    return result


def _from_base64(value: dict[str, Any], field: str) -> NDArray[Any]:
    members(value, field, required=("base64", "dtype", "shape"))
    kinds = ("<f8", "<f4", "<i4", "<i8", "<u4", "<u8")
    if value["dtype"] not in kinds:
        raise InputError(
            f"expected one of {', '.join(kinds)}, got {shorten(value['dtype'])}",
            field=f"{field}.dtype",
        )
    shape = value["shape"]
    sizes = isinstance(shape, list) and all(type(size) is int for size in shape)
    if not sizes or not 1 <= len(shape) <= 3 or not all(0 <= size < 2**48 for size in shape):
        raise InputError(
            f"expected a list of one to three sizes, got {shorten(shape)}", field=f"{field}.shape"
        )
    if not isinstance(value["base64"], str):
        raise InputError(
            f"expected a string, got {shorten(value['base64'])}", field=f"{field}.base64"
        )
    try:
        raw = base64.b64decode(value["base64"].encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise InputError(f"expected base64: {error}", field=f"{field}.base64") from None
    kind = np.dtype(value["dtype"])
    expected = kind.itemsize
    for size in shape:
        expected *= size
    if len(raw) != expected:
        raise InputError(
            f"expected {expected} bytes for shape {shorten(shape)}, got {len(raw)}",
            field=f"{field}.base64",
        )
    return np.frombuffer(raw, dtype=kind).reshape(shape)


def _unpacked(file: BufferedReader, size: int) -> bytes:
    # A pipe cannot be rewound, so the first bytes are looked at without being read.
    if file.peek(2)[:2] != b"\x1f\x8b":
        return file.read()
    limit = max(GZIP_FREE_BYTES, GZIP_RATIO * size)
    with gzip.open(file, "rb") as stream:
        parts = []
        total = 0
        while part := stream.read(1 << 20):
            total += len(part)
            if total > limit:
                raise InputError(
                    f"unpacks {size} bytes to more than {limit}, which no file of this format does"
                )
            parts.append(part)
    return b"".join(parts)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f"the key {shorten(key)} stands twice in one object")
            seen.add(key)
    return result


def _no_constant(name: str) -> Any:
    raise InputError(f"expected finite numbers, got {name}")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
