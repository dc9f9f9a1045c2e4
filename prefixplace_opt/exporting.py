"""A placement as others take it: a neutral plan file, and a warm-up list of requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .problem import Holders, InputError, savings
from .problem.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .problem import Placement, Problem

FORMAT = "prefixplace-plan"


@dataclass(frozen=True)
class Target:
    """A prefix that a worker must hold whole: the path to a held chunk without held children.

    Attributes
    ----------
    worker
        Index of the worker.
    path
        Chunk ids from the root down.
    added
        How many chunks at the end of the path are in no earlier target of the same worker.
    value
        What the plan would save less per epoch, in ms, if this worker did not hold those.
    """

    worker: int
    path: tuple[int, ...]
    added: int
    value: float


def targets(problem: Problem, placement: Placement) -> list[Target]:
    """Return every worker's targets, the most valuable first.

    A worker's targets together are exactly its resident set, and their ``added`` and ``value``
    count each chunk once.
    """
    if placement.instance != problem.digest:
        raise InputError("expected a placement of this instance", field="placement")
    tree = problem.tree
    held = placement.held(problem.n)
    holders = Holders(savings(problem), held[:, tree.order])
    found = []
    for m in range(problem.m):
        profit = holders.profits(m)[tree.position]
        inner = tree.parents[held[m] & (tree.parents >= 0)]
        last = held[m].copy()
        last[inner] = False
        paths = [tree.path(int(chunk)) for chunk in np.flatnonzero(last)]
        paths.sort(key=lambda path: (-float(profit[path].sum()), path))
        listed: set[int] = set()
        for path in paths:
            new = [chunk for chunk in path if chunk not in listed]
            listed.update(new)
            found.append(Target(m, tuple(path), len(new), float(profit[new].sum())))
    return found


def plan_document(problem: Problem, placement: Placement) -> dict[str, Any]:
    """Return the neutral plan file's content as JSON-ready objects.

    Chunks are named by their keys, or by their ids where the instance has no keys. Only whole
    chunks are listed: no engine reuses a partial one.
    """
    tree = problem.tree
    workers = []
    everything = targets(problem, placement)
    for m, worker in enumerate(problem.workers):
        own = [target for target in everything if target.worker == m]
        count = int(placement.resident[m].size)
        workers.append(
            {
                "worker": worker.name,
                "chunks": count,
                "bytes": _bytes(problem, count),
                "targets": [
                    {
                        "path": [_name(problem, chunk) for chunk in target.path],
                        "added_chunks": target.added,
                        "bytes": _bytes(problem, target.added),
                        "value": target.value,
                    }
                    for target in own
                ],
            }
        )
    return {
        "format": FORMAT,
        "version": 1,
        "instance": problem.digest,
        "objective": problem.objective,
        "value": placement.value,
        "chunk_tokens": tree.chunk_tokens,
        "chunk_bytes": tree.chunk_bytes,
        "named_by": "id" if tree.keys is None else "key",
        "workers": workers,
    }


def warm_up_requests(
    problem: Problem, placement: Placement, tokens: Mapping[str, Sequence[int]]
) -> Iterator[dict[str, Any]]:
    """Give one request a target, the most valuable first: sent to its worker, it loads the prefix.

    Works with every engine that caches prefixes, at the price of one prefill; each asks for one
    output token.

    Parameters
    ----------
    problem, placement
        The instance, with keys, and its placement.
    tokens
        For the key of each held chunk its ``chunk_tokens`` token ids. Keys of different chunks
        may be equal where their tokens are.

    Raises
    ------
    InputError
        Where the instance has no keys, or a held chunk's tokens are missing or not whole.
    """
    keys = problem.tree.keys
    if keys is None:
        raise InputError(
            "expected an instance with keys: ids alone do not say which tokens to send",
            field="tree.keys",
        )
    for target in targets(problem, placement):
        ids: list[int] = []
        for chunk in target.path:
            ids += _tokens(tokens, keys[chunk], problem.tree.chunk_tokens)
        yield {
            "worker": problem.workers[target.worker].name,
            "token_ids": ids,
            "max_tokens": 1,
            "chunks": len(target.path),
            "value": target.value,
        }


def _tokens(tokens: Mapping[str, Sequence[int]], key: str, count: int) -> list[int]:
    if key not in tokens:
        raise InputError(f"expected the tokens of chunk {shorten(key)}, found none", field="tokens")
    ids = tokens[key]
    whole = isinstance(ids, list | tuple) and len(ids) == count
    if not whole or any(type(token) is not int or token < 0 for token in ids):
        raise InputError(
            f"expected {count} token ids (whole numbers >= 0), got {shorten(ids)}",
            field=f"tokens[{shorten(key)}]",
        )
    return list(ids)


def _name(problem: Problem, chunk: int) -> str | int:
    return chunk if problem.tree.keys is None else problem.tree.keys[chunk]


def _bytes(problem: Problem, chunks: int) -> int | None:
    size = problem.tree.chunk_bytes
    return None if size is None else chunks * size
