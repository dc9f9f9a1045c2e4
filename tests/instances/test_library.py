"""The published library: every instance is what its manifest says, every bound is proven."""

import os
from collections import Counter
from pathlib import Path

import pytest

from prefixplace_opt.instances.generators import FAMILIES
from prefixplace_opt.instances.suites import (
    TRACE,
    Entry,
    Suite,
    difficulty,
    read_suite,
    read_suite_file,
)
from prefixplace_opt.instances.suites.library import library_folder
from prefixplace_opt.suites import check_entry, checked_certificates, foreign_files

#: Most bytes of the whole library; the repository stays below 20 MiB.
MOST_BYTES = 8 * 2**20


@pytest.fixture(scope="module")
def suite() -> Suite:
    return read_suite(library_folder())


def of_family(suite: Suite, family: str) -> list[Entry]:
    return [entry for entry in suite.entries if entry.family == family]


@pytest.mark.parametrize("family", [*FAMILIES, TRACE])
def test_instances_and_bounds_are_as_stated(
    suite: Suite, family: str, request: pytest.FixtureRequest
) -> None:
    traces: Path | None = None
    if family == TRACE:
        traces = request.getfixturevalue("shared") / "traces"
    verified = checked_certificates(suite, everything="PREFIXPLACE_LIBRARY_ALL" in os.environ)
    entries = of_family(suite, family)
    findings = [
        finding
        for entry in entries
        for finding in check_entry(
            entry, library_folder(), certificate=entry.name in verified, traces=traces
        )
    ]
    assert findings == []
    assert {entry.objective for entry in entries} == {"requester", "pairwise"}


def test_every_instance_has_bounds_and_nothing_else_lies_there(suite: Suite) -> None:
    assert all(entry.best is not None for entry in suite.entries)
    assert foreign_files(suite, library_folder()) == []
    files = [path for path in library_folder().rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


def test_the_manifest_is_what_the_suite_file_asks_for(suite: Suite) -> None:
    asked = read_suite_file(library_folder() / "suite.toml")
    assert asked.name == suite.name
    assert [(each.family, each.seed, each.parameters.as_dict()) for each in asked.wanted] == [
        (entry.family, entry.seed, entry.parameters) for entry in suite.entries
    ]


def test_the_library_is_large_and_mostly_proven(suite: Suite) -> None:
    assert len(suite.entries) >= 250
    sizes = [entry.chunks for entry in suite.entries]
    assert min(sizes) <= 10
    assert max(sizes) >= 10_000
    classes = Counter(difficulty(entry) for entry in suite.entries)
    assert classes["easy"] + classes["hard"] >= 0.8 * len(suite.entries)
