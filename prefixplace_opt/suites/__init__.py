"""What is known about a suite's instances: checked, and improved only with certificates."""

from .best_known import Improvement, improved
from .checking import Finding, check_entry, checked_certificates, foreign_files
from .compaction import compacted
from .runs import solved

__all__ = [
    "Finding",
    "Improvement",
    "check_entry",
    "checked_certificates",
    "compacted",
    "foreign_files",
    "improved",
    "solved",
]
