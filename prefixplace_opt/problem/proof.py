"""What proves an upper bound: prices, and a tree of decisions with prices at its leaves.

A plain structure that solvers write and certificates read. For prices alpha_r >= 0 of the service
rows (:class:`~prefixplace_opt.problem.savings.Savings`), amounts beta_{h,b} >= 0 withheld from
holders, and decisions that force chunks in or out of workers, with
u_{r,h} = [value_{r,h} - alpha_r]_+,

    UB(alpha, beta | decisions) = sum_r alpha_r
        + sum_b max_S ( sum_{h in S} beta_{h,b}
                        - sum_{r of b} (sum_{h in S} u_{r,h} - max_{h in S} u_{r,h}) )
        + sum_h max{ sum_{b in T} [local_h(b) + sum_{r of b} u_{r,h} - beta_{h,b}]_+ :
                     T parent-closed, |T| <= k_h, T obeys the decisions on h }

bounds F over all placements that obey the decisions; S runs over the sets of workers from which
something of b is withheld. A chunk that is in brings its ancestors, a
chunk that is out takes its subtree along. Where no such T exists for some worker, nothing obeys
the decisions and the bound is minus infinity.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices of the service rows and amounts withheld from holders, sparse; the others are zero.

    Attributes
    ----------
    rows
        Indices of rows of :class:`~prefixplace_opt.problem.savings.Savings`, ascending.
    values
        Their prices, > 0, ms per epoch.
    worker, chunk, withheld
        From which workers, for which chunks (ids), how much is withheld, > 0, ms per epoch.
    """

    rows: Index
    values: Floats
    worker: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    chunk: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    withheld: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, dense: ArrayLike) -> Prices:
        """Return the positive entries of ``dense``, shape (R,); nothing is withheld."""
        prices = np.asarray(dense, dtype=np.float64)
        rows = np.flatnonzero(prices > 0).astype(np.int32)
        return cls(rows, prices[rows])

    def dense(self, rows: int) -> Floats:
        """Return all ``rows`` row prices as one array."""
        prices = np.zeros(rows)
        prices[self.rows] = self.values
        return prices


@dataclass(frozen=True)
class Decision:
    """Chunk ``chunk`` (an id) is, or is not, held by ``worker``."""

    worker: int
    chunk: int
    inside: bool

    @property
    def opposite(self) -> Decision:
        """The decision against this one."""
        return Decision(self.worker, self.chunk, not self.inside)


@dataclass(frozen=True)
class Leaf:
    """A node whose placements are bounded by UB(``prices`` | the decisions above it)."""

    prices: int


@dataclass(frozen=True)
class Fixing:
    """Decisions whose opposites are refuted one by one by the same prices.

    Every placement of this node either disobeys one of ``decisions``, and then is bounded by
    UB(``prices`` | the decisions above, that one's opposite), or belongs to node ``child``, below
    which all of ``decisions`` hold. The decisions listed here do not help to refute each other.
    """

    prices: int
    decisions: tuple[Decision, ...]
    child: int


@dataclass(frozen=True)
class Branch:
    """Every placement of this node belongs to one of two others.

    Below node ``inside``, ``worker`` holds ``chunk`` (an id); below node ``outside`` it does not.
    """

    worker: int
    chunk: int
    inside: int
    outside: int


Node = Leaf | Fixing | Branch


@dataclass(frozen=True, eq=False)
class Proof:
    """A tree of decisions, flat.

    The bound that it proves is the largest over all leaves and all refuted decisions.

    Attributes
    ----------
    prices
        Price vectors, referred to by index; several nodes may share one.
    nodes
        ``nodes[0]`` is the root. A child's index is larger than its parent's, and every other
        node is the child of exactly one.
    """

    prices: tuple[Prices, ...]
    nodes: tuple[Node, ...]

    @classmethod
    def single(cls, dense: ArrayLike) -> Proof:
        """Return the proof by one price vector of shape (R,), without decisions."""
        return cls((Prices.of(dense),), (Leaf(0),))

    def paths(self) -> list[tuple[Decision, ...]]:
        """Return, for every node, the decisions that hold there, from the root on."""
        held: list[tuple[Decision, ...]] = [()] * len(self.nodes)
        for at, node in enumerate(self.nodes):
            if isinstance(node, Branch):
                held[node.inside] = (*held[at], Decision(node.worker, node.chunk, inside=True))
                held[node.outside] = (*held[at], Decision(node.worker, node.chunk, inside=False))
            elif isinstance(node, Fixing):
                held[node.child] = held[at] + node.decisions
        return held

    @property
    def leaves(self) -> list[int]:
        """Indices of the leaves."""
        return [at for at, node in enumerate(self.nodes) if isinstance(node, Leaf)]
