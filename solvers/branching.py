"""On which (worker, chunk) a node branches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def choose_slot(bound: float, inside: Floats, outside: Floats, share: Floats, free: Mask) -> int:
    """Return the slot to branch on.

    The product of how far the bound falls on either side, at the prices there are, weighted by how
    undecided the slot is: 0.01 at 0 and 1, 0.51 at one half.

    Parameters
    ----------
    bound
        Of the node.
    inside, outside
        Shape (slots,): the bound with each slot forced in, and out.
    share
        Shape (slots,): how much of each the relaxation takes.
    free
        Shape (slots,): which may be branched on; at least one.
    """
    # Shares of the bound, since a product of values may overflow.
    scale = abs(bound) or 1.0
    falls = [np.maximum((bound - forced) / scale, 0.0) + 1e-6 for forced in (inside, outside)]
    drops = falls[0] * falls[1]
    undecided = 0.01 + np.minimum(share, 1 - share)
    return int(np.argmax(np.where(free, drops * undecided, -1.0)))
