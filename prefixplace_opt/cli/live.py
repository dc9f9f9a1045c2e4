"""The live table of a run, on a terminal only, in the shape that MIP users know."""

import sys
import threading
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import RenderableType

    from prefixplace_opt.solvers.run import Progress

#: A run that is over sooner shows nothing.
QUIET_SECONDS = 1.0
LINES = 12


class LiveTable:
    """Shows a run's progress on standard error while it lasts, from its second second on.

    Give the object as a run's ``progress`` callback inside a ``with`` block. Off a terminal it
    records nothing and prints nothing.
    """

    def __init__(
        self, title: str, *, time_limit: float | None = None, enabled: bool = True
    ) -> None:
        self._title = title
        self._limit = time_limit
        self._enabled = enabled and sys.stderr.isatty()
        self._events: deque[Progress] = deque(maxlen=LINES)
        self._start = 0.0
        self._live: Any = None
        self._timer = threading.Timer(QUIET_SECONDS, self._show)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._over = False

    def __enter__(self) -> Self:
        self._start = time.perf_counter()
        if self._enabled:
            self._timer.start()
        return self

    def __call__(self, progress: "Progress") -> None:
        """Take what a run tells."""
        if self._enabled:
            self._events.append(progress)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._live is not None:
                self._live.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live

        with self._lock:
            if self._over:
                return
            self._live = Live(
                console=Console(stderr=True),
                get_renderable=self._render,
                refresh_per_second=4,
                transient=True,
            )
            self._live.start()

    def _render(self) -> "RenderableType":
        from rich.table import Table

        from prefixplace_opt.report.table import percent

        elapsed = time.perf_counter() - self._start
        limit = f" of {self._limit:g}" if self._limit else ""
        table = Table(
            title=f"{self._title}, {elapsed:.0f}{limit} s", box=None, title_justify="left"
        )
        for name in ("time", "phase", "nodes", "incumbent", "bound", "gap"):
            table.add_column(name, justify="left" if name == "phase" else "right")
        for event in tuple(self._events):
            bound = "-" if event.upper == float("inf") else f"{event.upper:,.1f}"
            table.add_row(
                f"{event.seconds:.1f}s",
                event.phase,
                str(event.nodes or ""),
                f"{event.lower:,.1f}" if event.lower > 0 else "-",
                bound,
                percent(event.gap, 4),
            )
        return table
