"""Many runs under one written protocol, kept in a file that a stopped run can go on from."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import version
from typing import Any

import prefixplace_opt
from prefixplace_opt.problem import Demand, InputError, PrefixTree, Problem, UniformCost, Worker
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.json_files import check_format, members, read_json, write_json
from prefixplace_opt.solvers.methods import method_named
from prefixplace_opt.solvers.result import relative_gap
from prefixplace_opt.solving import solve

FORMAT = "prefixplace-trials"
LIBRARIES = ("numpy", "numba", "highspy")


@dataclass(frozen=True)
class Protocol:
    """How every trial is run.

    Attributes
    ----------
    methods
        Names; the first is what ratios refer to.
    seeds
        Each method runs once a seed on each instance.
    gap, time_limit, threads, memory_limit
        As in :func:`prefixplace_opt.solve`.
    """

    methods: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    gap: float = 1e-4
    time_limit: float | None = None
    threads: int = 1
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if not self.methods or not self.seeds:
            raise InputError("expected at least one method and one seed", field="protocol")
        for name in self.methods:
            method_named(name)


@dataclass(frozen=True)
class Trial:
    """One run's outcome; ``lower`` and ``upper`` in ms per epoch, ``upper`` None if unbounded."""

    instance: str
    digest: str
    objective: str
    chunks: int
    workers: int
    method: str
    seed: int
    lower: float
    upper: float | None
    status: str
    seconds: float
    winner: str = ""
    reason: str | None = None

    @property
    def gap(self) -> float:
        """``(upper - lower) / upper``."""
        return 1.0 if self.upper is None else relative_gap(self.lower, self.upper)

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells a trial from the others of its protocol."""
        return (self.digest, self.method, self.seed)


@dataclass(frozen=True)
class Trials:
    """Runs under one protocol, and what they ran on."""

    protocol: Protocol
    machine: dict[str, Any]
    rows: tuple[Trial, ...] = field(default=())


def run_trials(
    problems: Iterable[Problem],
    protocol: Protocol,
    *,
    done: Trials | None = None,
    after: Callable[[Trials], None] | None = None,
    before: Callable[[Problem, str, int], None] | None = None,
    cluster: str | None = None,
) -> Trials:
    """Run every method and seed on every problem, one after the other.

    The methods of one instance and seed follow each other directly, so that what is compared ran
    under the same conditions. Each method first solves a tiny instance, so that no trial's time
    holds the compilation of a kernel.

    Parameters
    ----------
    problems
        Named instances, read as they are needed.
    protocol
        Methods, seeds and limits.
    done
        Earlier trials under the same protocol; they are kept and not run again.
    after, before
        Called with all trials so far after each one, and with problem, method and seed before.
    cluster
        Address of a Dask scheduler on whose workers the instances are run, several at a time; then
        ``after`` is called after each instance, and ``before`` never.

    Returns
    -------
    Trials
        The earlier ones and the new ones; after Ctrl-C without the run that it ended.

    Raises
    ------
    InputError
        Where ``done`` followed another protocol.
    """
    if done is not None and done.protocol != protocol:
        raise InputError("expected trials of the same protocol, got others", field="protocol")
    trials = Trials(protocol, machine(), done.rows if done else ())
    if cluster is not None:
        from .cluster_trials import trials_on_cluster

        return trials_on_cluster(cluster, list(problems), trials, after)
    known = {trial.key for trial in trials.rows}
    for problem in problems:
        for trial in instance_trials(problem, protocol, known, before):
            if trial.status == "interrupted":
                return trials
            trials = Trials(protocol, trials.machine, (*trials.rows, trial))
            known.add(trial.key)
            if after is not None:
                after(trials)
    return trials


# What this process has compiled: methods by objective.
_warm: set[tuple[str, str]] = set()


def instance_trials(
    problem: Problem,
    protocol: Protocol,
    known: Collection[tuple[str, str, int]],
    before: Callable[[Problem, str, int], None] | None = None,
) -> Iterator[Trial]:
    """Run every method and seed on ``problem`` whose key is not ``known``."""
    for seed in protocol.seeds:
        for method in protocol.methods:
            if (problem.digest, method, seed) in known:
                continue
            if before is not None:
                before(problem, method, seed)
            if (method, problem.objective) not in _warm:
                _warm.add((method, problem.objective))
                tiny = _tiny().with_objective(problem.objective)
                _solve(tiny, method, 0, replace(protocol, memory_limit=None))
            yield _solve(problem, method, seed, protocol)


def machine() -> dict[str, Any]:
    """Return what the trials of this process run on: processors and versions."""
    return {
        "processors": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "prefixplace_opt": prefixplace_opt.__version__,
        **{name: version(name) for name in LIBRARIES},
    }


def write_trials(trials: Trials, path: str | os.PathLike[str]) -> None:
    """Write the trials as JSON, all or nothing."""
    write_json(path, document_of_trials(trials))


def document_of_trials(trials: Trials) -> dict[str, Any]:
    """Return the trials as JSON-ready objects."""
    return {
        "format": FORMAT,
        "version": 1,
        "protocol": asdict(trials.protocol),
        "machine": trials.machine,
        "trials": [asdict(trial) for trial in trials.rows],
    }


def read_trials(path: str | os.PathLike[str]) -> Trials:
    """Read a file that :func:`write_trials` wrote; raises InputError for any other content."""
    source = os.fspath(path)
    document = read_json(path)
    try:
        check_format(document, FORMAT)
        members(document, "", required=("format", "version", "protocol", "machine", "trials"))
        protocol = _built(Protocol, document["protocol"], "protocol")
        rows = document["trials"]
        if not isinstance(rows, list) or not isinstance(document["machine"], dict):
            raise InputError(f"expected a list, got {shorten(rows)}", field="trials")
        trials = tuple(_built(Trial, row, f"trials[{at}]") for at, row in enumerate(rows))
    except InputError as error:
        raise error.at(source=source) from None
    return Trials(protocol, document["machine"], trials)


def _built(kind: Callable[..., Any], value: Any, where: str) -> Any:
    own = fields(kind)  # type: ignore[arg-type]
    optional = [item.name for item in own if item.default is None]
    required = [item.name for item in own if item.default is not None]
    members(value, where, required=required, optional=optional)
    content = {
        name: tuple(item) if isinstance(item, list) else item for name, item in value.items()
    }
    for item in own:
        if item.name in content and not _fits(content[item.name], str(item.type)):
            raise InputError(
                f"expected {item.type}, got {shorten(value[item.name])}",
                field=f"{where}.{item.name}",
            )
    return kind(**content)


def _fits(value: Any, declared: str) -> bool:
    kinds: dict[str, Callable[[Any], bool]] = {
        "str": lambda v: isinstance(v, str),
        "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
        "float": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
        "None": lambda v: v is None,
        "tuple[str, ...]": lambda v: isinstance(v, tuple) and all(isinstance(x, str) for x in v),
        "tuple[int, ...]": lambda v: isinstance(v, tuple) and all(type(x) is int for x in v),
    }
    return any(kinds[kind](value) for kind in declared.split(" | "))


def _solve(problem: Problem, method: str, seed: int, protocol: Protocol) -> Trial:
    result = solve(
        problem,
        method=method,
        seed=seed,
        gap=protocol.gap,
        time_limit=protocol.time_limit,
        threads=protocol.threads,
        memory_limit=protocol.memory_limit,
    )
    return Trial(
        instance=problem.name,
        digest=problem.digest,
        objective=problem.objective,
        chunks=problem.n,
        workers=problem.m,
        method=method,
        seed=seed,
        lower=result.lower,
        upper=result.upper if result.upper < float("inf") else None,
        status=result.status,
        seconds=result.seconds,
        winner=str(result.statistics.get("winner", "")),
        reason=result.reason or None,
    )


def _tiny() -> Problem:
    demand = Demand.from_dense([[3, 2, 1], [2, 1, 2]], shape=(2, 3))
    workers = [Worker("a", 2), Worker("b", 1)]
    return Problem(PrefixTree([-1, 0, 0]), workers, demand, UniformCost(5.0), UniformCost(2.0))
