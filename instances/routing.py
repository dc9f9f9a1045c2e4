"""Which worker an imported request goes to.

Traces say what was asked, not who answered. Three rules, each deterministic:

- ``round-robin``: request i, in the order read and counted from 0, goes to worker i mod M.
- ``random``: each worker with equal chance, by the seed.
- ``prefix-affinity``: while some worker's load is below ``1 / load_cap`` of the mean load over all
  workers, one of those; else one of those whose load is at most ``load_cap`` times the mean. Of
  these it is the one that has seen the longest prefix of the request; ties go to the least loaded,
  then to the first. A worker has seen a chunk once a request with that chunk was routed to it. The
  load of a worker is the number of chunks of the requests routed to it so far.

The lower end is what gives every worker traffic where all prompts begin alike: a worker that has
seen nothing would lose each request to one that has seen the common beginning.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, Protocol, get_args

from prefixplace_opt.problem import InputError, number
from prefixplace_opt.problem.errors import shorten

Route = Literal["round-robin", "random", "prefix-affinity"]

#: Default of ``load_cap``: a quarter more than the mean.
LOAD_CAP = 1.25


class Router(Protocol):
    """Picks a worker for each request in turn."""

    def route(self, leaf: int, chunks: int) -> int:
        """Return the worker of a request whose path of ``chunks`` chunks ends at ``leaf``."""
        ...


def router_named(
    route: str, workers: int, parents: Sequence[int], *, seed: int = 0, load_cap: float = LOAD_CAP
) -> Router:
    """Return a fresh router.

    Parameters
    ----------
    route
        ``round-robin``, ``random`` or ``prefix-affinity``.
    workers
        M, at least 1.
    parents
        The parent of every chunk seen so far, -1 for a root; it may grow between requests.
    seed
        For ``random``.
    load_cap
        For ``prefix-affinity``, at least 1.
    """
    if route == "round-robin":
        return RoundRobin(workers)
    if route == "random":
        return RandomRouter(workers, seed)
    if route == "prefix-affinity":
        return PrefixAffinity(workers, parents, load_cap)
    raise InputError(
        f"expected one of {', '.join(get_args(Route))}, got {shorten(route)}", field="route"
    )


class RoundRobin:
    """Workers by turns."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._next = -1

    def route(self, leaf: int, chunks: int) -> int:
        """Return the next worker."""
        self._next = (self._next + 1) % self._workers
        return self._next


class RandomRouter:
    """Workers with equal chance."""

    def __init__(self, workers: int, seed: int) -> None:
        self._workers = workers
        # random() is the one stream that Python promises to keep over its versions.
        self._random = random.Random(seed).random  # noqa: S311 (no cryptography here)

    def route(self, leaf: int, chunks: int) -> int:
        """Return a worker drawn."""
        return int(self._random() * self._workers)


class PrefixAffinity:
    """The longest prefix already seen, among workers whose load is near the mean."""

    def __init__(self, workers: int, parents: Sequence[int], load_cap: float) -> None:
        if number(load_cap, field="load_cap") < 1:
            raise InputError(f"expected a number >= 1, got {shorten(load_cap)}", field="load_cap")
        self._parents = parents
        self._cap = load_cap / workers
        self._floor = 1.0 / (load_cap * workers)
        self._load = [0] * workers
        self._total = 0
        # Bit m of seen[chunk]: worker m has seen the chunk, and so all its ancestors.
        self._seen: list[int] = []

    def route(self, leaf: int, chunks: int) -> int:
        """Return the worker with the longest match, and remember that it now has the whole path."""
        seen, parents, load = self._seen, self._parents, self._load
        if len(seen) < len(parents):
            seen.extend([0] * (len(parents) - len(seen)))
        limit = self._cap * self._total
        floor = self._floor * self._total
        under = short = 0
        for worker, own in enumerate(load):
            # An average may round down below the least load, which is never over.
            if own <= limit or own * len(load) <= self._total:
                under |= 1 << worker
            if own < floor:
                short |= 1 << worker
        candidates = short or under
        chunk = leaf
        best = 0
        while chunk >= 0:
            best = seen[chunk] & candidates
            if best:
                break
            chunk = parents[chunk]
        if chunk < 0:
            best = candidates
        worker = _least_loaded(best, load)
        bit = 1 << worker
        chunk = leaf
        while chunk >= 0 and not seen[chunk] & bit:
            seen[chunk] |= bit
            chunk = parents[chunk]
        load[worker] += chunks
        self._total += chunks
        return worker


def _least_loaded(workers: int, load: Sequence[int]) -> int:
    best = -1
    while workers:
        worker = (workers & -workers).bit_length() - 1
        if best < 0 or load[worker] < load[best]:
            best = worker
        workers &= workers - 1
    return best
