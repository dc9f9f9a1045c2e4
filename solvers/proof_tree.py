"""Growing a proof while branch and price runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from prefixplace_opt.problem import Branch, Decision, Fixing, Leaf, PrefixTree, Prices, Proof

from .subproblem import IN

if TYPE_CHECKING:
    from prefixplace_opt.problem.proof import Node


class ProofTree:
    """A proof under construction: nodes are opened, and closed once by what happens to them.

    Every node has prices, at first those of its parent. What is still open when the proof is taken
    becomes a leaf. Only prices that some node still has take memory.
    """

    def __init__(self, tree: PrefixTree) -> None:
        self._order = tree.order
        self._prices: list[Prices | None] = [None]
        self._nodes: list[Node] = [Leaf(0)]

    def price(self, node: int, prices: Prices) -> None:
        """Give an open node better prices; the root, node 0, needs some first."""
        self._prices[node] = prices

    def fix(self, node: int, decisions: list[tuple[int, int, int]]) -> int:
        """Close ``node`` by (worker, position, state) decisions; return the node that is left."""
        child = self._open(node)
        fixed = tuple(
            Decision(worker, int(self._order[position]), inside=state == IN)
            for worker, position, state in decisions
        )
        self._nodes[node] = Fixing(node, fixed, child)
        return child

    def branch(self, node: int, worker: int, position: int) -> tuple[int, int]:
        """Close ``node`` by branching; return the nodes (in, out)."""
        inside, outside = self._open(node), self._open(node)
        self._nodes[node] = Branch(worker, int(self._order[position]), inside, outside)
        self._prices[node] = None
        return inside, outside

    def proof(self) -> Proof:
        """Return the proof that the tree is now."""
        vectors: list[Prices] = []
        number: dict[int, int] = {}
        nodes: list[Node] = []
        for node, prices in zip(self._nodes, self._prices, strict=True):
            if isinstance(node, Branch) or prices is None:
                nodes.append(node)
                continue
            if id(prices) not in number:
                number[id(prices)] = len(vectors)
                vectors.append(prices)
            nodes.append(replace(node, prices=number[id(prices)]))
        return Proof(tuple(vectors), tuple(nodes))

    def _open(self, parent: int) -> int:
        """Return a new open node; its number stands for its prices until the proof is taken."""
        self._nodes.append(Leaf(len(self._nodes)))
        self._prices.append(self._prices[parent])
        return len(self._nodes) - 1
