"""What a service row is worth from each holder, as a table or, in much less memory, over links."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


class RowValues(NamedTuple):
    """Values of R service rows from M holders, ms per epoch; read by :func:`row_worth`.

    Attributes
    ----------
    table
        Shape (R, M); (R, 1) where a row is worth the same from every holder; (R, 0) where values
        go over links: ``rate_r * max(0, worth_r - link[kind_r, h])``.
    rate, worth
        Shape (R,), or (0,) with a table: requests per epoch, and ms that one saves at most.
    kind
        Shape (R,): the row of ``link``.
    link
        Shape (kinds, M): ms that serving from holder h costs; +inf where h cannot serve.
    """

    table: Floats
    rate: Floats
    worth: Floats
    kind: Index
    link: Floats

    @classmethod
    def from_table(cls, table: Floats) -> RowValues:
        """Return the values that ``table`` lists."""
        nothing = np.empty(0)
        kind = np.empty(0, dtype=np.int32)
        return cls(np.ascontiguousarray(table), nothing, nothing, kind, np.empty((0, 0)))

    @classmethod
    def over_links(cls, rate: Floats, worth: Floats, kind: Index, link: Floats) -> RowValues:
        """Return values that are worked out when they are read: 20 bytes a row instead of 8 M."""
        return cls(np.empty((rate.size, 0)), rate, worth, kind, np.ascontiguousarray(link))

    def dense(self) -> Floats:
        """Return the table, shape (R, M) or (R, 1)."""
        if self.table.shape[1] > 0:
            return self.table
        saved = np.maximum(self.worth[:, None] - self.link[self.kind], 0.0)
        return np.asarray(self.rate[:, None] * saved)

    def best(self) -> Floats:
        """Return what each row is worth from its best holder, shape (R,)."""
        if self.table.shape[1] > 0:
            return np.asarray(self.table.max(axis=1))
        nearest = self.link.min(axis=1, initial=np.inf)[self.kind]
        return np.asarray(self.rate * np.maximum(self.worth - nearest, 0.0))


@numba.njit(cache=True, nogil=True, inline="always")
def row_worth(values: RowValues, row: int, holder: int) -> float:
    """Return what ``row`` is worth from ``holder``."""
    columns = values.table.shape[1]
    if columns == 1:
        return float(values.table[row, 0])
    if columns > 1:
        return float(values.table[row, holder])
    saved = values.worth[row] - values.link[values.kind[row], holder]
    return float(values.rate[row] * saved) if saved > 0.0 else 0.0


@numba.njit(cache=True, nogil=True)
def add_gains(
    profit: Floats, position: Index, values: RowValues, holder: int, prices: Floats
) -> None:
    """Add to ``profit``, by position, what each row is worth from ``holder`` beyond its price."""
    for r in range(position.shape[0]):
        gain = row_worth(values, r, holder) - prices[r]
        if gain > 0.0:
            profit[position[r]] += gain


@numba.njit(cache=True, nogil=True)
def best_served(held: Mask, position: Index, values: RowValues) -> Floats:
    """Return what each row saves under ``held``, shape (M, n), by position."""
    best = np.zeros(position.shape[0])
    for r in range(position.shape[0]):
        for h in range(held.shape[0]):
            if held[h, position[r]]:
                best[r] = max(best[r], row_worth(values, r, h))
    return best
