"""`prefixplace export-model`, `import-solution` and `compare-formulations`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixplace_opt import read_placement, read_problem, solve
from tests.formulations.highs import optimum_of, quiet

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tiny(write_tiny: Callable[..., Path]) -> Path:
    return write_tiny(
        workers=[{"name": "gpu 0", "budget": 2}, {"name": "gpu-1", "budget": 1}],
        demand={"dense": [[5, 3, 2, 3], [4, 1, 3, 1]]},
    )


@pytest.mark.parametrize("suffix", ["lp", "mps", "lp.gz"])
@pytest.mark.parametrize(
    "options",
    [
        ["--formulation", "compact"],
        ["--formulation", "compact", "--closure", "both", "--coverage", "disaggregated"],
        ["--formulation", "flow"],
        ["--formulation", "flow", "--objective", "pairwise"],
    ],
    ids=["compact", "compact-both", "flow", "flow-pairwise"],
)
def test_there_and_back_through_a_solver(
    run: Run, tiny: Path, options: list[str], suffix: str, tmp_path: Path
) -> None:
    model, solution, plan = (tmp_path / name for name in (f"m.{suffix}", "m.sol", "plan.json"))
    code, out, _ = run("export-model", tiny, *options, "-o", model, "--json")
    assert code == 0
    document = json.loads(out)
    highs = quiet()
    highs.readModel(str(model))
    assert (highs.getNumRow(), highs.getNumCol()) == (document["rows"], document["columns"])
    value, _ = optimum_of(highs)
    highs.writeSolution(str(solution), 0)
    objective = options[options.index("--objective") :] if "--objective" in options else []
    code, out, err = run("import-solution", tiny, solution, "-o", plan, "--strict", *objective)
    assert (code, err) == (0, "")
    problem = read_problem(tiny)
    if objective:
        problem = problem.with_objective("pairwise")
    assert read_placement(plan, problem).value == pytest.approx(value, rel=1e-9)
    assert value == pytest.approx(solve(problem, method="exact", gap=0).lower, rel=1e-9)


def test_the_model_explains_itself(run: Run, tiny: Path, tmp_path: Path) -> None:
    code, out, _ = run("export-model", tiny, "-o", tmp_path / "m.lp")
    assert code == 0
    assert out.startswith("compact model with 12 rows, 12 columns, 8 integers")
    text = (tmp_path / "m.lp").read_text(encoding="utf-8")
    assert f"\\ instance {read_problem(tiny).digest}" in text
    assert "\\ x(worker,chunk) = 1: the worker holds the chunk" in text
    assert " closure(gpu_0,3): - x(gpu_0,1) + x(gpu_0,3) <= 0\n" in text


def test_repairs_are_reported(run: Run, tiny: Path, tmp_path: Path) -> None:
    solution = tmp_path / "bad.sol"
    lines = ["x[gpu_0,0] 0.8", "x[gpu_0,2] 1", "x[gpu_0,1] 1", "x[gpu_1,3] 1"]
    solution.write_text("\n".join(lines), encoding="utf-8")
    code, out, err = run("import-solution", tiny, solution, "--json")
    assert code == 0
    document = json.loads(out)
    counts = {key: document[key] for key in ("fractional", "orphans", "excess", "named")}
    assert counts == {"fractional": 1, "orphans": 1, "excess": 1, "named": 4}
    # Chunk 2 saves 20 here and 18 for the other worker, chunk 1 saves 30 and 6.
    assert document["placement"]["resident"] == [[0, 2], []]
    assert err.splitlines() == [
        "repaired: 1 values rounded, the farthest 0.2 from 0 or 1",
        "repaired: worker gpu 0: 1 chunks dropped, over its budget of 2",
        "repaired: worker gpu-1: 1 chunks dropped, an ancestor is not held",
    ]
    assert run("import-solution", tiny, solution, "--strict")[0] == 1


def test_comparison_orders_the_bounds(run: Run, tiny: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.md"
    code, out, _ = run("compare-formulations", tiny, "--json", "-o", target)
    assert code == 0
    rows = {row["formulation"]: row for row in json.loads(out)["rows"]}
    assert set(rows) >= {"compact", "compact-both", "flow"}
    best = solve(read_problem(tiny), method="exact", gap=0).lower
    lp = [rows[name]["lp_value"] for name in ("compact", "compact-both", "flow")]
    assert lp[0] >= lp[1] - 1e-6 >= lp[2] - 2e-6 >= best - 3e-6
    assert {row["value"] for row in rows.values()} == {best}
    assert target.read_text(encoding="utf-8").startswith("## Formulations\n")
    code, out, _ = run("compare-formulations", tiny, "--formulation", "flow")
    assert code == 0
    assert "LP above best" in out


WRONG: list[tuple[list[str], str]] = [
    (["export-model", "INSTANCE", "-o", "m.txt"], "m.txt: expected a file name that ends in .mps"),
    (
        ["export-model", "INSTANCE", "-o", "m.lp", "--formulation", "big"],
        "--formulation: expected compact or flow, got 'big'",
    ),
    (
        ["export-model", "INSTANCE", "-o", "m.lp", "--closure", "none"],
        "--closure: expected 'edge', 'subtree' or 'both', got 'none'",
    ),
    (
        ["export-model", "INSTANCE", "-o", "m.lp", "--formulation", "flow", "--closure", "edge"],
        "--closure: expected --formulation compact beside it",
    ),
    (
        ["export-model", "INSTANCE", "-o", "m.lp", "--coverage", "none"],
        "--coverage: expected 'aggregated' or 'disaggregated', got 'none'",
    ),
    (["import-solution", "INSTANCE", "absent.sol"], "absent.sol: cannot be read"),
    (
        ["compare-formulations", "INSTANCE", "--formulation", "big"],
        "--formulation: expected one of compact, compact-both, flow",
    ),
    (["compare-formulations", "INSTANCE", "-o", "t.txt"], "t.txt: expected a file name in .md"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_use_is_a_clear_error(
    run: Run, arguments: list[str], message: str, tiny: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(*(tiny if word == "INSTANCE" else word for word in arguments))
    assert code == 2
    assert err.startswith("error: ")
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.json"]
