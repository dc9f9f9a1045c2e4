"""The interface of every back end: what it can do, what it is asked, what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from prefixplace_opt.formulations import LinearModel
    from prefixplace_opt.solvers.run import Run

Floats = NDArray[np.float64]

#: How a foreign solver ended. ``optimal``: within the gap it was asked for. ``limit``: a time, node
#: or other limit, with or without a solution. ``undecided``: infeasible or unbounded, the solver
#: did not say which. ``failed``: it gave up; ``reason`` says why.
Ending = Literal[
    "optimal", "limit", "interrupted", "infeasible", "unbounded", "undecided", "failed"
]


@dataclass(frozen=True)
class Capabilities:
    """What a back end does; asked for, never guessed from its name.

    Attributes
    ----------
    integer
        Solves models with integer columns; otherwise only their LP relaxation.
    duals
        Returns row duals of an LP.
    time_limit, gap, threads, seed, log
        Obeys that option.
    warm_start
        Starts from a given solution.
    incumbent_callback, bound_callback
        Tells of new incumbents, of new bounds, while it runs.
    interrupt
        Can be ended from outside without killing a process.
    """

    integer: bool = True
    duals: bool = False
    time_limit: bool = True
    gap: bool = True
    threads: bool = True
    seed: bool = True
    log: bool = True
    warm_start: bool = True
    incumbent_callback: bool = True
    bound_callback: bool = True
    interrupt: bool = True


@dataclass(frozen=True, eq=False)
class Answer:
    """What a back end found.

    Attributes
    ----------
    ending
        See :data:`Ending`.
    reason
        The solver's own words.
    solution
        Shape (columns,): the best feasible point, or None. A limit hit without one is None, never
        zeros.
    bound
        A valid upper bound on the model's optimum as far as the solver's arithmetic goes;
        infinite where it gave none.
    row_duals
        Shape (rows,), LP only: the change of the optimum with a row's binding side; >= 0 where
        the upper side binds.
    nodes
        Branching nodes.
    seconds
        Wall time in the solver.
    """

    ending: Ending
    reason: str
    solution: Floats | None = field(default=None, repr=False)
    bound: float = math.inf
    row_duals: Floats | None = field(default=None, repr=False)
    nodes: int = 0
    seconds: float = 0.0


class Backend(Protocol):
    """A foreign solver."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    def solve(
        self,
        model: LinearModel,
        run: Run,
        *,
        relaxed: bool = False,
        start: Floats | None = None,
    ) -> Answer:
        """Maximise ``model`` within the options of ``run``.

        Parameters
        ----------
        model
            What to solve.
        run
            Options, clock and stop flag; new incumbents and bounds are reported to it.
        relaxed
            Drop integrality: solve the LP relaxation.
        start
            Shape (columns,): a feasible point to start from; NaN where the solver is to fill in.
            An infeasible one is ignored.

        Raises
        ------
        SolverError
            Where the solver is missing, refuses an option or the model, or fails.
        """
        ...
