"""The instance file: ``"format": "prefixplace-instance", "version": 1``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .arrays import number
from .costs import (
    AffineCost,
    CostTable,
    DenseCost,
    InterpolatedCost,
    LinkCost,
    PairwiseCost,
    PairwiseCostTable,
    UniformCost,
)
from .demand import Demand
from .errors import InputError, expect, shorten
from .json_arrays import numeric, packed
from .json_files import check_format, members, read_json, write_json
from .problem import Problem, Worker
from .tree import PrefixTree

FORMAT = "prefixplace-instance"
T = TypeVar("T")


def read_problem(path: str | os.PathLike[str]) -> Problem:
    """Read an instance file (``.json`` or ``.json.gz``).

    Raises
    ------
    InputError
        Names file, field and value for everything that does not describe a problem.
    """
    document = read_json(path)
    try:
        return problem_from_document(document)
    except InputError as error:
        raise error.at(source=os.fspath(path)) from None


def write_problem(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Write an instance file, gzipped where the name ends in ``.gz``; all or nothing."""
    expect(problem, Problem, field="problem")
    write_json(path, document_of_problem(problem))


def problem_from_document(document: Any) -> Problem:
    """Build the problem that a parsed instance file describes; raises InputError."""
    check_format(document, FORMAT)
    members(
        document,
        "",
        required=(
            "format",
            "version",
            "objective",
            "tree",
            "workers",
            "demand",
            "recompute",
            "fetch",
        ),
        optional=("name", "provenance"),
    )
    tree = _within("tree", lambda: _tree(document["tree"]))
    workers = _workers(document["workers"])
    provenance = document.get("provenance")
    if provenance is not None and not isinstance(provenance, dict):
        raise InputError(f"expected an object, got {shorten(provenance)}", field="provenance")
    shape = (len(workers), tree.n)
    return Problem(
        tree=tree,
        workers=workers,
        demand=_within("demand", lambda: _demand(document["demand"], shape)),
        recompute=_within("recompute", lambda: _cost_table(document["recompute"])),
        fetch=_within("fetch", lambda: _fetch_table(document["fetch"])),
        objective=document["objective"],
        name=document.get("name", ""),
        provenance=provenance,
    )


def document_of_problem(problem: Problem) -> dict[str, Any]:
    """Return the instance file's content as JSON-ready objects."""
    tree: dict[str, Any] = {
        "parents": packed(problem.tree.parents),
        "chunk_tokens": problem.tree.chunk_tokens,
    }
    if problem.tree.chunk_bytes is not None:
        tree["chunk_bytes"] = problem.tree.chunk_bytes
    if problem.tree.keys is not None:
        tree["keys"] = list(problem.tree.keys)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "name": problem.name,
        "objective": problem.objective,
        "tree": tree,
        "workers": [_document_of_worker(worker) for worker in problem.workers],
        "demand": {
            "sparse": {
                "worker": packed(problem.demand.worker),
                "chunk": packed(problem.demand.chunk),
                "value": packed(problem.demand.value),
            }
        },
        "recompute": _document_of_cost(problem.recompute),
        "fetch": _document_of_cost(problem.fetch),
    }
    if problem.provenance is not None:
        document["provenance"] = dict(problem.provenance)
    return document


def _tree(value: Any) -> PrefixTree:
    members(value, "", required=("parents", "chunk_tokens"), optional=("chunk_bytes", "keys"))
    keys = value.get("keys")
    if keys is not None and not isinstance(keys, list):
        raise InputError(f"expected a list of strings, got {shorten(keys)}", field="keys")
    return PrefixTree(
        numeric(value["parents"], "parents"),
        chunk_tokens=value["chunk_tokens"],
        chunk_bytes=value.get("chunk_bytes"),
        keys=keys,
    )


def _workers(value: Any) -> list[Worker]:
    if not isinstance(value, list):
        raise InputError(f"expected a list, got {shorten(value)}", field="workers")
    if not value:
        raise InputError("expected at least one worker", field="workers")
    workers = []
    for m, item in enumerate(value):
        field = f"workers[{m}]"
        members(item, field, required=("name", "budget"), optional=("hardware", "compatibility"))
        workers.append(_within(field, lambda item=item: Worker(**item)))  # type: ignore[misc]
    return workers


def _demand(value: Any, shape: tuple[int, int]) -> Demand:
    kind, content = _only(value, ("dense", "sparse"))
    if kind == "dense":
        return Demand.from_dense(numeric(content, "dense"), shape=shape)
    members(content, "sparse", required=("worker", "chunk", "value"))
    lists = {
        name: numeric(content[name], f"sparse.{name}") for name in ("worker", "chunk", "value")
    }
    return _within("sparse", lambda: Demand(**lists, shape=shape))


def _cost_table(value: Any) -> CostTable:
    if not isinstance(value, dict):
        return UniformCost(number(value, field=""))
    kind, content = _only(value, ("dense", "affine", "table"))
    return _table(kind, content, null=None)


def _fetch_table(value: Any) -> CostTable | PairwiseCostTable:
    if value is None:
        return UniformCost(float("inf"))
    if not isinstance(value, dict):
        return UniformCost(number(value, field=""))
    if "goodput_gbps" in value or "latency_ms" in value:
        members(value, "", required=("goodput_gbps", "latency_ms"))
        return LinkCost(*(numeric(value[name], name) for name in ("goodput_gbps", "latency_ms")))
    kind, content = _only(value, ("dense", "affine", "table", "pairwise"))
    if kind == "pairwise":
        return PairwiseCost(numeric(content, kind, null=float("inf")))
    return _table(kind, content, null=float("inf"))


def _table(kind: str, content: Any, *, null: float | None) -> CostTable:
    if kind == "dense":
        return DenseCost(numeric(content, kind, null=null))
    if kind == "affine":
        names = ("base", "per_prefix_token")
        members(content, kind, required=names)
        return AffineCost(*(numeric(content[name], f"{kind}.{name}") for name in names))
    names = ("prefix_tokens", "cost")
    members(content, kind, required=names)
    return InterpolatedCost(*(numeric(content[name], f"{kind}.{name}") for name in names))


def _document_of_worker(worker: Worker) -> dict[str, Any]:
    document: dict[str, Any] = {"name": worker.name, "budget": worker.budget}
    for name in ("hardware", "compatibility"):
        if getattr(worker, name) is not None:
            document[name] = getattr(worker, name)
    return document


def _document_of_cost(table: CostTable | PairwiseCostTable) -> Any:
    match table:
        case UniformCost(value):
            return None if value == float("inf") else value
        case DenseCost():
            return {"dense": packed(table.values)}
        case AffineCost():
            return {
                "affine": {
                    "base": packed(table.base),
                    "per_prefix_token": packed(table.per_prefix_token),
                }
            }
        case InterpolatedCost():
            return {
                "table": {
                    "prefix_tokens": packed(table.prefix_tokens),
                    "cost": packed(table.values),
                }
            }
        case LinkCost():
            return {
                "goodput_gbps": packed(table.goodput_gbps),
                "latency_ms": packed(table.latency_ms),
            }
        case PairwiseCost():
            return {"pairwise": packed(table.values)}
    raise InputError(f"a {type(table).__name__} has no place in an instance file", field="costs")


def _only(value: Any, kinds: tuple[str, ...]) -> tuple[str, Any]:
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in kinds:
        found = sorted(value) if isinstance(value, Mapping) else value
        raise InputError(f"expected an object with one of {', '.join(kinds)}, got {shorten(found)}")
    return next(iter(value.items()))


def _within(field: str, build: Callable[[], T]) -> T:
    try:
        return build()
    except InputError as error:
        raise error.at(field=field) from None
