"""Improving a plan by searching its neighbourhoods: all sets of a few workers, the others fixed.

The problem of two workers against fixed others is hardly larger than that of one, and its
relaxation is nearly always tight, so that branch and price solves it in milliseconds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixTree, Savings

from . import branch_and_price
from .incumbent import Incumbent
from .lagrangian import QUICK
from .run import Run
from .subproblem import FREE, IN, OUT, FullPrices

#: Nodes and evaluations at the root that a neighbourhood may take.
NODE_LIMIT, ROOT_STEPS = 5, 100
#: The search of sets of one size ends after this many in a row without a better plan.
PATIENCE = 30


class Neighbourhoods:
    """Searches sets of workers, pairs first, larger ones while they help.

    Attributes
    ----------
    searched, improved
        How many sets were searched, and how many gave a better plan.
    """

    def __init__(
        self,
        form: Savings,
        tree: PrefixTree,
        budgets: NDArray[np.int64],
        run: Run,
        incumbent: Incumbent,
    ) -> None:
        self._form, self._tree, self._budgets = form, tree, budgets
        self._run, self._incumbent = run, incumbent
        self._rng = np.random.default_rng(run.options.seed)
        self._settled = -1
        self._left = np.inf
        self.searched = 0
        self.improved = 0

    def improve(self, prices: FullPrices, bound: float) -> None:
        """Search until no set helps, or the plan reaches ``bound``.

        A plan that was searched before is not searched again unless prices became much better.
        """
        left = bound - self._incumbent.value
        if self._incumbent.improvements == self._settled and left > self._left / 2:
            return
        for size in (2, 3):
            if size > self._form.m:
                break
            missed = 0
            patience = min(math.comb(self._form.m, size), PATIENCE)
            for workers in self._sets(size):
                if missed == patience:
                    break
                if self._run.stopped() or bound <= self._incumbent.cutoff:
                    return
                missed = 0 if self._search(workers, prices) else missed + 1
        self._settled = self._incumbent.improvements
        self._left = bound - self._incumbent.value

    def _sets(self, size: int) -> Iterator[list[int]]:
        """Yield all sets of ``size`` workers, in another order each time around, without end."""
        sets = list(itertools.combinations(range(self._form.m), size))
        while True:
            for at in self._rng.permutation(len(sets)):
                yield list(sets[at])

    def _search(self, workers: list[int], prices: FullPrices) -> bool:
        states = np.where(self._incumbent.held, np.int8(IN), np.int8(OUT))
        states[workers] = FREE
        before = self._incumbent.improvements
        search = branch_and_price.BranchAndPrice(
            self._form,
            self._tree,
            self._budgets,
            self._run,
            self._incumbent,
            root_descents=((ROOT_STEPS, QUICK),),
            quiet=True,
        )
        search.search(prices, states, NODE_LIMIT)
        self.searched += 1
        better = self._incumbent.improvements > before
        self.improved += better
        return better
