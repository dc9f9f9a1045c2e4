"""Plans read off the bound's row prices: worker after worker under prices that fade to nothing.

A row price says what the row is about worth to whoever serves it in the end. A walk that counts
every row as served for its price already,

    F_a(T) = sum_h sum_{b in T_h} local_h(b) + sum_r max(a_r, max_{h holds chunk(r)} value_{r,h}),

lets a worker leave a row to others without anybody holding it yet, which a walk on F = F_0 never
does. Prices near an optimum of the dual leave nearly all that is held undecided between several
workers; each takes what fits its budget, and what nobody took is taken up as the prices fade. The
last walk is on F itself, so that no single worker improves on the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Holders, PrefixTree, Savings

from . import greedy
from .tree_oracle import TreeOracle

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Which share of the prices the walks count with, one after the other.
FADING = (1.0, 0.99, 0.95, 0.9, 0.5, 0.0)


class PriceGuided:
    """Makes plans of one problem from prices.

    Parameters
    ----------
    form, tree, budgets
        The problem: normal form, tree, and most chunks a worker, shape (M,).
    seed
        Of the orders in which workers are walked; every plan takes another.
    stopped
        Gives a reason once the run must end.
    """

    def __init__(
        self,
        form: Savings,
        tree: PrefixTree,
        budgets: NDArray[np.int64],
        seed: int,
        stopped: Callable[[], object],
    ) -> None:
        self._form = form
        self._oracle = TreeOracle(tree)
        self._budgets = budgets.tolist()
        self._rng = np.random.default_rng(seed)
        self._stopped = stopped

    def plan(self, row_prices: Floats, held: Mask) -> tuple[float, Mask]:
        """Return a plan that no single worker improves on, and its value.

        ``row_prices`` has shape (R,), in ms per epoch, >= 0; the plan shape (M, n), by position,
        as has ``held``, what the walks begin with: parent-closed, within the budgets, and mostly
        nothing. A run that must end gets what the walk has by then.
        """
        holders = Holders(self._form, held)
        order = self._rng.permutation(self._form.m).tolist()
        for share in FADING:
            greedy.refine(
                holders,
                self._oracle,
                self._budgets,
                order,
                self._stopped,
                served=share * row_prices,
            )
        return self._form.value(holders.held), holders.held
