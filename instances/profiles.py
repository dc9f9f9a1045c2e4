"""Recompute profiles: how long a GPU needs to prefill one chunk, by the tokens before it.

A profile belongs to a chunk size. Another size is derived where that is exact: prefilling k chunks
one after the other costs the sum of their costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import (
    AffineCost,
    CostTable,
    InputError,
    InterpolatedCost,
    cost_array,
    number,
    whole_number,
)

#: ``measured``: timed on the hardware. ``assumed``: a curve that others computed with, not a
#: measurement. ``analytical``: from operation counts, peak rate and an efficiency. ``declared``:
#: the user's.
Kind = Literal["measured", "assumed", "analytical", "declared"]


@dataclass(frozen=True)
class LineProfile:
    """``base_ms + per_prefix_token_ms * p`` for a chunk with p tokens before it."""

    chunk_tokens: int
    base_ms: float
    per_prefix_token_ms: float
    kind: Kind = "declared"
    source: str = ""

    def __post_init__(self) -> None:
        whole_number(self.chunk_tokens, field="chunk_tokens", least=1)
        object.__setattr__(self, "base_ms", number(self.base_ms, field="base_ms"))
        slope = number(self.per_prefix_token_ms, field="per_prefix_token_ms")
        object.__setattr__(self, "per_prefix_token_ms", slope)

    def milliseconds(self, prefix_tokens: float) -> float:
        """Return the cost of the chunk behind ``prefix_tokens`` tokens."""
        return self.base_ms + self.per_prefix_token_ms * prefix_tokens

    @property
    def knots(self) -> tuple[float, ...]:
        """Prefix lengths between which the profile is a straight line."""
        return (0.0,)

    def for_chunk(self, chunk_tokens: int) -> LineProfile:
        """Return the profile of another chunk size, from the same cost per token and position.

        With cost a + s t for the token at position t, a chunk costs the integral over its tokens;
        for a multiple of the size that is the sum over the smaller chunks.
        """
        ratio = chunk_tokens / self.chunk_tokens
        shift = self.per_prefix_token_ms * (chunk_tokens - self.chunk_tokens) / 2
        base = ratio * (self.base_ms + shift)
        if base < 0:
            raise InputError(
                f"a profile of {self.chunk_tokens}-token chunks says nothing "
                f"about chunks of {chunk_tokens}",
                field="chunk_tokens",
            )
        return replace(
            self,
            chunk_tokens=chunk_tokens,
            base_ms=base,
            per_prefix_token_ms=ratio * self.per_prefix_token_ms,
        )


@dataclass(frozen=True)
class TableProfile:
    """A curve: ``cost_ms[i]`` at ``prefix_tokens[i]``, linear between, clamped at both ends."""

    chunk_tokens: int
    prefix_tokens: tuple[float, ...]
    cost_ms: tuple[float, ...]
    kind: Kind = "declared"
    source: str = ""

    def __post_init__(self) -> None:
        whole_number(self.chunk_tokens, field="chunk_tokens", least=1)
        tokens = cost_array(self.prefix_tokens, field="prefix_tokens")
        if tokens.ndim != 1 or tokens.size == 0 or (np.diff(tokens) <= 0).any():
            raise InputError(
                "expected a strictly increasing, non-empty list", field="prefix_tokens"
            )
        cost = cost_array(self.cost_ms, field="cost_ms")
        if cost.shape != tokens.shape:
            raise InputError(
                f"expected {tokens.size} numbers, got shape {cost.shape}", field="cost_ms"
            )
        object.__setattr__(self, "prefix_tokens", tuple(tokens.tolist()))
        object.__setattr__(self, "cost_ms", tuple(cost.tolist()))

    def milliseconds(self, prefix_tokens: float) -> float:
        """Return the cost of the chunk behind ``prefix_tokens`` tokens."""
        return float(np.interp(prefix_tokens, self.prefix_tokens, self.cost_ms))

    @property
    def knots(self) -> tuple[float, ...]:
        """Prefix lengths between which the profile is a straight line."""
        return self.prefix_tokens

    def for_chunk(self, chunk_tokens: int) -> TableProfile:
        """Return the profile of a multiple of the chunk size: the sum over the smaller chunks.

        Raises
        ------
        InputError
            Where ``chunk_tokens`` is no multiple: a table says nothing about parts of a chunk.
        """
        times, rest = divmod(chunk_tokens, self.chunk_tokens)
        if rest or not times:
            raise InputError(
                f"expected a multiple of the table's {self.chunk_tokens}, got {chunk_tokens}",
                field="chunk_tokens",
            )
        shifts = [i * self.chunk_tokens for i in range(times)]
        knots = sorted({max(p - shift, 0.0) for p in self.prefix_tokens for shift in shifts})
        cost = [sum(self.milliseconds(p + shift) for shift in shifts) for p in knots]
        return replace(
            self, chunk_tokens=chunk_tokens, prefix_tokens=tuple(knots), cost_ms=tuple(cost)
        )


Profile = LineProfile | TableProfile


def recompute_cost(profiles: Sequence[Profile], *, height: int) -> CostTable:
    """Return the cost table of one profile a worker, for a tree ``height`` chunks high.

    Lines alone give an :class:`AffineCost`. With a table among them the result is one
    :class:`InterpolatedCost` over the knots of all: lines are sampled at its ends.

    Raises
    ------
    InputError
        Where the profiles are of different chunk sizes.
    """
    sizes = sorted({profile.chunk_tokens for profile in profiles})
    if len(sizes) > 1:
        raise InputError(f"expected profiles of one chunk size, got {sizes}", field="chunk_tokens")
    if all(isinstance(profile, LineProfile) for profile in profiles):
        lines = [profile for profile in profiles if isinstance(profile, LineProfile)]
        return AffineCost(
            [line.base_ms for line in lines], [line.per_prefix_token_ms for line in lines]
        )
    deepest = float(max(height - 1, 0) * sizes[0])
    knots = sorted({0.0, deepest, *(p for profile in profiles for p in profile.knots)})
    values: NDArray[np.float64] = np.array(
        [[profile.milliseconds(p) for p in knots] for profile in profiles]
    )
    return InterpolatedCost(knots, values)
