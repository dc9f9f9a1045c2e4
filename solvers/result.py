"""What every method returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from prefixplace_opt.problem import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prefixplace_opt.problem import Placement

#: ``optimal``: lower equals upper within :data:`OPTIMAL_TOLERANCE`, by a proof that the verifier
#: accepts. ``gap``: the asked gap is reached. ``feasible``: the method ended by itself without
#: that. The others name what ended the run.
Status = Literal["optimal", "gap", "feasible", "time-limit", "node-limit", "interrupted"]

#: Relative distance of lower and upper at which a plan counts as optimal, and what an asked gap may
#: be exceeded by: less than this doubles cannot be asked for.
OPTIMAL_TOLERANCE = 1e-9

#: By what share of a plan's value a bound may lie below it: the tolerances of foreign solvers.
#: Below that it is no rounding, and the bound cannot be believed.
CREDIBLE = 1e-6


@dataclass(frozen=True)
class Result:
    """A plan, how good it provably is, and how it was found.

    Attributes
    ----------
    placement
        The best plan found; its value was recomputed by the objective's definition.
    upper
        A valid upper bound on the optimum, ms per epoch; never below ``lower``. Of a method that
        leaves no proof, on the word of its solver.
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
        if not self.upper >= self.placement.value * (1 - CREDIBLE):
            raise SolverError(
                f"{self.method}: no plan is worth more than {self.upper!r}, it says, but one of "
                f"{self.placement.value!r} is known"
            )
        # Bound and value are rounded apart from each other.
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


def gap_met(reached: float, asked: float) -> bool:
    """Whether a relative gap is what was asked for, to within :data:`OPTIMAL_TOLERANCE`."""
    return reached <= asked + OPTIMAL_TOLERANCE
