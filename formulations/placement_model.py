"""What all formulations share: x columns for residency, and the way between a vector and a plan.

Every formulation maximises

    sum_{h,b} local_h(b) x[h,b]  +  coverage(x)

over parent-closed x within the budgets; they differ in how they say "parent-closed and within
the budget". The x columns stand first, ``x[h,b]`` as column ``h n + b`` (b a chunk id), so a
solution of any of them is read the same way.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import InputError, Placement, Problem, Savings

from .coverage import Coverage
from .linear_model import Axis, LinearModel, ModelBuilder

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

LONGEST_LABEL = 40


@dataclass(frozen=True, eq=False)
class PlacementModel(ABC):
    """A formulation of one problem as arrays.

    Attributes
    ----------
    problem
        What is formulated.
    linear
        The model; its first M n columns are x.
    coverage
        The part of the model that counts who is served from where.
    """

    problem: Problem
    linear: LinearModel
    coverage: Coverage

    def residency(self, solution: Floats) -> Floats:
        """Return x of ``solution``, shape (M, n), by chunk id."""
        problem = self.problem
        return solution[: problem.m * problem.n].reshape(problem.m, problem.n)

    def placement(self, solution: Floats) -> Placement:
        """Return the plan that an integer ``solution`` states, x rounded to the nearest integer.

        Raises
        ------
        InputError
            Where rounding does not give a plan; :func:`repaired` makes one of anything.
        """
        return Placement.of_mask(self.problem, self.residency(solution) > 0.5)

    def start(self, placement: Placement) -> Floats:
        """Return the whole solution vector that states ``placement``: a MIP start.

        Raises
        ------
        InputError
            For a placement of another instance, or one that the model has no columns for.
        """
        if placement.instance != self.problem.digest:
            raise InputError("expected a placement of this instance", field="warm_start")
        held = placement.held(self.problem.n)
        solution = np.zeros(self.linear.columns)
        solution[: held.size] = held.ravel()
        self.coverage.complete(held, solution)
        self._complete(held, solution)
        return solution

    def partial_start(self, placement: Placement) -> Floats:
        """Return only x of ``placement``; NaN in the columns that a solver is to work out."""
        held = placement.held(self.problem.n)
        solution = np.full(self.linear.columns, np.nan)
        solution[: held.size] = held.ravel()
        return solution

    @abstractmethod
    def _complete(self, held: Mask, solution: Floats) -> None:
        """Fill in the columns that are neither x nor coverage."""


def add_residency(builder: ModelBuilder, problem: Problem, form: Savings) -> Index:
    """Add the binary columns x[h,b] worth local_h(b); return their numbers, shape (M, n), by id."""
    worker, chunk = np.divmod(np.arange(problem.m * problem.n), max(problem.n, 1))
    cost = np.stack([form.local_profits(h) for h in range(problem.m)])[:, problem.tree.position]
    numbers = builder.add_columns(
        "x", Axis(worker, worker_labels(problem)), Axis(chunk), cost=cost.ravel(), integral=True
    )
    return numbers.reshape(problem.m, problem.n)


def worker_labels(problem: Problem) -> list[str]:
    """Return a name for every worker that all model files can carry.

    Letters, digits, ``_`` and ``.`` of the worker's own name stay, everything else becomes ``_``;
    where two would be alike, or nothing is left, the worker's number is added.
    """
    cleaned = [re.sub(r"[^A-Za-z0-9_.]", "_", w.name)[:LONGEST_LABEL] for w in problem.workers]
    alike = len(set(cleaned)) < len(cleaned)
    return [f"{label}.{m}" for m, label in enumerate(cleaned)] if alike else cleaned
