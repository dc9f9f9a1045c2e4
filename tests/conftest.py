"""Fixtures for the handed data in `../shared`, beside the checkout and never copied into it.

- `shared`: the folder itself.
- `case_path`, `rag_case_path`: a test that takes one runs once for every `cases/*.json` or
  `cases/rag/*.json`.
- `expected`, `rag_bounds`: what is known about those instances, by instance name.
- `trace_path`: one of `traces/*.jsonl`.

Where the data is absent the tests that need it are skipped, and say what is absent.
"""

import json
import os
import signal
from pathlib import Path
from typing import Any

import hypothesis
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("PREFIXPLACE_SHARED", REPOSITORY.parent / "shared"))

HANDED = {
    "case_path": ("cases", "*.json", "expected.json"),
    "rag_case_path": ("cases/rag", "*.json", "bounds.json"),
    "trace_path": ("traces", "*.jsonl", ""),
}

hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
)

# A shell starts background jobs with Ctrl-C ignored, which programs under test would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, (folder, pattern, answers) in HANDED.items():
        if name not in metafunc.fixturenames:
            continue
        paths = sorted(path for path in (SHARED / folder).glob(pattern) if path.name != answers)
        absent = pytest.param(
            None, id="absent", marks=pytest.mark.skip(reason=f"shared/{folder} is absent")
        )
        found = [pytest.param(path, id=path.stem) for path in paths]
        metafunc.parametrize(name, found or [absent])


@pytest.fixture(scope="session")
def shared() -> Path:
    return _present("")


@pytest.fixture(scope="session")
def expected() -> dict[str, dict[str, Any]]:
    """Exact optima of `cases/*.json`, by instance name."""
    return _by_instance(_present("cases/expected.json"))


@pytest.fixture(scope="session")
def rag_bounds() -> dict[str, dict[str, Any]]:
    """Best known bounds of `cases/rag/*.json`, by instance name."""
    return _by_instance(_present("cases/rag/bounds.json"))


def _present(relative: str) -> Path:
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"shared/{relative} is absent".replace("/ ", " "))
    return path


def _by_instance(path: Path) -> dict[str, dict[str, Any]]:
    return {row["instance"]: row for row in json.loads(path.read_text(encoding="utf-8"))}
