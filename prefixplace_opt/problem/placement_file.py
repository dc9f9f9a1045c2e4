"""The placement file: ``"format": "prefixplace-placement", "version": 1``."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

from .errors import InputError, expect, shorten
from .json_arrays import numeric, packed
from .json_files import check_format, members, read_json, write_json
from .placement import Placement

if TYPE_CHECKING:
    from .problem import Problem

FORMAT = "prefixplace-placement"

#: The stated value may differ from the recomputed one by this relative rounding.
VALUE_TOLERANCE = 1e-9


def read_placement(path: str | os.PathLike[str], problem: Problem) -> Placement:
    """Read a placement file and validate it against ``problem``; its value is recomputed.

    A file made by hand may leave ``value`` out; one that states it must state it right.

    Raises
    ------
    InputError
        Names file, field and value: another instance's digest, another objective, an invalid
        resident set, or a value that is not the placement's.
    """
    document = read_json(path)
    try:
        return placement_from_document(document, problem)
    except InputError as error:
        raise error.at(source=os.fspath(path)) from None


def write_placement(placement: Placement, path: str | os.PathLike[str]) -> None:
    """Write a placement file, gzipped where the name ends in ``.gz``; all or nothing."""
    expect(placement, Placement, field="placement")
    write_json(path, document_of_placement(placement))


def placement_from_document(document: Any, problem: Problem) -> Placement:
    """Build the placement that a parsed placement file describes; raises InputError."""
    check_format(document, FORMAT)
    members(
        document,
        "",
        required=("format", "version", "instance", "objective", "resident"),
        optional=("value",),
    )
    if document["instance"] != problem.digest:
        raise InputError(
            f"expected the digest {problem.digest} of the instance, "
            f"got {shorten(document['instance'], 70)}: the placement belongs to another instance",
            field="instance",
        )
    if document["objective"] != problem.objective:
        raise InputError(
            f"expected {problem.objective!r}, got {shorten(document['objective'])}",
            field="objective",
        )
    resident = document["resident"]
    if not isinstance(resident, list):
        raise InputError(f"expected a list of lists, got {shorten(resident)}", field="resident")
    placement = Placement.of(
        problem, [numeric(chunks, f"resident[{m}]") for m, chunks in enumerate(resident)]
    )
    if "value" not in document:
        return placement
    stated = document["value"]
    # An integer may be larger than any double, and then closeness cannot even be asked for.
    comparable = type(stated) in (int, float) and abs(stated) <= sys.float_info.max
    if not comparable or not math.isclose(stated, placement.value, rel_tol=VALUE_TOLERANCE):
        raise InputError(f"expected {placement.value!r}, got {shorten(stated)}", field="value")
    return placement


def document_of_placement(placement: Placement) -> dict[str, Any]:
    """Return the placement file's content as JSON-ready objects."""
    return {
        "format": FORMAT,
        "version": 1,
        "instance": placement.instance,
        "objective": placement.objective,
        "resident": [packed(chunks) for chunks in placement.resident],
        "value": placement.value,
    }
