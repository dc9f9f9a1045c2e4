"""Turning what a caller or a file gives into checked arrays, with errors that name the entry."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError, shorten

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


#: Costs by requester, holder and chunk have the most.
MOST_DIMENSIONS = 3


def number(value: object, *, field: str, finite: bool = True) -> float:
    """Return ``value`` as a non-negative float; ``finite=False`` admits infinity."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"expected a number, got {shorten(value)}", field=field)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if math.isnan(result) or result < 0 or (finite and math.isinf(result)):
        raise InputError(f"expected a finite number >= 0, got {shorten(value)}", field=field)
    return result


def whole_number(value: object, *, field: str, least: int = 0, most: int = 2**53) -> int:
    """Return ``value`` as an int in ``least .. most``; 3.0 counts as whole, True does not."""
    whole = isinstance(value, numbers.Integral) or (
        isinstance(value, numbers.Real) and math.isfinite(value) and float(value).is_integer()
    )
    if isinstance(value, bool) or not whole or not least <= int(value) <= most:  # type: ignore[call-overload]
        raise InputError(
            f"expected a whole number from {least} to {most}, got {shorten(value)}", field=field
        )
    return int(value)  # type: ignore[call-overload,no-any-return]


def is_text(value: object) -> bool:
    """Whether ``value`` is a string that UTF-8 can hold (no lone surrogate)."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_name(value: object) -> bool:
    """Whether ``value`` is text that can be printed as it is: no line breaks, no escapes."""
    return isinstance(value, str) and is_text(value) and value.isprintable()


def index_array(values: ArrayLike, *, field: str) -> NDArray[np.int32]:
    """Return a one-dimensional int32 array; raises where an entry is not a whole number."""
    array = _numeric(values, field)
    if array.ndim != 1:
        raise InputError(f"expected a list of whole numbers, got shape {array.shape}", field=field)
    if array.size == 0:
        return np.empty(0, dtype=np.int32)
    limit = np.iinfo(np.int32).max
    if array.dtype.kind == "f":
        bad = ~(np.isfinite(array) & (array == np.floor(array)))
        if bad.any():
            at = int(np.argmax(bad))
            raise InputError(
                f"expected a whole number, got {shorten(array[at].item())}", field=f"{field}[{at}]"
            )
    bad = (array < -1) | (array > limit)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"expected a whole number from -1 to {limit}, got {array[at].item():g}",
            field=f"{field}[{at}]",
        )
    return array.astype(np.int32)


def cost_array(
    values: ArrayLike, *, field: str, shape: tuple[int, ...] | None = None, infinite: bool = False
) -> NDArray[np.float64]:
    """Return a read-only float64 array of finite numbers >= 0 of the given shape.

    ``infinite=True`` admits infinity (not fetchable).
    """
    array = _numeric(values, field)
    if shape is not None and array.shape != shape:
        raise InputError(f"expected shape {shape}, got {array.shape}", field=field)
    # Adding 0.0 turns -0.0 into 0.0, so that equal instances have equal digests.
    result: NDArray[np.float64] = array.astype(np.float64)
    result += 0.0
    bad = ~(result >= 0) if infinite else ~((result >= 0) & np.isfinite(result))
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0]) if result.ndim else ()
        path = field + "".join(f"[{i}]" for i in at)
        raise InputError(
            f"expected a finite number >= 0, got {shorten(result[at].item())}", field=path
        )
    result.flags.writeable = False
    return result


def _numeric(values: ArrayLike, field: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            "expected an array of numbers with rows of equal length", field=field
        ) from error
    if array.ndim > MOST_DIMENSIONS:
        raise InputError(
            f"expected lists nested at most {MOST_DIMENSIONS} deep, got {array.ndim}", field=field
        )
    if array.dtype.kind == "O":
        array = _from_objects(array, field)
    if array.size and array.dtype.kind not in "iuf":
        raise InputError(f"expected numbers, got {shorten(array.flat[0].item())}", field=field)
    return array


def _from_objects(array: NDArray[Any], field: str) -> NDArray[np.float64]:
    # Integers beyond 64 bits make numpy fall back to objects: as doubles they are fine.
    result = np.empty(array.shape, dtype=np.float64)
    for at, value in np.ndenumerate(array):
        path = field + "".join(f"[{i}]" for i in at)
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise InputError(f"expected a number, got {shorten(value)}", field=path)
        try:
            result[at] = float(value)
        except OverflowError:
            raise InputError(
                f"expected a finite number, got {shorten(value)}", field=path
            ) from None
    return result
