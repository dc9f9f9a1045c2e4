"""The core of a priced forest: complete the set at the best price, fix what is sure, solve on.

All of it works on a contracted forest (:func:`prefixplace_opt.solvers.budget_price.contract`):
``value``, ``up`` and ``node`` are profit, parent and position of its ``count`` chunks.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from .budget_price import narrowest_limit
from .closed_set_table import solve_by_table

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


@numba.njit(cache=True, nogil=True)
def close_gap(
    value: Floats,
    up: Index,
    count: int,
    budget: int,
    core: int,
    best: float,
    upper: float,
    margin: float,
    reach: float,
    memory: int,
    loss: Floats,
    place: Index,
    taken: Mask,
    node: Index,
    resident: Mask,
) -> tuple[float, int, bool]:
    """Improve ``resident``, worth ``best``, from cores of about ``core`` chunks on.

    Returns the new worth, the core to go on with, and whether ``resident`` is an optimum: it is not
    sure to be one where sets that lose more than ``reach`` would have to be searched.
    """
    limit = 0.0
    while True:
        need = upper - best + margin
        # Pretend that the gap is small: if the set found then shows that it is, it is an optimum.
        wanted = min(max(narrowest_limit(loss, count, need, core), 2 * limit), need)
        wanted = min(wanted, reach)
        if wanted <= limit:
            return best, core, False
        limit = wanted
        worth = solve_core(value, up, count, budget, loss, limit, memory, place, taken)
        if worth > best:
            best = worth
            write_taken(node, count, taken, resident)
        if upper - best + margin <= limit:
            return best, core, True
        core *= 8


@numba.njit(cache=True, nogil=True)
def complete(
    value: Floats,
    up: Index,
    count: int,
    budget: int,
    price: float,
    excess: float,
    rest: Index,
    gain: Floats,
    taken: Mask,
) -> tuple[float, float]:
    """Fill ``taken`` up to the budget from ``rest``, in preorder, save chunks worth nothing.

    Returns the worth of the set, and the bound L(price).
    """
    best = 0.0
    spare = budget
    for c in range(count):
        if taken[c]:
            best += value[c]
            spare -= 1
    upper = best + price * spare + excess
    for r in range(spare):
        gain[rest[r]] = value[rest[r]]
    for r in range(spare - 1, -1, -1):
        c = rest[r]
        # A parent that is not among them is taken already, and its gain is not read.
        if gain[c] > 0.0 and up[c] >= 0:
            gain[up[c]] += gain[c]
    for r in range(spare):
        c = rest[r]
        if gain[c] > 0.0 and (up[c] < 0 or taken[up[c]]):
            taken[c] = True
            best += value[c]
    return best, upper


@numba.njit(cache=True, nogil=True)
def write_taken(node: Index, count: int, taken: Mask, resident: Mask) -> None:
    """Write the chunks of ``taken`` to ``resident``, by position."""
    resident[:] = False
    for c in range(count):
        if taken[c]:
            resident[node[c]] = True


@numba.njit(cache=True, nogil=True)
def solve_core(
    value: Floats,
    up: Index,
    count: int,
    budget: int,
    loss: Floats,
    limit: float,
    memory: int,
    place: Index,
    found: Mask,
) -> float:
    """Solve with every chunk fixed whose |loss| is over ``limit``.

    ``found`` becomes the set; returns its value, or -inf where no set fits.
    """
    undecided = 0
    fixed = 0
    base = 0.0
    for c in range(count):
        found[c] = loss[c] > limit
        if found[c]:
            base += value[c]
            fixed += 1
        elif loss[c] >= -limit:
            undecided += 1
    spare = min(budget - fixed, undecided)
    if spare < 0:
        return -np.inf
    if spare == 0:
        return base
    profit = np.empty(undecided)
    depth = np.empty(undecided, dtype=np.int32)
    end = np.empty(undecided, dtype=np.int32)
    chunk = np.empty(undecided, dtype=np.int32)
    core = 0
    for c in range(count):
        place[c] = -1
        if -limit <= loss[c] <= limit:
            # A parent outside of the core is fixed in, or else deeper than what may still be taken.
            q = -1 if up[c] < 0 else place[up[c]]
            below = 0 if q < 0 else depth[q] + 1
            if below < spare and (q >= 0 or up[c] < 0 or found[up[c]]):
                place[c] = core
                profit[core] = value[c]
                depth[core] = below
                end[core] = core + 1
                chunk[core] = c
                core += 1
    spare = min(spare, core)
    for at in range(core - 1, -1, -1):
        c = chunk[at]
        if depth[at] > 0:
            q = place[up[c]]
            end[q] = max(end[q], end[at])
    resident = np.empty(core, dtype=np.bool_)
    worth = base + solve_by_table(profit, depth, end, core, spare, memory, resident)
    for at in range(core):
        if resident[at]:
            found[chunk[at]] = True
    return worth
