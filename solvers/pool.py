"""Where the independent pieces of a run are worked on: threads here, or processes of a cluster.

A piece is a module-level function called as ``function(work, item)``; ``work`` is what a process
keeps about the problem between pieces. Results come in the order of the items and do not depend on
where, or how many at a time, they were worked out.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from prefixplace_opt.problem import savings

from .tree_oracle import TreeOracle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prefixplace_opt.problem import Problem, Savings

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Work:
    """A problem, its normal form, an oracle a thread, and when to stop.

    Parameters
    ----------
    problem
        The problem.
    table
        Bytes for the decisions of one dynamic programme; see :class:`TreeOracle`.
    stopped
        Gives a reason once the run must end.
    """

    def __init__(self, problem: Problem, table: int, stopped: Callable[[], object]) -> None:
        self.problem = problem
        self.form: Savings = savings(problem)
        self.stopped = stopped
        self._table = table
        self._own = threading.local()

    @property
    def oracle(self) -> TreeOracle:
        """The calling thread's own oracle."""
        if not hasattr(self._own, "oracle"):
            self._own.oracle = TreeOracle(self.problem.tree, self._table)
        oracle: TreeOracle = self._own.oracle
        return oracle

    def until(self, stopped: Callable[[], object]) -> Work:
        """Return the same work with another reason to stop."""
        other = copy(self)
        other.stopped = stopped
        return other


class Pool(Protocol):
    """Maps pieces over items."""

    def map(
        self,
        function: Callable[[Work, Item], Outcome],
        items: Sequence[Item],
        needed: int,
        done: Callable[[int, Outcome], None] | None = None,
    ) -> list[Outcome | None]:
        """Return the outcomes in the order of ``items``.

        When the run must end, items from ``needed`` on that nobody works on yet are left out: their
        outcome is None. ``done`` is called with an item's index and outcome as each one is ready,
        in any order, by one thread at a time.
        """
        ...


class LocalPool:
    """Threads of this process; the compiled parts run without Python's lock."""

    def __init__(self, work: Work, threads: int) -> None:
        self._work = work
        self._threads = threads

    def map(
        self,
        function: Callable[[Work, Item], Outcome],
        items: Sequence[Item],
        needed: int,
        done: Callable[[int, Outcome], None] | None = None,
    ) -> list[Outcome | None]:
        """Return the outcomes in the order of ``items``."""
        lock = threading.Lock()

        def call(index: int) -> Outcome | None:
            if index >= needed and self._work.stopped():
                return None
            outcome = function(self._work, items[index])
            if done is not None:
                with lock:
                    done(index, outcome)
            return outcome

        if self._threads == 1 or len(items) <= 1:
            return [call(index) for index in range(len(items))]
        with ThreadPoolExecutor(min(self._threads, len(items))) as pool:
            return list(pool.map(call, range(len(items))))


# The work of the problems that this process of a cluster saw last, by digest and table size.
_kept: dict[tuple[str, int], Work] = {}
_keeping = threading.Lock()
#: Problems that a process of a cluster keeps.
MOST_KEPT = 2


def work_here(
    function: Callable[[Work, Any], Any], problem: Problem, table: int, seconds: float, item: Any
) -> Any:
    """Do one piece in this process of a cluster, within ``seconds``.

    The normal form is made once a process, not once a piece.
    """
    end = time.monotonic() + seconds
    key = (problem.digest, table)
    with _keeping:
        kept = _kept.pop(key, None) or Work(problem, table, lambda: None)
        _kept[key] = kept
        while len(_kept) > MOST_KEPT:
            del _kept[next(iter(_kept))]
    work = kept.until(lambda: "time-limit" if time.monotonic() >= end else None)
    return function(work, item)
