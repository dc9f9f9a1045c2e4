from pathlib import Path
from typing import Any

import pytest

import prefixplace_opt as pp
from prefixplace_opt.solvers.formulation_comparison import COMPARED, compare_formulations


def test_formulations_agree_and_are_ranked(
    shared: Path, expected: dict[str, dict[str, Any]]
) -> None:
    for name in ("caterpillar", "small-rag-pair"):
        problem = pp.read_problem(shared / "cases" / f"{name}.json")
        runs = {run.formulation: run for run in compare_formulations(problem)}
        assert tuple(runs) == COMPARED
        optimum = float(expected[name]["optimum"])
        for run in runs.values():
            assert run.ending == "optimal"
            assert run.value == pytest.approx(optimum, rel=1e-12)
            assert run.bound == pytest.approx(optimum, rel=1e-9)
        lp = {formulation: float(run.lp_value or 0) for formulation, run in runs.items()}
        assert lp["compact"] >= lp["compact-both"] * (1 - 1e-9) >= lp["flow"] * (1 - 2e-9)
        assert lp["configuration"] == pytest.approx(lp["flow"], rel=1e-7)
        assert lp["configuration"] >= optimum * (1 - 1e-9)


def test_unknown_formulation_is_named() -> None:
    problem = pp.generate("rag", seed=0, documents=2, workers=2)
    with pytest.raises(pp.InputError, match="configuration, got 'other'"):
        list(compare_formulations(problem, formulations=["other"]))
