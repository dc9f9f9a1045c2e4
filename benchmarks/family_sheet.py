"""Draw one small instance of every generator family into docs/pictures/families.png.

    python benchmarks/family_sheet.py

Chunks are dots, roots on top; a dot's area follows the requests that need the chunk, its colour
the worker that asks for it most.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")

from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

from prefixplace_opt import generate
from prefixplace_opt.instances.generators import FAMILIES
from prefixplace_opt.problem import Problem

SHEET = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "families.png"
SMALL: dict[str, dict[str, Any]] = {
    "rag": {"documents": 8},
    "chat": {"sessions": 12, "turns_mean": 3.0},
    "agent": {"tasks": 6, "steps_mean": 6.0, "retry": 0.3},
    "fewshot": {"tasks": 3, "shots": 5, "queries": 3},
    "documents": {"documents": 4, "document_chunks_min": 12, "document_chunks_max": 24},
    "multi-tenant": {"tenants": 5, "tenant_chunks_max": 14},
    "random": {"chunks": 90, "law": "uniform"},
    "chain": {"chunks": 18, "chains": 3},
    "star": {"leaves": 24},
    "broom": {"handle": 8, "bristles": 10, "bristle_chunks": 3},
    "caterpillar": {"spine": 10, "legs": 2},
    "adversarial": {"size": 6},
    "degenerate": {"case": "mixed-budgets", "chunks": 40},
}


def places(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Leaves side by side in preorder, parents above the middle of their children."""
    tree = problem.tree
    x = np.zeros(problem.n)
    leaf = 0
    children: list[list[int]] = [[] for _ in range(problem.n)]
    for chunk in tree.order[::-1].tolist():
        if children[chunk]:
            x[chunk] = (x[children[chunk][0]] + x[children[chunk][-1]]) / 2
        else:
            x[chunk] = -leaf
            leaf += 1
        if tree.parents[chunk] >= 0:
            children[tree.parents[chunk]].append(chunk)
    return x, -tree.depth.astype(float)


def draw(axes: Any, name: str) -> None:
    problem = generate(name, seed=1, **SMALL[name])
    x, y = places(problem)
    child = np.flatnonzero(problem.tree.parents >= 0)
    parent = problem.tree.parents[child]
    lines = np.stack(
        [np.column_stack([x[child], y[child]]), np.column_stack([x[parent], y[parent]])], 1
    )
    axes.add_collection(LineCollection(lines, colors="0.8", linewidths=0.7, zorder=1))
    demand = problem.demand.dense()
    total = demand.sum(axis=0)
    area = 2 + 40 * np.sqrt(total / max(total.max(), 1e-9))
    colours = plt.get_cmap("tab10")(demand.argmax(axis=0) % 10)
    colours[total == 0] = (0.85, 0.85, 0.85, 1.0)
    axes.scatter(x, y, s=area, c=colours, linewidths=0, zorder=2)
    axes.set_title(f"{name}   n = {problem.n}, M = {problem.m}", fontsize=9)
    axes.margins(0.06)
    axes.axis("off")


def main() -> None:
    assert set(SMALL) == set(FAMILIES)
    figure, grid = plt.subplots(5, 3, figsize=(11, 12), layout="constrained")
    for axes in grid.flat:
        axes.axis("off")
    for axes, name in zip(grid.flat, FAMILIES, strict=False):
        draw(axes, name)
    SHEET.parent.mkdir(exist_ok=True)
    figure.savefig(SHEET, dpi=80, metadata={"Software": None})
    print(f"{SHEET.name}: {SHEET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
