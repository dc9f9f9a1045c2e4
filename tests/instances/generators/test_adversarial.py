"""The family `adversarial` does to the heuristics what its docstring says."""

import json
from importlib.resources import files

import networkx as nx
import pytest

from prefixplace_opt import InputError, generate, solve
from prefixplace_opt.problem import Problem

SEARCHED = json.loads(
    (files("prefixplace_opt.instances.generators") / "adversarial.json").read_text("utf-8")
)


def optimum(problem: Problem) -> float:
    """Every item is worth its recompute cost less its fetch, and all can be held together."""
    if problem.objective == "pairwise" and problem.workers[-1].budget == 0:
        worth = [
            max(
                problem.recompute_costs[0] - problem.fetch_costs(holder)[item]
                for holder in range(problem.m - 1)
            )
            for item in range(problem.n)
        ]
        return float(sum(worth))
    return float(problem.demand.value.sum())


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
@pytest.mark.parametrize("size", [1, 3, 10])
@pytest.mark.parametrize("edge", [2, 10, 1000])
def test_greedy_stops_at_the_stated_ratio(objective: str, size: int, edge: int) -> None:
    problem = generate("adversarial", against="greedy", size=size, edge=edge, objective=objective)
    whole = size * (2 * edge - 1)
    assert optimum(problem) == whole
    found = solve(problem, method="greedy")
    assert found.lower == size * edge
    # No single worker can do better: refinement from there stands still.
    refined = solve(problem, method="plan", warm_start=found.placement)
    assert refined.statistics["values"]["warm-start"] == size * edge
    assert solve(problem, method="plan").lower == whole


@pytest.mark.parametrize(
    ("objective", "size"),
    [("requester", size) for size in SEARCHED["nested"] if int(size) <= 24]
    + [("pairwise", size) for size in SEARCHED["lists"] if int(size) <= 24],
)
def test_every_start_of_the_planner_ends_badly(objective: str, size: str) -> None:
    problem = generate("adversarial", size=int(size), objective=objective)
    assert solve(problem, method="plan").lower <= 0.68 * optimum(problem)


@pytest.mark.parametrize("size", SEARCHED["lists"])
def test_all_items_of_the_lists_can_be_held_together(size: str) -> None:
    lists = SEARCHED["lists"][size]
    graph = nx.Graph(
        (("worker", holder), ("item", item)) for holder, own in enumerate(lists) for item in own
    )
    workers = [("worker", holder) for holder in range(len(lists))]
    matching = nx.bipartite.hopcroft_karp_matching(graph, workers)
    assert len(matching) == 2 * len(lists)


def test_all_items_of_nested_kinds_can_be_held_together() -> None:
    problem = generate("adversarial", size=8)
    kinds = SEARCHED["nested"]["8"]
    # As many items of each kind as workers of it.
    assert len(problem.demand) == len(kinds) == problem.m
    assert sorted(problem.tree.depth[problem.demand.chunk] + 1) == sorted(problem.budgets)


def test_sizes_that_nobody_searched_for_are_named() -> None:
    with pytest.raises(InputError, match="expected one of 6, 8"):
        generate("adversarial", size=9)
