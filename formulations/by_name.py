"""The formulations that solvers are handed, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compact import compact_arrays
from .flow import flow_arrays

if TYPE_CHECKING:
    from collections.abc import Callable

    from prefixplace_opt.problem import Problem

    from .placement_model import PlacementModel

FORMULATIONS: dict[str, Callable[[Problem], PlacementModel]] = {
    "compact": compact_arrays,
    "compact-both": lambda problem: compact_arrays(problem, closure="both"),
    "flow": flow_arrays,
}
