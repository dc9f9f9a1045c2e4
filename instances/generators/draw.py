"""Random draws that are the same on every machine, Python and NumPy.

Only two promises are used: that Python's ``random.Random(integer).random()`` gives the same
doubles for ever (its documentation says so), and integer arithmetic. No distribution of a library
and no function of the C library's mathematics takes part, so that no last bit can differ.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import MutableSequence, Sequence
from itertools import pairwise
from typing import TypeVar

from .apportion import apportion

T = TypeVar("T")

#: ``random()`` is a whole multiple of 2**-53: a draw is that whole number.
BITS = 53


class Draw:
    """A stream of pseudorandom numbers, named by what it is for.

    Streams of other labels are independent, so that a parameter of one part of an instance (say,
    its links) does not change what is drawn for another (its tree).

    Parameters
    ----------
    labels
        What the stream is for: family, seed, part. Their text is hashed (SHA-256) to the seed.
    """

    def __init__(self, *labels: object) -> None:
        digest = hashlib.sha256("/".join(map(str, labels)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - no secrets

    def bits(self) -> int:
        """Return a whole number from 0 to 2**53 - 1."""
        return int(self._random.random() * (1 << BITS))

    def below(self, count: int) -> int:
        """Return a whole number from 0 to ``count - 1`` (bias below count / 2**53)."""
        return (self.bits() * count) >> BITS

    def between(self, least: int, most: int) -> int:
        """Return a whole number from ``least`` to ``most``, both included."""
        return least + self.below(most - least + 1)

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self._random.random() < probability

    def choice(self, items: Sequence[T]) -> T:
        """Return one of ``items``, all equally likely."""
        return items[self.below(len(items))]

    def weighted(self, weights: Sequence[int]) -> int:
        """Return an index with probability proportional to its whole, non-negative weight."""
        target = (self.bits() * sum(weights)) >> BITS
        for index, weight in enumerate(weights):
            target -= weight
            if target < 0:
                return index
        raise ValueError("expected weights that add up to more than 0")

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put ``items`` into a random order, in place (Fisher-Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def geometric(self, mean: float, most: int) -> int:
        """Return 1 + the number of successes before a failure, mean ``mean``, at most ``most``."""
        count = 1
        again = 1 - 1 / mean
        while count < most and self.chance(again):
            count += 1
        return count

    def dirichlet(self, total: int, parts: int, concentration: int) -> list[int]:
        """Split ``total`` by a symmetric Dirichlet law of whole concentration; sums to ``total``.

        The spacings between every ``concentration``-th of ``parts * concentration - 1`` sorted
        uniform points have exactly that law: no gamma variate, no logarithm.
        """
        points = sorted(self.bits() for _ in range(parts * concentration - 1))
        cuts = [0, *points[concentration - 1 :: concentration], 1 << BITS]
        return apportion(total, [high - low for low, high in pairwise(cuts)])

    def skewed(self, total: int, parts: int, power: int) -> list[int]:
        """Split ``total`` in proportion to the ``power``-th powers of uniform numbers."""
        return apportion(total, [(self.bits() + 1) ** power for _ in range(parts)])
