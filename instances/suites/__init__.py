"""Suites: many instances from one file, and the manifest that says what each of them is."""

from .entry import BestKnown, Entry, difficulty
from .generation import generate_suite, regenerated
from .manifest import MANIFEST, Suite, read_suite, write_suite
from .recipe import TRACE, TrafficAbsentError
from .suite_file import read_suite_file

__all__ = [
    "MANIFEST",
    "TRACE",
    "BestKnown",
    "Entry",
    "Suite",
    "TrafficAbsentError",
    "difficulty",
    "generate_suite",
    "read_suite",
    "read_suite_file",
    "regenerated",
    "write_suite",
]
