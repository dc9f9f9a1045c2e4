"""Who holds what, with the best and second-best holder of every service row kept up to date.

That makes every leave-one-out marginal of a sweep over the workers cost O(M R) instead of O(M^2 R).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
from numpy.typing import NDArray

from .row_values import RowValues, row_worth

if TYPE_CHECKING:
    from .savings import Savings

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


class Holders:
    """A resident set for every worker, by position, mutable one worker at a time.

    Attributes
    ----------
    held
        Shape (M, n), by preorder position; change it through :meth:`replace` only.
    """

    def __init__(self, savings: Savings, held: Mask | None = None) -> None:
        self._savings = savings
        self.held: Mask = np.zeros((savings.m, savings.n), dtype=np.bool_)
        self._first = np.full(savings.rows, -1, dtype=np.int32)
        self._best = np.zeros(savings.rows)
        self._second = np.zeros(savings.rows)
        if held is not None:
            for worker in range(savings.m):
                self.replace(worker, held[worker])

    def profits(self, worker: int, served: Floats | None = None) -> Floats:
        """Return the marginal of every chunk at ``worker`` given what the others hold.

        Shape (n,), by position, in ms per epoch; what ``worker`` itself holds does not matter.
        With ``served``, shape (R,), each row gets at least that from nobody in particular.
        """
        savings = self._savings
        best, second = self._best, self._second
        if served is not None:
            best, second = np.maximum(best, served), np.maximum(second, served)
        profit = savings.local_profits(worker)
        _add_marginals(
            profit,
            savings.row_position,
            savings.row_values,
            worker,
            self._first,
            best,
            second,
        )
        return profit

    def replace(self, worker: int, resident: Mask) -> None:
        """Let ``worker`` hold ``resident``, shape (n,), by position, instead of what it held."""
        savings = self._savings
        changed = self.held[worker] != resident
        self.held[worker] = resident
        _rank_again(
            changed,
            self.held,
            savings.row_position,
            savings.row_values,
            self._first,
            self._best,
            self._second,
        )


@numba.njit(cache=True, nogil=True)
def _add_marginals(
    profit: Floats,
    row_position: Index,
    row_values: RowValues,
    worker: int,
    first: Index,
    best: Floats,
    second: Floats,
) -> None:
    for r in range(row_position.shape[0]):
        others = second[r] if first[r] == worker else best[r]
        gain = row_worth(row_values, r, worker) - others
        if gain > 0.0:
            profit[row_position[r]] += gain


@numba.njit(cache=True, nogil=True)
def _rank_again(
    changed: Mask,
    held: Mask,
    row_position: Index,
    row_values: RowValues,
    first: Index,
    best: Floats,
    second: Floats,
) -> None:
    for r in range(row_position.shape[0]):
        p = row_position[r]
        if not changed[p]:
            continue
        first[r] = -1
        best[r] = 0.0
        second[r] = 0.0
        for h in range(held.shape[0]):
            if held[h, p]:
                value = row_worth(row_values, r, h)
                if first[r] < 0 or value > best[r]:
                    second[r] = best[r]
                    best[r] = value
                    first[r] = h
                elif value > second[r]:
                    second[r] = value
