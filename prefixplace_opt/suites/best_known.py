"""Better bounds for a suite: only with a certificate that was verified, never to a worse value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prefixplace_opt.certificates import read_certificate, verify, write_certificate
from prefixplace_opt.instances.suites import BestKnown, regenerated, write_suite
from prefixplace_opt.problem import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from prefixplace_opt.certificates import Certificate
    from prefixplace_opt.instances.suites import Entry, Suite
    from prefixplace_opt.problem import Problem

#: Folder of the certificates in a suite's folder.
CERTIFICATES = "certificates"


@dataclass(frozen=True)
class Improvement:
    """What a certificate changed: the suite afterwards, and the bounds before and after."""

    suite: Suite
    instance: str
    before: BestKnown | None
    after: BestKnown

    @property
    def better(self) -> bool:
        """Whether a bound moved."""
        return self.before != self.after


def improved(
    suite: Suite,
    folder: Path,
    certificate: Certificate,
    *,
    seconds: float,
    traces: Path | None = None,
) -> Improvement:
    """Take the better bounds of a certificate into the suite in ``folder``.

    Where the certificate is better on one side only, its placement or its proof is joined with
    the other half of the known certificate, and the whole is verified again. The certificate is
    written before the manifest: whatever is interrupted, every stated bound stays proven.

    Parameters
    ----------
    suite, folder
        The manifest as read, and where it stands.
    certificate
        Of one of the suite's instances.
    seconds
        Wall time of the run that found it.
    traces
        Folder of the traffic that instances are cut from.

    Raises
    ------
    InputError
        For a certificate of another instance, or one that the verifier rejects.
    """
    entry = _entry_of(suite, certificate)
    problem = regenerated(entry, traces)
    _require_accepted(problem, certificate)
    before = entry.best
    if before is not None:
        lower_is_better = certificate.lower > before.lower
        upper_is_better = certificate.upper < before.upper
        if not lower_is_better and not upper_is_better:
            return Improvement(suite, entry.name, before, before)
        if not (lower_is_better and upper_is_better):
            known = read_certificate(folder / before.certificate)
            certificate = _joined(known, certificate, lower=lower_is_better)
            _require_accepted(problem, certificate)
            # A proof of optimality that needed both runs took as long as both.
            seconds += before.seconds
    after = BestKnown(
        lower=certificate.lower,
        upper=certificate.upper,
        seconds=seconds,
        certificate=f"{CERTIFICATES}/{entry.name}.json.gz",
    )
    (folder / CERTIFICATES).mkdir(exist_ok=True)
    write_certificate(certificate, folder / after.certificate)
    suite = suite.replaced(replace(entry, best=after))
    write_suite(suite, folder)
    return Improvement(suite, entry.name, before, after)


def _entry_of(suite: Suite, certificate: Certificate) -> Entry:
    for entry in suite.entries:
        if entry.digest == certificate.instance:
            return entry
    raise InputError(
        f"expected the digest of one of the suite's instances, got {certificate.instance!r:.70}",
        field="instance",
    )


def _joined(known: Certificate, new: Certificate, *, lower: bool) -> Certificate:
    placement, proof = (new, known) if lower else (known, new)
    return replace(proof, resident=placement.resident, lower=placement.lower)


def _require_accepted(problem: Problem, certificate: Certificate) -> None:
    report = verify(problem, certificate)
    if not report.accepted:
        reason = report.reasons[0]
        raise InputError(f"the certificate is rejected: {reason.message}", field=reason.field)
