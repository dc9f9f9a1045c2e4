"""Formulations side by side, as a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prefixplace_opt.solvers.formulation_comparison import FormulationRun

COLUMNS = (
    Column("instance", "instance", "text"),
    Column("formulation", "formulation", "text"),
    Column("rows", "rows"),
    Column("columns", "columns"),
    Column("entries", "entries"),
    Column("lp_value", "LP value", "value"),
    Column("lp_excess", "LP above best", "share"),
    Column("lp_seconds", "LP s", "seconds"),
    Column("value", "MIP value", "value"),
    Column("mip_gap", "MIP gap", "share"),
    Column("nodes", "nodes"),
    Column("mip_seconds", "MIP s", "seconds"),
)

#: What solvers' tolerances leave between equal numbers.
ROUNDING = 1e-9


def formulation_table(runs: Iterable[FormulationRun]) -> Table:
    """Return a row a run; ``lp_excess`` is how far the LP lies above the instance's best plan."""
    done = list(runs)
    best: dict[str, float] = {}
    for run in done:
        if run.value is not None:
            best[run.instance] = max(run.value, best.get(run.instance, 0.0))
    rows: list[dict[str, Any]] = []
    for run in done:
        row = asdict(run)
        known = best.get(run.instance)
        row["lp_excess"] = None
        if known and run.lp_value is not None:
            excess = run.lp_value / known - 1
            row["lp_excess"] = 0.0 if abs(excess) < ROUNDING else excess
        row["mip_gap"] = None
        if run.value is not None and run.bound > 0:
            gap = (run.bound - run.value) / run.bound
            row["mip_gap"] = 0.0 if gap < ROUNDING else gap
        rows.append(row)
    return Table("Formulations", COLUMNS, tuple(rows))
