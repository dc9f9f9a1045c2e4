"""The plain dynamic programme on the whole forest, behind the interface of TreeOracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prefixplace_opt.solvers.closed_set_table import solve_by_table
from prefixplace_opt.solvers.tree_oracle import ClosedSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prefixplace_opt.problem import PrefixTree


class PlainOracle:
    def __init__(self, tree: PrefixTree) -> None:
        self.depth = tree.preorder_depth
        self.end = tree.end

    def solve(self, profit: NDArray[np.float64], budget: int) -> ClosedSet:
        n = profit.size
        resident = np.zeros(n, dtype=np.bool_)
        solve_by_table(profit, self.depth, self.end, n, min(budget, n), 1 << 40, resident)
        return ClosedSet(float(profit[resident].sum()), resident)
