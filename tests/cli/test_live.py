"""The live table and the progress bar: on a terminal only, only after a while, gone at the end."""

import io
import sys
import time
from collections.abc import Callable

import pytest

from prefixplace_opt.cli import bar, live
from prefixplace_opt.solvers.run import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in place of standard error; in a test's body, since capturing begins there."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for module in (live, bar):
        monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    return stream


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_live_table_shows_incumbent_bound_and_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with live.LiveTable("auto x.json", time_limit=60) as table:
        table(Progress(0.5, "planning", 0.0, float("inf")))
        table(Progress(1.5, "branching", 90.0, 100.0, nodes=7))
        wait_for(lambda: "10.0000 %" in terminal.getvalue())
    shown = terminal.getvalue()
    for words in ("auto x.json", "of 60 s", "incumbent", "bound", "branching", "90.0", "7"):
        assert words in shown
    # The table is wiped out at the end.
    assert "\x1b[2K" in shown


def test_bar_counts_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with bar.Bar(3) as counting:
        counting.begin("first [instance]")
        counting.step()
        wait_for(lambda: "1/3" in terminal.getvalue())
        counting.begin("second")
        counting.step()
        wait_for(lambda: "2/3" in terminal.getvalue())
    assert "second" in terminal.getvalue()


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_nothing_is_shown_off_a_terminal_or_for_short_runs(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    terminal = terminal_of(monkeypatch)
    if seconds == 0.0:
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    for module in (live, bar):
        monkeypatch.setattr(module, "QUIET_SECONDS", seconds)
    with live.LiveTable("x") as table, bar.Bar(1) as counting:
        table(Progress(0.5, "planning", 1.0, 2.0))
        counting.begin("x")
        counting.step()
    assert terminal.getvalue() == ""
