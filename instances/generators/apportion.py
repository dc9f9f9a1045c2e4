"""Whole numbers out of shares: apportionment, and Zipf weights to the last digit."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

#: Decimal's exp and ln are correctly rounded, so these digits are the same everywhere.
_CONTEXT = Context(prec=40)
#: Zipf weights are whole multiples of this much.
_GRID = 10**18


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """Split ``total`` in proportion to whole weights, by largest remainders, ties by index.

    Returns
    -------
    list of int
        Shares >= 0 that add up to ``total``; each is within 1 of its exact share.
    """
    whole = sum(weights)
    if whole == 0:
        weights = [1] * len(weights)
        whole = len(weights)
    shares = [total * weight // whole for weight in weights]
    left = total - sum(shares)
    by_remainder = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for index in by_remainder[:left]:
        shares[index] += 1
    return shares


def zipf(total: int, count: int, exponent: float) -> list[int]:
    """Split ``total`` over ranks 1 .. ``count`` in proportion to ``rank ** -exponent``."""
    power = -Decimal(repr(float(exponent)))
    weights = []
    for rank in range(1, count + 1):
        logarithm = _CONTEXT.multiply(power, Decimal(rank).ln(_CONTEXT))
        weights.append(int(_CONTEXT.multiply(logarithm.exp(_CONTEXT), _GRID)))
    return apportion(total, weights)


def share_of(share: float, whole: int) -> int:
    """Return ``share * whole`` rounded down; ``share`` is the decimal that it is written as."""
    return int(Fraction(repr(float(share))) * whole)


def times(value: float, factor: str) -> float:
    """Return the double next to the product of two decimals as they are written."""
    return float(Fraction(repr(float(value))) * Fraction(factor))
