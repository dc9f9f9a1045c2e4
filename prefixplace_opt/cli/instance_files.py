"""Instances named on the command line: files, and folders that are searched for them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

SUFFIXES = (".json", ".json.gz")


def instance_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files themselves, and all JSON files below the folders, sorted by name.

    Raises
    ------
    InputError
        Where a path does not exist, or a folder holds no JSON file.
    """
    from prefixplace_opt.problem import InputError

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        below = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES))
        below = [file for file in below if is_format(file, "prefixplace-instance")]
        if not below:
            raise InputError("expected a folder with instances, found none", source=str(path))
        found += below
    return list(dict.fromkeys(found))


def is_format(path: Path, name: str) -> bool:
    """Whether the file holds a JSON object of this format; raises InputError for no JSON."""
    from prefixplace_opt.problem.json_files import read_json

    document = read_json(path)
    return isinstance(document, dict) and document.get("format") == name


def read_all(paths: Sequence[Path]) -> "Iterator[Problem]":
    """Read one instance after the other; one without a name gets that of its file."""
    from prefixplace_opt.problem import read_problem

    for path in paths:
        problem = read_problem(path)
        yield problem if problem.name else replace(problem, name=path.name.split(".")[0])
