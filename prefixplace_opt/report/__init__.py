"""The figures behind tables and pictures: what an instance, a placement and a set of runs say."""

from .best_known import BestKnown, read_best_known
from .instance_summary import InstanceSummary, WorkerSummary, summarise_instance
from .placement_summary import PlacementSummary, WorkerSavings, summarise_placement
from .render import as_csv, as_html, as_markdown
from .results_table import results_table
from .table import Column, Table
from .trials import Protocol, Trial, Trials, read_trials, run_trials, write_trials

__all__ = [
    "BestKnown",
    "Column",
    "InstanceSummary",
    "PlacementSummary",
    "Protocol",
    "Table",
    "Trial",
    "Trials",
    "WorkerSavings",
    "WorkerSummary",
    "as_csv",
    "as_html",
    "as_markdown",
    "read_best_known",
    "read_trials",
    "results_table",
    "run_trials",
    "summarise_instance",
    "summarise_placement",
    "write_trials",
]
