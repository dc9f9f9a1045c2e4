"""What a bound pays back for the amounts withheld from holders: the most over sets of workers.

    max_S ( sum_{h in S} beta_h - sum_{r of b} ( sum_{h in S} u_{r,h} - max_{h in S} u_{r,h} ) )

for every chunk b of which something is withheld, S running over the workers from which it is
(docs/certificates.md). Whole numbers of any size, int64 or Python's.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Integers = NDArray[Any]

#: From so many workers something of one chunk may be withheld: 2**MOST sets are searched.
MOST_WORKERS = 16


def paid_back(gains: Integers, amounts: Integers) -> Integers:
    """Return the maximum above for several chunks at once.

    Parameters
    ----------
    gains
        Shape (chunks, rows, workers): u_{r,h}; 0 where a chunk has fewer rows.
    amounts
        Shape (chunks, workers): beta_h.
    """
    net = amounts - gains.sum(axis=1)
    if gains.dtype == np.int64:
        return _paid_back_int64(gains, net)
    nothing = np.zeros(gains.shape[:2], dtype=gains.dtype)
    most = np.zeros(gains.shape[0], dtype=gains.dtype)

    def extend(worker: int, served: Integers, spent: Integers) -> None:
        """Search all sets that continue one of net worth ``spent``, which serves ``served``."""
        nonlocal most
        for h in range(worker, gains.shape[2]):
            better = np.maximum(served, gains[:, :, h])
            total = spent + net[:, h]
            most = np.maximum(most, total + better.sum(axis=1))
            extend(h + 1, better, total)

    extend(0, nothing, np.zeros_like(most))
    return most


@numba.njit(cache=True)
def _paid_back_int64(gains: Int64, net: Int64) -> Int64:
    chunks, rows, workers = gains.shape
    most = np.zeros(chunks, dtype=np.int64)
    # Of the set that is searched, its first so many workers: what they serve, what they are worth
    # apart from that, and the next worker to add.
    served = np.zeros((workers + 1, rows), dtype=np.int64)
    spent = np.zeros(workers + 1, dtype=np.int64)
    following = np.zeros(workers + 1, dtype=np.int64)
    for chunk in range(chunks):
        size = 0
        following[0] = 0
        while size >= 0:
            h = following[size]
            if h == workers:
                size -= 1
                continue
            following[size] += 1
            worth = spent[size] + net[chunk, h]
            spent[size + 1] = worth
            for row in range(rows):
                better = max(served[size, row], gains[chunk, row, h])
                served[size + 1, row] = better
                worth += better
            most[chunk] = max(most[chunk], worth)
            size += 1
            following[size] = h + 1
    return most
