"""The configuration LP in Pyomo: as :mod:`.configuration`, to read, print and change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .algebraic_coverage import residency_model
from .configuration import Configurations, all_configurations
from .placement_model import worker_labels

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from prefixplace_opt.problem import Problem

    from .coverage import CoverageRows


def configuration_lp(
    problem: Problem,
    configurations: Configurations | None = None,
    *,
    coverage: CoverageRows | None = None,
) -> ConcreteModel:
    """Return the configuration LP, or its restriction to some columns, as a Pyomo model.

    Parameters
    ----------
    problem, configurations, coverage
        As :func:`prefixplace_opt.formulations.configuration_arrays`; here x is continuous.

    Returns
    -------
    ConcreteModel
        Sets WORKERS, CHUNKS and SETS (worker, number of the set); variables x, use and y or z;
        constraints resident, choose, cover or serve and source; objective savings.

    Raises
    ------
    CapacityError
        Where there are too many columns to enumerate.
    """
    import pyomo.environ as pyo

    sets = all_configurations(problem) if configurations is None else configurations
    model = residency_model("configuration", problem, coverage, binary=False)
    labels = worker_labels(problem)
    columns = [(labels[h], t) for t, h in enumerate(sets.worker.tolist())]
    held_in: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for t, chunk in zip(sets.owner.tolist(), sets.chunk.tolist(), strict=True):
        held_in.setdefault((columns[t][0], chunk), []).append(columns[t])
    model.SETS = pyo.Set(dimen=2, initialize=columns, doc="worker h, parent-closed set t")
    model.use = pyo.Var(model.SETS, bounds=(0, 1), doc="share of set t at worker h")

    def resident(model: ConcreteModel, h: str, b: int) -> Any:
        return model.x[h, b] - sum(model.use[column] for column in held_in.get((h, b), ())) == 0

    def choose(model: ConcreteModel, h: str) -> Any:
        own = [model.use[column] for column in columns if column[0] == h]
        return sum(own) <= 1 if own else pyo.Constraint.Feasible

    model.resident = pyo.Constraint(
        model.WORKERS, model.CHUNKS, rule=resident, doc="held where a set that holds it is used"
    )
    model.choose = pyo.Constraint(model.WORKERS, rule=choose, doc="one set a worker")
    return model
