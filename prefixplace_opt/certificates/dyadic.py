"""Doubles as what they are: whole multiples of a power of two."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Python's unbounded integers, dtype object.
Whole = NDArray[Any]


def grid(arrays: Iterable[Floats]) -> int:
    """Return the largest g for which all finite numbers in ``arrays`` are multiples of 2**g.

    0 where all are zero.
    """
    finest: int | None = None
    for values in arrays:
        mantissa, exponent = _parts(values[values != 0.0])
        if mantissa.size:
            # The lowest set bit, as a power of two, has mantissa 0.5 and its place as exponent.
            lowest = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
            g = int((exponent + lowest).min())
            finest = g if finest is None else min(finest, g)
    return 0 if finest is None else finest


def whole(values: Floats, exponent: int) -> Whole:
    """Return ``values / 2**exponent`` as Python integers; they must be such multiples."""
    mantissa, place = _parts(values)
    shift = np.where(mantissa == 0, 0, place - exponent)
    down = np.maximum(-shift, 0)
    numbers: Whole = (mantissa >> np.minimum(down, 62)).astype(object)
    scaled: Whole = np.left_shift(numbers, np.maximum(shift, 0).astype(object))
    return scaled


def power_of_two(exponent: int) -> Fraction:
    """Return 2**exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def at_most(number: Fraction) -> float:
    """Return the largest double <= ``number`` >= 0."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else float(np.nextafter(nearest, 0.0))


def at_least(number: Fraction) -> float:
    """Return the smallest double >= ``number`` >= 0; OverflowError where there is none."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else float(np.nextafter(nearest, np.inf))


def _parts(values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return whole mantissas of at most 53 bits and their exponents."""
    mantissa, exponent = np.frexp(values)
    return (mantissa * 2.0**53).astype(np.int64), exponent.astype(np.int64) - 53
