"""What the problem says, free of any solver: models that a solver can be handed."""

from .compact import CompactModel, compact_arrays
from .flow import FlowModel, flow_arrays
from .linear_model import LinearModel
from .placement_model import PlacementModel

__all__ = [
    "CompactModel",
    "FlowModel",
    "LinearModel",
    "PlacementModel",
    "compact_arrays",
    "flow_arrays",
]
