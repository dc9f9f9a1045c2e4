"""Coordinate refinement of a bound's iterates on the whole problem, whatever its size.

Where the workers' tables of a subproblem are too large to keep
(:mod:`prefixplace_opt.solvers.coordinate_refinement`), the iterate is refined by the planner's own
walk: a plan that no decision restricts is a plan all the same.
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

Mask = NDArray[np.bool_]


class WholeRefinement:
    """Refines plans of one problem.

    Parameters
    ----------
    form, tree, budgets
        The problem: normal form, tree, and most chunks a worker, shape (M,).
    stopped
        Gives a reason once the run must end.
    """

    def __init__(
        self,
        form: Savings,
        tree: PrefixTree,
        budgets: NDArray[np.int64],
        stopped: Callable[[], object],
    ) -> None:
        self._form = form
        self._oracle = TreeOracle(tree)
        self._budgets = budgets.tolist()
        self._stopped = stopped

    def refine(self, held: Mask) -> tuple[float, Mask]:
        """Return a plan that no single worker improves on, from ``held``, and its value.

        Both have shape (M, n), by position.
        """
        holders = Holders(self._form, held)
        workers = range(self._form.m)
        greedy.refine(holders, self._oracle, self._budgets, workers, self._stopped)
        return self._form.value(holders.held), holders.held
