"""The front door to every method."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .claims import upheld
from .problem import InputError, Placement, Problem
from .problem.errors import expect
from .solvers.methods import method_named
from .solvers.run import Options, Progress, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .solvers.methods import Method
    from .solvers.result import Result


def solve(
    problem: Problem,
    *,
    method: str = "auto",
    gap: float = 1e-4,
    time_limit: float | None = None,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    memory_limit: int | None = None,
    cluster: str | None = None,
    warm_start: Placement | None = None,
    log: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Plan which chunks each worker keeps.

    Parameters
    ----------
    problem
        What to solve.
    method
        A name from :data:`prefixplace_opt.METHODS`.
    gap, time_limit, node_limit, seed, threads, memory_limit, cluster, warm_start, log,
    progress
        See :class:`prefixplace_opt.solvers.run.Options`.

    Returns
    -------
    Result
        The best plan found, with a valid bound, also at a time limit or Ctrl-C (once: the run
        ends at its next step; twice: KeyboardInterrupt). ``optimal`` where the verifier accepted
        the proof, see :func:`prefixplace_opt.claims.upheld`.

    Raises
    ------
    InputError
        For an unknown method, an option out of range, or a warm start of another instance.
    SolverError
        For a back end that is missing or failed.
    """
    expect(problem, Problem, field="problem")
    expect(warm_start, Placement, type(None), field="warm_start")
    chosen = method_named(method)
    if warm_start is not None and warm_start.instance != problem.digest:
        raise InputError("expected a placement of this instance", field="warm_start")
    options = Options(
        gap=gap,
        time_limit=time_limit,
        node_limit=node_limit,
        seed=seed,
        threads=threads,
        memory_limit=memory_limit,
        cluster=cluster,
        warm_start=warm_start,
        log=log,
        progress=progress,
    )
    return solve_with(problem, chosen, options)


def solve_with(problem: Problem, method: Method, options: Options) -> Result:
    """Return what :func:`solve` does, for a method and options that are made already."""
    run = Run(options)
    with _interruptible(run):
        return upheld(problem, method(problem, run), run)


@contextmanager
def _interruptible(run: Run) -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM end the run at its next step; the second is an ordinary one.

    Batch schedulers send SIGTERM. A handler that whoever embeds us has set stays in force.
    """
    ours: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    replaced = [number for number, usual in ours.items() if signal.getsignal(number) == usual]

    def once(number: int, _frame: object) -> None:
        run.interrupt()
        signal.signal(number, ours[signal.Signals(number)])

    for number in replaced:
        signal.signal(number, once)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, ours[number])
