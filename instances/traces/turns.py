"""Rows that are turns of sessions: when a turn happened, and rows that repeat."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from prefixplace_opt.problem import InputError
from prefixplace_opt.problem.errors import shorten

from .request import Report, milliseconds

#: Request ids that are remembered to notice one that comes again.
REMEMBERED = 1 << 16


class SessionClock:
    """Times of turns, some of which only say how long after the one before they came."""

    def __init__(self) -> None:
        self._last: dict[Hashable | None, float] = {}

    def time(
        self, session: Hashable | None, timestamp: Any, delay: Any, where: str, report: Report
    ) -> float:
        """Return the turn's time in ms.

        Without a ``timestamp`` it is the time of the session's last turn plus ``delay``: how long
        that turn took to serve is not known, so that this is the earliest that it can have been.
        """
        if timestamp is not None:
            time = milliseconds(timestamp, f"{where}.timestamp")
        else:
            wait = 0.0 if delay is None else milliseconds(delay, f"{where}.delay")
            time = self._last.get(session, 0.0) + max(wait, 0.0)
            report.note(
                "turns timed by their delay alone" if delay is not None else "turns without time"
            )
        if session is not None:
            self._last[session] = time
        return time


class RequestIds:
    """Notices request ids that come again, among the last ``REMEMBERED``."""

    def __init__(self) -> None:
        self._seen: OrderedDict[Hashable, None] = OrderedDict()

    def repeated(self, identity: Hashable | None) -> bool:
        """Whether ``identity`` came before; None never did."""
        if identity is None:
            return False
        if identity in self._seen:
            return True
        self._seen[identity] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return False


def identity(value: Any, where: str) -> Hashable | None:
    """Return an id of a session, request or chat: a string or a whole number, None where absent."""
    if value is None or type(value) is int or type(value) is str:
        return value
    raise InputError(f"expected a string or a whole number, got {shorten(value)}", field=where)
