"""Demand: how many requests of an epoch need a chunk at a worker, kept sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import cost_array, index_array
from .errors import InputError

Index = NDArray[np.int32]


class Demand:
    """Requests per epoch, routed to a worker, that need a chunk: the positive entries only.

    Entries are sorted by worker, then chunk, and unique. A request counts for every chunk on its
    path, so demand normally falls along a path; nothing relies on that.

    Attributes
    ----------
    worker, chunk
        int32, shape (entries,).
    value
        float64, shape (entries,), requests per epoch, > 0.
    shape
        (M, n).
    """

    __slots__ = ("chunk", "shape", "value", "worker")

    def __init__(
        self, worker: ArrayLike, chunk: ArrayLike, value: ArrayLike, *, shape: tuple[int, int]
    ) -> None:
        """Take entries in any order; repeated ones add, in the order given.

        Raises
        ------
        InputError
            For lists of unequal length, an index outside ``shape``, or a value that is negative
            or not finite.
        """
        workers = index_array(worker, field="worker")
        chunks = index_array(chunk, field="chunk")
        values = cost_array(value, field="value")
        if not workers.shape == chunks.shape == values.shape:
            raise InputError(
                f"expected worker, chunk and value of equal length, "
                f"got {workers.size}, {chunks.size} and {values.size}"
            )
        for indices, size, field in ((workers, shape[0], "worker"), (chunks, shape[1], "chunk")):
            outside = (indices < 0) | (indices >= size)
            if outside.any():
                at = int(np.argmax(outside))
                raise InputError(
                    f"expected 0 to {size - 1}, got {indices[at]}", field=f"{field}[{at}]"
                )
        cell = workers.astype(np.int64) * shape[1] + chunks
        by_cell = np.argsort(cell, kind="stable")
        cell, values = cell[by_cell], values[by_cell]
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        if first.size < cell.size:
            # In the order given: reduceat would add the first number last.
            entry = np.cumsum(np.diff(cell, prepend=-1) != 0) - 1
            sums = np.zeros(first.size)
            np.add.at(sums, entry, values)
            values = sums
            cell = cell[first]
            if not np.isfinite(values).all():
                raise InputError(
                    "repeated entries add up to more than a double holds", field="value"
                )
        positive = values > 0
        cell, values = cell[positive], values[positive]
        self.shape = shape
        self.worker: Index = (cell // max(shape[1], 1)).astype(np.int32)
        self.chunk: Index = (cell % max(shape[1], 1)).astype(np.int32)
        self.value: NDArray[np.float64] = values
        for array in (self.worker, self.chunk, self.value):
            array.flags.writeable = False

    @classmethod
    def from_dense(cls, values: ArrayLike, *, shape: tuple[int, int]) -> Demand:
        """Take an M x n array of requests per epoch, each finite and >= 0."""
        dense = cost_array(values, field="dense", shape=shape)
        worker, chunk = np.nonzero(dense)
        return cls(worker, chunk, dense[worker, chunk], shape=shape)

    def dense(self) -> NDArray[np.float64]:
        """Return the M x n array."""
        result = np.zeros(self.shape)
        result[self.worker, self.chunk] = self.value
        return result

    def of_worker(self, worker: int) -> tuple[Index, NDArray[np.float64]]:
        """Return the chunks that ``worker`` needs, ascending, and their requests per epoch."""
        start, stop = np.searchsorted(self.worker, [worker, worker + 1])
        return self.chunk[start:stop], self.value[start:stop]

    def total(self) -> NDArray[np.float64]:
        """Return the requests per epoch over all workers, shape (n,)."""
        total = np.zeros(self.shape[1])
        np.add.at(total, self.chunk, self.value)
        return total

    def __len__(self) -> int:
        return int(self.value.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Demand):
            return NotImplemented
        return self.shape == other.shape and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("worker", "chunk", "value")
        )

    __hash__: Any = None

    def __repr__(self) -> str:
        return f"Demand(shape={self.shape}, entries={len(self)}, total={self.value.sum():g})"
