"""Growing a proof while branch and price runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Branch, Decision, Fixing, Leaf, PrefixTree, Prices, Proof
from prefixplace_opt.problem.proof import Node

from .subproblem import IN

Floats = NDArray[np.float64]


class ProofTree:
    """A proof under construction: nodes are opened, and closed once by what happens to them.

    What is still open when the proof is taken becomes a leaf with the last prices known for it.
    """

    def __init__(self, tree: PrefixTree) -> None:
        self._order = tree.order
        self._prices: list[Prices] = []
        self._nodes: list[Node | None] = []

    def add_prices(self, prices: Prices) -> int:
        """Store ``prices``; return their number."""
        self._prices.append(prices)
        return len(self._prices) - 1

    def open(self) -> int:
        """Return a new open node, the root first."""
        self._nodes.append(None)
        return len(self._nodes) - 1

    def leaf(self, node: int, prices: int) -> None:
        """Close ``node``: the prices bound it."""
        self._nodes[node] = Leaf(prices)

    def fix(self, node: int, prices: int, decisions: list[tuple[int, int, int]]) -> int:
        """Close ``node`` by (worker, position, state) decisions; return the node that is left."""
        child = self.open()
        self._nodes[node] = Fixing(
            prices, tuple(self._decision(h, p, state) for h, p, state in decisions), child
        )
        return child

    def branch(self, node: int, worker: int, position: int) -> tuple[int, int]:
        """Close ``node`` by branching; return the nodes (in, out)."""
        inside, outside = self.open(), self.open()
        self._nodes[node] = Branch(worker, int(self._order[position]), inside, outside)
        return inside, outside

    def proof(self, open_prices: dict[int, int]) -> Proof:
        """Return the proof; ``open_prices`` names the prices of every node still open."""
        nodes = tuple(
            Leaf(open_prices[at]) if node is None else node for at, node in enumerate(self._nodes)
        )
        used = sorted({node.prices for node in nodes if not isinstance(node, Branch)})
        number = {old: new for new, old in enumerate(used)}
        return Proof(
            tuple(self._prices[old] for old in used),
            tuple(_renumbered(node, number) for node in nodes),
        )

    def _decision(self, worker: int, position: int, state: int) -> Decision:
        return Decision(worker, int(self._order[position]), inside=state == IN)


def _renumbered(node: Node, number: dict[int, int]) -> Node:
    if isinstance(node, Branch):
        return node
    if isinstance(node, Leaf):
        return Leaf(number[node.prices])
    return Fixing(number[node.prices], node.decisions, node.child)
