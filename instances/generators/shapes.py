"""Families ``chain``, ``star``, ``broom`` and ``caterpillar``: bare shapes of trees.

Requests end at every chunk, in proportion to ``rank ** -zipf`` of a random ranking of the chunks;
a request counts for its whole path, so demand falls along every path. Each chunk has a home of its
own for the share that is not spread over all workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .apportion import zipf
from .draw import Draw
from .parameters import parameter
from .traffic import Growth, TrafficParameters, problem_of_growth

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem


@dataclass(frozen=True, kw_only=True)
class ShapeParameters(TrafficParameters):
    """What the shapes share."""

    sharing: float = parameter(
        0.5, "share of a chunk's requests spread over all workers", least=0, most=1
    )
    zipf: float = parameter(0.8, "exponent of the chunks' popularity", least=0, most=10)


@dataclass(frozen=True, kw_only=True)
class ChainParameters(ShapeParameters):
    """Parameters of the family ``chain``."""

    chunks: int = parameter(100, "chunks of a chain", least=1, most=10**6)
    chains: int = parameter(1, "chains beside each other", least=1, most=10**5)


@dataclass(frozen=True, kw_only=True)
class StarParameters(ShapeParameters):
    """Parameters of the family ``star``."""

    leaves: int = parameter(100, "leaves", least=1, most=10**6)
    center: bool = parameter(True, "whether they have a common parent")


@dataclass(frozen=True, kw_only=True)
class BroomParameters(ShapeParameters):
    """Parameters of the family ``broom``."""

    handle: int = parameter(20, "chunks of the handle", least=1, most=10**6)
    bristles: int = parameter(20, "bristles at its end", least=1, most=10**6)
    bristle_chunks: int = parameter(4, "chunks of a bristle", least=1, most=10**5)


@dataclass(frozen=True, kw_only=True)
class CaterpillarParameters(ShapeParameters):
    """Parameters of the family ``caterpillar``."""

    spine: int = parameter(30, "chunks of the spine", least=1, most=10**6)
    legs: int = parameter(2, "legs at each chunk of the spine", least=0, most=10**4)
    leg_chunks: int = parameter(1, "chunks of a leg", least=1, most=10**5)


def chain(parameters: ChainParameters, seed: int) -> Problem:
    """Generate one instance of the family ``chain``."""
    growth = Growth()
    for _ in range(parameters.chains):
        growth.chain(-1, parameters.chunks)
    return _visited(growth, parameters, "chain", seed)


def star(parameters: StarParameters, seed: int) -> Problem:
    """Generate one instance of the family ``star``."""
    growth = Growth()
    center = growth.chain(-1, 1 if parameters.center else 0)
    for _ in range(parameters.leaves):
        growth.chain(center, 1)
    return _visited(growth, parameters, "star", seed)


def broom(parameters: BroomParameters, seed: int) -> Problem:
    """Generate one instance of the family ``broom``."""
    growth = Growth()
    end = growth.chain(-1, parameters.handle)
    for _ in range(parameters.bristles):
        growth.chain(end, parameters.bristle_chunks)
    return _visited(growth, parameters, "broom", seed)


def caterpillar(parameters: CaterpillarParameters, seed: int) -> Problem:
    """Generate one instance of the family ``caterpillar``."""
    growth = Growth()
    spine = -1
    for _ in range(parameters.spine):
        spine = growth.chain(spine, 1)
        for _ in range(parameters.legs):
            growth.chain(spine, parameters.leg_chunks)
    return _visited(growth, parameters, "caterpillar", seed)


def _visited(growth: Growth, parameters: ShapeParameters, family: str, seed: int) -> Problem:
    chunks = list(range(len(growth.parents)))
    Draw(family, seed, "ranking").shuffle(chunks)
    shares = zipf(parameters.units, len(chunks), parameters.zipf)
    for chunk, units in zip(chunks, shares, strict=True):
        growth.visit(chunk, units, chunk)
    return problem_of_growth(growth, parameters, family, seed)
