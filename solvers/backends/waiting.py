"""Waiting for a foreign solver without being deaf: to Ctrl-C, to the clock, to its callbacks.

Python runs signal handlers in its main thread and between bytecodes, so a main thread inside a
solver hears nothing. The solver runs in a thread of its own; the caller's thread watches.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from prefixplace_opt.solvers.run import Run

Found = TypeVar("Found")

#: Seconds between two looks at the run.
LOOK = 0.02


class Kept:
    """Keeps the first exception of a callback, which a solver would swallow or die of."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def call(self, function: Callable[..., None], *arguments: object) -> None:
        """Call ``function`` unless something was kept already."""
        if self.error is None:
            try:
                function(*arguments)
            except BaseException as error:
                self.error = error

    def raise_kept(self) -> None:
        """Raise what was kept."""
        if self.error is not None:
            raise self.error


class _Thread(threading.Thread, Generic[Found]):
    def __init__(self, call: Callable[[], Found]) -> None:
        super().__init__(daemon=True, name="solver")
        self._call = call
        self.found: Found
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.found = self._call()
        except BaseException as error:
            self.error = error


def watched(call: Callable[[], Found], stop: Callable[[], None], run: Run, kept: Kept) -> Found:
    """Return what ``call`` returns.

    Parameters
    ----------
    call
        Runs the solver; must release the interpreter's lock while it works.
    stop
        Asks the solver to end; called again and again once the run must end or an exception was
        kept, since some solvers forget what they are told before they have started.
    run
        Clock and stop flag.
    kept
        Exceptions of callbacks.

    Raises
    ------
    BaseException
        What ``call`` or a callback raised.
    """
    thread = _Thread(call)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK)
            if run.stopped() or kept.error is not None:
                stop()
    except BaseException:
        stop()
        raise
    kept.raise_kept()
    if thread.error is not None:
        raise thread.error
    return thread.found
