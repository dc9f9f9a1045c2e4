"""A solver that does not end is stopped; what it told survives; nothing of it stays behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prefixplace_opt.problem import SolverError
from prefixplace_opt.solvers.backends import contained
from prefixplace_opt.solvers.backends.contained import Contained, limited
from prefixplace_opt.solvers.backends.highs import Highs
from tests.solvers.backends import models

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups (os.killpg) are absent")

CHILD = Path(__file__).with_name("stubborn_child.py")


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    return tmp_path / "pids"


def stubborn(how: str, pids: Path) -> Contained:
    return Contained("highs", [sys.executable, str(CHILD), how, str(pids)])


def gone(pid: int) -> bool:
    """Whether the process has ended; one that nobody waited for may stay as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
            == "Z"
        )
    except FileNotFoundError:
        return True


def assert_nothing_left(pids: Path, within: float = 5.0) -> None:
    child, grandchild, folder = json.loads(pids.read_text(encoding="utf-8"))
    until = time.monotonic() + within
    while time.monotonic() < until and not (gone(child) and gone(grandchild)):
        time.sleep(0.02)
    assert gone(child)
    assert gone(grandchild)
    assert not Path(folder).exists()


@pytest.mark.parametrize("why", ["time-limit", "interrupted"])
def test_overrun_is_stopped_and_the_best_so_far_comes_back(
    why: str, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contained, "GRACE", 0.2)
    model = models.knapsack()
    run = models.run(time_limit=1.0 if why == "time-limit" else None)
    heard = models.Watcher(run.interrupt if why == "interrupted" else lambda: None)
    begun = time.monotonic()
    answer = stubborn("sleep", pids).solve(model, run, listener=heard)
    assert time.monotonic() - begun < 10
    assert answer.ending == why
    assert "did not end within 0.2 s and was stopped" in answer.reason
    if why == "time-limit":
        assert answer.solution is not None
        assert answer.solution.tolist() == [0.0, 1.0, 0.0, 0.0]
        assert (answer.bound, answer.nodes) == (21.5, 3)
        assert heard.bounds == [21.5]
    assert len(heard.incumbents) == 1
    assert_nothing_left(pids)


@pytest.mark.parametrize(
    ("how", "ending", "reason"),
    [
        ("fail", "failed", "HiGHS: its process ended with status 3 and no answer: MemoryError: no"),
        ("SIGSEGV", "failed", "HiGHS: its process was ended by SIGSEGV"),
        ("SIGKILL", "limit", "HiGHS: its process was killed by the system (out of memory?)"),
    ],
)
def test_a_dead_process_is_named(how: str, ending: str, reason: str, pids: Path) -> None:
    answer = stubborn(how, pids).solve(models.knapsack(), models.run())
    assert answer.ending == ending
    assert answer.reason.startswith(reason)
    assert answer.bound == 21.5
    assert answer.solution is not None
    assert_nothing_left(pids)


def test_exception_of_the_listener_ends_the_process(pids: Path) -> None:
    def fail() -> None:
        raise ZeroDivisionError("of the listener")

    with pytest.raises(ZeroDivisionError):
        stubborn("sleep", pids).solve(
            models.knapsack(), models.run(), listener=models.Watcher(fail)
        )
    assert_nothing_left(pids)


def test_errors_of_the_process_come_through() -> None:
    with pytest.raises(SolverError, match="CP-SAT takes whole coefficients only"):
        Contained("cp-sat").solve(models.model([1.0], [0.5], upper=1.0), models.run())


PARENT = """
import os, sys, threading, time
sys.path.insert(0, sys.argv[1])
from prefixplace_opt.solvers.backends.contained import Contained, _Process
from tests.solvers.backends import models

start = _Process.__init__
def told(self, command, folder, log):
    start(self, command, folder, log)
    print(self._process.pid, folder, flush=True)
_Process.__init__ = told
Contained("highs").solve(models.market_split()[0], models.run())
"""


def test_a_killed_parent_leaves_nothing() -> None:
    root = Path(__file__).resolve().parents[3]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(root)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pid, folder = parent.stdout.readline().split()
    # The process must have begun to listen; its request is read by then.
    time.sleep(1.5)
    assert not gone(int(pid))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    until = time.monotonic() + 15
    while time.monotonic() < until and not (gone(int(pid)) and not Path(folder).exists()):
        time.sleep(0.05)
    assert gone(int(pid))
    assert not Path(folder).exists()


def test_who_gets_a_process(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.handed(shared)
    assert isinstance(limited("highs", model, models.run(time_limit=1.0)), Highs)
    assert isinstance(limited("pyomo:cbc", model, models.run()), Contained)
    monkeypatch.setattr(contained, "CONTAIN_FROM", model.entries)
    assert isinstance(limited("highs", model, models.run(time_limit=1.0)), Contained)
    assert isinstance(limited("highs", model, models.run()), Highs)
