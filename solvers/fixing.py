"""Variable fixing: what every (worker, chunk) forced in or out would make of the bound, exactly.

With D[i, j] from the oracle's recurrence (the best of positions i .. n-1 with j chunks) and the
forward pass A[i, j] (the best of positions before i, having used j chunks, when the walk is at i),

    in(i)  = max_j A[i, j] + p(i) + D[i + 1, k - j - 1]
    out(i) = max( max_j A[i, j] + D[next(i), k - j],  out(parent of i) ),   A[0, 0] = 0

are the best values with chunk i in, and with it out. Where in(i) makes the whole bound no more
than what is wanted, i can be fixed out, and the other way round.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from .pricing import TABLE_CELLS, Pricer, fill_table, table_size

Floats = NDArray[np.float64]
Index = NDArray[np.int32]


def forced_bounds(pricer: Pricer, prices: Floats) -> tuple[Floats, Floats]:
    """Return the bound at ``prices`` with every slot forced in, and forced out.

    Two arrays of shape (slots,). Workers too large for a table get upper bounds on theirs, from
    the priced budget (:meth:`TreeOracle.forced_values`).
    """
    sub = pricer.subproblem
    priced = pricer(prices)
    profit = pricer.profits(prices)
    inside = np.empty(sub.slots)
    outside = np.empty(sub.slots)
    values = np.zeros(sub.form.m)
    workers = range(sub.form.m)
    known = [h for h in workers if sub.cells[h] <= TABLE_CELLS]
    size = max((table_size(sub, h) for h in known), default=0)
    table, forward = np.empty(size), np.empty(size)
    for h in known:
        own = slice(sub.first[h], sub.first[h + 1])
        values[h] = _forced_values(
            profit[own],
            sub.end[own],
            sub.parent[own],
            sub.budget[h],
            table,
            forward,
            inside[own],
            outside[own],
        )
    for h in set(workers) - set(known):
        own = slice(sub.first[h], sub.first[h + 1])
        values[h] = priced.values[h]
        inside[own], outside[own] = pricer.oracle(h).forced_values(profit[own], int(sub.budget[h]))
    rest = np.repeat(priced.paid + values.sum() - values, np.diff(sub.first))
    return rest + inside, rest + outside


@numba.njit(cache=True, nogil=True)
def _forced_values(
    profit: Floats,
    end: Index,
    parent: Index,
    budget: int,
    table_buffer: Floats,
    forward_buffer: Floats,
    inside: Floats,
    outside: Floats,
) -> float:
    n = profit.shape[0]
    k = min(budget, n)
    if k == 0:
        inside[:] = -np.inf
        outside[:] = 0.0
        return 0.0
    table = table_buffer[: (n + 1) * (k + 1)].reshape((n + 1, k + 1))
    forward = forward_buffer[: (n + 1) * (k + 1)].reshape((n + 1, k + 1))
    fill_table(profit, end, k, table)
    forward[:] = -np.inf
    forward[0, 0] = 0.0
    for i in range(n):
        here = forward[i]
        skipped = forward[end[i]]
        after = table[end[i]]
        out = -np.inf
        for j in range(k + 1):
            skipped[j] = max(skipped[j], here[j])
            out = max(out, here[j] + after[k - j])
        p = profit[i]
        taken = forward[i + 1]
        below = table[i + 1]
        into = -np.inf
        for j in range(k):
            taken[j + 1] = max(taken[j + 1], here[j] + p)
            into = max(into, here[j] + p + below[k - j - 1])
        inside[i] = into
        outside[i] = out if parent[i] < 0 else max(out, outside[parent[i]])
    return float(table[0, k])
