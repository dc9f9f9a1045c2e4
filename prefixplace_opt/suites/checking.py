"""Check a suite: instances against their digests, bounds against their certificates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prefixplace_opt.certificates import read_certificate, verify
from prefixplace_opt.instances.suites import MANIFEST, TrafficAbsentError, regenerated
from prefixplace_opt.instances.suites.entry import sizes
from prefixplace_opt.instances.suites.generation import STAGE
from prefixplace_opt.problem import InputError, read_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prefixplace_opt.instances.suites import BestKnown, Entry, Suite
    from prefixplace_opt.problem import Problem

#: Name of the suite file where it is kept with what was generated from it.
SUITE_FILE = "suite.toml"

#: Of the instances above this many cells (chunks times all budgets), a partial check verifies the
#: certificates of one in :data:`SAMPLE`, chosen by digest: always the same ones.
LARGE_CELLS = 300_000
SAMPLE = 4


@dataclass(frozen=True)
class Finding:
    """Something in a suite that is not as its manifest says."""

    instance: str
    field: str
    message: str


def checked_certificates(suite: Suite, *, everything: bool = False) -> frozenset[str]:
    """Return the names of the instances whose certificates a check verifies."""
    return frozenset(
        entry.name
        for entry in suite.entries
        if entry.best is not None
        and (
            everything
            or entry.chunks * entry.budget <= LARGE_CELLS
            or int(entry.digest[:8], 16) % SAMPLE == 0
        )
    )


def check_entry(
    entry: Entry, folder: Path, *, certificate: bool = True, traces: Path | None = None
) -> list[Finding]:
    """Return what is wrong with one instance of the suite in ``folder``.

    The instance is generated again and its digest and sizes are compared; a stored file must be
    of the format (the reader holds it to its schema and more) and have the same digest; the
    certificate must be accepted by the verifier and prove at least the stated bounds.

    Raises
    ------
    TrafficAbsentError
        For an instance that is cut from traffic which is not in the folder ``traces``.
    """
    try:
        problem = regenerated(entry, traces)
    except TrafficAbsentError:
        raise
    except InputError as error:
        return [Finding(entry.name, error.field, error.message)]
    findings = list(_wrong_sizes(entry, problem))
    if entry.file is not None:
        findings += _wrong_file(entry, folder / entry.file)
    if entry.best is not None and certificate:
        findings += [
            Finding(entry.name, "best", message)
            for message in _unproven(entry.best, problem, folder)
        ]
    return findings


def foreign_files(suite: Suite, folder: Path) -> list[str]:
    """Return the files in the suite's folder that its manifest does not name, sorted.

    The suite file may stand beside the manifest as :data:`SUITE_FILE`; what a killed run of
    ``generate`` left unfinished does not count.
    """
    named = {MANIFEST, SUITE_FILE}
    for entry in suite.entries:
        named |= {name for name in (entry.file, entry.best and entry.best.certificate) if name}
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in files if name not in named and not _unfinished(name))


def _unfinished(name: str) -> bool:
    head, _, below = name.partition("/")
    return bool(below) and head.startswith(STAGE[0]) and head.endswith(STAGE[1])


def _wrong_sizes(entry: Entry, problem: Problem) -> Iterator[Finding]:
    for name, value in sizes(problem).items():
        stated = getattr(entry, name)
        if stated != value:
            yield Finding(entry.name, name, f"expected {value}, got {stated}")


def _wrong_file(entry: Entry, path: Path) -> list[Finding]:
    try:
        digest = read_problem(path).digest
    except InputError as error:
        return [Finding(entry.name, "file", str(error))]
    if digest != entry.digest:
        return [Finding(entry.name, "file", f"expected the instance {entry.digest}, got {digest}")]
    return []


def _unproven(best: BestKnown, problem: Problem, folder: Path) -> Iterator[str]:
    try:
        certificate = read_certificate(folder / best.certificate)
    except InputError as error:
        yield str(error)
        return
    report = verify(problem, certificate)
    for reason in report.reasons:
        yield f"{best.certificate} is rejected: {reason}"
    if certificate.lower < best.lower:
        yield f"{best.certificate} proves a lower bound of {certificate.lower}, not {best.lower}"
    if certificate.upper > best.upper:
        yield f"{best.certificate} proves an upper bound of {certificate.upper}, not {best.upper}"
