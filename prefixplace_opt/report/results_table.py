"""Trials side by side: one row an instance and method, and one row a method over all."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

from prefixplace_opt.solvers.result import relative_gap

from .table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .best_known import BestKnown
    from .trials import Trial, Trials

#: Two plans whose values differ by less than this share are equally good.
SAME_VALUE = 1e-9

COLUMNS = (
    Column("instance", "instance", "text"),
    Column("objective", "objective", "text"),
    Column("chunks", "chunks"),
    Column("workers", "workers"),
    Column("method", "method", "text"),
    Column("value", "value, ms", "value"),
    Column("bound", "bound, ms", "value"),
    Column("gap", "gap", "share"),
    Column("own_gap", "own gap", "share"),
    Column("to_best", "below best", "share"),
    Column("seconds", "seconds", "seconds"),
    Column("time_ratio", "time ratio", "ratio"),
    Column("status", "status", "text"),
    Column("winner", "winner", "text"),
)
SUMMARY_COLUMNS = (
    Column("method", "method", "text"),
    Column("instances", "instances"),
    Column("wins", "best value"),
    Column("proven", "gap reached"),
    Column("mean_gap", "mean gap", "share"),
    Column("worst_gap", "worst gap", "share"),
    Column("mean_to_best", "mean below best", "share"),
    Column("seconds", "mean seconds", "seconds"),
    Column("time_ratio", "time ratio", "ratio"),
)


#: Under the rows by instance.
NOTE = (
    "gap: to the best bound of the instance, whichever method proved it; "
    "own gap: to the method's own bound."
)


def results_table(
    trials: Trials, best_known: Mapping[str, BestKnown] | None = None
) -> tuple[Table, Table]:
    """Return the rows by instance and method, and the summary by method.

    Values, gaps and times are means over the seeds, bounds the smallest. ``gap`` is to the best
    bound of the instance: the smallest of these trials, or of ``best_known``; ``own_gap`` to the
    bound of the same run, and ``proven`` counts where that is as small as the protocol asks.
    ``to_best`` is how far a value is below the best one known: the best of these trials, or of
    ``best_known`` where that has a better one under the instance's name. ``time_ratio`` compares
    with the protocol's first method on the same instance; over all instances it is the geometric
    mean.
    """
    rows = []
    by_instance: dict[str, dict[str, list[Trial]]] = {}
    for trial in trials.rows:
        by_instance.setdefault(trial.digest, {}).setdefault(trial.method, []).append(trial)
    for by_method in by_instance.values():
        rows += _instance_rows(by_method, trials.protocol.methods, best_known or {})
    methods = [name for name in trials.protocol.methods if any(r["method"] == name for r in rows)]
    summary = [
        _summary_row(name, [r for r in rows if r["method"] == name], trials.protocol.gap)
        for name in methods
    ]
    return (
        Table("By instance", COLUMNS, tuple(rows), NOTE),
        Table("By method", SUMMARY_COLUMNS, tuple(summary)),
    )


def _instance_rows(
    by_method: Mapping[str, list[Trial]],
    methods: Sequence[str],
    best_known: Mapping[str, BestKnown],
) -> list[dict[str, Any]]:
    everything = [trial for trials in by_method.values() for trial in trials]
    known = best_known.get(everything[0].instance)
    best = max([trial.lower for trial in everything] + ([known.lower] if known else []))
    bounds = [trial.upper for trial in everything if trial.upper is not None]
    bound = min(bounds + ([known.upper] if known else []), default=math.inf)
    reference = by_method.get(methods[0])
    reference_seconds = fmean(t.seconds for t in reference) if reference else math.nan
    rows = []
    for method in (name for name in methods if name in by_method):
        trials = by_method[method]
        first = trials[0]
        value = fmean(trial.lower for trial in trials)
        seconds = fmean(trial.seconds for trial in trials)
        rows.append(
            {
                "instance": first.instance,
                "objective": first.objective,
                "chunks": first.chunks,
                "workers": first.workers,
                "method": method,
                "value": value,
                "bound": min(math.inf if t.upper is None else t.upper for t in trials),
                "gap": fmean(relative_gap(trial.lower, bound) for trial in trials),
                "own_gap": fmean(trial.gap for trial in trials),
                "to_best": max(0.0, 1 - value / best) if best > 0 else 0.0,
                "seconds": seconds,
                "time_ratio": seconds / reference_seconds if reference_seconds > 0 else None,
                "status": ", ".join(dict.fromkeys(trial.status for trial in trials)),
                "winner": ", ".join(dict.fromkeys(t.winner for t in trials if t.winner)),
            }
        )
    return rows


def _summary_row(method: str, rows: Sequence[Mapping[str, Any]], gap: float) -> dict[str, Any]:
    ratios = [row["time_ratio"] for row in rows if row["time_ratio"]]
    return {
        "method": method,
        "instances": len(rows),
        "wins": sum(row["to_best"] <= SAME_VALUE for row in rows),
        "proven": sum(row["own_gap"] <= gap for row in rows),
        "mean_gap": fmean(row["gap"] for row in rows),
        "worst_gap": max(row["gap"] for row in rows),
        "mean_to_best": fmean(row["to_best"] for row in rows),
        "seconds": fmean(row["seconds"] for row in rows),
        "time_ratio": math.exp(fmean(map(math.log, ratios))) if ratios else None,
    }
