"""The prefix tree: a rooted forest of equal-sized chunks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import index_array, is_text, whole_number
from .errors import InputError, shorten
from .preorder import node_on_cycle, preorder

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import networkx as nx

Index = NDArray[np.int32]


class PrefixTree:
    """A rooted forest of equal-sized prefix chunks ``0 .. n-1``; immutable.

    The empty prefix is no chunk: a chunk without a parent is a root. Two numberings are used
    throughout: chunk **ids**, as given, and preorder **positions**, in which every subtree is the
    contiguous range ``p .. end[p]-1``. Arrays by position have ``preorder`` in their name or say
    so.

    Parameters
    ----------
    parents
        Shape (n,): the parent's id, or -1 for a root; any node order.
    chunk_tokens
        Tokens in a chunk, at least 1.
    chunk_bytes
        Bytes of a chunk's KV tensors, at least 1; needed only by costs given as goodput.
    keys
        One string a chunk: its block-hash identity below its parent.

    Raises
    ------
    InputError
        For a parent out of range, a cycle, a size that is no positive whole number, or siblings
        with the same key.
    """

    __slots__ = (
        "__dict__",
        "chunk_bytes",
        "chunk_tokens",
        "depth",
        "end",
        "keys",
        "order",
        "parents",
        "position",
    )

    parents: Index
    order: Index
    position: Index
    end: Index
    depth: Index

    def __init__(
        self,
        parents: ArrayLike,
        *,
        chunk_tokens: int = 1,
        chunk_bytes: int | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        self.parents = index_array(parents, field="parents")
        n = self.parents.size
        outside = np.flatnonzero((self.parents < -1) | (self.parents >= n))
        if outside.size:
            at = int(outside[0])
            raise InputError(
                f"expected the id of a chunk (0 to {n - 1}) or -1 for a root, "
                f"got {self.parents[at]}",
                field=f"parents[{at}]",
            )
        self.order, self.position, self.end, self.depth, reached = preorder(self.parents)
        if reached < n:
            at = node_on_cycle(self.parents)
            raise InputError(f"chunk {at} is its own ancestor (a cycle)", field=f"parents[{at}]")
        self.chunk_tokens = whole_number(chunk_tokens, field="chunk_tokens", least=1)
        self.chunk_bytes = (
            None if chunk_bytes is None else whole_number(chunk_bytes, field="chunk_bytes", least=1)
        )
        self.keys: tuple[str, ...] | None = (
            None if keys is None else _checked_keys(keys, self.parents)
        )
        for array in (self.parents, self.order, self.position, self.end, self.depth):
            array.flags.writeable = False

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[Sequence[Hashable]],
        *,
        chunk_tokens: int = 1,
        chunk_bytes: int | None = None,
    ) -> PrefixTree:
        """Build the tree of all prefixes of ``paths`` (block hashes from the root down).

        A chunk is a *prefix*, not a hash: the same hash below two different prefixes makes two
        chunks. Ids follow first appearance; ``keys`` holds ``str`` of each chunk's own hash.

        Examples
        --------
        >>> PrefixTree.from_paths([["a", "b"], ["a", "c"], ["b"]]).parents.tolist()
        [-1, 0, 0, -1]
        """
        builder = PrefixTreeBuilder()
        for path in paths:
            builder.add(path)
        return builder.build(chunk_tokens=chunk_tokens, chunk_bytes=chunk_bytes)

    @classmethod
    def from_networkx(
        cls, graph: nx.DiGraph[Any], *, chunk_tokens: int = 1, chunk_bytes: int | None = None
    ) -> PrefixTree:
        """Build the tree from a directed forest whose edges point from parent to child.

        Nodes become chunks in the graph's own node order. ``keys`` is ``str(node)``, unless the
        nodes are exactly the integers ``0 .. n-1``, which then are the chunk ids.
        """
        nodes = list(graph.nodes)
        numbered = all(type(node) is int for node in nodes) and set(nodes) == set(range(len(nodes)))
        if numbered:
            nodes.sort()
        index = {node: i for i, node in enumerate(nodes)}
        parents = [-1] * len(nodes)
        for parent, child in graph.edges:
            if parents[index[child]] != -1:
                raise InputError(
                    f"expected a forest, but node {shorten(child)} has more than one parent",
                    field="graph",
                )
            parents[index[child]] = index[parent]
        keys = None if numbered else [str(node) for node in nodes]
        return cls(parents, chunk_tokens=chunk_tokens, chunk_bytes=chunk_bytes, keys=keys)

    def to_networkx(self) -> nx.DiGraph[Any]:
        """Return a ``networkx.DiGraph`` on the chunk ids, edges from parent to child.

        Nodes carry ``depth`` and, where the tree has keys, ``key``.
        """
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        for chunk in range(self.n):
            graph.add_node(chunk, depth=int(self.depth[chunk]))
            if self.keys is not None:
                graph.nodes[chunk]["key"] = self.keys[chunk]
        graph.add_edges_from(
            (int(parent), chunk) for chunk, parent in enumerate(self.parents) if parent >= 0
        )
        return graph

    @property
    def n(self) -> int:
        """Number of chunks."""
        return int(self.parents.size)

    @property
    def roots(self) -> Index:
        """Ids of the roots, ascending."""
        return np.flatnonzero(self.parents < 0).astype(np.int32)

    @property
    def height(self) -> int:
        """Number of chunks on the longest path from a root; 0 for an empty forest."""
        return int(self.depth.max()) + 1 if self.n else 0

    @cached_property
    def preorder_parents(self) -> Index:
        """Shape (n,), by position: the parent's position, or -1."""
        parents = self.parents[self.order]
        result = np.where(parents < 0, np.int32(-1), self.position[parents]).astype(np.int32)
        result.flags.writeable = False
        return result

    @cached_property
    def preorder_depth(self) -> Index:
        """Shape (n,), by position: depth, 0 for a root."""
        result = self.depth[self.order]
        result.flags.writeable = False
        return result

    @property
    def prefix_tokens(self) -> NDArray[np.int64]:
        """Shape (n,), by id: tokens before the chunk, ``depth * chunk_tokens``."""
        return self.depth.astype(np.int64) * self.chunk_tokens

    def path(self, chunk: int) -> list[int]:
        """Return the ids from the root down to ``chunk``, both included."""
        path = []
        while chunk >= 0:
            path.append(int(chunk))
            chunk = int(self.parents[chunk])
        return path[::-1]

    def orphan(self, resident: NDArray[np.bool_]) -> int:
        """Return the id of a chunk in ``resident`` (mask by id) whose parent is not, or -1.

        A set without orphans is prefix-complete.
        """
        lacks = resident & (self.parents >= 0) & ~resident[self.parents]
        return int(np.argmax(lacks)) if lacks.any() else -1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrefixTree):
            return NotImplemented
        return (
            np.array_equal(self.parents, other.parents)
            and self.chunk_tokens == other.chunk_tokens
            and self.chunk_bytes == other.chunk_bytes
            and self.keys == other.keys
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"PrefixTree(n={self.n}, roots={self.roots.size}, height={self.height}, "
            f"chunk_tokens={self.chunk_tokens})"
        )


class PrefixTreeBuilder:
    """Grows a prefix tree one path at a time, so that traffic can be streamed."""

    def __init__(self) -> None:
        # Nearly every block has one parent: only those met below another are kept by (parent,
        # block), which saves a tuple a chunk, and the garbage collector's walks over them.
        self._first: dict[Hashable, int] = {}
        self._further: dict[tuple[int, Hashable], int] = {}
        self._parents: list[int] = []
        self._hashes: list[Hashable] = []

    @property
    def n(self) -> int:
        """Number of chunks so far."""
        return len(self._parents)

    @property
    def parents(self) -> Sequence[int]:
        """The parent of every chunk so far, -1 for a root; a view that grows with the tree."""
        return self._parents

    @property
    def blocks(self) -> Sequence[Hashable]:
        """The block of every chunk so far, as given; a view that grows with the tree."""
        return self._hashes

    def add(self, path: Iterable[Hashable]) -> int:
        """Add every prefix of ``path``; return the id of its last chunk, -1 for an empty path."""
        chunk = -1
        first, parents = self._first, self._parents
        for block in path:
            known = first.get(block)
            if known is None:
                known = first[block] = self._grow(chunk, block)
            elif parents[known] != chunk:
                step = (chunk, block)
                further = self._further.get(step)
                known = self._grow(chunk, block) if further is None else further
                self._further[step] = known
            chunk = known
        return chunk

    def _grow(self, parent: int, block: Hashable) -> int:
        self._parents.append(parent)
        self._hashes.append(block)
        return len(self._parents) - 1

    def build(
        self, *, chunk_tokens: int, chunk_bytes: int | None = None, keys: bool = True
    ) -> PrefixTree:
        """Return the tree grown so far; ``keys`` says whether it carries the blocks' hashes."""
        return PrefixTree(
            np.array(self._parents, dtype=np.int64),
            chunk_tokens=chunk_tokens,
            chunk_bytes=chunk_bytes,
            keys=[str(block) for block in self._hashes] if keys else None,
        )


def _checked_keys(keys: Sequence[str], parents: Index) -> tuple[str, ...]:
    if len(keys) != parents.size:
        raise InputError(
            f"expected one key a chunk ({parents.size}), got {len(keys)}", field="keys"
        )
    for at, key in enumerate(keys):
        if not is_text(key):
            raise InputError(f"expected a string, got {shorten(key)}", field=f"keys[{at}]")
    # Siblings are told apart by their keys. Equal (parent, hash) pairs come next to each other.
    hashes = np.fromiter(map(hash, keys), dtype=np.int64, count=len(keys))
    order = np.lexsort((hashes, parents))
    alike = (np.diff(hashes[order]) == 0) & (np.diff(parents[order]) == 0)
    for at in np.flatnonzero(alike).tolist():
        first, second = sorted((int(order[at]), int(order[at + 1])))
        if keys[first] == keys[second]:
            raise InputError(
                f"expected another key than its sibling {first} has, got {shorten(keys[first])}",
                field=f"keys[{second}]",
            )
    return tuple(keys)
