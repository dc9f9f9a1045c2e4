"""A small strict decoder of msgpack, for recorded event streams: bounded depth and sizes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from prefixplace_opt.problem import InputError

Read = Callable[[int], bytes]

MOST_DEPTH = 64
#: Most bytes of one string, and most bytes read for one value.
MOST_VALUE_BYTES = 64 * 2**20

_SCALARS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_LENGTHS = {
    0xC4: (">B", "bin"),
    0xC5: (">H", "bin"),
    0xC6: (">I", "bin"),
    0xD9: (">B", "str"),
    0xDA: (">H", "str"),
    0xDB: (">I", "str"),
    0xDC: (">H", "array"),
    0xDD: (">I", "array"),
    0xDE: (">H", "map"),
    0xDF: (">I", "map"),
}


def unpack(raw: bytes) -> Any:
    """Return the one value that ``raw`` holds; raises InputError where it holds less or more."""
    values = unpack_stream(_reader(raw))
    try:
        value = next(values)
    except StopIteration:
        raise InputError("expected a msgpack value, got nothing") from None
    if next(values, None) is not None:
        raise InputError("expected one msgpack value, got more")
    return value


def unpack_stream(read: Read) -> Iterator[Any]:
    """Yield the values that stand one after another.

    ``read(size)`` returns ``size`` bytes, fewer only at the end. Map keys must be strings, bytes or
    numbers, and differ. Extension types are refused.

    Raises
    ------
    InputError
        For anything that is not well-formed, is too deep or too large, or ends in the middle.
    """
    number = 0
    while head := read(1):
        number += 1
        try:
            yield _Value(read).rest(head[0], 0)
        except InputError as error:
            raise error.at(field=f"value {number}") from None


class _Value:
    """Decodes one value, counting what it reads."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._left = MOST_VALUE_BYTES

    def rest(self, head: int, depth: int) -> Any:
        """Return the value that starts with the byte ``head``."""
        if depth > MOST_DEPTH:
            raise InputError(f"expected msgpack at most {MOST_DEPTH} deep, but it nests deeper")
        if head <= 0x7F:
            return head
        if head >= 0xE0:
            return head - 0x100
        if head <= 0x8F:
            return self._map(head & 0x0F, depth)
        if head <= 0x9F:
            return self._array(head & 0x0F, depth)
        if head <= 0xBF:
            return self._text(head & 0x1F)
        if head in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[head]
        if head in _SCALARS:
            return self._number(_SCALARS[head])
        if head not in _LENGTHS:
            raise InputError(f"expected plain msgpack, got the type byte 0x{head:02x}")
        layout, kind = _LENGTHS[head]
        size = self._number(layout)
        if kind == "array":
            return self._array(size, depth)
        if kind == "map":
            return self._map(size, depth)
        return self._text(size) if kind == "str" else self._bytes(size)

    def _bytes(self, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise InputError(f"expected msgpack values of at most {MOST_VALUE_BYTES} bytes")
        raw = self._read(size) if size else b""
        if len(raw) < size:
            raise InputError("expected a whole msgpack value, but the file ends within it")
        return raw

    def _number(self, layout: str) -> Any:
        return struct.unpack(layout, self._bytes(struct.calcsize(layout)))[0]

    def _text(self, size: int) -> str:
        raw = self._bytes(size)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"expected UTF-8 text, but byte {error.start} is none") from None

    def _array(self, size: int, depth: int) -> list[Any]:
        # One by one: a claimed size allocates nothing.
        return [self.rest(self._bytes(1)[0], depth + 1) for _ in range(size)]

    def _map(self, size: int, depth: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for _ in range(size):
            key = self.rest(self._bytes(1)[0], depth + 1)
            if not isinstance(key, str | bytes | int):
                raise InputError("expected strings or numbers as keys of a msgpack map")
            if key in result:
                raise InputError(f"the key {key!r} stands twice in one map")
            result[key] = self.rest(self._bytes(1)[0], depth + 1)
        return result


def _reader(raw: bytes) -> Read:
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        part = raw[at : at + size]
        at += len(part)
        return part

    return read
