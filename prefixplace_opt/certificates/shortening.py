"""A proof without the parts that it does not need."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from prefixplace_opt.problem import Branch, Leaf

from .certificate import Certificate, FixedChunks, Node
from .decisions import children


def shortened(certificate: Certificate, leaves: Collection[int]) -> Certificate:
    """Turn the nodes with fixed chunks ``leaves`` into leaves with the same prices.

    What was below them, and price vectors that no node uses any more, are left out. The tree stays
    whole, and proves as much where those prices alone do.
    """
    nodes: list[Node] = [
        Leaf(node.prices) if at in leaves and isinstance(node, FixedChunks) else node
        for at, node in enumerate(certificate.nodes)
    ]
    kept = [0]
    for at in kept:
        kept += [child for _, child in children(nodes[at])]
    # In their order, so that a child still comes after its parent.
    kept.sort()
    number = {old: new for new, old in enumerate(kept)}
    vectors: dict[int, int] = {}
    for at in kept:
        node = nodes[at]
        if not isinstance(node, Branch):
            vectors.setdefault(node.prices, len(vectors))
    return replace(
        certificate,
        prices=tuple(certificate.prices[old] for old in vectors),
        nodes=tuple(_renumbered(nodes[at], number, vectors) for at in kept),
    )


def _renumbered(node: Node, number: dict[int, int], vectors: dict[int, int]) -> Node:
    if isinstance(node, Branch):
        return replace(node, inside=number[node.inside], outside=number[node.outside])
    if isinstance(node, Leaf):
        return Leaf(vectors[node.prices])
    return replace(node, prices=vectors[node.prices], child=number[node.child])
