"""`prefixplace solve`: what it prints, what it writes, and how it fails."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixplace_opt import METHODS, read_placement, read_problem, solve

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("method", ["plan", "greedy", "independent", "popularity", "local-dedup"])
def test_every_method_prints_one_json_object_with_a_plan(run: Run, tiny: Path, method: str) -> None:
    code, out, _ = run("solve", tiny, "--method", method, "--json")
    assert code == 0
    document = json.loads(out)
    assert document["method"] == method
    assert document["lower"] <= document["upper"]
    assert document["placement"]["value"] == document["lower"]
    assert document["instance"] == read_problem(tiny).digest


def test_placement_file_is_valid_and_the_same_every_time(
    run: Run, tiny: Path, tmp_path: Path
) -> None:
    written = []
    for threads in (1, 2):
        target = tmp_path / f"plan{threads}.json"
        code, out, _ = run("solve", tiny, "-o", target, "--threads", threads, "--json")
        assert code == 0
        assert json.loads(out)["placement"] is None
        written.append(target.read_bytes())
        assert read_placement(target, read_problem(tiny)).value == json.loads(out)["lower"]
    assert written[0] == written[1]


def test_warm_start_is_never_made_worse(run: Run, tiny: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.json"
    run("solve", tiny, "-m", "popularity", "-o", start)
    code, out, _ = run("solve", tiny, "--warm-start", start, "--json")
    assert code == 0
    assert json.loads(out)["lower"] >= json.loads(start.read_text(encoding="utf-8"))["value"]


def test_other_objective_gives_the_same_value_where_fetch_does_not_depend_on_the_holder(
    run: Run,
    tiny: Path,
) -> None:
    values = {
        json.loads(run("solve", tiny, "--objective", objective, "--json")[1])["lower"]
        for objective in ("requester", "pairwise")
    }
    assert len(values) == 1


def test_table_names_status_and_workers(run: Run, tiny: Path) -> None:
    code, out, _ = run("solve", tiny)
    assert code == 0
    assert "ms per epoch" in out
    assert "worker" in out


def test_savings_are_told_as_a_share_and_trivial_bounds_as_trivial(run: Run, tiny: Path) -> None:
    value = json.loads(run("solve", tiny, "-m", "popularity", "--json")[1])["lower"]
    out = run("solve", tiny, "-m", "popularity")[1]
    assert f"{100 * value / 210:.2f} % of recomputing all" in out
    assert "trivial: `prefixplace certify` proves a better one" in out
    assert "trivial" not in run("solve", tiny)[1]


@pytest.mark.parametrize("method", ["plan", "independent", "compact", "pyomo:scip"])
def test_certificate_of_a_method_without_proof_is_refused_before_it_runs(
    run: Run, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    from prefixplace_opt import solving

    monkeypatch.setattr(solving, "solve", lambda *_, **__: pytest.fail("it ran"))
    target = tmp_path / "certificate.json"
    code, out, err = run("solve", tiny, "-m", method, "--certificate", target)
    assert (code, out) == (2, "")
    assert f"--certificate: method '{method}' leaves no proof; expected one of auto, exact" in err
    assert not target.exists()


@pytest.mark.parametrize("name", list(METHODS))
def test_a_method_says_truly_whether_it_leaves_a_proof(tiny: Path, name: str) -> None:
    result = solve(read_problem(tiny), method=name)
    assert (result.proof is not None) == METHODS[name].proof


def test_missed_gap_is_status_1_only_when_a_gap_was_asked(
    run: Run, tiny: Path, tmp_path: Path
) -> None:
    result = json.loads(run("solve", tiny, "-m", "popularity", "--json")[1])
    assert result["gap"] > 0
    target = tmp_path / "plan.json"
    code, out, err = run("solve", tiny, "-m", "popularity", "--gap", "0", "-o", target, "--json")
    assert code == 1
    assert "gap target missed" in err
    assert json.loads(out)["lower"] == result["lower"]
    assert target.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gap", "2"], "error: --gap: expected a number from 0 to 1, got 2.0"),
        (["--gap", "nan"], "error: --gap: expected a number from 0 to 1, got nan"),
        (["--time-limit", "0"], "error: --time-limit: expected a number of seconds > 0, got 0.0"),
        (["--node-limit", "-1"], "error: --node-limit: expected a whole number >= 0, got -1"),
        (["--threads", "0"], "error: --threads: expected a whole number >= 1, got 0"),
        (["--seed", "-3"], "error: --seed: expected a whole number >= 0, got -3"),
        (["--method", "magic"], "error: --method: expected one of "),
        (["--objective", "both"], "error: --objective: expected 'requester' or 'pairwise'"),
    ],
)
def test_option_out_of_range_is_named(
    run: Run, tiny: Path, arguments: list[str], message: str
) -> None:
    code, out, err = run("solve", tiny, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version: expected version 1, got 2"),
        ({"surprise": 1}, "unknown key 'surprise'"),
        ({"tree": {"parents": [1, 0], "chunk_tokens": 1}}, "is its own ancestor (a cycle)"),
        ({"recompute": -1}, "recompute: expected a finite number >= 0, got -1"),
        ({"workers": []}, "workers: expected at least one worker"),
    ],
)
def test_broken_instance_is_one_line_that_names_file_and_field(
    run: Run, write_tiny: Callable[..., Path], change: dict[str, object], message: str
) -> None:
    path = write_tiny("broken.json", **change)
    code, out, err = run("solve", path, "--json")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {path}: ")
    assert message in err
    assert len(err.splitlines()) == 1


def test_missing_instance_and_placement_of_another_instance(
    run: Run, tiny: Path, write_tiny: Callable[..., Path], tmp_path: Path
) -> None:
    code, _, err = run("solve", tmp_path / "none.json")
    assert code == 2
    assert "cannot be read" in err
    start = tmp_path / "start.json"
    run("solve", tiny, "-o", start)
    other = write_tiny("other.json", recompute=11)
    code, _, err = run("solve", other, "--warm-start", start)
    assert code == 2
    assert f"error: {start}: instance: " in err


def test_output_that_cannot_be_written(run: Run, tiny: Path, tmp_path: Path) -> None:
    code, _, err = run("solve", tiny, "-o", tmp_path / "no" / "such" / "folder.json")
    assert code == 2
    assert "cannot be written" in err


def test_wrong_usage_is_status_2(run: Run, tiny: Path) -> None:
    assert run("solve")[0] == 2
    assert run("solve", tiny, "--no-such-option")[0] == 2
    assert run("no-such-command")[0] == 2


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_instance_may_come_through_a_pipe(
    run: Run, tiny: Path, tmp_path: Path, packed: bool
) -> None:
    import gzip
    import threading

    content = tiny.read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=lambda: pipe.write_bytes(gzip.compress(content) if packed else content)
    )
    writer.start()
    code, out, _ = run("solve", pipe, "--json")
    writer.join()
    assert code == 0
    assert json.loads(out)["instance"] == read_problem(tiny).digest


@pytest.mark.parametrize("arguments", [[], ["solve"], ["show"], ["show", "methods"], ["report"]])
def test_help_has_a_short_name(run: Run, arguments: list[str]) -> None:
    code, out, _ = run(*arguments, "-h")
    assert code == 0
    assert out.startswith("Usage: ")
    assert run(*arguments, "--help")[1] == out


def test_methods_are_listed(run: Run) -> None:
    code, out, _ = run("show", "methods", "--json")
    assert code == 0
    assert [row["name"] for row in json.loads(out)["methods"]] == list(METHODS)
    assert "local-dedup" in run("show", "methods")[1]


def test_ctrl_c_returns_the_best_plan_so_far(
    run: Run, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefixplace_opt.problem import Problem
    from prefixplace_opt.solvers import planner
    from prefixplace_opt.solvers.result import Result
    from prefixplace_opt.solvers.run import Run

    plan = planner.plan

    def interrupted_plan(problem: Problem, run: Run) -> Result:
        os.kill(os.getpid(), signal.SIGINT)
        return plan(problem, run)

    monkeypatch.setattr(planner, "plan", interrupted_plan)
    target = tmp_path / "plan.json"
    code, out, _ = run("solve", tiny, "-m", "plan", "--json", "-o", target)
    assert code == 0
    assert json.loads(out)["status"] == "interrupted"
    assert read_placement(target, read_problem(tiny)).value > 0


def test_ctrl_c_before_there_is_a_plan_is_status_130(
    run: Run, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefixplace_opt import solving

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(solving, "solve", interrupted)
    code, out, err = run("solve", tiny, "--json")
    assert (code, out, err) == (130, "", "interrupted\n")


def test_memory_limit(run: Run, tiny: Path) -> None:
    status, out, _ = run("solve", tiny, "--memory-limit", "2GiB", "--json")
    assert status == 0
    assert json.loads(out)["status"] in {"optimal", "gap"}
    status, _, err = run("solve", tiny, "--memory-limit", "1MB")
    assert status == 2
    assert "takes about" in err
    assert "memory limit is 1 MiB" in err
    status, _, err = run("solve", tiny, "--memory-limit", "lots")
    assert status == 2
    assert "--memory-limit: expected an amount of memory" in err


def test_cluster_that_is_not_there(run: Run, tiny: Path) -> None:
    status, _, err = run("solve", tiny, "--cluster", "tcp://127.0.0.1:9")
    assert status == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in err
    status, _, err = run("bench", tiny, "--cluster", "tcp://127.0.0.1:9", "-m", "plan")
    assert status == 2
    assert "no Dask scheduler" in err
