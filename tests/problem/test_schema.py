"""The shipped JSON Schemas accept what is written and read, and reject what is broken."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from prefixplace_opt import PrefixTree, Problem, Worker, read_problem, solve
from prefixplace_opt.problem import (
    AffineCost,
    CostTable,
    Demand,
    DenseCost,
    InputError,
    InterpolatedCost,
    LinkCost,
    PairwiseCost,
    PairwiseCostTable,
    UniformCost,
)
from prefixplace_opt.problem.instance_file import document_of_problem, problem_from_document
from prefixplace_opt.problem.placement_file import document_of_placement
from prefixplace_opt.problem.schema import schema, schema_names, schema_text

INF = float("inf")
TINY: dict[str, Any] = {
    "format": "prefixplace-instance",
    "version": 1,
    "name": "tiny",
    "objective": "requester",
    "tree": {
        "parents": [-1, 0, 0],
        "chunk_tokens": 16,
        "chunk_bytes": 4096,
        "keys": ["", "b", "c"],
    },
    "workers": [
        {"name": "a", "budget": 2, "hardware": "L4", "compatibility": "x"},
        {"name": "b", "budget": 1},
    ],
    "demand": {"dense": [[5, 3, 2], [4, 1, 3]]},
    "recompute": 10,
    "fetch": 4,
    "provenance": {"seed": 1},
}


def accepts(name: str, document: Any) -> bool:
    validator = jsonschema.Draft202012Validator(schema(name))
    return bool(validator.is_valid(document))


@pytest.mark.parametrize("name", schema_names())
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema_text(name).endswith("\n")


def test_instance_and_placement_have_one() -> None:
    assert {"instance", "placement"} <= set(schema_names())
    with pytest.raises(InputError, match="expected one of"):
        schema_text("../instance")


def test_handed_cases_are_accepted(case_path: Path) -> None:
    assert accepts("instance", json.loads(case_path.read_text(encoding="utf-8")))
    problem = read_problem(case_path)
    assert accepts("instance", document_of_problem(problem))
    placement = solve(problem, method="greedy").placement
    assert accepts("placement", document_of_placement(placement))


def test_handed_rag_cases_are_accepted(rag_case_path: Path) -> None:
    assert accepts("instance", json.loads(rag_case_path.read_text(encoding="utf-8")))


RECOMPUTE: list[CostTable] = [
    UniformCost(3.5),
    DenseCost([[1, 2.5, 3]] * 2),
    AffineCost([1, 2], [0.5, 0]),
    InterpolatedCost([0, 16, 64], [[1, 2, 3], [2, 3, 4]]),
]
FETCH: list[CostTable | PairwiseCostTable] = [
    *RECOMPUTE,
    UniformCost(INF),
    DenseCost([[1, INF, 3]] * 2),
    LinkCost([3, 0], [1, 0]),
    LinkCost([[0, 3], [1.5, 0]], [[0, 1], [1, 0]]),
    PairwiseCost([[[0, 0, 0], [1, INF, 2]], [[1, 1, 1], [0, 0, 0]]]),
]


@pytest.mark.parametrize("recompute", RECOMPUTE, ids=lambda table: type(table).__name__)
@pytest.mark.parametrize("fetch", FETCH, ids=lambda table: type(table).__name__)
def test_every_kind_of_table_is_accepted_as_written(
    recompute: CostTable, fetch: CostTable | PairwiseCostTable
) -> None:
    problem = Problem(
        PrefixTree([-1, 0, 0], chunk_tokens=16, chunk_bytes=4096),
        [Worker("a", 2), Worker("b", 3)],
        Demand.from_dense([[3, 2, 1], [1, 1, 0]], shape=(2, 3)),
        recompute,
        fetch,
        objective="pairwise",
    )
    document = json.loads(json.dumps(document_of_problem(problem)))
    assert accepts("instance", document)
    assert problem_from_document(document).digest == problem.digest


def test_large_arrays_as_base64_are_accepted() -> None:
    n = 5000
    problem = Problem(
        PrefixTree(np.arange(n) - 1),
        [Worker("a", n)],
        Demand.from_dense(np.ones((1, n)), shape=(1, n)),
        DenseCost(np.full((1, n), 2.5)),
        DenseCost(np.full((1, n), INF)),
    )
    document = document_of_problem(problem)
    assert "base64" in document["tree"]["parents"]
    assert accepts("instance", document)
    placement = solve(problem, method="independent").placement
    assert accepts("placement", document_of_placement(placement))


BROKEN: list[tuple[str, Any]] = [
    ("format", "prefixplace-placement"),
    ("version", 2),
    ("version", True),
    ("objective", "both"),
    ("surprise", 1),
    ("name", 3),
    ("provenance", []),
    ("workers", []),
    ("workers.0.budget", 1.5),
    ("workers.0.budget", -1),
    ("workers.0.budget", "2"),
    ("workers.0.name", ""),
    ("workers.0.colour", "red"),
    ("tree.parents", [-2, 0, 0]),
    ("tree.parents", [-1, 0.5, 0]),
    ("tree.parents", "none"),
    ("tree.parents", {"base64": "AAAA", "dtype": "<f2", "shape": [1]}),
    ("tree.parents", {"base64": "AAAA", "dtype": "<i4"}),
    ("tree.chunk_tokens", 0),
    ("tree.chunk_bytes", 0),
    ("tree.keys", [1, 2, 3]),
    ("demand", {"dense": [[5, 3, -2], [4, 1, 3]]}),
    ("demand", {"dense": [[5, 3, None], [4, 1, 3]]}),
    ("demand", {"dense": [5, 3, 2]}),
    ("demand", {}),
    ("demand", {"sparse": {"worker": [0], "chunk": [0]}}),
    ("demand", {"sparse": {"worker": [-1], "chunk": [0], "value": [1]}}),
    ("recompute", -1),
    ("recompute", None),
    ("recompute", {"goodput_gbps": [1, 1], "latency_ms": [0, 0]}),
    ("recompute", {"affine": {"base": [1, 1]}}),
    ("recompute", {"dense": [[1, 1, 1]], "affine": {"base": [1], "per_prefix_token": [0]}}),
    ("fetch", "free"),
    ("fetch", {"goodput_gbps": [1, 1]}),
    ("fetch", {"goodput_gbps": [[0, 1], [1, 0]], "latency_ms": [[0, 0], [0, 0]]}),
    ("fetch", {"pairwise": [[[0, 0, 0], [1, 1, 1]], [[1, 1, 1], [0, 0, 0]]]}),
]


@pytest.mark.parametrize(("path", "value"), BROKEN, ids=lambda item: str(item)[:40])
def test_broken_instances_are_rejected_by_schema_and_reader(path: str, value: Any) -> None:
    document = copy.deepcopy(TINY)
    assert accepts("instance", document)
    *above, last = path.split(".")
    target: Any = document
    for step in above:
        target = target[int(step)] if step.isdigit() else target[step]
    target[last] = value
    assert not accepts("instance", document)
    with pytest.raises(InputError):
        problem_from_document(document)


@pytest.mark.parametrize("key", ["format", "objective", "tree", "workers", "demand", "fetch"])
def test_missing_members_are_rejected(key: str) -> None:
    document = {name: value for name, value in TINY.items() if name != key}
    assert not accepts("instance", document)
    with pytest.raises(InputError):
        problem_from_document(document)


def test_goodput_without_bytes_is_rejected() -> None:
    document = copy.deepcopy(TINY)
    document["fetch"] = {"goodput_gbps": [1, 1], "latency_ms": [0, 0]}
    assert accepts("instance", document)
    del document["tree"]["chunk_bytes"]
    assert not accepts("instance", document)
    with pytest.raises(InputError, match="chunk_bytes"):
        problem_from_document(document)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "prefixplace-instance"},
        {"instance": "abc"},
        {"objective": None},
        {"resident": [[0], [-1]]},
        {"resident": []},
        {"resident": {}},
        {"value": -1},
        {"value": None},
        {"extra": 0},
    ],
    ids=str,
)
def test_broken_placements_are_rejected(change: dict[str, Any]) -> None:
    placement = solve(problem_from_document(TINY), method="greedy").placement
    document = document_of_placement(placement)
    assert accepts("placement", document)
    assert not accepts("placement", document | change)
