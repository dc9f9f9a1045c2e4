"""Residency and coverage in Pyomo: what the algebraic models share, as :mod:`.coverage` for arrays.

Members bear the names that the arrays have: ``x[worker, chunk]``, with the worker's label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prefixplace_opt.problem import Problem, savings

from .coverage import CoverageRows, chosen_rows, shared_savings
from .placement_model import worker_labels

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

Key = tuple[Any, ...]


def residency_model(
    kind: str, problem: Problem, coverage: CoverageRows | None, *, binary: bool = True
) -> ConcreteModel:
    """Return a model with WORKERS, CHUNKS, x, coverage variables and rows, and the objective."""
    import pyomo.environ as pyo

    model = pyo.ConcreteModel(name=f"{kind} {problem.name}".strip())
    labels = worker_labels(problem)
    form = savings(problem)
    model.WORKERS = pyo.Set(initialize=labels, doc="workers h")
    model.CHUNKS = pyo.Set(initialize=range(problem.n), doc="chunks b")
    model.x = pyo.Var(
        model.WORKERS,
        model.CHUNKS,
        domain=pyo.Binary if binary else pyo.NonNegativeReals,
        bounds=(0, 1),
        doc="1 where worker h holds chunk b",
    )
    local = {
        (labels[h], int(problem.tree.order[p])): float(value)
        for h in range(problem.m)
        for p, value in zip(form.local_position[h], form.local_value[h], strict=True)
    }
    model.local = pyo.Param(
        model.WORKERS, model.CHUNKS, initialize=local, default=0.0, doc="local value, ms per epoch"
    )
    rows = chosen_rows(problem, coverage)
    add = _add_shared if problem.objective == "requester" else _add_facilities
    served, worth = add(model, problem, labels, rows)
    model.savings = pyo.Objective(
        expr=sum(value * model.x[key] for key, value in local.items())
        + sum(value * served[key] for key, value in worth.items()),
        sense=pyo.maximize,
        doc="savings against recomputing everything, ms per epoch",
    )
    return model


def _add_shared(
    model: ConcreteModel, problem: Problem, labels: list[str], rows: CoverageRows
) -> tuple[Any, dict[Any, float]]:
    """Add ``y <= sum of x over the holders of the group``; return y and what each is worth."""
    import pyomo.environ as pyo

    groups = problem.groups.tolist()
    worth: dict[Any, float] = {}
    group_of: dict[Any, int] = {}
    chunk_of: dict[Any, int] = {}
    requesters, chunks, values = (array.tolist() for array in shared_savings(problem))
    for requester, chunk, value in zip(requesters, chunks, values, strict=True):
        group = groups[requester]
        if rows == "disaggregated":
            key: Any = (labels[requester], chunk)
        else:
            key = (group, chunk) if max(groups) > 0 else chunk
        worth[key] = worth.get(key, 0.0) + value
        group_of[key] = group
        chunk_of[key] = chunk
    model.DEMANDS = pyo.Set(initialize=list(worth), doc="what any holder of a group can serve")
    model.y = pyo.Var(model.DEMANDS, bounds=(0, 1), doc="1 where a holder serves the demand")

    def cover(model: ConcreteModel, *key: Any) -> Any:
        key = key if len(key) > 1 else key[0]
        holders = [
            label for label, group in zip(labels, groups, strict=True) if group == group_of[key]
        ]
        return model.y[key] <= sum(model.x[label, chunk_of[key]] for label in holders)

    model.cover = pyo.Constraint(model.DEMANDS, rule=cover, doc="served only by a holder")
    return model.y, worth


def _add_facilities(
    model: ConcreteModel, problem: Problem, labels: list[str], rows: CoverageRows
) -> tuple[Any, dict[Any, float]]:
    """Add ``sum_h z <= 1`` and ``z <= x``; return z and what each is worth."""
    import pyomo.environ as pyo

    form = savings(problem)
    worth: dict[Any, float] = {}
    holders: dict[Key, list[str]] = {}
    requesters: dict[Key, list[str]] = {}
    for row, holder in zip(*(index.tolist() for index in np.nonzero(form.row_value)), strict=True):
        requester, chunk = form.row_requester[row], int(problem.tree.order[form.row_position[row]])
        worth[labels[requester], labels[holder], chunk] = float(form.row_value[row, holder])
        holders.setdefault((labels[requester], chunk), []).append(labels[holder])
        requesters.setdefault((labels[holder], chunk), []).append(labels[requester])
    model.SERVICES = pyo.Set(dimen=3, initialize=list(worth), doc="requester m, holder h, chunk b")
    model.DEMANDS = pyo.Set(dimen=2, initialize=list(holders), doc="requester m, chunk b")
    model.z = pyo.Var(model.SERVICES, bounds=(0, 1), doc="share of m's need of b that h serves")
    model.serve = pyo.Constraint(
        model.DEMANDS,
        rule=lambda model, m, b: sum(model.z[m, h, b] for h in holders[m, b]) <= 1,
        doc="a need is served once",
    )
    if rows == "disaggregated":
        model.source = pyo.Constraint(
            model.SERVICES,
            rule=lambda model, m, h, b: model.z[m, h, b] <= model.x[h, b],
            doc="served only from a holder",
        )
    else:
        model.FACILITIES = pyo.Set(dimen=2, initialize=list(requesters), doc="holder h, chunk b")
        model.source = pyo.Constraint(
            model.FACILITIES,
            rule=lambda model, h, b: (
                sum(model.z[m, h, b] for m in requesters[h, b])
                <= len(requesters[h, b]) * model.x[h, b]
            ),
            doc="served only from a holder",
        )
    return model.z, worth
