"""`prefixplace demo`: complete, certified, and saying what matters."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixplace_opt import read_placement, read_problem
from prefixplace_opt.cli.demo import FILES, _activation

Run = Callable[..., tuple[int, str, str]]


def test_demo_makes_its_files_and_ends_in_a_certified_plan(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    code, out, err = run("demo", "--folder", folder)
    assert (code, err) == (0, "")
    assert {path.name for path in folder.iterdir()} == set(FILES)
    for name in FILES:
        if name.endswith(".png"):
            assert (folder / name).read_bytes().startswith(b"\x89PNG")
    for words in (
        "of recomputing everything",
        "than the best rule of thumb",
        "CERTIFIED: ",
        "compiling, once: ",
    ):
        assert words in out
    assert run("verify", folder / "instance.json", folder / "certificate.json")[0] == 0


def test_demo_says_how_a_shell_finds_the_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "activate").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.executable", str(scripts / "python"))
    for path, expected in ((str(tmp_path), ". .venv/bin/activate\n"), (str(scripts), "")):
        monkeypatch.setenv("PATH", path)
        assert _activation().endswith(expected)
        (scripts / "prefixplace").write_text("", encoding="utf-8")
        (scripts / "prefixplace").chmod(0o755)
    assert _activation() == ""


def test_demo_as_json_agrees_with_its_files(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    code, out, _ = run("demo", "--folder", folder, "--json")
    assert code == 0
    document = json.loads(out)
    problem = read_problem(folder / "instance.json")
    assert document["instance"] == problem.digest
    value = read_placement(folder / "placement.json", problem).value
    assert document["lower"] == pytest.approx(value, rel=1e-12)
    assert document["certified"] is True
    assert 0 <= document["gap"] <= 1e-4
    best = max(document["baselines"].values())
    assert document["gain_over_best_baseline"] == value / best - 1 > 0.05
    assert 0.5 < document["saved_share"] < 1


def test_demo_that_is_not_verified_fails(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from prefixplace_opt import certifying

    certify = certifying.certify

    def claims_too_much(*given: object, **options: object) -> object:
        certificate = certify(*given, **options)  # type: ignore[arg-type]
        return replace(certificate, lower=2 * certificate.lower)

    monkeypatch.setattr(certifying, "certify", claims_too_much)
    code, _, err = run("demo", "--folder", tmp_path / "demo")
    assert code == 1
    assert err.startswith("NOT CERTIFIED: ")


def test_demo_where_nothing_can_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, err = run("demo", "--folder", tmp_path / "file")
    assert code == 2
    assert "cannot be made" in err
