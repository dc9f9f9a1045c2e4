"""`prefixplace generate SUITE.toml` and `prefixplace suite`."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prefixplace_opt import write_problem
from prefixplace_opt.certificates import read_certificate, write_certificate
from prefixplace_opt.cli import app
from prefixplace_opt.instances.suites import read_suite, regenerated

SUITE = """
name = "tiny"
[[instances]]
family = "rag"
documents = 2
[[instances]]
family = "star"
leaves = 6
"""


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, done.stderr


def answer(*arguments: object) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code in (0, 1), err
    return json.loads(out)  # type: ignore[no-any-return]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    file = tmp_path / "suite.toml"
    file.write_text(SUITE, encoding="utf-8")
    made = answer("generate", file, "-o", tmp_path / "out")
    assert len(made["instances"]) == 2
    return tmp_path / "out"


def test_generate_show_solve_check(folder: Path) -> None:
    assert "unknown" in run("suite", "show", folder)[1]
    code, out, _ = run("suite", "solve", folder, "--time-limit", 60)
    assert code == 0
    assert out.count("easy") == 2
    shown = answer("suite", "show", folder)
    assert shown["families"][-1]["proven"] == 1.0
    assert [row["family"] for row in shown["families"]] == ["rag", "star", "all"]
    code, out, _ = run("suite", "check", folder)
    assert code == 0
    assert "2 certificates verified, 0 findings" in out
    assert answer("suite", "check", folder, "--only", "star")["instances"] == 1
    assert (
        "0 instances run, 0 with better bounds; 2 of 2 proven" in run("suite", "solve", folder)[1]
    )
    for option in (("--time-limit", "nan"), ("-m", "plan"), ("--threads", 0)):
        assert run("suite", "solve", folder, *option)[0] == 2
    assert answer("suite", "solve", folder)["instances"] == []
    again = answer("suite", "solve", folder, "--again", "--only", "star")["instances"]
    assert [(row["better"], row["difficulty"]) for row in again] == [(False, "easy")]


def test_a_check_that_fails_ends_with_status_1(folder: Path) -> None:
    suite = read_suite(folder)
    first, second = suite.entries
    assert first.file is not None
    write_problem(regenerated(second), folder / first.file)
    (folder / "stray").write_text("x", encoding="utf-8")
    code, _, err = run("suite", "check", folder)
    assert code == 1
    assert first.name in err
    assert "stray" in err
    found = answer("suite", "check", folder)
    assert found["findings"][0]["instance"] == first.name
    assert found["foreign_files"] == ["stray"]


def test_what_a_killed_run_left_is_no_finding(folder: Path) -> None:
    left = folder / ".abc.part"
    left.mkdir()
    (left / "x.json.gz").write_bytes(b"")
    assert run("suite", "check", folder)[0] == 0


def test_best_takes_certificates_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    run("suite", "solve", folder)
    entry = read_suite(folder).entries[0]
    assert entry.best is not None
    own = tmp_path / "own.json"
    write_certificate(read_certificate(folder / entry.best.certificate), own)
    rows = answer("suite", "best", folder, own)["instances"]
    assert rows[0]["better"] is False
    assert run("suite", "best", folder, own)[0] == 0
    assert entry.file is not None
    code, _, err = run("suite", "best", folder, folder / entry.file)
    assert code == 2
    assert entry.file in err


def test_faults(tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text("name = 3\n", encoding="utf-8")
    code, _, err = run("generate", file, "-o", tmp_path / "out")
    assert code == 2
    assert str(file) in err
    assert run("generate", tmp_path / "none.toml", "-o", tmp_path / "out")[0] == 2
    code, _, err = run("suite", "check", tmp_path)
    assert code == 2
    assert "manifest.json" in err


def test_the_shipped_library_has_a_name() -> None:
    shown = answer("suite", "show", "library", "--only", "caterpillar")
    assert shown["families"][0]["proven"] == 1.0
    code, out, _ = run("suite", "check", "library", "--only", "degenerate")
    assert code == 0
    assert "26 instances, 26 with bounds" in out
    code, out, _ = run("suite", "check", "library", "--only", "trace-0-20s")
    assert code == 0
    assert "their traffic is absent" in out
