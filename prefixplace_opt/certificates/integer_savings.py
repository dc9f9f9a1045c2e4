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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import CostTable, Problem

from .certificate import ServicePrices, Withheld
from .dyadic import Whole, grid, power_of_two, whole
from .withheld import paid_back

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

    def excess(self, counts: Integers) -> int:
        """Return at least how far savings, less prices, are together above what is exact."""
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

    def excess(self, counts: Integers) -> int:
        """Return nothing."""
        return 0


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

    def excess(self, counts: Integers) -> int:
        """Return 2**-48 of them and four units each: what the roundings above come to."""
        return int((counts >> 48).sum()) + 4 * int(np.count_nonzero(counts))

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
        What is paid whatever happens: all prices, rounded up, and what :mod:`.withheld` pays back.
    by_row
        Rounded down. Requester-side shape (groups, n), by position; pairwise shape (entries,).
    withheld
        From each worker of whom something is withheld, shape (n,), by position.
    """

    total: int
    by_row: Integers
    withheld: Mapping[int, Integers] = field(default_factory=dict)


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
        values = [np.concatenate([table.value, table.withheld.value]) for table in prices]
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
        """Return ``prices`` in units; their rows and holders must exist, none twice."""
        rows = self._priced_rows(prices)
        return self._with_withheld(rows, prices.withheld) if prices.withheld.value.size else rows

    def _priced_rows(self, prices: ServicePrices) -> PricedRows:
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
        [s_{m,worker}(b) - price_m(b)]_+, less what is withheld; at least 0, as a larger profit
        only raises the bound.
        """
        if self._requester_side:
            gain = self._gains(worker, priced.by_row).copy()
            own = self._problem.demand.worker == worker
            gain[self._position[own]] += self._local[own]
        else:
            gain = self._at_positions(self._gains(worker, priced.by_row))
        if worker in priced.withheld:
            gain = np.maximum(gain - priced.withheld[worker], 0)
        return gain

    def _gains(self, worker: int, by_row: Integers) -> Integers:
        """Return u_{r,worker}: requester-side by position, pairwise shape (entries,)."""
        prices = by_row[self._problem.groups[worker]] if self._requester_side else by_row
        return cast("Integers", np.maximum(self._shared(worker) - prices, 0))

    def _shared(self, worker: int) -> Integers:
        """Return what ``worker`` saves the rows as their holder, by position or entry."""
        if self._requester_side:
            return cast("Integers", self._coverage[self._problem.groups[worker]])
        if worker not in self._from:
            self._from[worker] = self._units.savings(self._recompute, self._fetch_from(worker))
        return self._from[worker]

    def _with_withheld(self, rows: PricedRows, withheld: Withheld) -> PricedRows:
        """Take off what is withheld, and pay back the most that any set of holders could claim."""
        claimed, counts = self._units.prices(withheld.value)
        position = self._problem.tree.position[withheld.chunk]
        order = np.lexsort((withheld.worker, position))
        position, worker = position[order], withheld.worker[order]
        claimed, counts = claimed[order], counts[order]
        by_worker: dict[int, Integers] = {}
        for h in np.unique(worker).tolist():
            by_worker[h] = np.zeros(self._problem.n, dtype=counts.dtype)
            by_worker[h][position[worker == h]] = counts[worker == h]
        gains = {h: self._gains(h, rows.by_row) for h in by_worker}
        where, first, width = np.unique(position, return_index=True, return_counts=True)
        # Claims overlap by the gains, which are rounded up: the exact ones may overlap by less.
        total = rows.total + sum(self._units.excess(self._shared(h)) for h in by_worker)
        for size in np.unique(width).tolist():
            chunks = np.flatnonzero(width == size)
            holders = worker[first[chunks][:, None] + np.arange(size)]
            amounts = claimed[first[chunks][:, None] + np.arange(size)]
            total += int(paid_back(self._tensor(where[chunks], holders, gains), amounts).sum())
        return PricedRows(total, rows.by_row, by_worker)

    def _tensor(
        self, where: NDArray[np.int32], holders: NDArray[np.int32], gains: dict[int, Integers]
    ) -> Integers:
        """Return u of the chunks at ``where``, shape (chunks, most rows of one, holders)."""
        dtype = next(iter(gains.values())).dtype
        if self._requester_side:
            # A row for every compatibility group; it serves only holders of its own.
            groups = self._problem.groups
            tensor: Integers = np.zeros(
                (where.size, int(groups.max()) + 1, holders.shape[1]), dtype=dtype
            )
            for h, gain in gains.items():
                chunk, column = np.nonzero(holders == h)
                tensor[chunk, groups[h], column] = gain[where[chunk]]
            return tensor
        ordered = self._position[self._by_position]
        start = np.searchsorted(ordered, where)
        count = np.searchsorted(ordered, where, side="right") - start
        tensor = np.zeros((where.size, int(count.max(initial=0)), holders.shape[1]), dtype=dtype)
        for row in range(tensor.shape[1]):
            there = np.flatnonzero(count > row)
            entry = self._by_position[start[there] + row]
            for h, gain in gains.items():
                chunk, column = np.nonzero(holders[there] == h)
                tensor[there[chunk], row, column] = gain[entry[chunk]]
        return tensor

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
