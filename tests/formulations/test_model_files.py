"""Exported files, read back by HiGHS and by SCIP; solutions of any solver, read back as plans."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import prefixplace_opt as pp
from prefixplace_opt.formulations import LinearModel, compact_arrays, flow_arrays
from prefixplace_opt.formulations.model_file import lp_lines, mps_lines, write_model
from prefixplace_opt.formulations.solution_file import read_solution, solution_of_text
from tests.formulations.highs import optimum, quiet
from tests.strategies import problems

if TYPE_CHECKING:
    from pathlib import Path

BUILDERS = {"compact": compact_arrays, "flow": flow_arrays}
SUFFIXES = ["mps", "lp"]


def read_by_highs(path: Path) -> highspy.Highs:
    highs = quiet()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs


def named_rows(lp: highspy.HighsLp) -> dict[str, tuple[float, float, dict[str, float]]]:
    """The rows of a model that HiGHS read: bounds and coefficients by name, brackets as in MPS."""
    columns = [name.replace("(", "[").replace(")", "]") for name in lp.col_names_]
    entries: list[dict[str, float]] = [{} for _ in range(lp.num_row_)]
    start, index, value = lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_
    assert lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    for j, name in enumerate(columns):
        for e in range(start[j], start[j + 1]):
            entries[index[e]][name] = value[e]
    rows = [name.replace("(", "[").replace(")", "]") for name in lp.row_names_]
    return {rows[r]: (lp.row_lower_[r], lp.row_upper_[r], entries[r]) for r in range(lp.num_row_)}


@pytest.mark.parametrize("suffix", ["mps", "lp", "mps.gz"])
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
@given(problem=problems(chunks=6, workers=3, integral=False))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_highs_reads_the_same_model(
    build: Any, suffix: str, problem: pp.Problem, tmp_path: Path
) -> None:
    model: LinearModel = build(problem).linear
    path = tmp_path / f"model.{suffix}"
    write_model(model, path, comments=["for people"])
    lp = read_by_highs(path).getLp()
    names = list(model.column_names())
    assert sorted(n.replace("(", "[").replace(")", "]") for n in lp.col_names_) == sorted(names)
    assert lp.sense_ == highspy.ObjSense.kMaximize
    at = {name.replace("(", "[").replace(")", "]"): j for j, name in enumerate(lp.col_names_)}
    for j, name in enumerate(names):
        assert lp.col_cost_[at[name]] == model.cost[j]
        assert (lp.col_lower_[at[name]], lp.col_upper_[at[name]]) == (0, 1)
        assert (lp.integrality_[at[name]] == highspy.HighsVarType.kInteger) == model.integral[j]
    expected = {}
    for r, name in enumerate(model.row_names()):
        own = slice(model.row_start[r], model.row_start[r + 1])
        terms = zip(model.entry_column[own].tolist(), model.entry_value[own].tolist(), strict=True)
        expected[name] = (
            *(model.row_lower[r], model.row_upper[r]),
            {names[c]: value for c, value in terms},
        )
    assert named_rows(lp) == expected


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
@pytest.mark.parametrize("case", ["small-forest", "small-rag-pair"])
def test_highs_and_scip_solve_the_file_and_their_solutions_are_plans(
    build: Any, suffix: str, case: str, shared: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    pyscipopt = pytest.importorskip("pyscipopt")
    problem = pp.read_problem(shared / "cases" / f"{case}.json")
    best = float(expected[case]["optimum"])
    path = tmp_path / f"model.{suffix}"
    write_model(build(problem).linear, path)

    highs = read_by_highs(path)
    highs.run()
    for style in (0, 1, 3, 4):
        target = tmp_path / f"highs{style}.sol"
        assert highs.writeSolution(str(target), style) == highspy.HighsStatus.kOk
        found = read_solution(target, problem)
        plan = pp.Placement.of_mask(problem, found.residency > 0.5)
        assert plan.value == best
        assert found.objective == pytest.approx(best, rel=1e-9)

    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.readProblem(str(path))
    scip.optimize()
    assert scip.getObjVal() == pytest.approx(best, rel=1e-9)
    for zeros in (False, True):
        target = tmp_path / "scip.sol"
        scip.writeBestSol(str(target), write_zeros=zeros)
        found = read_solution(target, problem)
        plan = pp.Placement.of_mask(problem, found.residency > 0.5)
        assert plan.value == best
        assert found.objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_of_bound_and_row_survives(suffix: str, tmp_path: Path) -> None:
    plain = compact_arrays(two_workers()).linear
    columns = plain.columns
    model = replace(
        plain,
        constant=-12.5,
        cost=np.linspace(-2.0, 1 / 3, columns),
        column_lower=np.array([0, 1, -2, -np.inf, 0, 0.5, *np.zeros(columns - 6)]),
        column_upper=np.array([1, 1, 7, 3, np.inf, np.inf, *np.ones(columns - 6)]),
        integral=np.array([True, True, True, False, False, False, *[False] * (columns - 6)]),
        row_lower=np.where(np.arange(plain.rows) == 0, 1.5, plain.row_lower),
        row_upper=np.where(np.arange(plain.rows) == 0, np.inf, plain.row_upper),
    )
    path = tmp_path / f"model.{suffix}"
    write_model(model, path)
    lp = read_by_highs(path).getLp()
    at = {name.replace("(", "[").replace(")", "]"): j for j, name in enumerate(lp.col_names_)}
    order = [at[name] for name in model.column_names()]
    assert np.array_equal(np.array(lp.col_cost_)[order], model.cost)
    assert np.array_equal(np.array(lp.col_lower_)[order], model.column_lower)
    assert np.array_equal(np.array(lp.col_upper_)[order], model.column_upper)
    integer = np.array([kind == highspy.HighsVarType.kInteger for kind in lp.integrality_])
    assert np.array_equal(integer[order], model.integral)
    assert lp.offset_ == -12.5
    assert (lp.row_lower_[0], lp.row_upper_[0]) == (1.5, np.inf)


def test_a_row_with_two_bounds_is_refused() -> None:
    plain = compact_arrays(two_workers()).linear
    model = replace(plain, row_lower=np.zeros(plain.rows) - 1)
    for lines in (mps_lines, lp_lines):
        with pytest.raises(pp.InputError, match="expected a row with one bound or two equal ones"):
            list(lines(model))


def test_gzip_gives_the_same_bytes(tmp_path: Path) -> None:
    model = compact_arrays(two_workers()).linear
    one, other = tmp_path / "one.lp.gz", tmp_path / "other.lp.gz"
    write_model(model, one)
    write_model(model, other)
    assert one.read_bytes() == other.read_bytes()
    text = gzip.decompress(one.read_bytes()).decode()
    assert text == "".join(f"{line}\n" for line in lp_lines(model))
    assert max(map(len, text.splitlines())) <= 120


def test_a_file_name_must_say_its_format(tmp_path: Path) -> None:
    with pytest.raises(pp.InputError, match=r"expected a file name that ends in \.mps, \.lp"):
        write_model(compact_arrays(two_workers()).linear, tmp_path / "model.txt")
    with pytest.raises(pp.InputError, match="cannot be written"):
        write_model(compact_arrays(two_workers()).linear, tmp_path / "absent" / "model.lp")
    assert not list(tmp_path.iterdir())


def two_workers() -> pp.Problem:
    from prefixplace_opt.problem import Demand, UniformCost

    return pp.Problem(
        tree=pp.PrefixTree([-1, 0, 0]),
        workers=[pp.Worker("gpu 0", 2), pp.Worker("gpu-1", 2)],
        demand=Demand.from_dense([[3, 1, 2], [2, 2, 1]], shape=(2, 3)),
        recompute=UniformCost(5.0),
        fetch=UniformCost(2.0),
    )


PLAN = [[True, False, True], [True, True, False]]

SOLUTIONS = {
    "plain": "x[gpu_0,0] 1\nx[gpu_0,2] 0.9999999\nx[gpu_1,0] 1\nx[gpu_1,1] 1\n",
    "equals": "x(gpu_0,0) = 1\nx(gpu_0,2) = 1\nx(gpu_1,0) = 1\nx(gpu_1,1) = 1\nx(gpu_1,2) = 0\n",
    "gurobi": (
        "# Solution for model compact\n# Objective value = 37\n"
        "x[gpu_0,0] 1\nx[gpu_0,1] 0\nx[gpu_0,2] 1\nx[gpu_1,0] 1\nx[gpu_1,1] 1\nx[gpu_1,2] 0\n"
        "y[0] 1\ny[1] 1\ny[2] 1\n"
    ),
    "cbc": (
        "Optimal - objective value 37.00000000\n"
        "      0 x[gpu_0,0]          1              9\n      2 x[gpu_0,2]          1      4\n"
        "      3 x[gpu_1,0]          1              0\n **   4 x[gpu_1,1]          1      4\n"
        "      6 y[0]                1              9\n"
    ),
    "glpk": (
        "Problem:    compact\nObjective:  savings = 37 (MAXimum)\n\n"
        "   No. Column name       Activity     Lower bound   Upper bound\n"
        "------ ------------    ------------- ------------- -------------\n"
        "     1 x[gpu_0,0]   *              1             0             1\n"
        "     3 x[gpu_0,2]\n                    *              1             0             1\n"
        "     4 x[gpu_1,0]\n                    *              1             0             1\n"
        "     5 x[gpu_1,1]   NU             1             0             1\n"
    ),
    "cplex": (
        '<?xml version = "1.0"?>\n<CPLEXSolution version="1.2">\n'
        ' <header problemName="compact" objectiveValue="37"/>\n <variables>\n'
        '  <variable name="x(gpu_0,0)" index="0" value="1"/>\n'
        '  <variable name="x(gpu_0,2)" index="2" value="1"/>\n'
        '  <variable name="x(gpu_1,0)" index="3" value="0.99999"/>\n'
        '  <variable name="x(gpu_1,1)" index="4" value="1"/>\n </variables>\n</CPLEXSolution>\n'
    ),
}


@pytest.mark.parametrize("text", SOLUTIONS.values(), ids=SOLUTIONS)
def test_every_kind_of_solution_file_is_read(text: str) -> None:
    found = solution_of_text(text, two_workers())
    assert ((found.residency > 0.5) == PLAN).all()
    assert found.objective == (None if "bjective" not in text else 37)


def test_a_solution_that_holds_nothing_is_a_solution() -> None:
    found = solution_of_text(
        "solution status: optimal solution found\nobjective value: 0\n", two_workers()
    )
    assert not found.residency.any()
    assert (found.named, found.objective) == (0, 0)


BROKEN = {
    "": "expected values of columns named x[worker,chunk], but there is none",
    "Model status\nInfeasible\n\n# Primal solution values\nNone\n": "the file says 'Infeasible'",
    "solution status: infeasible\nno solution available\n": "the file says 'infeasible'",
    "x[gpu_0,7] 1\n": "x[gpu_0,7]: expected a chunk from 0 to 2, got '7'",
    "x[gpu_9,1] 1\n": "x[gpu_9,1]: expected a worker of this instance (gpu_0, gpu_1)",
    "x[1] 1\n": "x[1]: expected a worker of this instance",
    "x[gpu_0,1] one\n": "x[gpu_0,1]: expected a number, got 'one'",
    "x[gpu_0,1] nan\n": "x[gpu_0,1]: expected a value from 0 to 1, got nan",
    "x[gpu_0,1] 3\n": "x[gpu_0,1]: expected a value from 0 to 1, got 3",
    "x[gpu_0,1] 1\nx[gpu_0,1] 0\n": "x[gpu_0,1]: stands twice, as 1.0 and 0.0",
}


@pytest.mark.parametrize(("text", "message"), BROKEN.items())
def test_what_is_no_solution_is_a_clear_error(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.sol"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(pp.InputError) as caught:
        read_solution(path, two_workers())
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_files_that_are_no_text_are_clear_errors(tmp_path: Path) -> None:
    path = tmp_path / "broken.sol"
    with pytest.raises(pp.InputError, match="cannot be read"):
        read_solution(path, two_workers())
    for raw, message in ((b"\xff\xfe", "UTF-8"), (b"\x1f\x8b\x08", "damaged")):
        path.write_bytes(raw)
        with pytest.raises(pp.InputError, match=message):
            read_solution(path, two_workers())


def test_lp_value_of_a_file_is_that_of_the_arrays(tmp_path: Path) -> None:
    model = flow_arrays(two_workers()).linear
    write_model(model, tmp_path / "model.mps")
    highs = read_by_highs(tmp_path / "model.mps")
    highs.setOptionValue("solve_relaxation", True)
    highs.run()
    value, _ = optimum(model, relaxed=True)
    assert highs.getInfo().objective_function_value == pytest.approx(value, rel=1e-12)
