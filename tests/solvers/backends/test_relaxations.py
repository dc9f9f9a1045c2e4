"""LPs: duals, bounds that hold at any accuracy, and the endings of LPs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from prefixplace_opt.formulations import flow_arrays
from prefixplace_opt.problem import SolverError, read_problem
from prefixplace_opt.solvers.backends.contained import Contained
from prefixplace_opt.solvers.backends.registry import backend_named
from tests.solvers.backends import models

if TYPE_CHECKING:
    from pathlib import Path

LP = ["highs", "highs-simplex", "highs-ipx", "pdlp"]


@pytest.mark.parametrize("name", LP)
def test_duals_and_bound_of_a_knapsack(name: str) -> None:
    answer = backend_named(name).solve(models.knapsack(), models.run(), relaxed=True)
    assert answer.ending == "optimal"
    assert answer.row_duals is not None
    # The third of an item 0 that fits is worth 2 for each unit of the row.
    assert answer.row_duals == pytest.approx([0.0], abs=2.5)
    assert answer.row_duals[0] >= 0
    assert answer.bound == pytest.approx(19.0, rel=1e-6)
    assert answer.bound >= 19.0


@pytest.mark.parametrize("name", LP)
def test_duals_have_the_sign_of_the_binding_side(name: str) -> None:
    # Optimum 2 - 1: the first row's upper side and the second row's lower side bind.
    model = models.model(
        [2.0, -1.0],
        [[1.0, 0.0], [0.0, 1.0]],
        lower=[-np.inf, 1.0],
        upper=[1.0, np.inf],
        most=9.0,
        integral=False,
    )
    answer = backend_named(name).solve(model, models.run())
    assert answer.bound == pytest.approx(1.0, abs=1e-6)
    assert answer.row_duals == pytest.approx([2.0, -1.0], abs=1e-4)


@pytest.mark.parametrize("name", LP)
def test_infeasible_and_unbounded(name: str) -> None:
    backend = backend_named(name)
    answer = backend.solve(models.infeasible(integral=False), models.run(time_limit=5.0))
    assert answer.ending in ("infeasible", "undecided")
    assert answer.solution is None
    answer = backend.solve(models.unbounded(integral=False), models.run(time_limit=5.0))
    assert answer.ending in ("unbounded", "undecided")
    assert answer.bound == math.inf


def test_pdlp_takes_no_integers() -> None:
    with pytest.raises(SolverError, match="PDLP solves LPs only"):
        backend_named("pdlp").solve(models.knapsack(), models.run())


@pytest.mark.parametrize("name", ["highs-simplex", "pdlp", "contained pdlp"])
def test_stopped_lp_has_a_valid_bound_or_none(name: str, shared: Path) -> None:
    path = shared / "cases" / "rag" / "rag-d20-m4-b10-g3.0-requ-s1.json"
    model = flow_arrays(read_problem(path)).linear
    inner = name.removeprefix("contained ")
    backend = backend_named(inner) if inner == name else Contained(inner)
    limit = 0.7 if inner == name else 2.5
    answer = backend.solve(model, models.run(gap=1e-9, time_limit=limit), relaxed=True)
    assert answer.ending == "time-limit"
    # Nothing can save more than all demand served from an own copy.
    assert answer.bound >= 1.0
    if answer.row_duals is not None:
        assert answer.row_duals.shape == (model.rows,)


def test_a_lp_is_interrupted() -> None:
    run = models.run()
    run.interrupt()
    rng = np.random.default_rng(0)
    model = models.model(
        rng.random(200), rng.random((200, 200)), upper=rng.random(200) * 50, integral=False
    )
    for name in ("highs-simplex", "pdlp"):
        assert backend_named(name).solve(model, run).ending == "interrupted"
