"""Traffic: requests gathered into one prefix tree and the demand of each worker."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Demand, InputError, PrefixTree, PrefixTreeBuilder
from prefixplace_opt.problem.preorder import subtree_sums

if TYPE_CHECKING:
    from .routing import Router
    from .traces.grouping import ChunkedRequest

Floats = NDArray[np.float64]
Index = NDArray[np.int32]


@dataclass
class HitRates:
    """What an infinite cache shared by all would hit: leading chunks seen before.

    Attributes
    ----------
    chunks, hit_chunks
        Chunks of all requests, and those of them that stood before the first new one.
    tokens, hit_tokens
        Prompt tokens of all requests, and those in hit chunks (a partial chunk counts what the
        prompt fills of it).
    """

    chunks: int = 0
    hit_chunks: int = 0
    tokens: int = 0
    hit_tokens: int = 0

    @property
    def block_rate(self) -> float:
        """Share of chunks hit."""
        return self.hit_chunks / self.chunks if self.chunks else 0.0

    @property
    def token_rate(self) -> float:
        """Share of tokens hit."""
        return self.hit_tokens / self.tokens if self.tokens else 0.0


@dataclass(frozen=True)
class Epoch:
    """The tree and demand of the requests in one span of time."""

    tree: PrefixTree
    demand: Demand
    requests: int
    start_ms: float
    stop_ms: float


class Traffic:
    """Gathers requests one at a time: 14 bytes a request beside the tree.

    Give every request to :meth:`add`; then :meth:`epoch` for one span, or several.
    """

    def __init__(self, chunk_tokens: int) -> None:
        self.hits = HitRates()
        self.out_of_order = 0
        self._chunk_tokens = chunk_tokens
        self._builder = PrefixTreeBuilder()
        self._leaf = array("i")
        self._worker = array("h")
        self._time = array("d")

    @property
    def parents(self) -> Sequence[int]:
        """The parent of every chunk so far; grows with the traffic."""
        return self._builder.parents

    @property
    def requests(self) -> int:
        """Requests so far."""
        return len(self._leaf)

    @property
    def chunks(self) -> int:
        """Distinct chunks so far."""
        return self._builder.n

    @property
    def span_ms(self) -> tuple[float, float]:
        """Earliest and latest time of a request; (0, 0) without any."""
        times = np.frombuffer(self._time)
        return (float(times.min()), float(times.max())) if times.size else (0.0, 0.0)

    def add(self, request: ChunkedRequest, router: Router) -> None:
        """Add a request, and let ``router`` send it to a worker."""
        known = self._builder.n
        leaf = self._builder.add(request.path)
        length = len(request.path)
        hit = length - (self._builder.n - known)
        hits = self.hits
        hits.chunks += length
        hits.hit_chunks += hit
        hits.tokens += request.tokens
        hits.hit_tokens += min(hit * self._chunk_tokens, request.tokens)
        if self._time and request.time_ms < self._time[-1]:
            self.out_of_order += 1
        self._leaf.append(leaf)
        self._worker.append(router.route(leaf, length))
        self._time.append(request.time_ms)

    def recurring_ids(self) -> int:
        """Return how many chunks bear an id that another chunk bears, under another prefix."""
        return self._builder.n - len(set(self._builder.blocks))

    def epoch(
        self,
        workers: int,
        *,
        start_ms: float = -np.inf,
        stop_ms: float = np.inf,
        chunk_bytes: int | None = None,
        keys: bool = True,
        half_life_ms: float | None = None,
    ) -> Epoch:
        """Return tree and demand of the requests with ``start_ms <= time < stop_ms``.

        Parameters
        ----------
        workers
            M.
        chunk_bytes, keys
            Of the tree; see :class:`prefixplace_opt.problem.PrefixTree`.
        half_life_ms
            A request counts for 2^(-age / half-life), its age taken from the epoch's last request;
            None counts every request for one.
        """
        time = np.frombuffer(self._time)
        leaf = np.frombuffer(self._leaf, dtype=np.int32)
        worker = np.frombuffer(self._worker, dtype=np.int16)
        inside = (time >= start_ms) & (time < stop_ms)
        if not inside.any():
            raise InputError("expected at least one request with a whole chunk, got none")
        if not inside.all():
            time, leaf, worker = time[inside], leaf[inside], worker[inside]
        first, last = float(time.min()), float(time.max())
        weight = (
            np.ones(time.size) if half_life_ms is None else np.exp2((time - last) / half_life_ms)
        )
        tree, leaf = self._tree(leaf, chunk_bytes, keys)
        return Epoch(
            tree, _demand(tree, leaf, worker, weight, workers), int(time.size), first, last
        )

    def _tree(self, leaf: Index, chunk_bytes: int | None, keys: bool) -> tuple[PrefixTree, Index]:
        """Return the tree of all prefixes of ``leaf``, numbered in order of first appearance."""
        parents = np.array(self._builder.parents, dtype=np.int32)
        used = np.zeros(parents.size, dtype=np.bool_)
        used[leaf] = True
        up = np.unique(leaf)
        while up.size and not used.all():
            up = np.unique(parents[up])
            up = up[up >= 0]
            up = up[~used[up]]
            used[up] = True
        blocks = self._builder.blocks
        if not used.all():
            number = np.cumsum(used, dtype=np.int32) - 1
            kept = np.flatnonzero(used)
            parents = np.where(parents[kept] < 0, -1, number[parents[kept]])
            blocks = [blocks[chunk] for chunk in kept.tolist()]
            leaf = number[leaf]
        tree = PrefixTree(
            parents,
            chunk_tokens=self._chunk_tokens,
            chunk_bytes=chunk_bytes,
            keys=[str(block) for block in blocks] if keys else None,
        )
        return tree, leaf


def _demand(
    tree: PrefixTree, leaf: Index, worker: NDArray[np.int16], weight: Floats, workers: int
) -> Demand:
    """Add every request to all chunks of its path, worker by worker."""
    position = tree.position[leaf]
    columns: list[NDArray[np.int32]] = []
    values: list[Floats] = []
    counts = []
    for m in range(workers):
        own = worker == m
        total: Floats = np.zeros(tree.n)
        np.add.at(total, position[own], weight[own])
        subtree_sums(total, tree.preorder_parents)
        needed = np.flatnonzero(total)
        columns.append(tree.order[needed])
        values.append(total[needed])
        counts.append(needed.size)
    rows = np.repeat(np.arange(workers, dtype=np.int32), counts)
    return Demand(rows, np.concatenate(columns), np.concatenate(values), shape=(workers, tree.n))
