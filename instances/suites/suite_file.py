"""The suite file that people write (TOML): families, with a list wherever several values are meant.

    name = "small"
    description = "two sizes, two objectives, three seeds each: twelve instances"

    [defaults]
    objective = ["requester", "pairwise"]

    [[instances]]
    family = "rag"
    documents = [20, 40]
    seed = [0, 1, 2]

A list gives one instance a value, and lists multiply; the last one varies fastest. Defaults hold
for every family that has such a parameter. The family ``trace`` cuts an instance from traffic, see
:class:`prefixplace_opt.instances.suites.recipe.TraceParameters`.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from prefixplace_opt.instances.generators import family_named
from prefixplace_opt.instances.generators.parameters import Parameters
from prefixplace_opt.instances.toml_files import read_toml
from prefixplace_opt.problem import InputError, whole_number
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.json_files import members

from .manifest import check_name
from .recipe import TRACE, TraceParameters

#: Most instances that the lists of one table may multiply to.
MOST_INSTANCES = 100_000


@dataclass(frozen=True)
class Wanted:
    """One instance that a suite file asks for."""

    family: str
    seed: int
    parameters: Parameters
    name: str | None
    field: str = ""


@dataclass(frozen=True)
class SuiteFile:
    """What a suite file says, and the path it was read from."""

    name: str
    description: str
    wanted: tuple[Wanted, ...]
    source: str = ""


def read_suite_file(path: str | os.PathLike[str]) -> SuiteFile:
    """Read a suite file.

    Raises
    ------
    InputError
        Names file, field and value for everything that does not describe a suite.
    """
    document = read_toml(path)
    try:
        members(
            document,
            "",
            required=("name", "instances"),
            optional=("description", "defaults"),
        )
        for key in ("name", "description"):
            if not isinstance(document.get(key, ""), str):
                raise InputError(f"expected text, got {shorten(document[key])}", field=key)
        if not document["name"].strip() or not document["name"].isprintable():
            raise InputError(
                f"expected a line of text, got {shorten(document['name'])}", field="name"
            )
        for key, kind in (("defaults", dict), ("instances", list)):
            if not isinstance(document.get(key, kind()), kind):
                raise InputError("expected tables", field=key)
        wanted = [
            each
            for at, block in enumerate(document["instances"])
            for each in _block(block, document.get("defaults", {}), f"instances[{at}]")
        ]
    except InputError as error:
        raise error.at(source=os.fspath(path)) from None
    description = document.get("description", "")
    return SuiteFile(document["name"], description, tuple(wanted), os.fspath(path))


def _block(block: Any, defaults: Mapping[str, Any], field: str) -> Iterator[Wanted]:
    if not isinstance(block, dict) or "family" not in block:
        raise InputError("expected a table with a family", field=field)
    own = dict(block)
    try:
        family = own.pop("family")
        parameters = TraceParameters if family == TRACE else family_named(family).parameters
        name = own.pop("name", None)
        if name is not None and not isinstance(name, str):
            raise InputError(f"expected text, got {shorten(name)}", field="name")
        if name is not None:
            check_name(name, "name")
        known = {each.name for each in fields(parameters)} | {"seed"}
        usual = {key: value for key, value in defaults.items() if key in known}
        choices = {
            key: value if isinstance(value, list) else [value]
            for key, value in {**usual, **own}.items()
        }
        count = math.prod(map(len, choices.values()))
        if count > MOST_INSTANCES:
            raise InputError(f"expected at most {MOST_INSTANCES} instances, got {count}")
        for values in itertools.product(*choices.values()):
            chosen = dict(zip(choices, values, strict=True))
            seed = whole_number(chosen.pop("seed", 0), field="seed")
            yield Wanted(family, seed, parameters.of(chosen), name, field)
    except InputError as error:
        raise error.at(field=field) from None
