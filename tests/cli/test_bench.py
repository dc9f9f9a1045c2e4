"""`prefixplace bench` and `prefixplace report`: runs, their file, going on, tables."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixplace_opt import read_problem
from prefixplace_opt.solvers import memory

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(write_tiny: Callable[..., Path], tmp_path: Path) -> Path:
    (tmp_path / "suite").mkdir()
    write_tiny("suite/one.json", name="one")
    write_tiny("suite/two.json", name="", recompute=12)
    (tmp_path / "suite" / "expected.json").write_text("[]", encoding="utf-8")
    return tmp_path / "suite"


METHODS = ("-m", "plan", "-m", "popularity")


def test_every_instance_method_and_seed_is_run(run: Run, folder: Path) -> None:
    code, out, _ = run("bench", folder, *METHODS, "--seeds", 2, "--json")
    assert code == 0
    document = json.loads(out)
    assert document["protocol"]["methods"] == ["plan", "popularity"]
    assert document["protocol"]["seeds"] == [0, 1]
    assert {"python", "processors", "numpy"} <= set(document["machine"])
    keys = [(row["instance"], row["method"], row["seed"]) for row in document["trials"]]
    assert keys == [
        (instance, method, seed)
        for instance in ("one", "two")
        for seed in (0, 1)
        for method in ("plan", "popularity")
    ]
    by_instance, by_method = document["tables"]
    assert [row["time_ratio"] for row in by_instance if row["method"] == "plan"] == [1.0, 1.0]
    assert [row["instances"] for row in by_method] == [2, 2]


def test_a_stopped_bench_goes_on(run: Run, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "runs.json"
    assert run("bench", folder / "one.json", *METHODS, "-o", target)[0] == 0
    before = json.loads(target.read_text(encoding="utf-8"))["trials"]
    assert run("bench", folder, *METHODS, "-o", target, "--resume")[0] == 0
    after = json.loads(target.read_text(encoding="utf-8"))["trials"]
    assert len(before) == 2
    assert after[:2] == before
    assert [row["instance"] for row in after[2:]] == ["two", "two"]


def test_the_memory_limit_is_part_of_the_protocol(run: Run, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "runs.json"
    limited = ("bench", folder / "one.json", *METHODS, "-o", target, "--memory-limit")
    assert run(*limited, "4GiB")[0] == 0
    protocol = json.loads(target.read_text(encoding="utf-8"))["protocol"]
    assert protocol["memory_limit"] == 4 * 2**30
    assert run(*limited, "4GiB", "--resume")[0] == 0
    assert run(*limited, "3GiB", "--resume")[0] == 2
    code, _, err = run(*limited, "1MiB")
    assert code == 2
    assert "at the least, and the memory limit is 1 MiB" in err
    # Files from before there was such a limit are read.
    document = json.loads(target.read_text(encoding="utf-8"))
    del document["protocol"]["memory_limit"]
    target.write_text(json.dumps(document), encoding="utf-8")
    assert run("report", target, "--threads", 2)[0] == 0


def test_a_proof_left_out_is_told(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "proof_bytes", lambda _: 1 << 40)
    target = tmp_path / "runs.json"
    command = ("bench", folder / "one.json", "-m", "auto", "--memory-limit", "1GiB", "-o", target)
    for done in (run(*command), run("report", target)):
        assert done[0] == 0
        assert "one, auto: a proof takes about" in done[2]


def test_another_protocol_does_not_go_on(run: Run, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "runs.json"
    assert run("bench", folder, *METHODS, "-o", target)[0] == 0
    code, _, err = run("bench", folder, "-m", "plan", "-o", target, "--resume")
    assert code == 2
    assert "expected trials of the same protocol" in err
    assert run("bench", folder, "--resume")[0] == 2


def test_gap_to_the_best_known(run: Run, folder: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    value = json.loads(run("solve", folder / "one.json", "-m", "plan", "--json")[1])["lower"]
    known.write_text(json.dumps([{"instance": "one", "optimum": str(2 * value)}]), encoding="utf-8")
    code, out, _ = run("bench", folder, "-m", "plan", "--best-known", known, "--json")
    assert code == 0
    rows = {row["instance"]: row for row in json.loads(out)["tables"][0]}
    assert rows["one"]["to_best"] == pytest.approx(0.5)
    assert rows["two"]["to_best"] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "expected a list"),
        ('[{"instance": 3}]', "[0]: expected an object with"),
        ('[{"instance": "one", "lower": "x", "upper": 1}]', "[0].lower: expected a number"),
        ('[{"instance": "one", "lower": 2, "upper": 1}]', "[0]: expected at most the upper"),
        ('[{"instance": "one"}]', "[0].lower: expected a number"),
    ],
)
def test_broken_best_known_file(
    run: Run, tiny: Path, tmp_path: Path, content: str, message: str
) -> None:
    known = tmp_path / "known.json"
    known.write_text(content, encoding="utf-8")
    code, out, err = run("bench", tiny, "--best-known", known)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {known}: ")
    assert message in err


@pytest.mark.parametrize(
    "change",
    [
        {"version": 9},
        {"trials": {}},
        {"trials": [{}]},
        {"protocol": {"methods": "plan"}},
        {"protocol": None},
        {"more": 1},
    ],
    ids=str,
)
def test_broken_runs_file(run: Run, tiny: Path, tmp_path: Path, change: dict[str, object]) -> None:
    target = tmp_path / "runs.json"
    assert run("bench", tiny, "-m", "plan", "-o", target)[0] == 0
    document = json.loads(target.read_text(encoding="utf-8"))
    target.write_text(json.dumps(document | change), encoding="utf-8")
    code, _, err = run("report", target)
    assert code == 2
    assert err.startswith(f"error: {target}: ")
    assert len(err.splitlines()) == 1


def test_report_of_runs_equals_report_of_instances_but_for_time(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "runs.json"
    assert run("bench", folder, *METHODS, "-o", target)[0] == 0
    told = json.loads(run("report", target, "--json")[1])
    solved = json.loads(run("report", folder, *METHODS, "--json")[1])
    timed = ("seconds", "time_ratio")
    for rows in (*told.values(), *solved.values()):
        for row in rows if isinstance(rows, list) else []:
            for name in timed:
                del row[name]
    assert told == solved


@pytest.mark.parametrize("ending", ["md", "csv", "html", "json"])
def test_report_files(run: Run, folder: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"table.{ending}"
    assert run("report", folder, *METHODS, "-o", target)[0] == 0
    text = target.read_text(encoding="utf-8")
    value = json.loads(run("solve", folder / "one.json", "-m", "plan", "--json")[1])["lower"]
    if ending == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert len(rows) == 4
        assert float(rows[0]["value"]) == value
    elif ending == "json":
        assert json.loads(text)["By instance"][0]["value"] == value
    elif ending == "html":
        assert text.startswith("<!doctype html>")
        assert text.count("<tr>") == 4 + 2 + 2
        assert "http" not in text
    else:
        lines = text.splitlines()
        assert sum(line.startswith("| one") for line in lines) == 2
        assert len({line.count("|") for line in lines if line.startswith("| one")}) == 1


def test_report_refuses_other_endings_and_mixed_protocols(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    assert run("report", folder, "-o", tmp_path / "table.xls")[0] == 2
    for name, method in (("a.json", "plan"), ("b.json", "greedy")):
        assert run("bench", folder, "-m", method, "-o", tmp_path / name)[0] == 0
    code, _, err = run("report", tmp_path / "a.json", tmp_path / "b.json")
    assert code == 2
    assert "expected runs of one protocol" in err


def test_no_instances(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, _, err = run("report", tmp_path / "empty")
    assert code == 2
    assert "found none" in err
    assert run("bench", tmp_path / "missing.json")[0] == 2
    assert run("bench", tmp_path / "empty", "-m", "magic")[0] == 2


def test_ctrl_c_keeps_what_is_done(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import signal

    from prefixplace_opt.problem import Problem
    from prefixplace_opt.solvers import planner
    from prefixplace_opt.solvers.result import Result
    from prefixplace_opt.solvers.run import Run as OneRun

    plan = planner.plan
    second = read_problem(folder / "two.json").digest

    def interrupted_at_the_second(problem: Problem, one: OneRun) -> Result:
        if problem.digest == second:
            os.kill(os.getpid(), signal.SIGINT)
        return plan(problem, one)

    monkeypatch.setattr(planner, "plan", interrupted_at_the_second)
    target = tmp_path / "runs.json"
    code, out, _ = run("bench", folder, "-m", "plan", "-o", target, "--json")
    assert code == 0
    assert [row["instance"] for row in json.loads(out)["trials"]] == ["one"]
    monkeypatch.undo()
    assert run("bench", folder, "-m", "plan", "-o", target, "--resume")[0] == 0
    assert len(json.loads(target.read_text(encoding="utf-8"))["trials"]) == 2
