"""Weak duality: an upper bound on a linear model from any row duals, good or bad.

For every v that obeys the model, and any y that is >= 0 where only the upper side of a row is
finite and <= 0 where only the lower one is,

    cost . v = y . A v + (cost - A' y) . v
            <= sum_i max(y_i row_lower_i, y_i row_upper_i)
               + sum_j max(d_j column_lower_j, d_j column_upper_j),      d = cost - A' y

so a solver's tolerances cannot make the bound wrong, only weak. Rounding of the sums is added on
top.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .linear_model import LinearModel

Floats = NDArray[np.float64]

#: Half the distance from 1 to the next double.
UNIT_ROUNDOFF = 2.0**-53


def dual_bound(model: LinearModel, row_duals: Floats) -> float:
    """Return an upper bound on the LP value, and so on the MILP value, of ``model``.

    Parameters
    ----------
    model
        Its columns must be bounded; an unbounded one makes the bound infinite unless its reduced
        cost points away.
    row_duals
        Shape (rows,), any finite numbers; wrong signs count as 0.
    """
    dual = np.where((row_duals > 0) & np.isinf(model.row_upper), 0.0, row_duals)
    dual = np.where((dual < 0) & np.isinf(model.row_lower), 0.0, dual)
    products = model.entry_value * dual[model.entry_row]
    reduced = model.cost.copy()
    np.subtract.at(reduced, model.entry_column, products)
    size = np.abs(model.cost)
    np.add.at(size, model.entry_column, np.abs(products))
    terms = np.bincount(model.entry_column, minlength=model.columns) + 2
    # A sum of t terms is off by at most (t - 1) u / (1 - (t - 1) u) of the sum of their sizes; each
    # product adds one rounding, and `size` is rounded as well.
    error = 2.0 * terms * UNIT_ROUNDOFF * size
    rows = _largest(dual, model.row_lower, model.row_upper)
    columns = np.maximum(
        _largest(reduced - error, model.column_lower, model.column_upper),
        _largest(reduced + error, model.column_lower, model.column_upper),
    )
    parts = np.concatenate([rows, columns, [model.constant]])
    if not np.isfinite(parts).all():
        return math.inf
    # Each part is one rounded product of `d` and a bound; the sum itself is exact but for the last
    # rounding.
    total = math.fsum(parts) + 2.0 * UNIT_ROUNDOFF * math.fsum(np.abs(parts))
    return math.nextafter(total, math.inf)


def _largest(price: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return max(price lower, price upper), with 0 times infinity as 0."""
    with np.errstate(invalid="ignore"):
        return np.where(price == 0.0, 0.0, np.where(price > 0.0, price * upper, price * lower))
