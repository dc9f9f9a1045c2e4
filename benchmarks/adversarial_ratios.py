"""Certified ratios of WorkerGreedy and of the planner on the family `adversarial`.

    python benchmarks/adversarial_ratios.py > table.md

The optimum is proven by the method `exact`, and its certificate is verified here. Columns
"other seeds": the planner's worst and best value over seeds 1 to 20, for which the instances were
not made.
"""

import json
from importlib.resources import files

from prefixplace_opt import generate, solve
from prefixplace_opt.certificates import certificate_of, verify


def row(against: str, size: int, objective: str, edge: int) -> str:
    problem = generate("adversarial", against=against, size=size, objective=objective, edge=edge)
    exact = solve(problem, method="exact", gap=0.0, time_limit=60)
    certificate = certificate_of(problem, exact.placement, exact.proof)
    report = verify(problem, certificate)
    assert report.accepted
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
        "yes" if report.optimal else f"gap {report.gap:.1e}",
        f"{greedy.lower / upper:.4f}",
        f"{refined.statistics['values']['warm-start'] / upper:.4f}",
        f"{plan.lower / upper:.4f}",
        f"{min(others):.3f} to {max(others):.3f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    heads = [
        *("against", "objective", "size", "edge", "n", "M", "optimum proven", "greedy"),
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
