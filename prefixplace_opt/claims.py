"""What a result may claim: a bound that no rounding has lowered, and `optimal` only with a proof.

Methods compute in doubles. What they say of their bound and their status is taken for what it is,
and replaced by what holds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from .certificates import certificate_of, verify
from .solvers.result import OPTIMAL_TOLERANCE

if TYPE_CHECKING:
    from .problem import Problem
    from .solvers.result import Result, Status
    from .solvers.run import Run


def upheld(problem: Problem, result: Result, run: Run) -> Result:
    """Return ``result`` with the bound and the status that can be shown.

    Every bound is raised by what rounding can have taken off (:func:`raised`). With a proof,
    ``upper`` is what a certificate of it states, unless the method knows of a better bound than
    its proof shows; and ``optimal`` stays where the verifier accepts that. A run that its time
    limit or Ctrl-C ended, or that must stay within a memory limit, is spared the certificate unless
    it says ``optimal``. Without a proof nothing is ``optimal``.
    """
    status: Status = result.status
    reasons = [result.reason]
    upper = raised(problem, result.upper)
    claimed = status == "optimal"
    spared = status in ("time-limit", "interrupted") or run.options.memory_limit is not None
    if result.proof is not None and (claimed or not spared):
        with run.timed("certificate"):
            certificate = certificate_of(problem, result.placement, result.proof)
            if certificate.upper <= upper * (1 + OPTIMAL_TOLERANCE):
                upper = certificate.upper
            if claimed:
                report = verify(problem, certificate, arithmetic="directed")
                if not report.optimal:
                    report = verify(problem, certificate)
                if not report.optimal:
                    status, upper = "gap", certificate.upper
                    reasons = [f"the proof of optimality shows no more than a gap of {report.gap}"]
                    reasons += map(str, report.reasons)
    statistics = dict(result.statistics)
    if "seconds" in statistics:
        statistics["seconds"] = dict(run.seconds_of)
    settled = replace(result, upper=upper, seconds=run.seconds, statistics=statistics)
    if result.proof is None and status in ("optimal", "gap") and settled.gap <= OPTIMAL_TOLERANCE:
        status = "gap"
        reasons.append(f"optimal by the word of {result.method} alone; `certify` can prove it")
    if status == "gap" and not run.closed(settled.lower, settled.upper):
        status = "feasible"
    return replace(settled, status=status, reason="; ".join(filter(None, reasons)))


def raised(problem: Problem, upper: float) -> float:
    """Return ``upper`` raised by what rounding in doubles can have taken off.

    A bound adds up prices and, for each of the M workers, profits of at most k chunks; each number
    is made by a handful of operations and sums over M workers, without cancellation but for
    ``[value - price]_+``, whose error is relative to the value. The values that a worker's chunks
    add up to are those of a placement, so they do not exceed the bound. With u = 2**-53 half the
    distance from 1 to the next double, that comes to at most ``(M + 2) (k + 4 M + 64) u`` of the
    bound; twice as much is added.
    """
    budget = int(problem.budgets.max())
    operations = (problem.m + 2) * (budget + 4 * problem.m + 64)
    return math.nextafter(upper * (1 + operations * 2.0**-52), math.inf) if upper > 0 else 0.0
