"""Where fetching a chunk from a peer is cheaper than recomputing it, by the tokens before it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from prefixplace_opt.problem import InputError, number

from .profiles import LineProfile, Profile


@dataclass(frozen=True)
class Crossover:
    """Which prefix lengths make fetching cheaper.

    Attributes
    ----------
    fetch_ms
        Transfer time of one chunk.
    fetch_wins
        Intervals of prefix lengths in tokens, ascending, in which fetching costs less than
        recomputing; the last may end at infinity. Bounds are exact, not rounded to tokens.
    break_even_gbps
        Goodput above which fetching wins at every depth; infinity where the latency alone is
        more than recomputing the first chunk.
    """

    fetch_ms: float
    fetch_wins: tuple[tuple[float, float], ...]
    break_even_gbps: float

    @property
    def first_token(self) -> int | None:
        """The first whole prefix length at which fetching wins; None where it never does."""
        if not self.fetch_wins:
            return None
        start = self.fetch_wins[0][0]
        return 0 if start == 0 else math.floor(start) + 1

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.fetch_wins:
            return "recomputing wins at every depth"
        if self.fetch_wins == ((0.0, math.inf),):
            return "fetching wins at every depth"
        if len(self.fetch_wins) == 1 and self.fetch_wins[0][1] == math.inf:
            return f"fetching wins from {self.first_token:,} tokens"
        spans = (
            f"beyond {low:,.0f}" if high == math.inf else f"from {low:,.0f} to {high:,.0f}"
            for low, high in self.fetch_wins
        )
        return f"fetching wins {' and '.join(spans)} tokens"


def crossover(
    profile: Profile, *, chunk_bytes: int, goodput_gbps: float, latency_ms: float = 0.0
) -> Crossover:
    """Compare a recompute profile with a link.

    Fetching takes ``chunk_bytes * 8 / (goodput_gbps * 1e6) + latency_ms`` milliseconds.

    Parameters
    ----------
    profile
        Recompute time of one chunk, in ms.
    chunk_bytes
        Bytes of one chunk, >= 1.
    goodput_gbps
        Gb/s that the link really delivers, > 0.
    latency_ms
        Added to every transfer, >= 0.
    """
    goodput = number(goodput_gbps, field="goodput_gbps")
    if goodput == 0:
        raise InputError("expected a number > 0, got 0", field="goodput_gbps")
    latency = number(latency_ms, field="latency_ms")
    bits = chunk_bytes * 8
    fetch = bits / (goodput * 1e6) + latency
    knots = sorted({0.0, *profile.knots})
    pieces = [*itertools.pairwise(knots), (knots[-1], math.inf)]
    wins: list[tuple[float, float]] = []
    for low, high in pieces:
        start, stop = _above(profile, fetch, low, high)
        if start < stop:
            if wins and wins[-1][1] == start:
                start = wins.pop()[0]
            wins.append((start, stop))
    cheapest = min(profile.milliseconds(p) for p in knots)
    spare = cheapest - latency
    return Crossover(fetch, tuple(wins), bits / (spare * 1e6) if spare > 0 else math.inf)


def _above(profile: Profile, fetch: float, low: float, high: float) -> tuple[float, float]:
    """Return the part of a straight piece in which recomputing costs more than ``fetch``."""
    at_low = profile.milliseconds(low)
    if high == math.inf:
        slope = profile.per_prefix_token_ms if isinstance(profile, LineProfile) else 0.0
    else:
        slope = (profile.milliseconds(high) - at_low) / (high - low)
    if slope == 0:
        return (low, high) if at_low > fetch else (low, low)
    crossing = low + (fetch - at_low) / slope
    if slope > 0:
        return (min(max(low, crossing), high), high)
    return (low, max(min(high, crossing), low))
