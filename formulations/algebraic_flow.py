"""The tree-DP flow MILP in Pyomo: the same model as :mod:`.flow`, to read, print and change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .algebraic_coverage import residency_model
from .flow import network
from .placement_model import worker_labels

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from prefixplace_opt.problem import Problem

    from .coverage import CoverageRows

State = tuple[str, int, int]


def flow_milp(problem: Problem, *, coverage: CoverageRows | None = None) -> ConcreteModel:
    """Return the tree-DP flow MILP as a Pyomo model.

    Parameters
    ----------
    problem, coverage
        As :func:`prefixplace_opt.formulations.flow_arrays`.

    Returns
    -------
    ConcreteModel
        Sets WORKERS, CHUNKS and STATES (worker, chunk at the position, chunks left); variables x,
        skip, take and y or z; constraints flow, resident, cover or serve and source; objective
        savings.
    """
    import pyomo.environ as pyo

    model = residency_model("flow", problem, coverage)
    order = problem.tree.order
    states: list[State] = []
    skipped_into: dict[State, list[State]] = {}
    taken_into: dict[State, list[State]] = {}
    takes: dict[tuple[str, int], list[State]] = {}
    sources: set[State] = set()
    for h, k in zip(worker_labels(problem), problem.budgets.tolist(), strict=True):
        net = network(problem.tree, k)
        own = [
            (h, b, j) for b, j in zip(order[net.position].tolist(), net.left.tolist(), strict=True)
        ]
        states += own
        sources.update(own[:1])
        for state, skip, take in zip(own, net.skip.tolist(), net.take.tolist(), strict=True):
            takes.setdefault(state[:2], []).append(state)
            for into, target in ((skipped_into, skip), (taken_into, take)):
                if target < net.states:
                    into.setdefault(own[target], []).append(state)

    model.STATES = pyo.Set(dimen=3, initialize=states, doc="worker h, chunk b, chunks left j")
    model.skip = pyo.Var(model.STATES, bounds=(0, 1), doc="b is left out, with its subtree")
    model.take = pyo.Var(model.STATES, bounds=(0, 1), doc="b is held")

    def flow(model: ConcreteModel, *state: Any) -> Any:
        into = sum(model.skip[s] for s in skipped_into.get(state, ()))
        into += sum(model.take[s] for s in taken_into.get(state, ()))
        return model.skip[state] + model.take[state] - into == (1 if state in sources else 0)

    def resident(model: ConcreteModel, h: str, b: int) -> Any:
        return model.x[h, b] - sum(model.take[s] for s in takes.get((h, b), ())) == 0

    model.flow = pyo.Constraint(model.STATES, rule=flow, doc="out of a state as much as into it")
    model.resident = pyo.Constraint(
        model.WORKERS, model.CHUNKS, rule=resident, doc="held where a take arc is used"
    )
    return model
