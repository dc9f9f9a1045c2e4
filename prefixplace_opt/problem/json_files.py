"""Strict JSON in and out: duplicate keys, NaN and unknown members do not get through."""

from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING, Any, cast

from .errors import InputError, expect, shorten
from .file_bytes import read_bytes, write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file, gzipped or not, and return its content.

    Raises
    ------
    InputError
        Where the file cannot be opened, is truncated, unpacks to an absurd size, is not UTF-8 or
        not JSON, nests too deep, repeats a key or holds NaN or Infinity.
    """
    raw = read_bytes(path)
    try:
        return parse_json(raw)
    except InputError as error:
        raise error.at(source=os.fspath(path)) from None


def parse_json(raw: bytes, *, first_line: int = 1) -> Any:
    """Parse UTF-8 JSON; ``first_line`` is where it stands in its file, for messages.

    Raises
    ------
    InputError
        As :func:`read_json` does.
    """
    try:
        document = _decode(raw.decode("utf-8-sig"))
        if b"\\ud" in raw or b"\\uD" in raw:
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8 text, but byte {error.start} is none") from None
    except UnicodeEncodeError:
        raise InputError("expected text, but a string holds half of a surrogate pair") from None
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
    if b"NaN" in raw or b"Infinity" in raw:
        _refuse(document)
    return document


def write_json(path: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    """Write ``document`` as UTF-8 JSON, gzipped where the name ends in ``.gz``, all or nothing.

    The same document gives the same bytes (gzip without time stamp or name).

    Raises
    ------
    InputError
        Where the document is no JSON, or the file cannot be written.
    """
    expect(path, str, os.PathLike, field="path")
    try:
        text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        raw = (text + "\n").encode("utf-8")
    except (TypeError, ValueError) as error:
        # UnicodeEncodeError is a ValueError; free-form provenance may hold anything.
        raise InputError(f"cannot be written as JSON: {error}", source=os.fspath(path)) from None
    if os.fspath(path).endswith(".gz"):
        raw = gzip.compress(raw, compresslevel=6, mtime=0)
    write_bytes(path, raw)


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


class _RepeatedKeyError(Exception):
    """An object has a key twice."""


class _Refused(str):
    """What a file may not hold, kept until it is known where it stands."""

    __slots__ = ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _RepeatedKeyError
    return result


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        twice = key in result
        result[key] = _Refused("the key stands twice in its object") if twice else value
    return result


def _constant(name: str) -> _Refused:
    return _Refused(f"expected finite numbers, got {name}")


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except _RepeatedKeyError:
        document = _MARKING_DECODER.decode(text)
    _refuse(document)
    raise AssertionError("a repeated key was not found again")


def _refuse(document: Any) -> None:
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        field, value = waiting.pop()
        if isinstance(value, _Refused):
            raise InputError(str(value), field=field)
        if isinstance(value, dict):
            named = ((key or '""', item) for key, item in value.items())
            waiting += [(f"{field}.{key}" if field else key, item) for key, item in named]
        elif isinstance(value, list):
            waiting += [(f"{field}[{at}]", item) for at, item in enumerate(value)]


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
_MARKING_DECODER = json.JSONDecoder(object_pairs_hook=_marked, parse_constant=_constant)
