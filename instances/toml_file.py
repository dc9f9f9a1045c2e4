"""TOML files that people write: read with errors that name the file."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from prefixplace_opt.problem import InputError


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a TOML file's content.

    Raises
    ------
    InputError
        Where the file cannot be read, is not UTF-8 or not TOML.
    """
    source = os.fspath(path)
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, source=source) from None
    except UnicodeDecodeError as error:
        message = f"expected UTF-8 text, but byte {error.start} is none"
        raise InputError(message, source=source) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = str(error) or "it nests too deep"
        raise InputError(f"expected TOML: {message}", source=source) from None
