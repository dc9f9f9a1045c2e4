"""The best plan so far, and which bounds are good enough beside it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Problem, Savings
from prefixplace_opt.problem.exactness import savings_are_exact

Mask = NDArray[np.bool_]

#: Bounds within this share of the incumbent prove it optimal; half of what a result may call so.
TIGHT = 5e-10


class Incumbent:
    """The best plan so far.

    Parameters
    ----------
    form
        The problem's normal form.
    held
        A plan, shape (M, n), by position.
    gap
        The relative gap that is asked for; 0 asks for a proof of optimality.
    granularity
        Every plan's value is a multiple of this; 0 where nothing useful is known.
    reference
        The value to which the gap is measured, unless a better plan shows that no bound can come
        so close to it; None for the best plan's own.

    Attributes
    ----------
    held, value
        The plan and F of it, ms per epoch.
    """

    def __init__(
        self,
        form: Savings,
        held: Mask,
        gap: float,
        granularity: float = 0.0,
        reference: float | None = None,
    ) -> None:
        self._form = form
        self._gap = gap
        self._reference = reference
        self.held = held
        self.value = form.value(held)
        self.granularity = granularity
        self.improvements = 0

    @property
    def cutoff(self) -> float:
        """The largest bound that leaves nothing to prove."""
        within = self.value * (1 + TIGHT)
        if self._gap < 1:
            within = max(within, self._least_worth_proving() / (1 - self._gap) * (1 - 1e-12))
        # No value lies strictly between two multiples; rounding is far below a hundredth of one.
        return max(within, self.value + 0.99 * self.granularity)

    def _least_worth_proving(self) -> float:
        # A bound that is to equal the best plan is still within reach.
        refuted = self.value * (1 - TIGHT)
        if self._reference is None or self._reference / (1 - self._gap) < refuted:
            return self.value
        return self._reference

    def offer(self, value: float, held: Callable[[], Mask]) -> bool:
        """Take the plan that ``held`` returns if it is better; ``value`` is about its worth."""
        if value <= self.value * (1 + 1e-12):
            return False
        plan = held()
        exact = self._form.value(plan)
        if exact <= self.value:
            return False
        self.held, self.value = plan, exact
        self.improvements += 1
        return True

    def proven(self, bound: float) -> float:
        """Return the upper bound on the optimum that ``bound`` amounts to."""
        if self.granularity > 0:
            steps = np.floor(bound / self.granularity + 1e-3)
            bound = min(bound, float(steps) * self.granularity)
        return max(bound, self.value)


def granularity(problem: Problem, form: Savings) -> float:
    """Return the largest number that divides all savings, or 0 where there is none of use.

    It is of use where rounding of sums stays far below it, and where it divides the exact savings,
    not just those of the normal form: a certificate knows no other.
    """
    divisor = _common_divisor(form)
    return divisor if divisor > 0 and savings_are_exact(problem) else 0.0


def _common_divisor(form: Savings) -> float:
    values = np.unique(np.concatenate([*form.local_value, form.row_value.ravel()]))
    total = sum(float(v.sum()) for v in form.local_value) + float(form.row_best.sum())
    mantissa, exponent = np.frexp(values[values != 0])
    if mantissa.size == 0:
        return 0.0
    # Every double is a whole multiple of 2**(exponent - 53); with many distinct ones of full
    # length nothing is to be found.
    least = int(exponent.min()) - 53
    if (exponent.max() - least) > 120:
        return 0.0
    divisor = 0
    for m, e in zip(mantissa.tolist(), exponent.tolist(), strict=True):
        divisor = gcd(divisor, int(m * 2**53) << (int(e) - 53 - least))
        if divisor * 2.0**least < total * 1e-9:
            return 0.0
    return float(Fraction(divisor) * Fraction(2) ** least)
