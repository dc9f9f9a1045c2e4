"""One run of a method: its options, its clock, what may stop it, and what it tells meanwhile."""

from __future__ import annotations

import math
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from prefixplace_opt.problem import InputError, Placement
from prefixplace_opt.problem.errors import shorten

from .result import gap_met, relative_gap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Progress:
    """What a run knows at a moment: sent to ``Options.progress``.

    Attributes
    ----------
    seconds
        Wall time since the start of the run.
    phase
        What the method is doing, one or two words.
    lower, upper
        Incumbent value and bound, ms per epoch; ``upper`` may be infinite.
    nodes
        Open and closed branching nodes so far, 0 before branching.
    """

    seconds: float
    phase: str
    lower: float
    upper: float
    nodes: int = 0

    @property
    def gap(self) -> float:
        """``(upper - lower) / upper``."""
        return relative_gap(self.lower, self.upper)


@dataclass(frozen=True)
class Options:
    """The options that every method takes; stateless.

    Parameters
    ----------
    gap
        Relative gap at which a run may end, 0 to 1.
    time_limit
        Seconds of wall time, > 0; None for no limit.
    node_limit
        Most branching nodes, >= 0; None for no limit.
    seed
        For everything that is drawn.
    threads
        At least 1. Results do not depend on it.
    memory_limit
        Bytes that the process should stay within, >= 1; None for no limit. Lean paths are taken
        to that end; a run that cannot keep to it ends with CapacityError before it begins.
    cluster
        Address of a Dask scheduler (``tcp://host:port``) on whose workers the planner's starts
        are worked on; None for this process. Results do not depend on it.
    warm_start
        A plan to start from.
    reference
        The value, ms per epoch, to which a method that proves measures the gap, instead of its best
        plan's; where that plan refutes such a bound, the gap is its own again.
    log
        Whether a foreign solver may write its own log.
    progress
        Called with a :class:`Progress` at every new incumbent or bound; an exception that it
        raises ends the run and is passed on.
    """

    gap: float = 1e-4
    time_limit: float | None = None
    node_limit: int | None = None
    seed: int = 0
    threads: int = 1
    memory_limit: int | None = None
    cluster: str | None = None
    warm_start: Placement | None = field(default=None, repr=False)
    reference: float | None = None
    log: bool = False
    progress: Callable[[Progress], None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, good, expected in (
            ("gap", _is_number(self.gap) and 0 <= self.gap <= 1, "a number from 0 to 1"),
            (
                "time_limit",
                self.time_limit is None or (_is_number(self.time_limit) and self.time_limit > 0),
                "a number of seconds > 0",
            ),
            (
                "node_limit",
                self.node_limit is None or _is_whole(self.node_limit, 0),
                "a whole number >= 0",
            ),
            ("seed", _is_whole(self.seed, 0), "a whole number >= 0"),
            ("threads", _is_whole(self.threads, 1), "a whole number >= 1"),
            (
                "memory_limit",
                self.memory_limit is None or _is_whole(self.memory_limit, 1),
                "a whole number of bytes >= 1",
            ),
            (
                "cluster",
                self.cluster is None or "://" in str(self.cluster),
                "the address of a scheduler such as tcp://127.0.0.1:8786",
            ),
            ("progress", self.progress is None or callable(self.progress), "a function"),
        ):
            if not good:
                given = shorten(getattr(self, name))
                raise InputError(f"expected {expected}, got {given}", field=name)


class Run:
    """The clock, the stop flag and the reporting of one run.

    A method asks :meth:`stopped` between its steps and ends with its best plan and bound when the
    answer is a reason. :meth:`interrupt` may be called from a signal handler or another thread.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._start = time.perf_counter()
        self._interrupted = threading.Event()
        self._told = (-math.inf, math.inf)
        self.seconds_of: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self._start

    @property
    def remaining(self) -> float:
        """Seconds left until the time limit, >= 0; infinity without one."""
        limit = self.options.time_limit
        return math.inf if limit is None else max(0.0, limit - self.seconds)

    def interrupt(self) -> None:
        """Ask the run to end at its next step."""
        self._interrupted.set()

    def stopped(self) -> Literal["time-limit", "interrupted"] | None:
        """Return why the run must end now, or None."""
        if self._interrupted.is_set():
            return "interrupted"
        return "time-limit" if self.remaining == 0.0 else None

    def closed(self, lower: float, upper: float) -> bool:
        """Whether the asked gap is reached."""
        return gap_met(relative_gap(lower, upper), self.options.gap)

    def report(self, phase: str, lower: float, upper: float, nodes: int = 0) -> None:
        """Tell the caller, if it asked, of a new incumbent or bound; neither ever gets worse."""
        lower, upper = max(lower, self._told[0]), min(upper, self._told[1])
        if self.options.progress is not None and (lower, upper) != self._told:
            self._told = (lower, upper)
            self.options.progress(Progress(self.seconds, phase, lower, upper, nodes))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the wall time of the block to ``seconds_of[part]``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds_of[part] = self.seconds_of.get(part, 0.0) + time.perf_counter() - start


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
