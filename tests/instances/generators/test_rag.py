"""The family `rag`: its shape, its demand, and its likeness to the handed instances."""

from pathlib import Path

import numpy as np
import pytest

from prefixplace_opt import InputError, generate, read_problem
from prefixplace_opt.problem import AffineCost, LinkCost, Problem


def test_same_seed_same_digest_and_other_seeds_others() -> None:
    digests = [generate("rag", seed=seed).digest for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]


def test_the_instance_says_where_it_comes_from() -> None:
    problem = generate("rag", seed=3, documents=7)
    assert problem.provenance is not None
    assert problem.provenance["generator"] == "rag"
    assert problem.provenance["seed"] == 3
    again = generate("rag", seed=3, **problem.provenance["parameters"])
    assert again.digest == problem.digest


def test_demand_of_a_chunk_is_that_of_its_children_and_the_visits_that_end_there() -> None:
    problem = generate("rag", seed=1)
    units = np.rint(problem.demand.dense() * 10_000).astype(np.int64)
    children = np.zeros_like(units)
    for chunk, parent in enumerate(problem.tree.parents):
        if parent >= 0:
            children[:, parent] += units[:, chunk]
    inner = children.sum(axis=0) > 0
    assert (children[:, inner] == units[:, inner]).all()
    assert units[:, problem.tree.roots].sum() == 1000 * 10_000


def test_options_of_one_part_leave_the_others_as_they_are() -> None:
    base = generate("rag", objective="pairwise")
    links = generate("rag", objective="pairwise", links="racks", budget=0.2, goodput_gbps=5.0)
    assert links.tree == base.tree
    assert links.demand == base.demand
    assert links.digest != base.digest


def test_sharing_zero_sends_every_document_to_one_worker() -> None:
    problem = generate("rag", sharing=0.0, system_chunks=0)
    needed_by = np.bincount(problem.demand.chunk, minlength=problem.n)
    assert needed_by.max() == 1
    assert len(set(problem.demand.worker.tolist())) > 1


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"documents": 0}, "documents"),
        ({"documents": 2.5}, "documents"),
        ({"documents": True}, "documents"),
        ({"budget": float("nan")}, "budget"),
        ({"links": "ring"}, "links"),
        ({"hardware": "T4,TPU"}, "hardware"),
        ({"document_chunks_min": 16}, "document_chunks_min"),
        ({"seed": -1}, "seed"),
        ({"document": 3}, "parameters"),
    ],
)
def test_wrong_parameters_are_named(options: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        generate("rag", **options)  # type: ignore[arg-type]
    assert caught.value.field == field


def shape(problem: Problem) -> dict[str, float]:
    demand = problem.demand.total()
    children = np.bincount(problem.tree.parents[problem.tree.parents >= 0], minlength=problem.n)
    documents = np.flatnonzero(problem.tree.parents == 1)
    popularity = np.sort(demand[documents])[::-1]
    leaves = np.flatnonzero((children == 0) & (demand > 0.1))
    shares = problem.demand.dense()[:, leaves] / demand[leaves]
    return {
        "chunks": problem.n / documents.size,
        "height": problem.tree.height,
        "requests": demand[0],
        "leaves": float(np.count_nonzero(children == 0) / documents.size),
        "popularity": popularity[0] / popularity[9],
        "spread over workers": float(shares.std() / shares.mean()),
    }


def test_instances_resemble_the_handed_ones(rag_case_path: Path) -> None:
    handed = read_problem(rag_case_path)
    documents, budget, goodput = (
        float(part[1:]) for part in rag_case_path.stem.split("-") if part[0] in "dbg"
    )
    own = generate(
        "rag",
        documents=int(documents),
        workers=handed.m,
        budget=budget / 100,
        goodput_gbps=goodput,
        objective=handed.objective,
    )
    assert isinstance(own.recompute, AffineCost)
    assert isinstance(handed.recompute, AffineCost)
    assert (own.recompute.base == handed.recompute.base).all()
    assert (own.recompute.per_prefix_token == handed.recompute.per_prefix_token).all()
    assert isinstance(own.fetch, LinkCost)
    assert isinstance(handed.fetch, LinkCost)
    speeds = set(np.unique(handed.fetch.goodput_gbps))
    assert set(np.unique(own.fetch.goodput_gbps)) <= speeds | {goodput}
    assert [worker.name for worker in own.workers] == [worker.name for worker in handed.workers]
    expected = shape(handed)
    for name, value in shape(own).items():
        assert value == pytest.approx(expected[name], rel=0.15), name
