"""What every family keeps: determinism, provenance, its objective, a tree that can be read back."""

import json
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from prefixplace_opt import InputError, generate, read_problem, write_problem
from prefixplace_opt.instances.generators import FAMILIES
from prefixplace_opt.instances.generators.degenerate import CASES
from prefixplace_opt.instances.generators.draw import Draw
from prefixplace_opt.instances.generators.parameters import described
from prefixplace_opt.instances.generators.random_trees import LAWS, _uniform_tree
from prefixplace_opt.instances.generators.traffic import TrafficParameters
from prefixplace_opt.problem import Problem

GOLDEN = Path(__file__).with_name("golden.json")
EVERY = [(name, objective) for name in FAMILIES for objective in ("requester", "pairwise")]

TRAFFIC = [name for name in FAMILIES if issubclass(FAMILIES[name].parameters, TrafficParameters)]


@pytest.mark.parametrize(("name", "objective"), EVERY)
def test_instances_are_what_they_say(name: str, objective: str, tmp_path: Path) -> None:
    problem = generate(name, seed=1, objective=objective)
    assert problem.objective == objective
    assert problem.provenance is not None
    assert problem.provenance["generator"] == name
    assert problem.provenance["version"] == FAMILIES[name].version
    again = generate(name, seed=1, **problem.provenance["parameters"])
    assert again.digest == problem.digest
    target = tmp_path / "x.json.gz"
    write_problem(problem, target)
    assert read_problem(target).digest == problem.digest


def test_golden_digests() -> None:
    # The same on every machine, Python and NumPy. Whoever changes a family's instances raises its
    # version and writes these anew: python tests/instances/generators/test_families.py
    assert digests() == json.loads(GOLDEN.read_text(encoding="utf-8"))


def digests() -> dict[str, str]:
    return {
        f"{name} {FAMILIES[name].version} {objective}": generate(name, objective=objective).digest
        for name, objective in EVERY
    }


@pytest.mark.parametrize("name", TRAFFIC)
def test_traffic_counts_every_request_on_its_whole_path(name: str) -> None:
    problem = generate(name, seed=2)
    units = np.rint(problem.demand.dense() * 10_000).astype(np.int64)
    assert units[:, problem.tree.roots].sum() == 1000 * 10_000
    child = np.flatnonzero(problem.tree.parents >= 0)
    below = np.zeros_like(units)
    np.add.at(below.T, problem.tree.parents[child], units.T[child])
    assert (units >= below).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_parameter_is_described_and_checked(name: str) -> None:
    for each in described(FAMILIES[name].parameters):
        assert each.help
        assert not each.help.endswith(".")
        wrong: object = "so" if each.kind is not str else 3
        with pytest.raises(InputError, match="expected"):
            generate(name, **{each.name: wrong})
        if each.least is not None:
            with pytest.raises(InputError):
                generate(name, **{each.name: each.least - 1})


def test_unknown_family() -> None:
    with pytest.raises(InputError, match="expected one of rag, chat"):
        generate("rags")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("chunks", "roots"), [(1, 1), (2, 1), (2, 2), (60, 1), (60, 9)])
def test_random_laws_give_the_asked_forest(law: str, chunks: int, roots: int) -> None:
    problem = generate("random", law=law, chunks=chunks, roots=roots, seed=3)
    assert (problem.n, problem.tree.roots.size) == (chunks, roots)
    children = np.bincount(problem.tree.parents[problem.tree.parents >= 0], minlength=chunks)
    if law == "binary":
        assert children.max() <= 2


def test_labelled_trees_are_uniform() -> None:
    # 16 labelled trees on 4 nodes: rooted at node 0, they have these shapes (parents in preorder).
    draw = Draw("uniform")
    counts = Counter(tuple(sorted(_shape(_uniform_tree(4, 1, draw)))) for _ in range(8000))
    expected = Counter(
        tuple(sorted(_shape(parents)))
        for parents in product(range(-1, 4), repeat=4)
        if parents[0] == -1 and _is_tree(parents)
    )
    assert sum(expected.values()) == 16
    for shape, count in expected.items():
        assert counts[shape] / 8000 == pytest.approx(count / 16, rel=0.1)


def _is_tree(parents: tuple[int, ...]) -> bool:
    for node in range(1, 4):
        seen = set()
        while node != 0:
            if node in seen or node < 0:
                return False
            seen.add(node)
            node = parents[node]  # noqa: PLW2901
    return True


def _shape(parents: tuple[int, ...] | list[int]) -> list[tuple[int, int]]:
    """Depth and number of children of each node: tells all rooted shapes on 4 nodes apart."""
    depths = []
    for node in range(4):
        depth, at = 0, node
        while parents[at] >= 0:
            depth, at = depth + 1, parents[at]
        depths.append((depth, list(parents).count(node)))
    return depths


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
def test_free_costs_have_links_that_do_not_exist(objective: str) -> None:
    problem = generate(
        "random", costs="free", demand="free", objective=objective, unfetchable=0.5, chunks=30
    )
    costs = problem.fetch_costs(0)
    assert 0 < np.count_nonzero(np.isinf(costs)) < costs.size
    assert problem.recompute_costs.min() >= 1


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
def test_islands_have_no_link_between_them(objective: str) -> None:
    problem = generate("rag", links="islands", workers=4, group=2, objective=objective, seed=1)
    for holder in range(4):
        costs = problem.fetch_costs(holder)
        other = problem.demand.worker // 2 != holder // 2
        assert np.isinf(costs[other]).all()
        assert np.isfinite(costs[~other]).all()


def test_racks_are_faster_within_and_asymmetric_links_are() -> None:
    racks = generate("rag", links="racks", objective="pairwise", workers=4)
    assert _goodput(racks)[0].tolist() == [3.0, 7.5, 1.2, 1.2]
    asymmetric = _goodput(generate("rag", links="asymmetric", objective="pairwise", workers=6))
    assert (asymmetric != asymmetric.T).any()
    mixed = _goodput(generate("rag", links="mixed", objective="pairwise", workers=6))
    assert (mixed == mixed.T).all()


def _goodput(problem: Problem) -> np.ndarray:
    return problem.fetch.goodput_gbps  # type: ignore[union-attr]


def test_budgets_in_bytes() -> None:
    problem = generate("rag", budget_gib=1.0)
    assert {worker.budget for worker in problem.workers} == {2**30 // 29_360_128}


@pytest.mark.parametrize("case", CASES)
def test_degenerate_cases_are_degenerate(case: str) -> None:
    problem = generate("degenerate", case=case, seed=1)
    budgets = [worker.budget for worker in problem.workers]
    fetch = problem.fetch_costs(0)
    holds = {
        "ties": len(set(problem.demand.value)) == 1,
        "zero-demand": len(problem.demand) == 0,
        "one-request": len(problem.demand) == 1,
        "zero-budgets": not any(budgets),
        "full-budgets": min(budgets) >= problem.n,
        "mixed-budgets": sorted(budgets) == [0, 1, problem.n],
        "no-profitable-fetch": (fetch >= problem.recompute_costs).all(),
        "free-fetch": not fetch.any(),
        "unfetchable": np.isinf(fetch).all(),
        "zero-costs": not problem.recompute_costs.any(),
        "incompatible": len(set(problem.groups)) == problem.m,
        "deep-only": set(problem.tree.depth[problem.demand.chunk]) == {problem.tree.height - 1},
        "single-chunk": problem.n == 1,
    }
    assert holds[case]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(digests(), indent=1) + "\n", encoding="utf-8")
