"""Instances cut from real traffic by a recipe: the recipe is kept, the traffic is not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from prefixplace_opt.instances.clusters import read_cluster
from prefixplace_opt.instances.generators.parameters import Parameters, parameter
from prefixplace_opt.instances.trace_import import ImportOptions, import_traces
from prefixplace_opt.problem import InputError, Problem

#: What a suite calls the family of such instances.
TRACE = "trace"
#: Raised whenever the same recipe would give another instance of the same traffic.
VERSION = 2


@dataclass(frozen=True, kw_only=True)
class TraceParameters(Parameters):
    """A recipe: which requests of which trace, for which workers."""

    trace: str = parameter("", "name of the trace file")
    workers: str = parameter("mixed-8", "shipped workers file")
    objective: str = parameter(
        "requester", "what a fetch costs depends on", choices=("requester", "pairwise")
    )
    route: str = parameter("prefix-affinity", "how requests are routed to workers")
    chunk_tokens: int = parameter(512, "tokens of a chunk", least=1, most=2**31)
    start_s: float = parameter(0.0, "start of the window, s on the trace's clock", least=0)
    stop_s: float = parameter(3600.0, "end of the window, s on the trace's clock", least=0)


def cut_from_trace(
    parameters: TraceParameters, seed: int, traces: Path | None, name: str = ""
) -> Problem:
    """Import the recipe's requests from the trace in the folder ``traces``.

    Raises
    ------
    InputError
        Where the trace is not there, or the import fails.
    """
    if traces is None:
        raise TrafficAbsentError(
            f"expected a folder with the traffic {parameters.trace!r} (--traces)", field="trace"
        )
    path = traces / parameters.trace
    if parameters.trace != Path(parameters.trace).name or not path.is_file():
        raise TrafficAbsentError(f"expected a trace file, got {str(path)!r}", field="trace")
    options = ImportOptions(
        route=parameters.route,
        seed=seed,
        chunk_tokens=parameters.chunk_tokens,
        objective="pairwise" if parameters.objective == "pairwise" else "requester",
        keys=False,
        start_s=parameters.start_s,
        stop_s=parameters.stop_s,
    )
    imported, _ = import_traces([path], read_cluster(parameters.workers), options)
    problem = imported[0].problem
    span = f"{parameters.start_s:g}-{parameters.stop_s:g}s"
    default = f"{path.name.split('.')[0]}-{span}-m{problem.m}-{problem.objective}"
    provenance = {
        "generator": TRACE,
        "version": VERSION,
        "parameters": parameters.as_dict(),
        "seed": seed,
    }
    return replace(problem, name=name or default, provenance=provenance)


class TrafficAbsentError(InputError):
    """The recipe's traffic is not at hand, so the instance cannot be made."""
