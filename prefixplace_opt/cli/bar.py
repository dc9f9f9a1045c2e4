"""A progress bar over counted steps, on a terminal only and not for what is over at once."""

import sys
import threading
from types import TracebackType
from typing import Any, Self

from .live import QUIET_SECONDS


class Bar:
    """Counts steps on standard error, from its second second on; nothing off a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._text = ""
        self._bar: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._over = False
        self._timer = threading.Timer(QUIET_SECONDS, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def begin(self, text: str) -> None:
        """Say what goes on now."""
        with self._lock:
            self._text = text
            self._update()

    def step(self) -> None:
        """Count one step as done."""
        with self._lock:
            self._done += 1
            self._update()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar is not None:
                self._bar.stop()

    def _update(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self._text)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        with self._lock:
            if self._over:
                return
            self._bar = Progress(
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self._text, total=self._total, completed=self._done)
            self._bar.start()
