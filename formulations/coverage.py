"""Who is served from where: the part of the objective that couples the workers.

In the normal form (`Savings`) F is local value plus ``sum_r max_{h holds chunk(r)} value_{r,h}``.
As linear columns and rows over x:

- **requester-side**, a row r is worth D(r) from every holder of its compatibility group G:
  ``y_r <= sum_{h in G} x[h,b]``, ``0 <= y_r <= 1``, objective ``D(r) y_r``.
  ``aggregated``: one y a (group, chunk), D the sum over the requesters. ``disaggregated``: one y a
  (requester, chunk). Both have the same LP value: the y of one chunk are equal at an optimum.
- **pairwise**, facility location: ``z[m,h,b]`` is the share of m's need of b that h serves,
  ``sum_h z[m,h,b] <= 1``. ``disaggregated``: ``z[m,h,b] <= x[h,b]`` each. ``aggregated``:
  ``sum_m z[m,h,b] <= R x[h,b]`` with R the number of terms: fewer rows, a weaker LP.

y and z are continuous. That is exact: for x fixed at 0/1 what is left falls apart into one problem
a row, ``max D y, y <= min(1, sum x)`` or ``max sum_h value_h z_h, sum z <= 1, 0 <= z_h <= x_h``,
whose largest value is attained at the 0/1 point "all from the best holder".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import InputError, Problem, Savings

from .linear_model import Axis, ModelBuilder

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

CoverageRows = Literal["aggregated", "disaggregated"]


@dataclass(frozen=True, eq=False)
class Coverage:
    """Where the coverage columns stand and what they mean; one entry a way to be served.

    Attributes
    ----------
    column
        Shape (columns,): number of the y or z column.
    demand
        Shape (columns,): number of the demand it serves; of one demand at most 1 is served.
    chunk
        Shape (columns,): the chunk.
    site
        Shape (columns,): the row of ``sites``.
    sites
        Shape (sites, M): the workers of which any can serve it so.
    value
        Shape (columns,): what it is worth, ms per epoch.
    """

    column: Index
    demand: Index
    chunk: Index
    site: Index
    sites: Mask
    value: Floats

    def complete(self, held: Mask, solution: Floats) -> None:
        """Set the coverage columns of ``solution`` to their best for ``held``, shape (M, n)."""
        solution[self.column] = 0.0
        holding = np.stack([held[site].any(axis=0) for site in self.sites])
        possible = np.flatnonzero(holding[self.site, self.chunk])
        best_first = possible[np.lexsort((-self.value[possible], self.demand[possible]))]
        first = np.flatnonzero(np.diff(self.demand[best_first], prepend=-1))
        solution[self.column[best_first[first]]] = 1.0


def chosen_rows(problem: Problem, rows: CoverageRows | None) -> CoverageRows:
    """Return ``rows``, or by default the kind with the strongest LP and, of those, the fewest."""
    if rows is None:
        return "aggregated" if problem.objective == "requester" else "disaggregated"
    if rows not in ("aggregated", "disaggregated"):
        raise InputError(
            f"expected 'aggregated' or 'disaggregated', got {rows!r}", field="coverage"
        )
    return rows


def add_coverage(
    builder: ModelBuilder,
    problem: Problem,
    form: Savings,
    x: Index,
    labels: list[str],
    rows: CoverageRows | None = None,
) -> Coverage:
    """Add the coverage columns and rows to a model with residency columns ``x``, shape (M, n)."""
    rows = chosen_rows(problem, rows)
    if problem.objective == "requester":
        return _add_shared(builder, problem, form, x, labels, rows)
    return _add_facilities(builder, problem, form, x, labels, rows)


def _add_shared(
    builder: ModelBuilder,
    problem: Problem,
    form: Savings,
    x: Index,
    labels: list[str],
    rows: CoverageRows,
) -> Coverage:
    groups = problem.groups
    if rows == "aggregated":
        chunk = problem.tree.order[form.row_position]
        group, value = form.row_requester, form.row_best
        who = [Axis(group)] if groups.max() > 0 else []
    else:
        requester, chunk, value = shared_savings(problem)
        group = groups[requester].astype(np.int32)
        who = [Axis(requester, labels)]
    y = builder.add_columns("y", *who, Axis(chunk), cost=value)
    sites = np.arange(groups.max() + 1)[:, None] == groups[None, :]
    row, holder = np.nonzero(sites[group])
    builder.add_rows(
        "cover",
        *who,
        Axis(chunk),
        row=np.concatenate([np.arange(y.size), row]),
        column=np.concatenate([y, x[holder, chunk[row]]]),
        value=np.concatenate([np.ones(y.size), -np.ones(row.size)]),
        upper=0.0,
    )
    return Coverage(y, np.arange(y.size, dtype=np.int32), chunk, group, sites, value)


def _add_facilities(
    builder: ModelBuilder,
    problem: Problem,
    form: Savings,
    x: Index,
    labels: list[str],
    rows: CoverageRows,
) -> Coverage:
    demand, holder = np.nonzero(form.row_value > 0)
    requester = form.row_requester[demand]
    chunk = problem.tree.order[form.row_position[demand]]
    value = form.row_value[demand, holder]
    z = builder.add_columns(
        "z", Axis(requester, labels), Axis(holder, labels), Axis(chunk), cost=value
    )
    once, first = np.unique(demand, return_index=True)
    builder.add_rows(
        "serve",
        Axis(requester[first], labels),
        Axis(chunk[first]),
        row=np.searchsorted(once, demand),
        column=z,
        value=1.0,
        upper=1.0,
    )
    if rows == "disaggregated":
        each = np.arange(z.size)
        builder.add_rows(
            "source",
            Axis(requester, labels),
            Axis(holder, labels),
            Axis(chunk),
            row=np.concatenate([each, each]),
            column=np.concatenate([z, x[holder, chunk]]),
            value=np.repeat([1.0, -1.0], z.size),
            upper=0.0,
        )
    else:
        facility, row, terms = np.unique(x[holder, chunk], return_inverse=True, return_counts=True)
        at_worker, at_chunk = np.divmod(facility, max(problem.n, 1))
        builder.add_rows(
            "source",
            Axis(at_worker, labels),
            Axis(at_chunk),
            row=np.concatenate([row, np.arange(facility.size)]),
            column=np.concatenate([z, facility]),
            value=np.concatenate([np.ones(z.size), -terms.astype(np.float64)]),
            upper=0.0,
        )
    return Coverage(
        z,
        demand.astype(np.int32),
        chunk,
        holder.astype(np.int32),
        np.eye(problem.m, dtype=np.bool_),
        value,
    )


def shared_savings(problem: Problem) -> tuple[Index, Index, Floats]:
    """Return requester, chunk and L_m(b) [w_m(b) - f_m(b)]_+ where that is positive."""
    demand = problem.demand
    fetch = problem.fetch.cost(problem.tree, demand.worker, demand.chunk)  # type: ignore[union-attr]
    value = demand.value * np.maximum(problem.recompute_costs - fetch, 0.0)
    positive = value > 0
    return demand.worker[positive], demand.chunk[positive], value[positive]
