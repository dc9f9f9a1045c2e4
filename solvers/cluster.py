"""A Dask cluster as the place where pieces of a run are worked on.

Scheduler and workers are processes that the user starts (``dask scheduler``, ``dask worker``) with
this package installed. The problem is sent to every worker once. Pieces of a worker that dies are
done again by the others, so that its death costs time, not results.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from prefixplace_opt.problem import SolverError

from .pool import Work, work_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prefixplace_opt.problem import Problem

    from .run import Run

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

#: Seconds to wait for the scheduler, and for its first worker.
CONNECT_SECONDS = 10.0
#: Seconds between looks at what is ready.
POLL_SECONDS = 0.02
#: How often the pieces that are still open are sent out before the run gives up. Within one sending
#: the scheduler itself moves a dead worker's pieces, so a second one is needed only where the
#: problem's last copy died too.
SENDINGS = 5


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Open a client of the scheduler at ``address`` (``tcp://host:port``) and close it.

    Raises
    ------
    SolverError
        Where Dask is not installed, or no scheduler or worker answers.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise SolverError(
            "a cluster needs the package distributed: pip install 'prefixplace-opt[cluster]'"
        ) from None
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise SolverError(f"no Dask scheduler answers at {address!r} ({error})") from None
    try:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise SolverError(f"the Dask scheduler at {address!r} has no worker") from None
        with client.as_current():
            yield client
    finally:
        client.close()


class ClusterPool:
    """Maps pieces of one problem over a cluster.

    Parameters
    ----------
    client
        From :func:`connected`.
    problem
        Sent to every worker before the first piece.
    table
        Bytes for the decisions of one dynamic programme; see :class:`TreeOracle`.
    run
        Whose limits hold: pieces end by themselves at its time limit.
    """

    def __init__(self, client: Any, problem: Problem, table: int, run: Run) -> None:
        self._client = client
        self._problem = problem
        self._table = table
        self._run = run
        self._sent: Any = None

    def map(
        self,
        function: Callable[[Work, Item], Outcome],
        items: Sequence[Item],
        needed: int,
        done: Callable[[int, Outcome], None] | None = None,
    ) -> list[Outcome | None]:
        """Return the outcomes in the order of ``items``.

        Raises
        ------
        SolverError
            When pieces are still open after ``SENDINGS`` sendings, or no worker is left and none
            comes back in time.
        """

        def submit(index: int) -> Any:
            if self._sent is None:
                try:
                    self._sent = self._client.scatter(self._problem, broadcast=True, hash=False)
                except TimeoutError:
                    raise SolverError("the cluster has lost all its workers") from None
            seconds = min(self._run.remaining, 1e9)
            return self._client.submit(
                work_here, function, self._sent, self._table, seconds, items[index], pure=False
            )

        def lost() -> None:
            self._sent = None

        def told(index: int, outcome: Any) -> None:
            if done is not None:
                done(index, outcome)

        return gathered(submit, len(items), needed, told, lost, self._run.stopped)


def gathered(
    submit: Callable[[int], Any],
    number: int,
    needed: int,
    done: Callable[[int, Any], None],
    lost: Callable[[], None],
    stopped: Callable[[], object],
) -> list[Any]:
    """Return the results of the futures ``submit(0) .. submit(number - 1)``.

    Futures that a cluster lost are submitted again, after a call of ``lost``; an exception of a
    piece itself is raised. Once ``stopped`` gives a reason, those from ``needed`` on that are not
    ready are cancelled, and None.

    Raises
    ------
    SolverError
        When some are still lost after ``SENDINGS`` sendings.
    """
    distributed: Any = import_module("distributed")

    outcomes: dict[int, Any] = {}
    reason = ""
    for _ in range(SENDINGS):
        futures = {submit(index): index for index in range(number) if index not in outcomes}
        ready = distributed.as_completed(list(futures))
        while not ready.is_empty():
            if not ready.has_ready():
                time.sleep(POLL_SECONDS)
                if stopped():
                    for future, index in futures.items():
                        if index >= needed and index not in outcomes and not future.done():
                            outcomes[index] = None
                            future.cancel()
                continue
            future = next(ready)
            index = futures[future]
            if index in outcomes:
                continue
            if future.status == "cancelled":
                reason = "the workers that held the problem died"
                continue
            error = future.exception()
            if isinstance(error, distributed.KilledWorker | OSError):
                reason = str(error)
            elif error is not None:
                raise error
            else:
                outcomes[index] = future.result()
                done(index, outcomes[index])
        if len(outcomes) == number:
            return [outcomes[index] for index in range(number)]
        lost()
    raise SolverError(
        f"the cluster lost {number - len(outcomes)} of {number} pieces {SENDINGS} times: {reason}"
    )
