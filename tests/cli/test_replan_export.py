"""`prefixplace replan` and `prefixplace export`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixplace_opt import read_placement, read_problem

Run = Callable[..., tuple[int, str, str]]
KEYED = {"parents": [-1, 0, 0, 1], "chunk_tokens": 2, "keys": ["a", "b", "c", "d"]}


@pytest.fixture
def old(run: Run, tiny: Path, tmp_path: Path) -> Path:
    path = tmp_path / "old.json"
    assert run("solve", tiny, "-o", path)[0] == 0
    return path


def test_replan_respects_its_bound(
    run: Run, tiny: Path, old: Path, write_tiny: Callable[..., Path], tmp_path: Path
) -> None:
    new = write_tiny("new.json", demand={"dense": [[5, 9, 0, 0], [4, 9, 0, 0]]})
    target = tmp_path / "again.json"
    values = []
    for most in (0, 1, 5):
        code, out, _ = run("replan", new, tiny, old, "--max-moves", most, "-o", target, "--json")
        assert code == 0
        document = json.loads(out)
        assert document["moves"] <= most
        assert document["lower"] == read_placement(target, read_problem(new)).value
        assert document["kept_value"] <= document["lower"] <= document["upper"]
        values.append(document["lower"])
    assert values == sorted(values)
    assert values[0] < values[1]


def test_replan_table_compares_three_plans(run: Run, tiny: Path, old: Path) -> None:
    code, out, _ = run("replan", tiny, tiny, old, "--move-cost", 1)
    assert code == 0
    for name in ("keep what is there", "this plan", "free to move"):
        assert name in out


def test_replan_refuses_what_does_not_fit(
    run: Run, tiny: Path, old: Path, write_tiny: Callable[..., Path]
) -> None:
    assert run("replan", tiny, tiny, old, "--max-moves", -1)[0] == 2
    assert "--move-cost" in run("replan", tiny, tiny, old, "--move-cost", "nan")[2]
    other = write_tiny("other.json", tree={"parents": [-1, 0, 1, 2], "chunk_tokens": 16})
    code, _, err = run("replan", other, tiny, old)
    assert code == 2
    assert "keys in both" in err
    assert run("replan", tiny, other, old)[0] == 2


def test_export_without_tokens_says_loudly_that_it_is_for_judging(
    run: Run, tiny: Path, old: Path, tmp_path: Path
) -> None:
    target = tmp_path / "neutral.json"
    code, out, err = run("export", tiny, old, "-o", target, "--json")
    assert code == 0
    assert err.startswith("warning: ")
    assert "cannot be handed to a live cache" in err
    assert json.loads(out)["live"] is False
    document = json.loads(target.read_text(encoding="utf-8"))
    assert document["format"] == "prefixplace-plan"
    assert document["instance"] == read_problem(tiny).digest
    code, _, err = run("export", tiny, old, "-o", target, "--warm-up", tmp_path / "w.jsonl")
    assert code == 2
    assert "expected --tokens too" in err
    assert not (tmp_path / "w.jsonl").exists()


def test_export_with_tokens_writes_requests(
    run: Run, write_tiny: Callable[..., Path], tmp_path: Path
) -> None:
    keyed = write_tiny("keyed.json", tree=KEYED)
    plan, target, warm = (tmp_path / name for name in ("plan.json", "neutral.json", "warm.jsonl"))
    assert run("solve", keyed, "-o", plan)[0] == 0
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps({"a": [1, 2], "b": [3, 4], "c": [5, 6], "d": [7, 8]}))
    code, out, err = run(
        "export", keyed, plan, "-o", target, "--tokens", tokens, "--warm-up", warm, "--json"
    )
    assert (code, err) == (0, "")
    lines = [json.loads(line) for line in warm.read_text(encoding="utf-8").splitlines()]
    assert json.loads(out)["requests"] == len(lines) > 0
    assert all(line["token_ids"][:2] == [1, 2] and line["max_tokens"] == 1 for line in lines)
    tokens.write_text(json.dumps({"a": [1]}), encoding="utf-8")
    code, _, err = run("export", keyed, plan, "-o", target, "--tokens", tokens)
    assert code == 2
    assert err.startswith(f"error: {tokens}: ")
    tokens.write_text("[]", encoding="utf-8")
    assert run("export", keyed, plan, "-o", target, "--tokens", tokens)[0] == 2
