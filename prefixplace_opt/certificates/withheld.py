"""What a bound pays back for the amounts withheld from holders: the most over sets of workers.

    max_S ( sum_{h in S} beta_h - sum_{r of b} ( sum_{h in S} u_{r,h} - max_{h in S} u_{r,h} ) )

for every chunk b of which something is withheld, S running over the workers from which it is
(docs/certificates.md). Whole numbers of any size, int64 or Python's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
