"""A tiny instance file and a way to run the command in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prefixplace_opt.cli import app

TINY: dict[str, Any] = {
    "format": "prefixplace-instance",
    "version": 1,
    "name": "tiny",
    "objective": "requester",
    "tree": {"parents": [-1, 0, 0, 1], "chunk_tokens": 16, "chunk_bytes": 1048576},
    "workers": [{"name": "a", "budget": 2, "hardware": "L4"}, {"name": "b", "budget": 1}],
    "demand": {"dense": [[5, 3, 2, 3], [4, 1, 3, 0]]},
    "recompute": 10,
    "fetch": 4,
}


@pytest.fixture
def write_tiny(tmp_path: Path) -> Callable[..., Path]:
    """Write the tiny instance with some members changed; return the file."""

    def write(name: str = "tiny.json", /, **change: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(TINY | change), encoding="utf-8")
        return path

    return write


@pytest.fixture
def tiny(write_tiny: Callable[..., Path]) -> Path:
    return write_tiny()


@pytest.fixture
def run() -> Callable[..., tuple[int, str, str]]:
    """Run the command; return exit status, standard output and standard error."""

    def invoke(*arguments: object) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return done.exit_code, done.stdout, done.stderr

    return invoke
