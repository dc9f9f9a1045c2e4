"""What every method returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prefixplace_opt.problem import Placement

#: ``optimal``: lower equals upper within the stated tolerance, provably. ``gap``: the asked gap is
#: proven. ``feasible``: the method ended by itself without proving the asked gap. The others name
#: what ended the run.
Status = Literal["optimal", "gap", "feasible", "time-limit", "node-limit", "interrupted"]

#: Relative distance of lower and upper at which a run in doubles may call a plan optimal.
OPTIMAL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Result:
    """A plan, how good it provably is, and how it was found.

    Attributes
    ----------
    placement
        The best plan found; its value was recomputed by the objective's definition.
    upper
        A valid upper bound on the optimum, ms per epoch; never below ``lower``.
    status
        See :data:`Status`.
    method
        Name of the method.
    reason
        One sentence for people: why the run ended so.
    seconds
        Wall time.
    statistics
        Numbers of the run: sweeps, nodes, rounds, seconds of each part; JSON-ready.
    proof
        What a certificate is made from (prices, branching tree), where the method has one.
    """

    placement: Placement
    upper: float
    status: Status
    method: str
    reason: str = ""
    seconds: float = 0.0
    statistics: Mapping[str, Any] = field(default_factory=dict)
    proof: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if math.isnan(self.upper):
            raise ValueError("a bound is a number")
        # Bound and value are rounded apart from each other; a bound below a plan we hold is noise.
        object.__setattr__(self, "upper", max(self.upper, self.placement.value))

    @property
    def lower(self) -> float:
        """Value of the plan, ms per epoch."""
        return self.placement.value

    @property
    def gap(self) -> float:
        """``(upper - lower) / upper``: how much better a plan could at most be."""
        return relative_gap(self.lower, self.upper)


def relative_gap(lower: float, upper: float) -> float:
    """Return ``(upper - lower) / upper``, in 0 .. 1; 0 where the bound is 0 or met."""
    if upper <= lower:
        return 0.0
    return 1.0 if math.isinf(upper) else (upper - lower) / upper
