"""Bounds of a suite: checked, and improved with verified certificates only."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from prefixplace_opt import InputError, Placement, solve
from prefixplace_opt.certificates import (
    Certificate,
    certificate_of,
    read_certificate,
    write_certificate,
)
from prefixplace_opt.instances.suites import (
    Entry,
    Suite,
    generate_suite,
    read_suite,
    read_suite_file,
    regenerated,
    write_suite,
)
from prefixplace_opt.suites import (
    check_entry,
    checked_certificates,
    foreign_files,
    improved,
    solved,
)

SUITE = """
name = "tiny"
[[instances]]
family = "rag"
documents = 3
objective = ["requester", "pairwise"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    generate_suite(read_suite_file(path), tmp_path / "out")
    return tmp_path / "out"


def proven(entry: Entry) -> Certificate:
    problem = regenerated(entry)
    result = solve(problem, method="exact", gap=0.0)
    return certificate_of(problem, result.placement, result.proof)


def emptied(entry: Entry, certificate: Certificate) -> Certificate:
    """The same proof with a placement that holds nothing."""
    problem = regenerated(entry)
    nothing = Placement.of(problem, [[] for _ in range(problem.m)])
    return replace(certificate, resident=nothing.resident, lower=0.0)


def weakened(certificate: Certificate) -> Certificate:
    """The same placement, claimed with twice the bound."""
    return replace(certificate, upper=2 * certificate.upper)


def test_better_bounds_are_taken_and_worse_ones_are_not(folder: Path) -> None:
    suite = read_suite(folder)
    best = proven(suite.entries[0])
    first = improved(suite, folder, weakened(best), seconds=1.0)
    assert first.better
    assert first.after.difficulty == "open"
    second = improved(first.suite, folder, best, seconds=2.0)
    assert second.after.upper == best.upper
    assert second.after.difficulty == "easy"
    for worse in (weakened(best), emptied(suite.entries[0], best), best):
        again = improved(second.suite, folder, worse, seconds=3.0)
        assert not again.better
        assert read_suite(folder) == again.suite == second.suite
    assert check_entry(read_suite(folder).entries[0], folder) == []


@pytest.mark.parametrize("plan_first", [True, False])
def test_halves_of_two_certificates_are_joined(folder: Path, plan_first: bool) -> None:
    suite = read_suite(folder)
    entry = suite.entries[1]
    best = proven(entry)
    halves = [weakened(best), emptied(entry, best)]
    for half in halves if plan_first else halves[::-1]:
        suite = improved(suite, folder, half, seconds=40.0).suite
    known = suite.entries[1].best
    assert known is not None
    assert (known.lower, known.upper, known.seconds) == (best.lower, best.upper, 80.0)
    assert known.difficulty == "hard"
    assert check_entry(suite.entries[1], folder) == []


def test_rejected_and_foreign_certificates_change_nothing(folder: Path) -> None:
    suite = read_suite(folder)
    best = proven(suite.entries[0])
    before = (folder / "manifest.json").read_bytes()
    for wrong, message in (
        (replace(best, lower=best.lower * 1.01), "rejected"),
        (replace(best, upper=best.upper * 0.99), "rejected"),
        (replace(best, instance="0" * 64), "digest of one of the suite's instances"),
    ):
        with pytest.raises(InputError, match=message):
            improved(suite, folder, wrong, seconds=1.0)
    assert (folder / "manifest.json").read_bytes() == before
    assert not (folder / "certificates").exists()


def test_solving_a_suite_proves_it(folder: Path) -> None:
    suite = read_suite(folder)
    for entry in suite.entries:
        suite = solved(suite, folder, entry).suite
    assert [entry.best.difficulty for entry in suite.entries if entry.best] == ["easy", "easy"]
    assert checked_certificates(suite) == {entry.name for entry in suite.entries}
    assert foreign_files(suite, folder) == []


@pytest.fixture
def known(folder: Path) -> tuple[Suite, Path]:
    suite = read_suite(folder)
    return solved(suite, folder, suite.entries[0]).suite, folder


def test_a_check_finds_bounds_that_are_not_proven(known: tuple[Suite, Path]) -> None:
    suite, folder = known
    entry = suite.entries[0]
    assert entry.best is not None
    claimed = replace(entry, best=replace(entry.best, lower=np.nextafter(entry.best.lower, 1e300)))
    assert "lower bound" in check_entry(claimed, folder)[0].message
    claimed = replace(entry, best=replace(entry.best, upper=np.nextafter(entry.best.upper, 0)))
    assert "upper bound" in check_entry(claimed, folder)[0].message
    assert check_entry(claimed, folder, certificate=False) == []
    path = folder / entry.best.certificate
    forged = replace(read_certificate(path), lower=entry.best.lower * 1.1)
    write_certificate(forged, path)
    assert "rejected" in check_entry(entry, folder)[0].message
    path.unlink()
    assert "cannot be read" in check_entry(entry, folder)[0].message


def test_a_check_finds_changed_instances_and_files(known: tuple[Suite, Path]) -> None:
    suite, folder = known
    entry, other = suite.entries
    assert entry.file is not None
    assert other.file is not None
    assert check_entry(replace(entry, chunks=7), folder)[0].field == "chunks"
    assert check_entry(replace(entry, seed=7), folder)[0].field == "digest"
    assert check_entry(replace(entry, family="rug"), folder)[0].field == "family"
    (folder / entry.file).write_bytes((folder / other.file).read_bytes())
    assert "expected the instance" in check_entry(entry, folder)[0].message
    (folder / entry.file).write_bytes(b"{")
    assert "expected JSON" in check_entry(entry, folder)[0].message
    (folder / "stray.txt").write_text("x", encoding="utf-8")
    assert foreign_files(suite, folder) == ["stray.txt"]


def test_a_partial_check_leaves_out_most_large_ones_always_the_same(
    known: tuple[Suite, Path],
) -> None:
    suite, folder = known
    entry = suite.entries[0]
    large = [
        replace(entry, name=f"x{at}", chunks=10**6, digest=f"{at:08x}" + "0" * 56)
        for at in range(8)
    ]
    suite = replace(suite, entries=tuple(large))
    assert checked_certificates(suite) == {"x0", "x4"}
    assert checked_certificates(suite, everything=True) == {f"x{at}" for at in range(8)}
    write_suite(suite, folder)
    assert read_suite(folder) == suite
