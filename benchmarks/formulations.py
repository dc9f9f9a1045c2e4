"""Build and solve each formulation: Pyomo against arrays, HiGHS against SCIP on the same file.

    python benchmarks/formulations.py INSTANCE... [--time-limit 60] [--output RESULTS.md]

Per instance and formulation: seconds to build the Pyomo model and the arrays, to write the MPS
file, and to hand the arrays to HiGHS; then HiGHS and SCIP read that one file and solve its LP
relaxation and the MIP, one thread each, to a gap of 0 within the time limit. Every plan is read
back from x and evaluated by the objective. Rows are kept in a JSON file beside the table, and those
that are there already are not measured again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np
import pyomo.environ  # noqa: F401 - its import is no part of building a model
import pyscipopt

import prefixplace_opt as pp
from prefixplace_opt.formulations import (
    PlacementModel,
    compact_arrays,
    compact_milp,
    flow_arrays,
    flow_milp,
)
from prefixplace_opt.formulations.model_file import write_model
from prefixplace_opt.formulations.repair import repaired
from prefixplace_opt.problem.file_bytes import write_bytes
from prefixplace_opt.report import Column, Table, as_markdown
from prefixplace_opt.solvers.backends.highs import Highs
from prefixplace_opt.solvers.run import Options, Run

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results" / "formulations.md"

#: Name -> arrays and Pyomo model.
FORMULATIONS: dict[str, tuple[Callable[..., PlacementModel], Callable[..., Any]]] = {
    "compact": (compact_arrays, compact_milp),
    "compact-both": (
        lambda problem: compact_arrays(problem, closure="both"),
        lambda problem: compact_milp(problem, closure="both"),
    ),
    "flow": (flow_arrays, flow_milp),
}

BUILD = (
    Column("instance", "instance", "text"),
    Column("formulation", "formulation", "text"),
    Column("rows", "rows"),
    Column("columns", "columns"),
    Column("entries", "entries"),
    Column("pyomo", "Pyomo build s", "seconds"),
    Column("arrays", "array build s", "seconds"),
    Column("build_ratio", "Pyomo / arrays", "ratio"),
    Column("write", "write MPS s", "seconds"),
    Column("megabytes", "MPS MB"),
    Column("highs_read", "HiGHS reads s", "seconds"),
    Column("scip_read", "SCIP reads s", "seconds"),
)
SOLVE = (
    Column("instance", "instance", "text"),
    Column("formulation", "formulation", "text"),
    Column("lp_value", "LP value", "value"),
    Column("lp_above", "LP above best", "share"),
    Column("arrays_lp", "HiGHS LP s, arrays", "seconds"),
    Column("highs_lp", "HiGHS LP s, file", "seconds"),
    Column("scip_lp", "SCIP LP s, file", "seconds"),
    Column("highs_mip", "HiGHS MIP s", "seconds"),
    Column("highs_nodes", "HiGHS nodes"),
    Column("highs_gap", "HiGHS gap", "share"),
    Column("scip_mip", "SCIP MIP s", "seconds"),
    Column("scip_nodes", "SCIP nodes"),
    Column("scip_gap", "SCIP gap", "share"),
)


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = action()
    return time.perf_counter() - begun, result


def measured(problem: pp.Problem, name: str, limit: float) -> dict[str, Any]:
    arrays, algebraic = FORMULATIONS[name]
    row: dict[str, Any] = {"instance": problem.name, "formulation": name}
    row["arrays"], model = seconds(lambda: arrays(problem))
    row["pyomo"], _ = seconds(lambda: algebraic(problem))
    row["build_ratio"] = row["pyomo"] / row["arrays"]
    linear = model.linear
    row |= {"rows": linear.rows, "columns": linear.columns, "entries": linear.entries}
    run = Run(Options(gap=0.0, time_limit=limit))
    answer = Highs().solve(linear, run, relaxed=True)
    row["arrays_lp"] = answer.seconds
    row["lp_value"] = answer.bound if answer.ending == "optimal" else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mps"
        row["write"], _ = seconds(lambda: write_model(linear, path))
        row["megabytes"] = round(path.stat().st_size / 1e6, 2)
        row |= by_highs(problem, model, path, limit)
        row |= by_scip(problem, model, path, limit)
    row["value"] = max(row["highs_value"], row["scip_value"])
    return row


def by_highs(
    problem: pp.Problem, model: PlacementModel, path: Path, limit: float
) -> dict[str, Any]:
    def fresh(*, relaxed: bool) -> Any:
        highs = highspy.Highs()
        algorithm = "ipx" if model.linear.interior_point else "choose"
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "time_limit": limit,
            "mip_rel_gap": 0.0,
            "solver": algorithm,
            "mip_lp_solver": algorithm,
            "solve_relaxation": relaxed,
        }.items():
            highs.setOptionValue(option, value)
        highs.readModel(str(path))
        return highs

    read, highs = seconds(lambda: fresh(relaxed=True))
    lp, _ = seconds(highs.run)
    lp_done = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    highs = fresh(relaxed=False)
    mip, _ = seconds(highs.run)
    info = highs.getInfo()
    values = dict(zip(highs.getLp().col_names_, highs.getSolution().col_value, strict=True))
    found = plan_value(problem, model, values) if info.primal_solution_status == 2 else 0.0
    return {
        "highs_read": read,
        "highs_lp": lp if lp_done else None,
        "highs_mip": mip,
        "highs_nodes": int(info.mip_node_count),
        "highs_value": found,
        "highs_gap": gap(found, info.mip_dual_bound),
    }


def by_scip(problem: pp.Problem, model: PlacementModel, path: Path, limit: float) -> dict[str, Any]:
    def fresh() -> Any:
        scip = pyscipopt.Model()
        scip.hideOutput()
        scip.setParam("limits/time", limit)
        scip.setParam("limits/gap", 0.0)
        scip.readProblem(str(path))
        return scip

    read, scip = seconds(fresh)
    for variable in scip.getVars():
        scip.chgVarType(variable, "C")
    lp, _ = seconds(scip.optimize)
    lp_done = scip.getStatus() == "optimal"
    scip = fresh()
    mip, _ = seconds(scip.optimize)
    found = 0.0
    if scip.getNSols() > 0:
        best = scip.getBestSol()
        found = plan_value(problem, model, {v.name: best[v] for v in scip.getVars()})
    return {
        "scip_read": read,
        "scip_lp": lp if lp_done else None,
        "scip_mip": mip,
        "scip_nodes": int(scip.getNNodes()),
        "scip_value": found,
        "scip_gap": gap(found, scip.getDualbound()),
    }


def plan_value(problem: pp.Problem, model: PlacementModel, values: dict[str, float]) -> float:
    x = np.array([values.get(name, 0.0) for name in model.linear.column_names()])
    return repaired(problem, model.residency(x)).placement.value


def gap(value: float, bound: float) -> float | None:
    if not 0 < bound < 1e19:
        return None
    share = (bound - value) / bound
    return 0.0 if share < 1e-9 else share


def tables(rows: list[dict[str, Any]], limit: float) -> str:
    best = {row["instance"]: 0.0 for row in rows}
    instances, formulations = list(best), list(FORMULATIONS)
    rows = sorted(
        rows,
        key=lambda row: (instances.index(row["instance"]), formulations.index(row["formulation"])),
    )
    for row in rows:
        best[row["instance"]] = max(best[row["instance"]], row["value"])
    for row in rows:
        row["lp_above"] = (
            None if row["lp_value"] is None else row["lp_value"] / best[row["instance"]] - 1
        )
        if row["lp_above"] is not None and abs(row["lp_above"]) < 1e-9:
            row["lp_above"] = 0.0
    note = (
        "Written by `benchmarks/formulations.py`: one thread, gap 0, "
        f"{limit:g} s for each LP and each MIP (`-`: not solved by then), "
        f"HiGHS {highspy.Highs().version()}, SCIP {pyscipopt.Model().version()}.\n"
    )
    return (
        "# Formulations: building and solving\n\n"
        + note
        + "\n"
        + as_markdown([Table("Building", BUILD, tuple(rows)), Table("Solving", SOLVE, tuple(rows))])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instances", nargs="+", type=Path)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    kept = options.output.with_suffix(".json")
    rows = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
    done = {(row["instance"], row["formulation"]) for row in rows}
    for path in options.instances:
        problem = pp.read_problem(path)
        for name in FORMULATIONS:
            if (problem.name, name) in done:
                continue
            rows.append(measured(problem, name, options.time_limit))
            write_bytes(kept, (json.dumps(rows, indent=1) + "\n").encode())
            write_bytes(options.output, tables(rows, options.time_limit).encode())
            print(problem.name, name, "done", flush=True)


if __name__ == "__main__":
    main()
