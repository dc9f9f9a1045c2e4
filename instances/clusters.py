"""The workers file: which workers there are, their hardware, budgets and links (TOML).

The format stands in ``docs/traffic.md``. A :class:`Cluster` is what the file says, checked as far
as it can be without knowing the traffic; :meth:`Cluster.sized` completes it for a chunk size.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, cast

from prefixplace_opt.problem import (
    CostTable,
    InputError,
    LinkCost,
    Objective,
    Worker,
    number,
    whole_number,
)
from prefixplace_opt.problem.errors import shorten
from prefixplace_opt.problem.json_files import members

from .hardware import Model, catalogue, model_from_document, profile_from_document
from .links import Links, links_from_document
from .profiles import Profile, recompute_cost
from .toml_files import parse_toml, read_toml

#: Most workers that one file may declare through ``count``.
MOST_WORKERS = 10_000
BUDGETS = ("budget", "budget_gb", "budget_share")
OPTIONAL = (
    *("count", "hardware", "gpus", "recompute", "compatibility", "rack"),
    *("goodput_gbps", "latency_ms"),
    *BUDGETS,
)


@dataclass(frozen=True)
class ClusterWorker:
    """One worker as declared; ``recompute`` is a TOML table, ``"analytical"`` or None."""

    name: str
    field: str
    budget_kind: str
    budget: float
    hardware: str | None
    gpus: int
    recompute: Any
    compatibility: str | None
    rack: str | None
    goodput_gbps: float | None
    latency_ms: float


@dataclass(frozen=True)
class SizedCluster:
    """A cluster for one chunk size: what a problem needs of it."""

    cluster: Cluster
    chunk_tokens: int
    chunk_bytes: int | None
    profiles: tuple[Profile, ...]

    def workers(self, n: int) -> list[Worker]:
        """Return the problem's workers for a tree of ``n`` chunks.

        A share of the chunks, like a share of bytes, is rounded down to whole chunks.
        """
        result = []
        for worker in self.cluster.workers:
            if worker.budget_kind == "budget_share":
                budget = math.floor(worker.budget * n)
            elif worker.budget_kind == "budget_gb":
                budget = math.floor(worker.budget * 1e9 / cast("int", self.chunk_bytes))
            else:
                budget = int(worker.budget)
            result.append(Worker(worker.name, budget, _label(worker), worker.compatibility))
        return result

    def recompute(self, height: int) -> CostTable:
        """Return the recompute costs for a tree ``height`` chunks high."""
        return recompute_cost(self.profiles, height=height)

    def fetch(self, objective: Objective) -> LinkCost:
        """Return the fetch costs: links by pair where declared and asked for, else by worker."""
        cluster = self.cluster
        if objective == "pairwise" and cluster.links is not None:
            return LinkCost(cluster.links.goodput_gbps, cluster.links.latency_ms)
        return LinkCost(
            [cast("float", worker.goodput_gbps) for worker in cluster.workers],
            [worker.latency_ms for worker in cluster.workers],
        )


@dataclass(frozen=True)
class Cluster:
    """What a workers file declares."""

    workers: tuple[ClusterWorker, ...]
    model: Model | None
    bytes_per_token: float | None
    links: Links | None
    source: str = ""

    @property
    def default_objective(self) -> Objective:
        """``pairwise`` where links are declared by pair."""
        return "requester" if self.links is None else "pairwise"

    def check_objective(self, objective: Objective) -> None:
        """Require the links that ``objective`` needs; raises InputError."""
        if objective == "pairwise" and self.links is not None:
            return
        for worker in self.workers:
            if worker.goodput_gbps is None:
                hint = (
                    " ([links] are by pair: they serve the pairwise objective)"
                    if self.links
                    else ""
                )
                raise InputError(
                    f"missing key 'goodput_gbps', which the {objective} objective needs{hint}",
                    field=worker.field,
                    source=self.source,
                )

    def sized(self, chunk_tokens: int, chunk_bytes: int | None = None) -> SizedCluster:
        """Complete the cluster for chunks of ``chunk_tokens`` tokens.

        ``chunk_bytes`` is what the traffic itself says; a model or ``bytes_per_token`` in the file
        goes before it.

        Raises
        ------
        InputError
            Where something depends on the bytes of a chunk and nothing gives them, or a profile
            does not cover the chunk size.
        """
        try:
            if self.model is not None:
                chunk_bytes = self.model.chunk_bytes(chunk_tokens)
            elif self.bytes_per_token is not None:
                chunk_bytes = max(1, round(self.bytes_per_token * chunk_tokens))
            if chunk_bytes is None:
                raise InputError(
                    "expected 'model' or 'bytes_per_token': nothing says how large a chunk is",
                    field="model",
                )
            profiles = tuple(self._profile(worker, chunk_tokens) for worker in self.workers)
        except InputError as error:
            raise error.at(source=self.source) from None
        return SizedCluster(self, chunk_tokens, chunk_bytes, profiles)

    def _profile(self, worker: ClusterWorker, chunk_tokens: int) -> Profile:
        field = f"{worker.field}.recompute"
        if isinstance(worker.recompute, dict):
            profile = profile_from_document(worker.recompute, field, chunk_tokens=chunk_tokens)
            try:
                return profile.for_chunk(chunk_tokens)
            except InputError as error:
                raise error.at(field=field) from None
        assert self.model is not None
        assert worker.hardware is not None
        try:
            return catalogue().profile(
                worker.hardware,
                self.model,
                chunk_tokens,
                gpus=worker.gpus,
                analytical=worker.recompute == "analytical",
            )
        except InputError as error:
            raise error.at(field=worker.field) from None


def shipped_clusters() -> list[str]:
    """Return the names of the example workers files that ship with the package."""
    folder = resources.files(__package__).joinpath("workers")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir())


def read_cluster(path: str | os.PathLike[str]) -> Cluster:
    """Read a workers file, or the shipped example of that name.

    Raises
    ------
    InputError
        Names file, field and value for everything that does not describe a cluster.
    """
    source = os.fspath(path)
    if source in shipped_clusters() and not Path(source).exists():
        raw = resources.files(__package__).joinpath("workers", f"{source}.toml").read_bytes()
        document = parse_toml(raw, source=source)
    else:
        if not source.endswith(".toml") and not Path(source).exists():
            raise InputError(
                f"expected a TOML file or one of the examples {', '.join(shipped_clusters())}",
                source=source,
            )
        document = read_toml(path)
    try:
        return cluster_from_document(document, source=source)
    except InputError as error:
        raise error.at(source=source) from None


def cluster_from_document(document: Any, *, source: str = "") -> Cluster:
    """Build the cluster that a parsed workers file describes; raises InputError."""
    members(document, "", required=("workers",), optional=("model", "bytes_per_token", "links"))
    model = _model(document.get("model"))
    bytes_per_token = document.get("bytes_per_token")
    if bytes_per_token is not None:
        if model is not None:
            raise InputError(
                "expected either 'model' or 'bytes_per_token', got both", field="bytes_per_token"
            )
        if number(bytes_per_token, field="bytes_per_token") == 0:
            raise InputError("expected a number > 0, got 0", field="bytes_per_token")
    entries = document["workers"]
    if not isinstance(entries, list) or not entries:
        raise InputError(
            f"expected at least one [[workers]] table, got {shorten(entries)}", field="workers"
        )
    workers: list[ClusterWorker] = []
    for at, entry in enumerate(entries):
        workers.extend(_workers(entry, f"workers[{at}]", model))
        if len(workers) > MOST_WORKERS:
            raise InputError(
                f"expected at most {MOST_WORKERS} workers", field=f"workers[{at}].count"
            )
    _check_names(workers)
    links = document.get("links")
    return Cluster(
        tuple(workers),
        model,
        bytes_per_token,
        None if links is None else links_from_document(links, workers),
        source,
    )


def _model(value: Any) -> Model | None:
    if value is None:
        return None
    if isinstance(value, dict):
        content = dict(value)
        name = content.pop("name", "declared")
        if not isinstance(name, str):
            raise InputError(f"expected a string, got {shorten(name)}", field="model.name")
        return model_from_document(name, content, "model")
    try:
        return catalogue().model(value)
    except InputError as error:
        raise error.at(field="model") from None


def _workers(entry: Any, field: str, model: Model | None) -> list[ClusterWorker]:
    members(entry, field, required=("name",), optional=OPTIONAL)
    name = _text(entry, "name", field)
    count = whole_number(entry.get("count", 1), field=f"{field}.count", least=1, most=MOST_WORKERS)
    gpus = whole_number(entry.get("gpus", 1), field=f"{field}.gpus", least=1, most=1024)
    hardware = _text(entry, "hardware", field)
    recompute = entry.get("recompute")
    if not isinstance(recompute, dict):
        _check_hardware(recompute, hardware, model, field)
    else:
        profile_from_document(recompute, f"{field}.recompute", chunk_tokens=1)
    kind, budget = _budget(entry, field)
    goodput = entry.get("goodput_gbps")
    if goodput is None and "latency_ms" in entry:
        raise InputError(
            "missing key 'goodput_gbps', without which 'latency_ms' means nothing", field=field
        )
    return [
        ClusterWorker(
            name=cast("str", name) if count == 1 else f"{name}-{i}",
            field=field,
            budget_kind=kind,
            budget=budget,
            hardware=hardware,
            gpus=gpus,
            recompute=recompute,
            compatibility=_text(entry, "compatibility", field),
            rack=_text(entry, "rack", field),
            goodput_gbps=None
            if goodput is None
            else number(goodput, field=f"{field}.goodput_gbps"),
            latency_ms=number(entry.get("latency_ms", 0.0), field=f"{field}.latency_ms"),
        )
        for i in range(count)
    ]


def _check_hardware(recompute: Any, hardware: str | None, model: Model | None, field: str) -> None:
    if recompute not in (None, "analytical"):
        raise InputError(
            f"expected a table or 'analytical', got {shorten(recompute)}",
            field=f"{field}.recompute",
        )
    if hardware is None:
        raise InputError(
            "expected 'hardware' (a GPU of the catalogue) or a 'recompute' table", field=field
        )
    try:
        catalogue().gpu(hardware)
    except InputError as error:
        raise error.at(field=f"{field}.hardware") from None
    if model is None:
        raise InputError(
            "expected the file to name a 'model', which the cost of recomputing depends on",
            field=field,
        )


def _budget(entry: Mapping[str, Any], field: str) -> tuple[str, float]:
    given = [kind for kind in BUDGETS if kind in entry]
    if len(given) != 1:
        raise InputError(
            f"expected exactly one of {', '.join(BUDGETS)}, got {', '.join(given) or 'none'}",
            field=field,
        )
    kind = given[0]
    where = f"{field}.{kind}"
    if kind == "budget":
        return kind, whole_number(entry[kind], field=where)
    value = number(entry[kind], field=where)
    if kind == "budget_share" and value > 1:
        raise InputError(f"expected a share from 0 to 1, got {shorten(value)}", field=where)
    if value > 2**53:
        raise InputError(f"expected at most 2**53, got {shorten(value)}", field=where)
    return kind, value


def _check_names(workers: Sequence[ClusterWorker]) -> None:
    seen: dict[str, str] = {}
    for worker in workers:
        if worker.name in seen:
            raise InputError(
                f"expected unique names, got {shorten(worker.name)} also in {seen[worker.name]}",
                field=f"{worker.field}.name",
            )
        seen[worker.name] = worker.field


def _text(entry: Mapping[str, Any], name: str, field: str) -> str | None:
    value = entry.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise InputError(
            f"expected a non-empty string, got {shorten(value)}", field=f"{field}.{name}"
        )
    return value


def _label(worker: ClusterWorker) -> str | None:
    if worker.hardware is None or worker.gpus == 1:
        return worker.hardware
    return f"{worker.gpus} x {worker.hardware}"
