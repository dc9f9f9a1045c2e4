"""The manifest of a suite's folder: ``"format": "prefixplace-suite", "version": 1``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.file_bytes import write_bytes
from prefixplace_opt.problem.json_files import check_format, members, read_json

from .entry import Entry, entry_from_document

FORMAT = "prefixplace-suite"
#: Name of the manifest in a suite's folder.
MANIFEST = "manifest.json"
#: Most bytes of an instance's name, and of a number behind it; file systems allow 255 in all.
LONGEST_NAME, NUMBER = 200, 10


@dataclass(frozen=True)
class Suite:
    """A suite: its name, what it is for, and its instances in order."""

    name: str
    description: str
    entries: tuple[Entry, ...]

    def replaced(self, entry: Entry) -> Suite:
        """Return the suite with the entry of that name replaced."""
        entries = tuple(entry if own.name == entry.name else own for own in self.entries)
        return replace(self, entries=entries)


def read_suite(folder: str | os.PathLike[str]) -> Suite:
    """Read the manifest in ``folder``.

    Raises
    ------
    InputError
        Names file, field and value for everything that is not of the format.
    """
    path = Path(folder) / MANIFEST
    document = read_json(path)
    try:
        return _suite(document)
    except InputError as error:
        raise error.at(source=os.fspath(path)) from None


def write_suite(suite: Suite, folder: str | os.PathLike[str]) -> None:
    """Write the manifest into ``folder``, one instance a line, all or nothing."""
    head = {
        "format": FORMAT,
        "version": 1,
        "name": suite.name,
        "description": suite.description,
    }
    lines = [_line(key) + ": " + _line(value) for key, value in head.items()]
    rows = ",\n  ".join(_line(entry.document()) for entry in suite.entries)
    text = "{\n" + ",\n".join(lines) + ',\n"instances": [\n  ' + rows + "\n]\n}\n"
    write_bytes(Path(folder) / MANIFEST, text.encode("utf-8"))


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _suite(document: Any) -> Suite:
    check_format(document, FORMAT)
    members(document, "", required=("format", "version", "name", "description", "instances"))
    for key in ("name", "description"):
        if not isinstance(document[key], str):
            raise InputError(f"expected a string, got {shorten(document[key])}", field=key)
    if not isinstance(document["instances"], list):
        raise InputError(
            f"expected a list, got {shorten(document['instances'])}", field="instances"
        )
    entries = [
        entry_from_document(entry, f"instances[{at}]")
        for at, entry in enumerate(document["instances"])
    ]
    check_unique([entry.name for entry in entries])
    return Suite(document["name"], document["description"], tuple(entries))


def check_name(name: str, field: str, most: int = LONGEST_NAME) -> None:
    """Require a name that can be a file name wherever the suite lies; raises InputError."""
    if (
        not name
        or name != PurePosixPath(name).name
        or name != PureWindowsPath(name).name
        or name.startswith(".")
        or not name.isprintable()
        or len(name.encode("utf-8", "surrogatepass")) > most
    ):
        raise InputError(
            f"expected a name without slashes, of at most {most} bytes, got {shorten(name)}",
            field=field,
        )


def check_unique(names: Sequence[str]) -> None:
    """Require unique names that can be file names; raises InputError."""
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        field = f"instances[{at}].name"
        check_name(name, field, LONGEST_NAME + NUMBER)
        if name in seen:
            raise InputError(
                f"expected unique names, got {shorten(name)} at {seen[name]} too", field=field
            )
        seen[name] = at
