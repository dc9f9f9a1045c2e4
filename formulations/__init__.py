"""What the problem says, free of any solver: models that a solver can be handed.

Every formulation comes as arrays (``compact_arrays``, for solvers) and as a Pyomo model
(``compact_milp``, for people); both say the same.
"""

from .algebraic_compact import compact_milp
from .algebraic_configuration import configuration_lp
from .algebraic_flow import flow_milp
from .by_name import FORMULATIONS
from .compact import CompactModel, compact_arrays
from .configuration import (
    ConfigurationModel,
    Configurations,
    all_configurations,
    configuration_arrays,
)
from .flow import FlowModel, flow_arrays
from .linear_model import LinearModel
from .placement_model import PlacementModel

__all__ = [
    "FORMULATIONS",
    "CompactModel",
    "ConfigurationModel",
    "Configurations",
    "FlowModel",
    "LinearModel",
    "PlacementModel",
    "all_configurations",
    "compact_arrays",
    "compact_milp",
    "configuration_arrays",
    "configuration_lp",
    "flow_arrays",
    "flow_milp",
]
