"""What the verifier says: accepted or not, why not, and what is thereby proven."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from .integer_savings import Arithmetic

#: Why a certificate is rejected.
#:
#: - ``instance``, ``objective``: it belongs to another problem;
#: - ``placement``: unknown or repeated chunks, a chunk without its parent, over budget;
#: - ``number``: ``lower``, ``upper``, ``granularity`` or a price is negative or not finite;
#: - ``granularity``: some saving is no multiple of it;
#: - ``prices``: a row that does not exist or stands twice;
#: - ``tree``: the decisions do not divide the placements completely;
#: - ``lower``: the placement is worth less;
#: - ``upper``: a node's bound is higher.
Fault = Literal[
    "instance",
    "objective",
    "placement",
    "number",
    "granularity",
    "prices",
    "tree",
    "lower",
    "upper",
]


@dataclass(frozen=True)
class Rejection:
    """One reason why a certificate is rejected.

    Attributes
    ----------
    fault
        See :data:`Fault`.
    field
        Where in the certificate.
    message
        What was expected and what was found, with the numbers.
    """

    fault: Fault
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


@dataclass(frozen=True)
class Report:
    """The verifier's answer.

    Attributes
    ----------
    accepted
        Whether ``lower <= F(placement)`` and ``optimum <= upper`` are proven.
    reasons
        Why not; empty where accepted.
    lower, upper
        The claims, ms per epoch.
    value
        F of the placement, without rounding; None where the placement is none.
    bound
        What the proof shows to be no less than the optimum, after rounding down to the
        granularity: without rounding, or (directed) at most some units of 2**-60 of all savings
        too high. None where the proof is none.
    arithmetic
        ``"exact"`` or ``"directed"``.
    tolerance
        Relative distance of ``lower`` and ``upper`` at which the placement counts as optimal.
    leaves, refuted
        Leaves of the tree, and decisions whose opposites it refutes.
    seconds
        Wall time.
    """

    accepted: bool
    reasons: tuple[Rejection, ...]
    lower: float
    upper: float
    value: Fraction | None
    bound: Fraction | None
    arithmetic: Arithmetic
    tolerance: float
    leaves: int
    refuted: int
    seconds: float

    @property
    def gap(self) -> float:
        """``(upper - lower) / upper`` of the claims; 0 where the bound is 0 or met."""
        return float(self._gap())

    @property
    def optimal(self) -> bool:
        """Whether the placement is proven optimal, to the relative ``tolerance``."""
        return self.accepted and self._gap() <= Fraction(self.tolerance)

    def document(self) -> dict[str, Any]:
        """Return the report as JSON-ready objects; exact numbers as strings ``"p/q"``."""
        return {
            "accepted": self.accepted,
            "reasons": [
                {"fault": reason.fault, "field": reason.field, "message": reason.message}
                for reason in self.reasons
            ],
            "lower": self.lower,
            "upper": self.upper,
            "gap": self.gap if self.accepted else None,
            "optimal": self.optimal,
            "tolerance": self.tolerance,
            "value": None if self.value is None else str(self.value),
            "bound": None if self.bound is None else str(self.bound),
            "arithmetic": self.arithmetic,
            "leaves": self.leaves,
            "refuted": self.refuted,
            "seconds": self.seconds,
        }

    def _gap(self) -> Fraction:
        if not self.lower < self.upper:
            return Fraction(0)
        if self.upper == float("inf"):
            return Fraction(1)
        return 1 - Fraction(self.lower) / Fraction(self.upper)
