"""`prefixplace show`: instances, placements, drawings, schemas."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixplace_opt import read_placement, read_problem

Run = Callable[..., tuple[int, str, str]]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def plan(run: Run, tiny: Path, tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    assert run("solve", tiny, "-o", path)[0] == 0
    return path


def test_instance_as_json(run: Run, tiny: Path) -> None:
    code, out, _ = run("show", tiny, "--json")
    assert code == 0
    document = json.loads(out)
    facts = document["instance"]
    assert facts["digest"] == read_problem(tiny).digest
    assert (facts["chunks"], facts["roots"], facts["leaves"], facts["height"]) == (4, 1, 2, 3)
    assert facts["requests"] == 9
    assert facts["recompute_ms"] == 210
    assert [row["needed"] for row in facts["worker"]] == [4, 3]
    assert document["placement"] is None


def test_the_word_file_may_be_given_and_left_out(run: Run, tiny: Path) -> None:
    assert run("show", "file", tiny, "--json") == run("show", tiny, "--json")
    assert run("show", "--help")[0] == 0


def test_placement_as_json_adds_up(run: Run, tiny: Path, plan: Path) -> None:
    code, out, _ = run("show", tiny, plan, "--json")
    assert code == 0
    effect = json.loads(out)["placement"]
    assert effect["value"] == read_placement(plan, read_problem(tiny)).value
    assert sum(row["saved_ms"] for row in effect["worker"]) == pytest.approx(effect["value"])
    assert effect["local"] + effect["fetched"] + effect["recomputed"] == pytest.approx(1)
    assert sum(int(copies) * count for copies, count in effect["copies"].items()) == sum(
        row["held"] for row in effect["worker"]
    )


def test_tables_and_text_tree_name_workers_and_holders(run: Run, tiny: Path, plan: Path) -> None:
    code, out, _ = run("show", tiny, plan)
    assert code == 0
    assert "recomputing all" in out
    assert "Savings by worker" in out
    assert "└── 0: 9  a, b" in out


def test_what_columns_mean_stands_below_them(run: Run, tiny: Path, plan: Path) -> None:
    out = run("show", tiny, plan)[1]
    assert "1 root, 2 leaves, height 3" in out
    assert re.search(r"2 in 1 compatible group\b", out)
    assert "alone: chunks that nobody else holds." in out
    assert "gives: what others save by fetching from it" in out


def test_a_word_that_is_neither_file_nor_topic_lists_the_topics(run: Run) -> None:
    code, out, err = run("show", "nothing")
    assert (code, out) == (2, "")
    for topic in ("crossover", "hardware", "methods", "schema", "traces"):
        assert topic in err


def test_placement_of_the_other_objective_is_understood(
    run: Run, tiny: Path, tmp_path: Path
) -> None:
    path = tmp_path / "pairwise.json"
    assert run("solve", tiny, "--objective", "pairwise", "-o", path)[0] == 0
    code, out, _ = run("show", tiny, path, "--json")
    assert code == 0
    assert json.loads(out)["instance"]["objective"] == "pairwise"


def test_drawing_is_a_png_and_the_same_every_time(
    run: Run, tiny: Path, plan: Path, tmp_path: Path
) -> None:
    drawn = []
    for name in ("one.png", "two.png"):
        assert run("show", tiny, plan, "--draw", tmp_path / name)[0] == 0
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0].startswith(PNG)
    assert drawn[0] == drawn[1]


def test_drawing_in_an_unknown_format(run: Run, tiny: Path, tmp_path: Path) -> None:
    code, _, err = run("show", tiny, "--draw", tmp_path / "tree.bmp")
    assert code == 2
    assert "expected a name that ends in .png, .svg, .pdf" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"resident": [[0, 1], [1]]}, "resident[1]: chunk 1 is held without its parent 0"),
        ({"resident": [[0, 1, 2], []]}, "resident[0]: worker 'a' holds 3 chunks, over its budget"),
        ({"resident": [[0], [9]]}, "resident[1][0]: expected a chunk from 0 to 3, got 9"),
        ({"resident": [[0]]}, "resident: expected a list for each of 2 workers, got 1"),
        ({"value": 1.0}, "value: expected "),
        ({"instance": "0" * 64}, "the placement belongs to another instance"),
        ({"objective": 3}, "objective: expected 'requester', got 3"),
        ({"extra": 3}, "unknown key 'extra'"),
    ],
)
def test_broken_placement_is_one_line(
    run: Run, tiny: Path, plan: Path, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    broken = tmp_path / "broken.json"
    document = json.loads(plan.read_text(encoding="utf-8")) | change
    broken.write_text(json.dumps(document), encoding="utf-8")
    code, out, err = run("show", tiny, broken, "--json")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {broken}: ")
    assert message in err
    assert len(err.splitlines()) == 1


def test_file_that_is_no_placement(run: Run, tiny: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("[]", encoding="utf-8")
    assert run("show", tiny, broken)[0] == 2
    broken.write_bytes(b"\x1f\x8b\x08")
    code, _, err = run("show", broken)
    assert code == 2
    assert "damaged" in err


@pytest.mark.parametrize("name", ["certificate", "instance", "placement"])
def test_schema_is_printed(run: Run, name: str) -> None:
    code, out, _ = run("show", "schema", name)
    assert code == 0
    assert json.loads(out)["properties"]["format"]["const"] == f"prefixplace-{name}"


def test_unknown_schema(run: Run) -> None:
    code, _, err = run("show", "schema", "certificates")
    assert code == 2
    assert "expected one of " in err
