"""A certificate: a placement, what it is worth at least, and what no placement is worth more than.

Nothing here is believed: these classes only fix types and shapes, and the verifier judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefixplace_opt.problem import Branch, InputError, Leaf, index_array, whole_number

Index = NDArray[np.int32]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Withheld:
    """Amounts withheld from holders of chunks, sparse; all others are zero.

    Attributes
    ----------
    worker, chunk
        Shape (W,): from whom, and for which chunk (id).
    value
        Shape (W,): ms per epoch, >= 0.
    """

    worker: Index
    chunk: Index
    value: Floats

    def __init__(self, worker: ArrayLike, chunk: ArrayLike, value: ArrayLike) -> None:
        object.__setattr__(self, "worker", index_array(worker, field="worker"))
        object.__setattr__(self, "chunk", index_array(chunk, field="chunk"))
        object.__setattr__(self, "value", _reals(value, "value"))
        sizes = {self.worker.size, self.chunk.size, self.value.size}
        if len(sizes) > 1:
            raise InputError(
                "expected worker, chunk and value of equal length, got "
                f"{self.worker.size}, {self.chunk.size} and {self.value.size}"
            )


@dataclass(frozen=True, eq=False)
class ServicePrices:
    """Prices of service rows, sparse; all others are zero.

    Attributes
    ----------
    requester
        Shape (P,): the worker that is served (pairwise), or a compatibility group, numbered in
        order of first appearance among the workers (requester-side).
    chunk
        Shape (P,): chunk ids.
    value
        Shape (P,): ms per epoch, >= 0.
    withheld
        What is withheld from holders besides.
    """

    requester: Index
    chunk: Index
    value: Floats
    withheld: Withheld

    def __init__(
        self,
        requester: ArrayLike,
        chunk: ArrayLike,
        value: ArrayLike,
        withheld: Withheld | None = None,
    ) -> None:
        object.__setattr__(self, "withheld", withheld or Withheld([], [], []))
        object.__setattr__(self, "requester", index_array(requester, field="requester"))
        object.__setattr__(self, "chunk", index_array(chunk, field="chunk"))
        object.__setattr__(self, "value", _reals(value, "value"))
        sizes = {self.requester.size, self.chunk.size, self.value.size}
        if len(sizes) > 1:
            raise InputError(
                "expected requester, chunk and value of equal length, got "
                f"{self.requester.size}, {self.chunk.size} and {self.value.size}"
            )


@dataclass(frozen=True, eq=False)
class FixedChunks:
    """A node at which decisions are fixed whose opposites the same prices refute one by one.

    Attributes
    ----------
    prices
        Index of the price vector.
    worker, chunk
        Shape (D,): the decisions' workers and chunk ids.
    inside
        Shape (D,): whether the worker holds the chunk below ``child``.
    child
        The node at which all of these decisions hold.
    """

    prices: int
    worker: Index
    chunk: Index
    inside: Mask
    child: int

    def __init__(
        self, prices: int, worker: ArrayLike, chunk: ArrayLike, inside: ArrayLike, child: int
    ) -> None:
        object.__setattr__(self, "prices", prices)
        object.__setattr__(self, "worker", index_array(worker, field="worker"))
        object.__setattr__(self, "chunk", index_array(chunk, field="chunk"))
        object.__setattr__(self, "inside", np.asarray(inside, dtype=np.bool_))
        object.__setattr__(self, "child", child)
        if not self.worker.shape == self.chunk.shape == self.inside.shape:
            raise InputError(
                "expected worker, chunk and inside of equal length, got "
                f"{self.worker.size}, {self.chunk.size} and {self.inside.size}"
            )


Node = Leaf | Branch | FixedChunks


@dataclass(frozen=True, eq=False)
class Certificate:
    """The claim ``lower <= F(placement)`` and ``optimum <= upper``, with its proof.

    Attributes
    ----------
    instance
        Digest of the problem.
    objective
        ``"requester"`` or ``"pairwise"``.
    resident
        For each worker the ids of the chunks it holds.
    lower, upper
        ms per epoch.
    prices
        Price vectors, referred to by index.
    nodes
        The tree of decisions, flat, root first; a child comes after its parent.
    granularity
        A number of which every F is claimed to be a multiple, ms per epoch; None for no claim.
    """

    instance: str
    objective: str
    resident: tuple[Index, ...]
    lower: float
    upper: float
    prices: tuple[ServicePrices, ...]
    nodes: tuple[Node, ...]
    granularity: float | None = field(default=None)

    def __init__(
        self,
        instance: str,
        objective: str,
        resident: Sequence[ArrayLike],
        lower: float,
        upper: float,
        prices: Sequence[ServicePrices],
        nodes: Sequence[Node],
        granularity: float | None = None,
    ) -> None:
        held = tuple(
            index_array(chunks, field=f"resident[{m}]") for m, chunks in enumerate(resident)
        )
        for chunks in held:
            chunks.flags.writeable = False
        values: dict[str, Any] = {
            "instance": instance,
            "objective": objective,
            "resident": held,
            "lower": _real(lower, "lower"),
            "upper": _real(upper, "upper"),
            "prices": tuple(prices),
            "nodes": tuple(_node(node, f"tree[{at}]") for at, node in enumerate(nodes)),
            "granularity": None if granularity is None else _real(granularity, "granularity"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return (
            f"Certificate(lower={self.lower!r}, upper={self.upper!r}, {self.objective}, "
            f"nodes={len(self.nodes)}, price vectors={len(self.prices)})"
        )


def _node(node: Node, where: str) -> Node:
    numbers = [node.child] if isinstance(node, FixedChunks) else []
    if isinstance(node, Branch):
        numbers = [node.worker, node.chunk, node.inside, node.outside]
    else:
        numbers.append(node.prices)
    for number in numbers:
        whole_number(number, field=where)
    return node


def _real(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
        raise InputError(f"expected a number, got {value!r:.60}", field=where)
    try:
        return float(value)
    except OverflowError:
        raise InputError("expected a number that fits a double", field=where) from None


def _reals(values: ArrayLike, where: str) -> Floats:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" or (array.size and array.dtype.kind not in "iuf"):
            raise TypeError
        result = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        raise InputError("expected a list of numbers that fit a double", field=where) from None
    if result.ndim != 1:
        raise InputError(f"expected a list of numbers, got shape {result.shape}", field=where)
    result.flags.writeable = False
    return result
