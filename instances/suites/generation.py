"""From a suite file to a folder of instances with a manifest, and back to the same instances."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from prefixplace_opt.instances.generators import family_named
from prefixplace_opt.problem import InputError, Problem, write_problem

from .entry import BestKnown, Entry
from .manifest import MANIFEST, Suite, check_unique, read_suite, write_suite
from .recipe import TRACE, VERSION, TraceParameters, cut_from_trace
from .suite_file import SuiteFile, Wanted

#: Folder of the instance files in a suite's folder.
INSTANCES = "instances"
#: How the name of the folder begins and ends in which a suite is made; a killed run may leave it.
STAGE = ".", ".part"


def generate_suite(
    suite_file: SuiteFile,
    folder: str | os.PathLike[str],
    *,
    store: bool = True,
    traces: str | os.PathLike[str] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Suite:
    """Generate every instance into ``folder`` and write the manifest, last.

    Nothing is there before all of it is: a suite that cannot be generated leaves no trace. Where
    the folder has a suite already, bounds known of instances that stay the same are kept.

    Parameters
    ----------
    suite_file
        What :func:`read_suite_file` returned.
    folder
        Made where it does not exist.
    store
        Whether instance files are written; without them the manifest alone says what they are.
    traces
        Folder of the traffic that instances are cut from.
    on_progress
        Called with the name of each instance that is done.

    Raises
    ------
    InputError
        Where names are not unique, an instance cannot be made, or something cannot be written.
    """
    target = Path(folder)
    with _staged(target) as stage:
        entries: list[Entry] = []
        for problem in _named(suite_file, traces):
            file = f"{INSTANCES}/{problem.name}.json.gz" if store else None
            if file is not None:
                write_problem(problem, stage / Path(file).name)
            entries.append(Entry.of(problem, file=file))
            if on_progress is not None:
                on_progress(problem.name)
        try:
            check_unique([entry.name for entry in entries])
        except InputError as error:
            raise error.at(source=suite_file.source) from None
        known = _known(target)
        kept = [replace(entry, best=known.get((entry.name, entry.digest))) for entry in entries]
        suite = Suite(suite_file.name, suite_file.description, tuple(kept))
        _make(target / INSTANCES if store else target)
        moves = [(made, target / INSTANCES / made.name) for made in sorted(stage.iterdir())]
        for _, place in [*moves, (stage, target / MANIFEST)]:
            if place.is_dir():
                raise InputError("cannot be written: it is a directory", source=os.fspath(place))
        for made, place in moves:
            try:
                made.replace(place)
            except OSError as error:
                message = f"cannot be written: {error.strerror or error}"
                raise InputError(message, source=os.fspath(place)) from None
    write_suite(suite, target)
    return suite


def _known(folder: Path) -> dict[tuple[str, str], BestKnown | None]:
    """Return the best known bounds of the suite in ``folder``, if there is one."""
    if not (folder / MANIFEST).is_file():
        return {}
    return {(entry.name, entry.digest): entry.best for entry in read_suite(folder).entries}


@contextmanager
def _staged(target: Path) -> Iterator[Path]:
    """Give a folder on the file system of ``target`` that is gone afterwards."""
    try:
        there = next(each for each in (target, *target.absolute().parents) if each.exists())
        stage = TemporaryDirectory(dir=there, prefix=STAGE[0], suffix=STAGE[1])
    except OSError as error:
        message = f"cannot be made: {error.strerror or error}"
        raise InputError(message, source=os.fspath(target)) from None
    with stage as name:
        yield Path(name)


def regenerated(entry: Entry, traces: str | os.PathLike[str] | None = None) -> Problem:
    """Make an entry's instance anew from its parameters, or its recipe and the folder ``traces``.

    Raises
    ------
    TrafficAbsentError
        Where the recipe's traffic is not in ``traces``.
    InputError
        For an unknown family, parameters that do not fit, another version of the generator, or
        an instance with another digest.
    """
    version = VERSION if entry.family == TRACE else family_named(entry.family).version
    if version != entry.version:
        raise InputError(
            f"expected version {version} of the generator {entry.family!r}, got {entry.version}",
            field="version",
        )
    kind = TraceParameters if entry.family == TRACE else family_named(entry.family).parameters
    wanted = Wanted(entry.family, entry.seed, kind.of(entry.parameters), entry.name)
    problem = _made(wanted, traces)
    if problem.digest != entry.digest:
        raise InputError(
            f"expected {entry.digest}, but its parameters give {problem.digest}", field="digest"
        )
    return problem


def _made(wanted: Wanted, traces: str | os.PathLike[str] | None) -> Problem:
    name = wanted.name or ""
    if isinstance(wanted.parameters, TraceParameters):
        folder = None if traces is None else Path(traces)
        return cut_from_trace(wanted.parameters, wanted.seed, folder, name)
    return family_named(wanted.family).generate(wanted.seed, wanted.parameters, name)


def _named(suite_file: SuiteFile, traces: str | os.PathLike[str] | None) -> Iterator[Problem]:
    """Generate in order; names that would repeat get a number."""
    wanted = {each.name for each in suite_file.wanted}
    seen: set[str] = set()
    for each in suite_file.wanted:
        try:
            problem = _made(each, traces)
        except InputError as error:
            raise error.at(field=each.field, source=suite_file.source) from None
        if problem.name in seen:
            numbered = (f"{problem.name}-{number}" for number in itertools.count(2))
            free = next(name for name in numbered if name not in seen and name not in wanted)
            problem = replace(problem, name=free)
        seen.add(problem.name)
        yield problem


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be made: {error.strerror or error}", source=os.fspath(folder)
        ) from None
