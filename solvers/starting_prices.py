"""Prices of the service rows to begin a descent of the bound with, read off a plan.

At good prices a chunk that need only be held once pays at one worker and nearly pays at a second.
With c_h the best price of a chunk of worker h's budget, against what the plan's other workers hold,
chunk b pays at h under the row prices theta * (best value of the row) when

    local_h(b) + sum_r [value_{r,h} - theta best_r]_+  >  c_h

and theta is the least at which that holds of one worker at most. That leaves the tree out (a chunk
may pay by what is below it), but is a far better start than half of every row's value: on an hour
of traffic it is worth some hundred steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Holders, PrefixTree, Savings
from prefixplace_opt.problem.row_values import RowValues, row_worth

from .tree_oracle import TreeOracle

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: Halvings of the interval in which theta lies.
HALVINGS = 14


def starting_prices(form: Savings, tree: PrefixTree, budgets: Sequence[int], held: Mask) -> Floats:
    """Return prices of all rows, shape (R,), each from 0 to the row's best value.

    ``held`` is a plan, shape (M, n), by position.
    """
    oracle, holders = TreeOracle(tree), Holders(form, held)
    chunk_price = np.array(
        [oracle.best_price(holders.profits(h), budgets[h]) for h in range(form.m)]
    )
    local = np.stack([form.local_profits(h) for h in range(form.m)])
    return _shares(form.row_position, form.row_values, local, chunk_price, form.row_best)


@numba.njit(cache=True, nogil=True)
def _shares(
    position: Index, values: RowValues, local: Floats, chunk_price: Floats, best: Floats
) -> Floats:
    rows = position.shape[0]
    prices = np.empty(rows)
    first = 0
    while first < rows:
        after = first
        while after < rows and position[after] == position[first]:
            after += 1
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            theta = (low + high) / 2
            paying = 0
            for h in range(chunk_price.shape[0]):
                worth = local[h, position[first]] - chunk_price[h]
                for r in range(first, after):
                    worth += max(row_worth(values, r, h) - theta * best[r], 0.0)
                if worth > 0.0:
                    paying += 1
            if paying > 1:
                low = theta
            else:
                high = theta
        for r in range(first, after):
            prices[r] = high * best[r]
        first = after
    return prices
