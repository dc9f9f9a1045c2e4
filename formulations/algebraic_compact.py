"""The compact MILP in Pyomo: the same model as :mod:`.compact`, to read, print and change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .algebraic_coverage import residency_model
from .compact import ClosureRows, checked_closure, subtree_pairs
from .placement_model import worker_labels

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from prefixplace_opt.problem import Problem

    from .coverage import CoverageRows


def compact_milp(
    problem: Problem, *, closure: ClosureRows = "edge", coverage: CoverageRows | None = None
) -> ConcreteModel:
    """Return the compact MILP as a Pyomo model.

    Parameters
    ----------
    problem, closure, coverage
        As :func:`prefixplace_opt.formulations.compact_arrays`.

    Returns
    -------
    ConcreteModel
        Sets WORKERS and CHUNKS; variables x and y or z; constraints closure, below, budget, cover
        or serve and source; objective savings.
    """
    import pyomo.environ as pyo

    closure = checked_closure(closure)
    model = residency_model("compact", problem, coverage)
    parents = problem.tree.parents.tolist()
    depth = problem.tree.depth.tolist()
    budget = dict(zip(worker_labels(problem), problem.budgets.tolist(), strict=True))
    if closure != "subtree":
        model.CHILDREN = pyo.Set(initialize=[b for b in model.CHUNKS if parents[b] >= 0])
        model.closure = pyo.Constraint(
            model.WORKERS,
            model.CHILDREN,
            rule=lambda model, h, b: model.x[h, b] <= model.x[h, parents[b]],
            doc="a chunk needs its parent",
        )
    if closure != "edge":
        below: dict[int, list[int]] = {}
        for node, inside in zip(*(ids.tolist() for ids in subtree_pairs(problem)), strict=True):
            below.setdefault(node, []).append(inside)
        model.INNER = pyo.Set(initialize=sorted(below), doc="chunks with children")

        def rule(model: ConcreteModel, h: str, b: int) -> Any:
            most = min(len(below[b]), max(budget[h] - depth[b] - 1, 0))
            return sum(model.x[h, d] for d in below[b]) <= most * model.x[h, b]

        model.below = pyo.Constraint(
            model.WORKERS, model.INNER, rule=rule, doc="what the budget leaves below a chunk"
        )
    # Pyomo refuses rows without variables, which an empty forest has.
    model.budget = pyo.Constraint(
        model.WORKERS if problem.n else [],
        rule=lambda model, h: sum(model.x[h, b] for b in model.CHUNKS) <= budget[h],
        doc="chunks held",
    )
    return model
