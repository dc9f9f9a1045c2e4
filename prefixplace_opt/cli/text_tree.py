"""A small prefix tree drawn with characters, each chunk with those who hold it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.tree import Tree

    from prefixplace_opt.problem import Placement, Problem

#: Larger forests are for `--draw`.
MOST_CHUNKS = 60


def text_tree(problem: "Problem", placement: "Placement | None" = None) -> "Tree":
    """Return the forest for printing; a line says chunk, requests per epoch, and holders."""
    from rich.text import Text
    from rich.tree import Tree

    tree = problem.tree
    demand = problem.demand.total()
    held = None if placement is None else placement.held(problem.n)
    top = Tree(Text("chunk: requests per epoch, holders" if placement else "chunk: requests"))
    branches: dict[int, Tree] = {-1: top}
    for chunk in tree.order.tolist():
        line = Text(f"{chunk}: {demand[chunk]:g}")
        if held is not None:
            names = [w.name for w, own in zip(problem.workers, held[:, chunk], strict=True) if own]
            line.append("  " + ", ".join(names), style="bold green")
        branches[chunk] = branches[int(tree.parents[chunk])].add(line)
    return top
