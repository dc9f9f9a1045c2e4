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

#: How a foreign solver ended. ``optimal``: within the gap it was asked for. ``time-limit``,
#: ``node-limit``, ``limit`` (memory, iterations or another): with or without a solution.
#: ``undecided``: infeasible or unbounded, the solver did not say which. ``failed``: it gave up;
#: ``reason`` says why.
Ending = Literal[
    "optimal",
    "time-limit",
    "node-limit",
    "limit",
    "interrupted",
    "infeasible",
    "unbounded",
    "undecided",
    "failed",
]

#: The reason where a solver was stopped at the time limit in time.
STOPPED = "stopped at the time limit"


@dataclass(frozen=True)
class Capabilities:
    """What a back end does; asked for, never guessed from its name.

    Attributes
    ----------
    integer
        Solves models with integer columns; otherwise only their LP relaxation.
    continuous
        Solves models with continuous columns, and so relaxations.
    duals
        Returns row duals of an LP.
    time_limit, gap, node_limit, threads, seed, log
        Obeys that option.
    warm_start
        Starts from a given solution.
    incumbent_callback, bound_callback
        Tells of new incumbents, of new bounds, while it runs.
    interrupt
        Ends within about a second when asked, in this process. One that does not always runs in a
        process of its own (:mod:`.contained`).
    """

    integer: bool = True
    continuous: bool = True
    duals: bool = False
    time_limit: bool = True
    gap: bool = True
    node_limit: bool = True
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
        An upper bound on the model's optimum, valid as far as the solver's arithmetic goes;
        infinite where it gave none.
    row_duals
        Shape (rows,), LP only: the change of the optimum with a row's binding side; >= 0 where
        the upper side binds.
    nodes
        Branching nodes.
    seconds
        Wall time in the solver.
    objective_error
        By how much the bound was raised, ms per epoch, to repay the rounding of the objective to
        the numbers that the solver takes; 0 where it takes doubles.
    """

    ending: Ending
    reason: str
    solution: Floats | None = field(default=None, repr=False)
    bound: float = math.inf
    row_duals: Floats | None = field(default=None, repr=False)
    nodes: int = 0
    seconds: float = 0.0
    objective_error: float = 0.0


class Listener:
    """Hears of incumbents and bounds while a back end runs; this one passes them to the run.

    Either method may be called from another thread than the one that waits for the answer, never
    from two at a time. An exception ends the solver and is raised by ``solve``.
    """

    def __init__(self, model: LinearModel, run: Run) -> None:
        self._model = model
        self._run = run
        self._lower = -math.inf
        self._upper = math.inf
        self._nodes = 0

    def incumbent(self, solution: Floats) -> None:
        """Hear of a new best feasible point, shape (columns,)."""
        self._lower = self._model.value(solution)
        self._tell()

    def bound(self, upper: float, nodes: int) -> None:
        """Hear of the bound and the branching nodes so far; also where neither changed."""
        self._upper, self._nodes = upper, nodes
        self._tell()

    def _tell(self) -> None:
        self._run.report("branching", self._lower, self._upper, self._nodes)


def ending_of(ending: Ending, run: Run) -> Ending:
    """Return ``ending``, told more precisely by what the run knows.

    Solvers that are stopped from outside say "interrupted" at a time limit of ours too, and some
    call every limit the same.
    """
    if ending not in ("limit", "interrupted"):
        return ending
    return run.stopped() or ending


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

    def require(self) -> None:
        """Raise SolverError, with a remedy, where the solver is not installed."""
        ...

    def solve(
        self,
        model: LinearModel,
        run: Run,
        *,
        relaxed: bool = False,
        start: Floats | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """Maximise ``model`` within the options of ``run``.

        Parameters
        ----------
        model
            What to solve.
        run
            Options, clock and stop flag.
        relaxed
            Drop integrality: solve the LP relaxation.
        start
            Shape (columns,): a feasible point to start from; NaN where the solver is to fill in.
            An infeasible one is ignored.
        listener
            Who hears of incumbents and bounds; by default they go to ``run``.

        Raises
        ------
        SolverError
            Where the solver is missing, refuses an option or the model, or cannot do what is
            asked.
        """
        ...
