"""The ground floor: what a placement problem, a placement and their value are, and their files."""

from .arrays import cost_array, index_array, number, whole_number
from .carry_over import carry_over
from .costs import (
    AffineCost,
    CostTable,
    DenseCost,
    InterpolatedCost,
    LinkCost,
    PairwiseCost,
    PairwiseCostTable,
    UniformCost,
)
from .demand import Demand
from .errors import CapacityError, InputError, PrefixPlaceError, SolverError
from .holders import Holders
from .instance_file import read_problem, write_problem
from .objective import Decomposition, decomposition, marginals, objective_value, served_savings
from .placement import Placement
from .placement_file import read_placement, write_placement
from .problem import Objective, Problem, Worker
from .proof import Branch, Decision, Fixing, Leaf, Prices, Proof
from .savings import Savings, savings
from .tree import PrefixTree, PrefixTreeBuilder

__all__ = [
    "AffineCost",
    "Branch",
    "CapacityError",
    "CostTable",
    "Decision",
    "Decomposition",
    "Demand",
    "DenseCost",
    "Fixing",
    "Holders",
    "InputError",
    "InterpolatedCost",
    "Leaf",
    "LinkCost",
    "Objective",
    "PairwiseCost",
    "PairwiseCostTable",
    "Placement",
    "PrefixPlaceError",
    "PrefixTree",
    "PrefixTreeBuilder",
    "Prices",
    "Problem",
    "Proof",
    "Savings",
    "SolverError",
    "UniformCost",
    "Worker",
    "carry_over",
    "cost_array",
    "decomposition",
    "index_array",
    "marginals",
    "number",
    "objective_value",
    "read_placement",
    "read_problem",
    "savings",
    "served_savings",
    "whole_number",
    "write_placement",
    "write_problem",
]
