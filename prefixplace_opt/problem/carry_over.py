"""What workers hold already, read on an instance that was made later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

if TYPE_CHECKING:
    from .placement import Placement
    from .problem import Problem
    from .tree import PrefixTree

Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


def carry_over(old: Problem, placement: Placement, new: Problem) -> Mask:
    """Return what the workers of ``new`` hold under ``placement``, which was made for ``old``.

    Workers are the same where their names are. Chunks are the same where their ids are, if both
    trees are equal; else where their paths of keys are. A chunk that the new tree does not have
    is needed by nobody and left out.

    Returns
    -------
    ndarray of bool
        Shape (M, n) of ``new``, by chunk id; prefix-complete, and possibly over a new budget.

    Raises
    ------
    InputError
        Where the placement is not of ``old``, or the trees differ and one has no keys.
    """
    if placement.instance != old.digest:
        raise InputError("expected a placement of the old instance", field="placement")
    to_new = _same_chunks(old.tree, new.tree)
    of_name = {worker.name: m for m, worker in enumerate(old.workers)}
    held = np.zeros((new.m, new.n), dtype=np.bool_)
    for m, worker in enumerate(new.workers):
        if worker.name in of_name:
            chunks = to_new[placement.resident[of_name[worker.name]]]
            held[m, chunks[chunks >= 0]] = True
    return held


def _same_chunks(old: PrefixTree, new: PrefixTree) -> Index:
    """Return, for each chunk of ``old``, its id in ``new``, or -1."""
    if old.chunk_tokens != new.chunk_tokens:
        raise InputError(
            f"expected chunks of {old.chunk_tokens} tokens as in the old instance, "
            f"got {new.chunk_tokens}",
            field="tree.chunk_tokens",
        )
    if old == new:
        return np.arange(old.n, dtype=np.int32)
    if old.keys is None or new.keys is None:
        raise InputError(
            "expected the old instance's tree, or keys in both to tell chunks by", field="tree.keys"
        )
    known = {(int(new.parents[chunk]), new.keys[chunk]): chunk for chunk in new.order.tolist()}
    result = np.full(old.n, -1, dtype=np.int32)
    for chunk in old.order.tolist():  # parents come first
        parent = int(old.parents[chunk])
        above = -1 if parent < 0 else int(result[parent])
        if parent < 0 or above >= 0:
            result[chunk] = known.get((above, old.keys[chunk]), -1)
    return result
