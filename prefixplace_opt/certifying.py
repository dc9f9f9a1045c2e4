"""The front door to certificates: bound any placement, and check what others claim."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from .certificates import Certificate, certificate_of, read_certificate
from .certificates import verify as verify_certificate
from .certificates.verifier import OPTIMAL_TOLERANCE
from .problem import CapacityError, InputError, Placement, Problem, Proof, number
from .problem.errors import expect
from .solvers.memory import proof_shortfall
from .solvers.methods import method_named
from .solvers.result import Result
from .solvers.run import Options
from .solving import solve_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from .certificates import Arithmetic, Report
    from .solvers.run import Progress

#: The method that bounds a placement which comes without a proof.
METHOD = "auto"


def certify(
    problem: Problem,
    plan: Placement | Result,
    *,
    proof: Proof | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    memory_limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Certificate:
    """Return a certificate of what a placement is worth, and of what none can exceed.

    A result that carries a proof is certified as it is. Any other placement, wherever it was made,
    is bounded by :func:`bounded`; the certificate is of the given placement even where that run
    finds a better one.

    Parameters
    ----------
    problem
        The instance.
    plan
        A placement, or what :func:`prefixplace_opt.solve` returned.
    proof
        A proof of a bound to use instead of the result's own or of a run.
    gap, time_limit, node_limit, seed, threads, memory_limit, progress
        Of the run, where one is needed; see :func:`bounded`.

    Raises
    ------
    InputError
        For a placement of another instance, or an option out of range.
    CapacityError
        Where a proof does not fit the memory limit.
    """
    expect(problem, Problem, field="problem")
    expect(plan, Placement, Result, field="plan")
    expect(proof, Proof, type(None), field="proof")
    placement = plan.placement if isinstance(plan, Result) else plan
    if placement.instance != problem.digest:
        raise InputError("expected a placement of this instance", field="placement.instance")
    if proof is None and isinstance(plan, Result):
        proof = plan.proof
    if proof is None:
        options = Options(
            gap=gap,
            time_limit=time_limit,
            node_limit=node_limit,
            seed=seed,
            threads=threads,
            memory_limit=memory_limit,
            progress=progress,
        )
        proof = bounded(problem, placement, options).proof
    assert proof is not None
    return certificate_of(problem, placement, proof)


def bounded(problem: Problem, placement: Placement, options: Options) -> Result:
    """Return a result of method ``auto`` whose proof bounds ``placement``.

    The run starts from the placement and goes on until the gap of the options is that of the
    placement itself, or, where a better plan shows that no bound comes so close to it, of that one.

    Raises
    ------
    CapacityError
        Where a proof does not fit the memory limit.
    """
    shortfall = proof_shortfall(problem, options.memory_limit)
    if shortfall:
        raise CapacityError(shortfall)
    options = replace(options, warm_start=placement, reference=placement.value)
    return solve_with(problem, method_named(METHOD), options)


def verify(
    problem: Problem,
    certificate: Certificate | str | os.PathLike[str],
    *,
    arithmetic: Arithmetic | None = None,
    tolerance: float = OPTIMAL_TOLERANCE,
) -> Report:
    """Check a certificate, believing nothing but ``problem``.

    Parameters
    ----------
    problem
        The instance.
    certificate
        A certificate, or the path of its file.
    arithmetic
        ``"exact"`` or ``"directed"``; by default exact for small instances.
    tolerance
        Relative distance of lower and upper at which the placement counts as optimal, >= 0.

    Returns
    -------
    Report
        Whether it is accepted, and if not, why. See :mod:`prefixplace_opt.certificates`.

    Raises
    ------
    InputError
        For a file that is no certificate, or an option out of range.
    """
    if arithmetic not in (None, "exact", "directed"):
        raise InputError(f"expected 'exact' or 'directed', got {arithmetic!r}", field="arithmetic")
    tolerance = number(tolerance, field="tolerance")
    expect(problem, Problem, field="problem")
    expect(certificate, Certificate, str, os.PathLike, field="certificate")
    if isinstance(certificate, str | os.PathLike):
        certificate = read_certificate(certificate)
    return verify_certificate(problem, certificate, arithmetic=arithmetic, tolerance=tolerance)
