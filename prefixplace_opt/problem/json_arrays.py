"""Numeric arrays in JSON: nested lists while small, base64 of little-endian bytes above."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError, shorten
from .json_files import members

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Numeric arrays of at least this many entries are written as base64.
BASE64_FROM = 4096


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
