"""Cost tables: what a chunk costs to recompute or to fetch, in milliseconds.

A table is declared small (a number, a line, a measured curve, links) and evaluated only at the
(worker, chunk) pairs that are asked for, in double precision, in the order that the file format
states; a problem with millions of chunks never needs a dense M x n array unless it was given one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import cost_array, number
from .errors import InputError

if TYPE_CHECKING:
    from .tree import PrefixTree

Floats = NDArray[np.float64]
Index = NDArray[np.int32]


@runtime_checkable
class CostTable(Protocol):
    """Milliseconds a chunk at a worker, recomputed or fetched from any peer."""

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Raise InputError where the table does not fit ``tree`` and the number of workers."""
        ...

    def cost(self, tree: PrefixTree, worker: Index, chunk: Index) -> Floats:
        """Return the costs in ms at the given pairs, shape (pairs,); +inf is not fetchable."""
        ...


@runtime_checkable
class PairwiseCostTable(Protocol):
    """Milliseconds to fetch a chunk, dependent on who holds it."""

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Raise InputError where the table does not fit ``tree`` and the number of workers."""
        ...

    def cost_from(self, tree: PrefixTree, worker: Index, holder: int, chunk: Index) -> Floats:
        """Return f_{worker<-holder}(chunk) in ms, shape (pairs,); +inf is not fetchable."""
        ...


@dataclass(frozen=True, eq=False)
class UniformCost:
    """The same cost everywhere."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", number(self.value, field="", finite=False) + 0.0)

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Fit everything."""

    def cost(self, tree: PrefixTree, worker: Index, chunk: Index) -> Floats:
        """Return ``value`` for every pair."""
        return np.full(worker.shape, self.value)


@dataclass(frozen=True, eq=False)
class DenseCost:
    """One number for each worker and chunk: ``values`` has shape (M, n)."""

    values: Floats

    def __init__(self, values: ArrayLike) -> None:
        object.__setattr__(self, "values", cost_array(values, field="dense", infinite=True))

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Require shape (M, n)."""
        _require_shape(self.values, (workers, tree.n), "dense")

    def cost(self, tree: PrefixTree, worker: Index, chunk: Index) -> Floats:
        """Return ``values[worker, chunk]``."""
        return self.values[worker, chunk]


@dataclass(frozen=True, eq=False)
class AffineCost:
    """``base[m] + per_prefix_token[m] * p`` with p the tokens before the chunk; both shape (M,)."""

    base: Floats
    per_prefix_token: Floats

    def __init__(self, base: ArrayLike, per_prefix_token: ArrayLike) -> None:
        object.__setattr__(self, "base", cost_array(base, field="affine.base"))
        object.__setattr__(
            self, "per_prefix_token", cost_array(per_prefix_token, field="affine.per_prefix_token")
        )

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Require one base and one slope a worker."""
        _require_shape(self.base, (workers,), "affine.base")
        _require_shape(self.per_prefix_token, (workers,), "affine.per_prefix_token")

    def cost(self, tree: PrefixTree, worker: Index, chunk: Index) -> Floats:
        """Return the line's value at each pair."""
        return self.base[worker] + self.per_prefix_token[worker] * tree.prefix_tokens[chunk]


@dataclass(frozen=True, eq=False)
class InterpolatedCost:
    """A measured curve a worker: linear between ``prefix_tokens``, clamped at both ends.

    ``prefix_tokens`` is strictly increasing, shape (K,); ``values`` has shape (M, K). Between
    points k and k+1 that is, in this order of double operations,
    ``(values[k+1] - values[k]) / (prefix_tokens[k+1] - prefix_tokens[k]) * (p - prefix_tokens[k])
    + values[k]``.
    """

    prefix_tokens: Floats
    values: Floats

    def __init__(self, prefix_tokens: ArrayLike, values: ArrayLike) -> None:
        tokens = cost_array(prefix_tokens, field="table.prefix_tokens")
        if tokens.ndim != 1 or tokens.size == 0 or (np.diff(tokens) <= 0).any():
            raise InputError(
                "expected a strictly increasing, non-empty list", field="table.prefix_tokens"
            )
        object.__setattr__(self, "prefix_tokens", tokens)
        object.__setattr__(self, "values", cost_array(values, field="table.cost"))

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Require shape (M, K)."""
        _require_shape(self.values, (workers, self.prefix_tokens.size), "table.cost")

    def cost(self, tree: PrefixTree, worker: Index, chunk: Index) -> Floats:
        """Return the interpolated curve's value at each pair."""
        tokens = tree.prefix_tokens[chunk].astype(np.float64)
        result = np.empty(worker.shape)
        for m in np.unique(worker):
            own = worker == m
            result[own] = np.interp(tokens[own], self.prefix_tokens, self.values[m])
        return result


@dataclass(frozen=True, eq=False)
class LinkCost:
    """Transfer time: ``chunk_bytes * 8 / (goodput_gbps * 1e6) + latency_ms``.

    Both arrays have shape (M,), one downlink a worker, or (M, M), indexed [requester][holder].
    Goodput 0 means no link. The diagonal of an (M, M) table is never used.
    """

    goodput_gbps: Floats
    latency_ms: Floats

    def __init__(self, goodput_gbps: ArrayLike, latency_ms: ArrayLike) -> None:
        object.__setattr__(self, "goodput_gbps", cost_array(goodput_gbps, field="goodput_gbps"))
        object.__setattr__(self, "latency_ms", cost_array(latency_ms, field="latency_ms"))

    @property
    def depends_on_holder(self) -> bool:
        """Whether the table gives one link a pair of workers."""
        return self.goodput_gbps.ndim == 2

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Require shape (M,) or (M, M) for both arrays, and a tree with ``chunk_bytes``."""
        shape = (workers, workers) if self.depends_on_holder else (workers,)
        _require_shape(self.goodput_gbps, shape, "goodput_gbps")
        _require_shape(self.latency_ms, shape, "latency_ms")
        if tree.chunk_bytes is None:
            raise InputError(
                "fetch costs given as goodput need tree.chunk_bytes", field="goodput_gbps"
            )

    def milliseconds(self, chunk_bytes: int) -> Floats:
        """Return the transfer time of one chunk over every link, in the shape of the table."""
        with np.errstate(divide="ignore", over="ignore"):
            times: Floats = chunk_bytes * 8 / (self.goodput_gbps * 1e6) + self.latency_ms
        return times

    def cost(self, tree: PrefixTree, worker: Index, chunk: Index) -> Floats:
        """Return the requester's transfer time; for a table of shape (M,)."""
        assert tree.chunk_bytes is not None
        return self.milliseconds(tree.chunk_bytes)[worker]

    def cost_from(self, tree: PrefixTree, worker: Index, holder: int, chunk: Index) -> Floats:
        """Return the transfer time from ``holder``."""
        assert tree.chunk_bytes is not None
        times = self.milliseconds(tree.chunk_bytes)
        return times[worker, holder] if self.depends_on_holder else times[worker]


@dataclass(frozen=True, eq=False)
class PairwiseCost:
    """One number a requester, holder and chunk: shape (M, M, n); the diagonal is not used."""

    values: Floats

    def __init__(self, values: ArrayLike) -> None:
        object.__setattr__(self, "values", cost_array(values, field="pairwise", infinite=True))

    def check(self, tree: PrefixTree, workers: int) -> None:
        """Require shape (M, M, n)."""
        _require_shape(self.values, (workers, workers, tree.n), "pairwise")

    def cost_from(self, tree: PrefixTree, worker: Index, holder: int, chunk: Index) -> Floats:
        """Return ``values[worker, holder, chunk]``."""
        times: Floats = self.values[worker, holder, chunk]
        return times


def _require_shape(array: Floats, shape: tuple[int, ...], field: str) -> None:
    if array.shape != shape:
        raise InputError(f"expected shape {shape}, got {array.shape}", field=field)
