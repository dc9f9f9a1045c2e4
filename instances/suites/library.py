"""The published library: a suite that ships with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def library_folder() -> Path:
    """Return the folder of the library, as installed."""
    return Path(str(files("prefixplace_opt.instances"))) / "library"
