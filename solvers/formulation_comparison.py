"""The formulations side by side on one instance: size, LP value, MIP optimum, nodes and time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prefixplace_opt.formulations import FORMULATIONS, PlacementModel
from prefixplace_opt.formulations.repair import repaired
from prefixplace_opt.problem import InputError

from .backends.contained import limited
from .column_generation import configuration_lp
from .proving import prove
from .run import Options, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prefixplace_opt.problem import Problem

    from .backends.backend import Answer, Ending

#: The configuration LP, whose columns are generated as they are needed, among the formulations.
CONFIGURATION = "configuration"
COMPARED = (*FORMULATIONS, CONFIGURATION)

#: How branch and price ended, where it was stopped.
_ENDINGS: dict[str, Ending] = {
    "time-limit": "time-limit",
    "node-limit": "node-limit",
    "interrupted": "interrupted",
}


@dataclass(frozen=True)
class FormulationRun:
    """One formulation of one instance, solved as LP and as MIP.

    Attributes
    ----------
    instance, formulation
        Names.
    rows, columns, integers, entries
        Size of the model; of the configuration LP, of its last restricted master.
    build_seconds, lp_seconds, mip_seconds
        Wall time.
    lp_value
        The LP optimum, ms per epoch; None at a limit.
    value, bound
        The best plan of the MIP, recomputed by the objective, and the MIP's bound, ms per epoch;
        ``value`` is None where the limit came first.
    nodes
        Branching nodes of the MIP.
    ending
        How the MIP ended. That of the configuration LP is branch and price.
    """

    instance: str
    formulation: str
    rows: int
    columns: int
    integers: int
    entries: int
    build_seconds: float
    lp_value: float | None
    lp_seconds: float
    value: float | None
    bound: float
    nodes: int
    mip_seconds: float
    ending: Ending


def compare_formulations(
    problem: Problem,
    *,
    formulations: Iterable[str] = COMPARED,
    time_limit: float | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Iterator[FormulationRun]:
    """Solve the LP and the MIP of each formulation to a gap of 0: by HiGHS without a start.

    The configuration LP goes through column generation, and branch and price.

    Parameters
    ----------
    problem
        What is formulated.
    formulations
        Names from :data:`COMPARED`.
    time_limit
        Seconds for each single LP and MIP.
    seed, threads
        As in :class:`.run.Options`.

    Raises
    ------
    InputError
        For an unknown name.
    """
    for name in formulations:
        if name not in COMPARED:
            raise InputError(
                f"expected one of {', '.join(COMPARED)}, got {name!r}", field="formulation"
            )
    options = Options(gap=0.0, time_limit=time_limit, seed=seed, threads=threads)
    for name in formulations:
        if name == CONFIGURATION:
            yield _configuration(problem, options)
            continue
        begun = time.perf_counter()
        model = FORMULATIONS[name](problem)
        built = time.perf_counter() - begun
        run = Run(options)
        lp = limited("highs", model.linear, run).solve(model.linear, run, relaxed=True)
        run = Run(options)
        mip = limited("highs", model.linear, run).solve(model.linear, run)
        yield FormulationRun(
            instance=problem.name,
            formulation=name,
            rows=model.linear.rows,
            columns=model.linear.columns,
            integers=int(model.linear.integral.sum()),
            entries=model.linear.entries,
            build_seconds=built,
            lp_value=lp.bound if lp.ending == "optimal" else None,
            lp_seconds=lp.seconds,
            value=_value(problem, model, mip),
            bound=mip.bound,
            nodes=mip.nodes,
            mip_seconds=mip.seconds,
            ending=mip.ending,
        )


def _configuration(problem: Problem, options: Options) -> FormulationRun:
    lp = configuration_lp(problem, Run(options))
    mip = prove(problem, Run(options), "exact")
    size = lp.statistics
    return FormulationRun(
        instance=problem.name,
        formulation=CONFIGURATION,
        rows=size["rows"],
        columns=size["columns"],
        integers=size["columns"],
        entries=size["entries"],
        build_seconds=0.0,
        lp_value=size["lp_value"],
        lp_seconds=lp.seconds,
        value=mip.lower,
        bound=mip.upper,
        nodes=mip.statistics.get("nodes", 0),
        mip_seconds=mip.seconds,
        ending=_ENDINGS.get(mip.status, "optimal"),
    )


def _value(problem: Problem, model: PlacementModel, answer: Answer) -> float | None:
    if answer.solution is None:
        return None
    return repaired(problem, model.residency(answer.solution)).placement.value
