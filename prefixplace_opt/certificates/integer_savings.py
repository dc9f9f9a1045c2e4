"""The savings of an instance as whole numbers: exactly, or rounded up.

From demand, recompute and fetch alone (DESIGN section 2; nothing of the solvers' normal form):

    requester-side   l_m(b) = L_m(b) min(w, f)        for the worker itself
                     D_g(b) = sum_{m in g} L_m(b) [w - f]_+   for every holder of group g
    pairwise         s_{m,m}(b) = L_m(b) w,  s_{m,h}(b) = L_m(b) [w - f_{m<-h}]_+

Every number is a count of ``unit``s. Exactly: the unit is the power of two of which all savings
and prices are multiples. Rounded: the unit is so coarse that everything together stays below
2**60 units. Each saving is rounded up, each price is rounded up in the sum of all prices and down
where it is taken off a saving, so that the bound in units is never below the exact one. What the
verifier does with these integers is exact: only this module rounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import CostTable, Problem

from .certificate import ServicePrices
from .dyadic import Whole, grid, power_of_two, whole

Arithmetic = Literal["exact", "directed"]
Floats = NDArray[np.float64]
Integers = NDArray[Any]
Parts = tuple[Floats, NDArray[np.int32]]

#: Everything that is ever added up in int64 stays below two to this power.
INT64_BITS = 60


class Units(Protocol):
    """How doubles become counts of a unit."""

    exponent: int

    def savings(self, dear: Floats, cheap: Floats | float) -> Integers:
        """Return demand * (dear - cheap), shape (entries,), at least; dear >= cheap."""
        ...

    def prices(self, values: Floats) -> tuple[Integers, Integers]:
        """Return the prices, at least and at most."""
        ...


class ExactUnits:
    """The unit divides everything; counts are Python integers, or int64 where all together fit."""

    def __init__(
        self,
        demand: Floats,
        recompute: Floats,
        fetch: Iterator[Floats],
        holders: int,
        prices: Sequence[Floats],
    ) -> None:
        self._demand_grid = grid([demand])
        self._cost_grid = grid(itertools.chain([recompute], fetch))
        self._demand = whole(demand, self._demand_grid)
        product = self._demand_grid + self._cost_grid
        self.exponent = min(product, grid(prices)) if prices else product
        self._shift = product - self.exponent
        self._dtype: np.dtype[Any] = np.dtype(object)
        # Nothing saves more than an own copy, and there are `holders` sources of it.
        most = holders * int(self.savings(recompute, 0.0).sum())
        dearest = max((int(self.prices(values)[0].sum()) for values in prices), default=0)
        self._dtype = _dtype_of(most + dearest)

    def savings(self, dear: Floats, cheap: Floats | float) -> Integers:
        """Return demand * (dear - cheap)."""
        counts: Whole = self._demand * whole(dear, self._cost_grid)
        if not isinstance(cheap, float):
            counts = counts - self._demand * whole(cheap, self._cost_grid)
        return (counts << self._shift).astype(self._dtype)

    def prices(self, values: Floats) -> tuple[Integers, Integers]:
        """Return the prices twice."""
        counts = whole(values, self.exponent).astype(self._dtype)
        return counts, counts


class DirectedUnits:
    """A unit of about 2**-60 of all savings and prices; counts are int64, rounded up."""

    def __init__(
        self, demand: Floats, recompute: Floats, holders: int, prices: Sequence[Floats]
    ) -> None:
        self._demand = np.frexp(demand)
        # As in ExactUnits: what bounds all sums.
        bits = [bits + holders.bit_length() for bits in _bits(*self._times(recompute))]
        for values in prices:
            bits += _bits(*np.frexp(values))
        self.exponent = max(bits, default=0) + 1 - INT64_BITS

    def savings(self, dear: Floats, cheap: Floats | float) -> Integers:
        """Return demand * (dear - cheap), rounded up."""
        # A difference of doubles never underflows, and mantissa and exponent apart nothing does.
        difference = dear - cheap
        mantissa, place = self._times(difference)
        # Two roundings of a relative 2**-53 each stand against 2**-50.
        counts = np.ceil(np.ldexp(mantissa * (1 + 2.0**-50), place - self.exponent))
        return np.where(difference > 0, counts.astype(np.int64) + 1, 0)

    def prices(self, values: Floats) -> tuple[Integers, Integers]:
        """Return the prices, rounded up and rounded down."""
        counts = np.ldexp(values, -self.exponent)
        up = np.where(values > 0, np.maximum(np.ceil(counts), 1), 0)
        return up.astype(np.int64), np.floor(counts).astype(np.int64)

    def _times(self, costs: Floats) -> Parts:
        """Return mantissa and exponent of demand * costs."""
        mantissa, exponent = np.frexp(costs)
        return self._demand[0] * mantissa, self._demand[1] + exponent


@dataclass(frozen=True, eq=False)
class PricedRows:
    """One price vector in units: what all prices add up to, and each where it is needed.

    Attributes
    ----------
    total
        Sum of all prices, rounded up.
    by_row
        Rounded down. Requester-side shape (groups, n), by position; pairwise shape (entries,).
    """

    total: int
    by_row: Integers


class IntegerSavings:
    """Node profits of every worker under given prices, in units.

    Parameters
    ----------
    problem
        The instance.
    prices
        All price vectors that will be asked for; they help to choose the unit.
    arithmetic
        ``"exact"`` or ``"directed"``.
    """

    def __init__(
        self, problem: Problem, prices: Sequence[ServicePrices], arithmetic: Arithmetic
    ) -> None:
        self._problem = problem
        self._recompute = problem.recompute_costs
        demand = problem.demand.value
        values = [table.value for table in prices]
        self._units: Units
        if arithmetic == "exact":
            fetch = self._fetch_costs()
            self._units = ExactUnits(demand, self._recompute, fetch, problem.m, values)
        else:
            self._units = DirectedUnits(demand, self._recompute, problem.m, values)
        self.unit: Fraction = power_of_two(self._units.exponent)
        self._position = problem.tree.position[problem.demand.chunk]
        self._by_position = np.argsort(self._position, kind="stable")
        self._where, self._first = np.unique(self._position[self._by_position], return_index=True)
        self._requester_side = problem.objective == "requester"
        self._from: dict[int, Integers] = {}

    def row_multiples(self) -> Iterator[Integers]:
        """Yield all savings, so that every F is a sum of some: what a granularity must divide."""
        if self._requester_side:
            yield self._local
            yield self._coverage.ravel()
        else:
            for holder in range(self._problem.m):
                yield self._units.savings(self._recompute, self._fetch_from(holder))

    def priced(self, prices: ServicePrices) -> PricedRows:
        """Return ``prices`` in units; their rows must exist, none twice."""
        dear, counts = self._units.prices(prices.value)
        total = int(dear.sum())
        if self._requester_side:
            by_row: Integers = np.zeros(self._coverage.shape, dtype=counts.dtype)
            by_row[prices.requester, self._problem.tree.position[prices.chunk]] = counts
            return PricedRows(total, by_row)
        demand, n = self._problem.demand, self._problem.n
        by_row = np.zeros(len(demand), dtype=counts.dtype)
        cells = demand.worker.astype(np.int64) * n + demand.chunk
        wanted = prices.requester.astype(np.int64) * n + prices.chunk
        at = np.searchsorted(cells, wanted)
        # A price for what nobody needs only adds to the total.
        needed = at < cells.size
        needed[needed] = cells[at[needed]] == wanted[needed]
        by_row[at[needed]] = counts[needed]
        return PricedRows(total, by_row)

    def profits(self, worker: int, priced: PricedRows) -> Integers:
        """Return what each chunk is worth at ``worker``, shape (n,), by position.

        Requester-side l(b) + [D(b) - price(b)]_+, pairwise the sum over m of
        [s_{m,worker}(b) - price_m(b)]_+.
        """
        if self._requester_side:
            group = self._problem.groups[worker]
            gain: Integers = np.maximum(self._coverage[group] - priced.by_row[group], 0)
            own = self._problem.demand.worker == worker
            gain[self._position[own]] += self._local[own]
            return gain
        if worker not in self._from:
            self._from[worker] = self._units.savings(self._recompute, self._fetch_from(worker))
        return self._at_positions(np.maximum(self._from[worker] - priced.by_row, 0))

    def _at_positions(self, entries: Integers) -> Integers:
        sums = np.zeros(self._problem.n, dtype=entries.dtype)
        if entries.size:
            sums[self._where] = np.add.reduceat(entries[self._by_position], self._first)
        return sums

    def _fetch_costs(self) -> Iterator[Floats]:
        if self._problem.objective == "requester":
            yield self._fetch
        else:
            yield from map(self._fetch_from, range(self._problem.m))

    @cached_property
    def _fetch(self) -> Floats:
        """The least of recomputing and fetching, shape (entries,); no fetch costs f = w."""
        problem = self._problem
        assert isinstance(problem.fetch, CostTable)
        fetch = problem.fetch.cost(problem.tree, problem.demand.worker, problem.demand.chunk)
        return np.minimum(self._recompute, fetch)

    def _fetch_from(self, holder: int) -> Floats:
        cost = np.minimum(self._recompute, self._problem.fetch_costs(holder))
        return np.where(self._problem.demand.worker == holder, 0.0, cost)

    @cached_property
    def _local(self) -> Integers:
        return self._units.savings(self._fetch, 0.0)

    @cached_property
    def _coverage(self) -> Integers:
        """Shape (groups, n), by position."""
        shared = self._units.savings(self._recompute, self._fetch)
        groups = self._problem.groups
        group_of = groups[self._problem.demand.worker]
        rows = [
            self._at_positions(np.where(group_of == group, shared, 0))
            for group in range(int(groups.max()) + 1)
        ]
        return np.array(rows, dtype=shared.dtype)


def exact_value(problem: Problem, held: NDArray[np.bool_]) -> Fraction:
    """Return F of ``held``, shape (M, n), by chunk id, by its definition and without rounding.

    A requester is served from the cheapest holder: itself for nothing, else a peer for f; what it
    saves is its demand times w - f, if that is positive.
    """
    demand, recompute = problem.demand, problem.recompute_costs
    cheapest = recompute
    for holder in range(problem.m):
        cost = np.where(demand.worker == holder, 0.0, problem.fetch_costs(holder))
        cheapest = np.where(held[holder, demand.chunk], np.minimum(cheapest, cost), cheapest)
    saves = cheapest < recompute
    amount = demand.value[saves]
    amounts, costs = grid([amount]), grid([recompute[saves], cheapest[saves]])
    gain = whole(recompute[saves], costs) - whole(cheapest[saves], costs)
    total = int((whole(amount, amounts) * gain).sum())
    return total * power_of_two(amounts + costs)


def _dtype_of(total: int) -> np.dtype[Any]:
    """Return the narrowest type for integers that never add up to more than ``total``."""
    return np.dtype(np.int64 if total < 2**INT64_BITS else object)


def _bits(mantissa: Floats, exponent: NDArray[np.int32]) -> list[int]:
    """Return the e for which all numbers together are < 2**e; nothing where they are 0."""
    exponent, mantissa = exponent[mantissa > 0], mantissa[mantissa > 0]
    if not exponent.size:
        return []
    highest = int(exponent.max())
    total = float(np.ldexp(mantissa, exponent - highest).sum())
    return [highest + int(np.frexp(total)[1]) + 1]
