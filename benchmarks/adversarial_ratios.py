"""Certified ratios of WorkerGreedy and of the planner on the family `adversarial`.

    python benchmarks/adversarial_ratios.py > table.md

The optimum is that of the construction: its certificate is made and verified here. "Other seeds":
the planner's worst and best value over seeds 1 to 20, for which the instances were not made. With
a suite's folder as argument, the certificates go into the suite instead (`prefixplace suite best`).
"""

import json
import sys
from importlib.resources import files
from pathlib import Path

import networkx as nx

from prefixplace_opt import Placement, Problem, generate, solve
from prefixplace_opt.certificates import Certificate, certificate_of, verify
from prefixplace_opt.instances.suites import read_suite, regenerated
from prefixplace_opt.problem import Leaf, Prices, Proof, savings
from prefixplace_opt.suites import improved


def optimum(problem: Problem) -> Certificate:
    """Certify that all items are held: a matching of workers with items they can hold.

    At prices that take a row's whole value nobody has anything left to gain, so the bound is the
    sum of the prices: the worth of all items.
    """
    form = savings(problem)
    positions = form.row_position.tolist()
    worth = form.row_values.dense()
    graph = nx.Graph()
    for holder in range(problem.m):
        for item, position in enumerate(positions):
            path = problem.tree.path(int(problem.tree.order[position]))
            alone = worth[item, min(holder, worth.shape[1] - 1)]
            if alone > 0 and len(path) <= problem.budgets[holder]:
                graph.add_edge(("worker", holder), ("item", item))
    workers = [node for node in graph if node[0] == "worker"]
    match = nx.bipartite.maximum_matching(graph, workers)
    resident = [
        problem.tree.path(int(problem.tree.order[positions[match["worker", holder][1]]]))
        if ("worker", holder) in match
        else []
        for holder in range(problem.m)
    ]
    proof = Proof((Prices.of(form.row_best),), (Leaf(0),))
    return certificate_of(problem, Placement.of(problem, resident), proof)


def row(against: str, size: int, objective: str, edge: int) -> str:
    problem = generate("adversarial", against=against, size=size, objective=objective, edge=edge)
    certificate = optimum(problem)
    report = verify(problem, certificate)
    assert report.accepted
    assert report.optimal
    upper = certificate.upper
    greedy = solve(problem, method="greedy")
    refined = solve(problem, method="plan", warm_start=greedy.placement)
    plan = solve(problem, method="plan")
    others = [solve(problem, method="plan", seed=seed).lower / upper for seed in range(1, 21)]
    cells = [
        against,
        objective,
        str(size),
        str(edge),
        str(problem.n),
        str(problem.m),
        f"{greedy.lower / upper:.4f}",
        f"{refined.statistics['values']['warm-start'] / upper:.4f}",
        f"{plan.lower / upper:.4f}",
        f"{min(others):.3f} to {max(others):.3f}",
    ]
    return "| " + " | ".join(cells) + " |"


def into_suite(folder: Path) -> None:
    suite = read_suite(folder)
    for entry in suite.entries:
        if entry.family == "adversarial":
            done = improved(suite, folder, optimum(regenerated(entry)), seconds=0.0)
            suite = done.suite
            print(f"{entry.name}: {done.after.difficulty}")


def main() -> None:
    if len(sys.argv) > 1:
        into_suite(Path(sys.argv[1]))
        return
    heads = [
        *("against", "objective", "size", "edge", "n", "M", "greedy"),
        *("greedy, refined", "planner", "other seeds"),
    ]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for size, edge in ((1, 2), (1, 10), (1, 1000), (4, 1000), (16, 1000), (64, 1000)):
        print(row("greedy", size, "requester", edge), flush=True)
    table = files("prefixplace_opt.instances.generators") / "adversarial.json"
    found = json.loads(table.read_text("utf-8"))
    for kind, objective in (("nested", "requester"), ("lists", "pairwise")):
        for size in found[kind]:
            print(row("planner", int(size), objective, 1000), flush=True)


if __name__ == "__main__":
    main()
