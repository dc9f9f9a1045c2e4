"""The plain dynamic programme on the whole forest, behind the interface of TreeOracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prefixplace_opt.solvers.closed_set_table import fill, most_rows, read_back, table_width
from prefixplace_opt.solvers.tree_oracle import ClosedSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prefixplace_opt.problem import PrefixTree


class PlainOracle:
    def __init__(self, tree: PrefixTree) -> None:
        self.depth = tree.preorder_depth
        self.end = tree.end
        self.slots = int(most_rows(self.depth, tree.n))
        self.budget = -1

    def solve(self, profit: NDArray[np.float64], budget: int) -> ClosedSet:
        n = profit.size
        k = min(budget, n)
        if self.budget != k:
            width = (table_width(n, k) + 7) // 8
            self.rows = np.empty((self.slots, k + 1))
            self.better = np.zeros(8 * width, dtype=np.uint8)
            self.taken = np.empty((n, width), dtype=np.uint8)
            self.budget = k
        fill(profit, self.depth, n, k, self.rows, self.better, self.taken)
        resident = np.zeros(n, dtype=np.bool_)
        read_back(self.end, n, k, self.taken, resident)
        return ClosedSet(float(profit[resident].sum()), resident)
