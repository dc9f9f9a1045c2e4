"""A linear model with integer columns, as arrays: what every formulation is handed on as.

    max  cost . v + constant     row_lower <= A v <= row_upper,  column_lower <= v <= column_upper,
                                 v_j integer where integral_j

No solver is known here. Columns and rows come in *families* (all x[worker, chunk], say); their
names are made only when somebody asks, since a big model has millions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace_opt.problem import CapacityError

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: Most matrix entries of a model: building one takes some 60 bytes an entry.
MOST_ENTRIES = 100_000_000


class Axis(NamedTuple):
    """One index of a family: a number for every member, with labels where numbers are no names."""

    values: NDArray[np.integer]
    labels: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Family:
    """Columns, or rows, ``start .. start + size - 1``, that share a symbol.

    Attributes
    ----------
    symbol
        ``"x"``, ``"budget"``, ...
    start, size
        Where the members stand in the model.
    axes
        The indices of the members, each of shape (size,).
    """

    symbol: str
    start: int
    size: int
    axes: tuple[Axis, ...]

    @property
    def numbers(self) -> slice:
        """The members as a slice of the model's columns or rows."""
        return slice(self.start, self.start + self.size)

    def names(self, brackets: str = "[]") -> Iterator[str]:
        """Yield ``symbol[index,index]`` of every member, in order."""
        left, right = brackets[0], brackets[1]
        texts = [
            map(str, axis.values.tolist())
            if axis.labels is None
            else map(axis.labels.__getitem__, axis.values.tolist())
            for axis in self.axes
        ]
        for index in zip(*texts, strict=True):
            yield f"{self.symbol}{left}{','.join(index)}{right}"


@dataclass(frozen=True, eq=False)
class LinearModel:
    """The model above; the matrix A is stored by rows.

    Attributes
    ----------
    name
        For people and files.
    cost
        Shape (columns,), to be maximised, ms per epoch.
    constant
        Added to the objective, ms per epoch.
    column_lower, column_upper
        Shape (columns,).
    integral
        Shape (columns,): which columns must be integer.
    row_lower, row_upper
        Shape (rows,), infinite where there is no bound.
    row_start
        Shape (rows + 1,): row r owns the entries ``row_start[r] .. row_start[r + 1] - 1``.
    entry_column, entry_value
        Shape (entries,): column and coefficient of each entry; columns ascend within a row.
    column_families, row_families
        What the columns and rows are called.
    interior_point
        A hint to solvers: the LP is large and degenerate, and interior point methods are faster on
        it than simplex methods.
    """

    name: str
    cost: Floats
    constant: float
    column_lower: Floats
    column_upper: Floats
    integral: Mask
    row_lower: Floats
    row_upper: Floats
    row_start: Index
    entry_column: Index
    entry_value: Floats
    column_families: tuple[Family, ...]
    row_families: tuple[Family, ...]
    interior_point: bool = False

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.cost.size)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.row_lower.size)

    @property
    def entries(self) -> int:
        """Number of matrix entries."""
        return int(self.entry_value.size)

    @property
    def entry_row(self) -> Index:
        """Shape (entries,): the row of each entry."""
        return np.repeat(np.arange(self.rows, dtype=np.int32), np.diff(self.row_start))

    def column_names(self, brackets: str = "[]") -> Iterator[str]:
        """Yield the name of every column, in order."""
        for family in self.column_families:
            yield from family.names(brackets)

    def row_names(self, brackets: str = "[]") -> Iterator[str]:
        """Yield the name of every row, in order."""
        for family in self.row_families:
            yield from family.names(brackets)

    def rows_of(self, symbol: str) -> slice:
        """Return the rows of the family ``symbol``, empty where the model has none."""
        return _numbers(self.row_families, symbol)

    def columns_of(self, symbol: str) -> slice:
        """Return the columns of the family ``symbol``, empty where the model has none."""
        return _numbers(self.column_families, symbol)

    def value(self, solution: Floats) -> float:
        """Return the objective of ``solution``, shape (columns,)."""
        return float(self.cost @ solution) + self.constant

    def activity(self, solution: Floats) -> Floats:
        """Return A v, shape (rows,)."""
        terms = self.entry_value * solution[self.entry_column]
        activity = np.zeros(self.rows)
        np.add.at(activity, self.entry_row, terms)
        return activity

    def violation(self, solution: Floats) -> float:
        """Return by how much ``solution`` misses the row or bound that it misses most; >= 0."""
        activity = self.activity(solution)
        misses = (
            self.row_lower - activity,
            activity - self.row_upper,
            self.column_lower - solution,
            solution - self.column_upper,
        )
        return max(float(miss.max(initial=0.0)) for miss in misses)


class ModelBuilder:
    """Puts a :class:`LinearModel` together, one family at a time."""

    def __init__(self, name: str, *, interior_point: bool = False) -> None:
        self.name = name
        self._interior_point = interior_point
        self._columns = _Families()
        self._rows = _Families()
        self._cost: list[Floats] = []
        self._upper: list[Floats] = []
        self._integral: list[Mask] = []
        self._row_bounds: list[tuple[Floats, Floats]] = []
        self._row_start: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        self._entries: list[tuple[Index, Floats]] = []
        self._entry_count = 0

    def add_columns(
        self,
        symbol: str,
        *axes: Axis,
        cost: ArrayLike = 0.0,
        upper: ArrayLike = 1.0,
        integral: bool = False,
    ) -> Index:
        """Add columns from 0 to ``upper`` and return their numbers, in the order of the axes."""
        family = self._columns.add(symbol, axes)
        self._cost.append(_filled(cost, family.size))
        self._upper.append(_filled(upper, family.size))
        self._integral.append(np.full(family.size, integral))
        return np.arange(family.start, family.start + family.size, dtype=np.int32)

    def add_rows(
        self,
        symbol: str,
        *axes: Axis,
        row: NDArray[np.integer],
        column: NDArray[np.integer],
        value: ArrayLike,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        """Add rows with the entries (row, column, value); ``row`` counts from 0 in this family."""
        require_room(self.name, self._entry_count + row.size)
        family = self._rows.add(symbol, axes)
        self._row_bounds.append((_filled(lower, family.size), _filled(upper, family.size)))
        value = _filled(value, row.size)
        by_row = np.lexsort((column, row))
        by_row = by_row[value[by_row] != 0.0]
        self._entries.append((column[by_row].astype(np.int32), value[by_row]))
        row = row[by_row]
        ends = np.cumsum(np.bincount(row, minlength=family.size), dtype=np.int64)
        self._row_start.append(self._entry_count + ends)
        self._entry_count += row.size

    def build(self) -> LinearModel:
        """Return the model."""
        cost = _joined(self._cost, np.float64)
        return LinearModel(
            name=self.name,
            cost=cost,
            constant=0.0,
            column_lower=np.zeros(cost.size),
            column_upper=_joined(self._upper, np.float64),
            integral=_joined(self._integral, np.bool_),
            row_lower=_joined([lower for lower, _ in self._row_bounds], np.float64),
            row_upper=_joined([upper for _, upper in self._row_bounds], np.float64),
            row_start=_joined(self._row_start, np.int32),
            entry_column=_joined([column for column, _ in self._entries], np.int32),
            entry_value=_joined([value for _, value in self._entries], np.float64),
            column_families=tuple(self._columns.families),
            row_families=tuple(self._rows.families),
            interior_point=self._interior_point,
        )


def require_room(name: str, entries: int) -> None:
    """Raise CapacityError where a model of so many matrix entries would be too large."""
    if entries > MOST_ENTRIES:
        raise CapacityError(
            f"the model {name!r} would have {entries:,} matrix entries, more than "
            f"{MOST_ENTRIES:,}: use a method without an explicit model, such as `auto`"
        )


class _Families:
    """Families numbered one behind the other."""

    def __init__(self) -> None:
        self.families: list[Family] = []
        self._next = 0

    def add(self, symbol: str, axes: tuple[Axis, ...]) -> Family:
        size = int(axes[0].values.size)
        family = Family(symbol, self._next, size, axes)
        self.families.append(family)
        self._next += size
        return family


def _numbers(families: tuple[Family, ...], symbol: str) -> slice:
    for family in families:
        if family.symbol == symbol:
            return family.numbers
    return slice(0, 0)


def _filled(value: ArrayLike, size: int) -> Floats:
    return np.broadcast_to(np.asarray(value, dtype=np.float64), (size,))


def _joined(parts: list, dtype: type) -> NDArray:  # type: ignore[type-arg]
    joined: NDArray = np.concatenate(parts) if parts else np.zeros(0)  # type: ignore[type-arg]
    return np.ascontiguousarray(joined, dtype=dtype)
