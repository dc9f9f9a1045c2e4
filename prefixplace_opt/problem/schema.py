"""The JSON Schemas of the file formats, as they ship with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from .errors import InputError, shorten


def schema_names() -> list[str]:
    """Return the formats that have a schema, sorted."""
    folder = files(__package__) / "schemas"
    return sorted(
        item.name.removesuffix(".json") for item in folder.iterdir() if item.name.endswith(".json")
    )


def schema_text(name: str) -> str:
    """Return a schema as it stands in the package; raises InputError for an unknown format."""
    if name not in schema_names():
        raise InputError(
            f"expected one of {', '.join(schema_names())}, got {shorten(name)}", field="schema"
        )
    return (files(__package__) / "schemas" / f"{name}.json").read_text(encoding="utf-8")


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of ``certificate``, ``instance`` or ``placement``.

    A schema says what a file looks like; the reader checks more (shapes that fit each other,
    cycles, digests) and says more when something is wrong.
    """
    document: dict[str, Any] = json.loads(schema_text(name))
    return document
