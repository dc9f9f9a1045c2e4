"""A back end in a process of its own, so that a limit holds whatever the solver does.

Asked to end, the process has a second; then it is killed with everything it started. The best
incumbent and bound that it told of until then are the answer. Its files live in a temporary folder
that is removed in any case.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import SolverError

from .backend import STOPPED, Answer, Backend, Capabilities, Listener
from .exchange import Request, read_answer, write_request
from .registry import backend_named
from .waiting import LOOK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefixplace_opt.formulations import LinearModel
    from prefixplace_opt.solvers.run import Run

Floats = NDArray[np.float64]

#: Seconds that a solver has to end after it was asked to.
GRACE = 1.0

#: A model with this many matrix entries is solved in a process of its own where a time limit is
#: set: HiGHS was 6 s late on one of 45,000, and a process takes half a second to start.
CONTAIN_FROM = 10_000

CHILD = (sys.executable, "-P", "-m", f"{__package__}.child")


def limited(name: str, model: LinearModel, run: Run) -> Backend:
    """Return the back end called ``name`` such that the limits of ``run`` hold for ``model``."""
    backend = backend_named(name)
    big = run.options.time_limit is not None and model.entries >= CONTAIN_FROM
    return Contained(name) if big or not backend.capabilities.interrupt else backend


class Contained:
    """The back end called ``backend``, in a process of its own.

    Parameters
    ----------
    backend
        Name in the registry.
    command
        What to start; the folder of the request is its last argument.
    """

    def __init__(self, backend: str, command: Sequence[str] = CHILD) -> None:
        inner = backend_named(backend)
        self.name = inner.name
        self.capabilities: Capabilities = inner.capabilities
        self._backend = backend
        self._command = tuple(command)

    def require(self) -> None:
        """Raise SolverError where the solver is not installed."""
        backend_named(self._backend).require()

    def solve(
        self,
        model: LinearModel,
        run: Run,
        *,
        relaxed: bool = False,
        start: Floats | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """Maximise ``model``; see :class:`.backend.Backend`."""
        with tempfile.TemporaryDirectory(
            prefix="prefixplace-", ignore_cleanup_errors=True
        ) as temporary:
            folder = Path(temporary)
            options = run.options
            write_request(
                folder,
                Request(
                    backend=self._backend,
                    model=model,
                    relaxed=relaxed,
                    start=start,
                    options={
                        name: getattr(options, name)
                        for name in ("gap", "node_limit", "seed", "threads", "log")
                    },
                    deadline=time.time() + run.remaining if options.time_limit else None,
                ),
            )
            process = _Process(self._command, folder, options.log)
            conversation = _Conversation(self.name, folder, listener or Listener(model, run))
            try:
                return conversation.held(process, run)
            finally:
                process.kill()


class _Process:
    """The solver's process and its lines; killed as a group."""

    def __init__(self, command: Sequence[str], folder: Path, log: bool) -> None:
        self.begun = time.perf_counter()
        self._errors = folder / "stderr"
        # A foreign solver's own temporary files go with the folder.
        environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder)}
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(  # noqa: S603
                [*command, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if log else errors,
                env=environment,
                # Ctrl-C at a terminal goes to a whole group: this one gets its word from us.
                start_new_session=True,
            )
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True, name="solver's lines")
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.put(line)

    def ask_to_end(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"s")
            self._process.stdin.flush()
        except OSError:
            # It has ended already.
            return

    def ended(self) -> bool:
        """Whether it has ended; what it started may still hold the pipe open."""
        return self._process.poll() is not None

    def status(self) -> int:
        """Return the exit status; negative where a signal ended it."""
        return self._process.wait()

    def last_words(self) -> str:
        """Return the last line that it wrote to standard error."""
        lines = self._errors.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def kill(self) -> None:
        """Kill whatever is left of it."""
        if hasattr(os, "killpg"):
            # The group may outlive its leader: a solver that the child started, say.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()


class _Conversation:
    """Listens to the process until it has answered, or must not go on."""

    def __init__(self, name: str, folder: Path, listener: Listener) -> None:
        self._name = name
        self._folder = folder
        self._listener = listener
        self._solution: Floats | None = None
        self._bound = math.inf
        self._nodes = 0

    def held(self, process: _Process, run: Run) -> Answer:
        asked = math.inf
        while True:
            # Asked before the look at the pipe: what it said before it died is there by then.
            ended = process.ended()
            try:
                line = process.lines.get(timeout=LOOK)
            except queue.Empty:
                if ended:
                    return self._died(process)
            else:
                answer = self._heard(json.loads(line), run)
                if answer is not None:
                    return answer
            why = run.stopped()
            now = time.perf_counter()
            if why and asked == math.inf:
                asked = now
                process.ask_to_end()
            if why and now - asked > GRACE:
                return Answer(
                    ending=why,
                    reason=f"{self._name}: did not end within {GRACE:g} s and was stopped",
                    solution=self._solution,
                    bound=self._bound,
                    nodes=self._nodes,
                    seconds=now - process.begun,
                )

    def _heard(self, line: dict[str, Any], run: Run) -> Answer | None:
        if "answer" in line:
            answer = read_answer(self._folder, line["answer"])
            if answer.ending == "interrupted" and run.stopped() == "time-limit":
                # The process was told to stop, not why.
                return replace(answer, ending="time-limit", reason=f"{self._name}: {STOPPED}")
            return answer
        if "error" in line:
            raise SolverError(line["error"])
        if "incumbent" in line:
            file = self._folder / line["incumbent"]
            self._solution = np.load(file, allow_pickle=False)
            file.unlink()
            self._listener.incumbent(self._solution)
        else:
            # Either may be told of late: a bound never gets worse.
            self._bound = min(self._bound, float(line["bound"]))
            self._nodes = line["nodes"]
            self._listener.bound(self._bound, self._nodes)
        return None

    def _died(self, process: _Process) -> Answer:
        status = process.status()
        killed = hasattr(signal, "SIGKILL") and status == -signal.SIGKILL
        if killed:
            why = "its process was killed by the system (out of memory?)"
        elif status < 0:
            why = f"its process was ended by {signal.Signals(-status).name}"
        else:
            why = f"its process ended with status {status} and no answer"
        words = process.last_words()
        return Answer(
            ending="limit" if killed else "failed",
            reason=f"{self._name}: {why}" + (f": {words}" if words else ""),
            solution=self._solution,
            bound=self._bound,
            nodes=self._nodes,
            seconds=time.perf_counter() - process.begun,
        )
