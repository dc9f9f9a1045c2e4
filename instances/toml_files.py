"""Reading a TOML file with the same care as a JSON file: one clear error for everything wrong."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from prefixplace_opt.problem import InputError

#: People write these files; one that is larger is something else.
MOST_BYTES = 16 * 2**20

#: Parts of a dotted key, a.b.c.
MOST_KEY_PARTS = 100
KEY_ENDS = re.compile(r"[\n,=\[\]{}#]")


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file and return its content.

    Raises
    ------
    InputError
        Where the file cannot be opened, is absurdly large, is not UTF-8 or not TOML.
    """
    source = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", source=source) from None
    if len(raw) > MOST_BYTES:
        raise InputError(f"expected at most {MOST_BYTES} bytes of TOML, got more", source=source)
    return parse_toml(raw, source=source)


def parse_toml(raw: bytes, *, source: str = "") -> dict[str, Any]:
    """Parse TOML; raises as :func:`read_toml` does."""
    try:
        text = raw.decode("utf-8")
        _check_keys(text, source)
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InputError(
            f"expected UTF-8 text, but byte {error.start} is none", source=source
        ) from None
    except InputError:
        raise
    except RecursionError:
        raise InputError(
            "expected TOML of reasonable depth, but it nests too deep", source=source
        ) from None
    except ValueError as error:  # TOMLDecodeError, and an integer of thousands of digits
        raise InputError(f"expected TOML: {error}", source=source) from None


def _check_keys(text: str, source: str) -> None:
    """Refuse keys of very many parts, for which the parser's time grows with their square."""
    parts = 0
    for part in text.split("."):
        parts = 0 if KEY_ENDS.search(part) else parts + 1
        if parts > MOST_KEY_PARTS:
            raise InputError(f"expected keys of at most {MOST_KEY_PARTS} parts", source=source)
