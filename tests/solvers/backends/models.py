"""Small linear models that end in a known way, and listeners that watch."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from prefixplace_opt.formulations import LinearModel, compact_arrays
from prefixplace_opt.formulations.linear_model import Axis, ModelBuilder
from prefixplace_opt.problem import read_problem
from prefixplace_opt.solvers.backends.backend import Listener
from prefixplace_opt.solvers.run import Options, Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from numpy.typing import ArrayLike, NDArray


def model(
    cost: ArrayLike,
    rows: ArrayLike,
    *,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    most: ArrayLike = 1.0,
    integral: bool = True,
) -> LinearModel:
    """max cost v, lower <= rows v <= upper, 0 <= v <= most."""
    matrix = np.atleast_2d(np.asarray(rows, dtype=float))
    builder = ModelBuilder("small")
    builder.add_columns(
        "v", Axis(np.arange(matrix.shape[1])), cost=cost, upper=most, integral=integral
    )
    row, column = np.nonzero(matrix)
    builder.add_rows(
        "row",
        Axis(np.arange(matrix.shape[0])),
        row=row,
        column=column,
        value=matrix[row, column],
        lower=lower,
        upper=upper,
    )
    return builder.build()


def knapsack(integral: bool = True) -> LinearModel:
    """Optimum 19 at 0, 1, 1, 0; LP optimum 19 + 8/3."""
    return model([6.0, 10.0, 9.0, 4.0], [3.0, 4.0, 3.0, 3.0], upper=7.0, integral=integral)


def infeasible(integral: bool = True) -> LinearModel:
    return model(
        [1.0, 1.0],
        [[1.0, 1.0], [1.0, 1.0]],
        lower=[2.0, -np.inf],
        upper=[2.0, 1.0],
        integral=integral,
    )


def unbounded(integral: bool = True) -> LinearModel:
    return model([1.0, 1.0], [1.0, -1.0], upper=0.0, most=np.inf, integral=integral)


def market_split(rows: int = 5, columns: int = 40) -> tuple[LinearModel, NDArray[np.float64]]:
    """Equations on which solvers find no feasible point for minutes, and one."""
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 100, (rows, columns)).astype(float)
    point = rng.integers(0, 2, columns).astype(float)
    side = weights @ point
    return model(rng.integers(1, 10, columns), weights, lower=side, upper=side), point


def handed(shared: Path, name: str = "sparse-demand") -> LinearModel:
    """The compact model of a handed case, every column integer; takes solvers a moment."""
    from dataclasses import replace

    linear = compact_arrays(read_problem(shared / "cases" / f"{name}.json")).linear
    return replace(linear, integral=np.ones(linear.columns, dtype=bool))


def run(**options: Any) -> Run:
    return Run(Options(**{"gap": 0.0, **options}))


class Watcher(Listener):
    """Keeps what it hears; calls ``then`` at every incumbent."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.incumbents: list[NDArray[np.float64]] = []
        self.bounds: list[float] = []
        self.threads: set[int] = set()
        self._then = then

    def incumbent(self, solution: NDArray[np.float64]) -> None:
        self.incumbents.append(solution)
        self.threads.add(threading.get_ident())
        self._then()

    def bound(self, upper: float, nodes: int) -> None:
        assert nodes >= 0
        self.bounds.append(upper)
