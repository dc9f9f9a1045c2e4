"""Arrays and Pyomo state the same model: same columns, rows, objective, LP value and optimum."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from pyomo.repn import generate_standard_repn

import prefixplace_opt as pp
from prefixplace_opt import formulations
from prefixplace_opt.formulations.compact import compact_arrays
from tests.formulations.highs import optimum, optimum_of, quiet
from tests.strategies import problems

if TYPE_CHECKING:
    from pathlib import Path

    from prefixplace_opt.formulations import LinearModel

Terms = tuple[tuple[str, float], ...]
Row = tuple[float, float, Terms]

BOTH: dict[str, tuple[Any, Any, dict[str, str]]] = {
    "compact": (formulations.compact_arrays, formulations.compact_milp, {}),
    "compact-subtree": (compact_arrays, formulations.compact_milp, {"closure": "subtree"}),
    "compact-both": (compact_arrays, formulations.compact_milp, {"closure": "both"}),
    "compact-aggregated": (compact_arrays, formulations.compact_milp, {"coverage": "aggregated"}),
    "compact-disaggregated": (
        *(compact_arrays, formulations.compact_milp),
        {"coverage": "disaggregated"},
    ),
    "flow": (formulations.flow_arrays, formulations.flow_milp, {}),
    "configuration": (formulations.configuration_arrays, formulations.configuration_lp, {}),
}


def rows_of_arrays(model: LinearModel) -> dict[str, Row]:
    names = list(model.column_names())
    rows = {}
    for r, name in enumerate(model.row_names()):
        entries = slice(model.row_start[r], model.row_start[r + 1])
        columns, values = model.entry_column[entries].tolist(), model.entry_value[entries].tolist()
        terms = sorted((names[c], v) for c, v in zip(columns, values, strict=True))
        rows[name] = (float(model.row_lower[r]), float(model.row_upper[r]), tuple(terms))
    return rows


def terms_of(expression: Any) -> tuple[Terms, float]:
    repn = generate_standard_repn(expression)
    assert repn.is_linear()
    terms = zip((v.name for v in repn.linear_vars), repn.linear_coefs, strict=True)
    return tuple(sorted((name, float(value)) for name, value in terms)), float(repn.constant)


def rows_of_pyomo(model: pyo.ConcreteModel) -> dict[str, Row]:
    rows = {}
    for row in model.component_data_objects(pyo.Constraint, active=True):
        terms, constant = terms_of(row.body)
        lower = -np.inf if row.lower is None else pyo.value(row.lower) - constant
        upper = np.inf if row.upper is None else pyo.value(row.upper) - constant
        rows[row.name] = (lower, upper, terms)
    return rows


def check_same(arrays: LinearModel, model: pyo.ConcreteModel, *, integer: bool) -> None:
    assert rows_of_pyomo(model) == rows_of_arrays(arrays)
    by_name = {v.name: v for v in model.component_data_objects(pyo.Var)}
    assert sorted(by_name) == sorted(arrays.column_names())
    for j, name in enumerate(arrays.column_names()):
        variable = by_name[name]
        assert variable.bounds == (arrays.column_lower[j], arrays.column_upper[j])
        if integer:
            assert variable.is_binary() == arrays.integral[j]
    terms, constant = terms_of(model.savings.expr)
    cost = zip(arrays.column_names(), arrays.cost.tolist(), strict=True)
    assert terms == tuple(sorted((name, value) for name, value in cost if value))
    assert constant == arrays.constant
    assert model.savings.sense == pyo.maximize


@pytest.mark.parametrize("name", BOTH)
@given(problem=problems(chunks=6, workers=3))
@settings(max_examples=25)
def test_same_columns_rows_and_objective(name: str, problem: pp.Problem) -> None:
    arrays, algebraic, options = BOTH[name]
    check_same(
        arrays(problem, **options).linear,
        algebraic(problem, **options),
        integer=name != "configuration",
    )


@pytest.mark.parametrize("name", ["compact", "flow"])
def test_handed_cases_have_the_same_rows(name: str, case_path: Path) -> None:
    problem = pp.read_problem(case_path)
    arrays, algebraic, _ = BOTH[name]
    check_same(arrays(problem).linear, algebraic(problem), integer=True)


@pytest.mark.parametrize("relaxed", [False, True], ids=["milp", "lp"])
@pytest.mark.parametrize("name", ["compact", "flow"])
@pytest.mark.parametrize("case", ["small-forest", "small-rag-pair"])
def test_pyomo_s_own_file_has_the_same_optimum(
    name: str, relaxed: bool, case: str, shared: Path, tmp_path: Path
) -> None:
    problem = pp.read_problem(shared / "cases" / f"{case}.json")
    arrays, algebraic, _ = BOTH[name]
    model = algebraic(problem)
    if relaxed:
        pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    file = tmp_path / "model.lp"
    model.write(str(file))
    highs = quiet()
    highs.readModel(str(file))
    here, _ = optimum(arrays(problem).linear, relaxed=relaxed)
    assert optimum_of(highs)[0] == pytest.approx(here, rel=1e-9)


def test_pyomo_is_imported_by_the_models_alone() -> None:
    code = "import sys, prefixplace_opt.formulations; print('pyomo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
