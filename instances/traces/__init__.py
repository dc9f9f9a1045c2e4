"""Trace formats of the field, each read as one stream of requests."""

from .files import read_rows
from .formats import FORMATS, reader_for, sniff
from .request import Report, Request, Row, TraceReader

__all__ = [
    "FORMATS",
    "Report",
    "Request",
    "Row",
    "TraceReader",
    "read_rows",
    "reader_for",
    "sniff",
]
