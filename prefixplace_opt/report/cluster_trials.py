"""The instances of a suite on a Dask cluster: one instance a piece, all its runs on one worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prefixplace_opt.problem import Problem
from prefixplace_opt.solvers.cluster import connected, gathered

from .trials import Protocol, Trial, Trials, instance_trials


@dataclass(frozen=True)
class Piece:
    """An instance, the protocol, and the keys of its trials that are there already."""

    problem: Problem
    protocol: Protocol
    known: frozenset[tuple[str, str, int]]


def trials_on_cluster(
    address: str,
    problems: Sequence[Problem],
    so_far: Trials,
    after: Callable[[Trials], None] | None = None,
) -> Trials:
    """Run the protocol of ``so_far`` on all problems, on the workers of a cluster.

    What is compared with each other ran on one worker, one run after the other; give workers one
    thread each (``dask worker --nthreads 1``), or runs disturb each other. The rows come in the
    order of the problems, whatever came back first.

    Parameters
    ----------
    address
        The scheduler's.
    problems
        Named instances; each is sent to the worker that runs it.
    so_far
        Protocol, machine, and trials that are kept.
    after
        Called with all trials so far after each instance.

    Raises
    ------
    SolverError
        Where no scheduler answers, or pieces were lost again and again.
    """
    known = frozenset(trial.key for trial in so_far.rows)
    found: dict[int, list[Trial]] = {}

    def together() -> Trials:
        new = [trial for index in sorted(found) for trial in found[index]]
        return Trials(so_far.protocol, so_far.machine, (*so_far.rows, *new))

    with connected(address) as client:

        def submit(index: int) -> object:
            piece = Piece(problems[index], so_far.protocol, known)
            return client.submit(run_piece, client.scatter(piece, hash=False), pure=False)

        def done(index: int, trials: list[Trial]) -> None:
            found[index] = trials
            if after is not None:
                after(together())

        gathered(
            submit, len(problems), len(problems), done, lost=lambda: None, stopped=lambda: None
        )
    return together()


def run_piece(piece: Piece) -> list[Trial]:
    """Run the trials of one instance in this process."""
    return list(instance_trials(piece.problem, piece.protocol, piece.known))
