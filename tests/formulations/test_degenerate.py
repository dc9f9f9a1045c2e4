"""No chunks, no demand, no budget: every formulation still stands and says zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import prefixplace_opt as pp
from prefixplace_opt import formulations
from prefixplace_opt.formulations.model_file import write_model
from prefixplace_opt.problem import Demand, UniformCost
from tests.formulations.highs import quiet

if TYPE_CHECKING:
    from pathlib import Path

ARRAYS = {
    "compact": formulations.compact_arrays,
    "compact-both": lambda problem: formulations.compact_arrays(problem, closure="both"),
    "flow": formulations.flow_arrays,
    "configuration": formulations.configuration_arrays,
}
ALGEBRAIC = {
    "compact": formulations.compact_milp,
    "flow": formulations.flow_milp,
    "configuration": formulations.configuration_lp,
}


@pytest.fixture(params=["no chunk-requester", "no chunk-pairwise", "no demand-requester"])
def degenerate(request: pytest.FixtureRequest) -> pp.Problem:
    what, objective = request.param.split("-")
    n = 0 if what == "no chunk" else 2
    return pp.Problem(
        tree=pp.PrefixTree(np.arange(n) - 1),
        workers=[pp.Worker("a", 3), pp.Worker("b", 0)],
        demand=Demand([], [], [], shape=(2, n)),
        recompute=UniformCost(1.0),
        fetch=UniformCost(1.0),
        objective=objective,
    )


@pytest.mark.parametrize("build", ARRAYS.values(), ids=ARRAYS)
def test_arrays(build: Any, degenerate: pp.Problem, tmp_path: Path) -> None:
    model = build(degenerate)
    empty = pp.solve(degenerate, method="plan").placement
    start = model.start(empty)
    assert model.linear.violation(start) == 0
    assert model.linear.value(start) == 0
    assert model.placement(start) == empty
    for suffix in ("mps", "lp"):
        write_model(model.linear, tmp_path / f"m.{suffix}")
        highs = quiet()
        highs.readModel(str(tmp_path / f"m.{suffix}"))
        highs.run()
        assert highs.getNumCol() == model.linear.columns
        assert highs.getInfo().objective_function_value == 0


@pytest.mark.parametrize("name", ALGEBRAIC)
def test_algebraic(name: str, degenerate: pp.Problem) -> None:
    model = ALGEBRAIC[name](degenerate)
    assert sum(1 for _ in model.component_data_objects()) > 0
    assert len(model.x) == degenerate.m * degenerate.n


@pytest.mark.parametrize("method", ["compact-lp", "flow-lp"])
def test_methods(method: str, degenerate: pp.Problem) -> None:
    result = pp.solve(degenerate, method=method)
    assert (result.lower, result.upper, result.gap) == (0, 0, 0)
