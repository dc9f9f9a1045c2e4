"""`prefixplace demo`: complete, quick, and saying what matters."""

import json
from collections.abc import Callable
from pathlib import Path

from prefixplace_opt import read_placement, read_problem

Run = Callable[..., tuple[int, str, str]]
FILES = {"instance.json", "placement.json", "plan.png", "savings.png", "progress.png"}


def test_demo_makes_its_files_and_ends_in_figures(run: Run, tmp_path: Path) -> None:
    code, out, err = run("demo", "--folder", tmp_path / "demo")
    assert (code, err) == (0, "")
    assert {path.name for path in (tmp_path / "demo").iterdir()} >= FILES
    assert (tmp_path / "demo" / "plan.png").read_bytes().startswith(b"\x89PNG")
    for words in ("of recomputing everything", "than the best rule of thumb", "proven"):
        assert words in out


def test_demo_as_json_agrees_with_its_files(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    code, out, _ = run("demo", "--folder", folder, "--json")
    assert code == 0
    document = json.loads(out)
    problem = read_problem(folder / "instance.json")
    assert document["instance"] == problem.digest
    assert document["lower"] == read_placement(folder / "placement.json", problem).value
    best = max(document["baselines"].values())
    assert document["gain_over_best_baseline"] == document["lower"] / best - 1 > 0.05
    assert document["lower"] <= document["upper"]
    assert 0.5 < document["saved_share"] < 1


def test_demo_where_nothing_can_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, err = run("demo", "--folder", tmp_path / "file")
    assert code == 2
    assert "cannot be made" in err
