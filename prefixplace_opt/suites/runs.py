"""Run a method on an instance of a suite and keep what is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefixplace_opt.certificates import certificate_of
from prefixplace_opt.instances.suites import regenerated
from prefixplace_opt.problem import SolverError
from prefixplace_opt.solving import solve

from .best_known import Improvement, improved
from .compaction import compacted

if TYPE_CHECKING:
    from pathlib import Path

    from prefixplace_opt.instances.suites import Entry, Suite


def solved(
    suite: Suite,
    folder: Path,
    entry: Entry,
    *,
    method: str = "exact",
    time_limit: float | None = None,
    threads: int = 1,
    traces: Path | None = None,
) -> Improvement:
    """Solve one instance of the suite in ``folder``, certify the result, keep better bounds.

    Raises
    ------
    SolverError
        For a method that gives no proof to certify.
    """
    problem = regenerated(entry, traces)
    result = solve(problem, method=method, gap=0.0, time_limit=time_limit, threads=threads)
    if result.proof is None:
        raise SolverError(f"the method {method!r} gives no proof to certify")
    certificate = compacted(problem, certificate_of(problem, result.placement, result.proof))
    return improved(suite, folder, certificate, seconds=round(result.seconds, 2), traces=traces)
