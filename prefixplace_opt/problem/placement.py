"""A placement: which chunks each worker holds, prefix-complete and within budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import index_array
from .errors import InputError
from .objective import objective_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .problem import Objective, Problem

Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Placement:
    """Resident chunks of every worker, validated against the problem it was made for.

    Attributes
    ----------
    instance
        Digest of the problem.
    objective
        The objective that ``value`` is of.
    resident
        For each worker the ids of its chunks, ascending.
    value
        F(T) in ms per epoch, by the definition.
    """

    instance: str
    objective: Objective
    resident: tuple[Index, ...]
    value: float

    @classmethod
    def of(cls, problem: Problem, resident: Sequence[ArrayLike]) -> Placement:
        """Validate ``resident`` (a list of chunk ids a worker, any order) and evaluate it.

        Raises
        ------
        InputError
            For a wrong number of workers, an unknown or repeated chunk, a chunk without its
            parent, or a worker over budget.
        """
        if len(resident) != problem.m:
            raise InputError(
                f"expected a list for each of {problem.m} workers, got {len(resident)}",
                field="resident",
            )
        held = np.zeros((problem.m, problem.n), dtype=np.bool_)
        for m, chunks in enumerate(resident):
            where = f"resident[{m}]"
            ids = index_array(chunks, field=where)
            outside = (ids < 0) | (ids >= problem.n)
            if outside.any():
                at = int(np.argmax(outside))
                raise InputError(
                    f"expected a chunk from 0 to {problem.n - 1}, got {ids[at]}",
                    field=f"{where}[{at}]",
                )
            held[m, ids] = True
            if np.count_nonzero(held[m]) < ids.size:
                values, counts = np.unique(ids, return_counts=True)
                raise InputError(
                    f"chunk {values[np.argmax(counts > 1)]} stands there more than once",
                    field=where,
                )
        return cls.of_mask(problem, held)

    @classmethod
    def of_mask(cls, problem: Problem, held: Mask) -> Placement:
        """Validate and evaluate a mask of shape (M, n), by chunk id; raises as :meth:`of` does."""
        if held.shape != (problem.m, problem.n):
            raise InputError(
                f"expected shape {(problem.m, problem.n)}, got {held.shape}", field="resident"
            )
        resident = []
        for m, worker in enumerate(problem.workers):
            chunks = np.flatnonzero(held[m]).astype(np.int32)
            if chunks.size > worker.budget:
                raise InputError(
                    f"worker {worker.name!r} holds {chunks.size} chunks, "
                    f"over its budget of {worker.budget}",
                    field=f"resident[{m}]",
                )
            orphan = problem.tree.orphan(held[m])
            if orphan >= 0:
                raise InputError(
                    f"chunk {orphan} is held without its parent {problem.tree.parents[orphan]} "
                    "(a resident set must be prefix-complete)",
                    field=f"resident[{m}]",
                )
            chunks.flags.writeable = False
            resident.append(chunks)
        return cls(
            problem.digest, problem.objective, tuple(resident), objective_value(problem, held)
        )

    def held(self, n: int) -> Mask:
        """Return the mask of shape (M, n), by chunk id."""
        mask = np.zeros((len(self.resident), n), dtype=np.bool_)
        for m, chunks in enumerate(self.resident):
            mask[m, chunks] = True
        return mask

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        return (self.instance, self.objective, self.value, len(self.resident)) == (
            other.instance,
            other.objective,
            other.value,
            len(other.resident),
        ) and all(map(np.array_equal, self.resident, other.resident))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = ", ".join(str(chunks.size) for chunks in self.resident)
        return f"Placement(value={self.value:.6g}, {self.objective}, chunks held: {sizes})"
