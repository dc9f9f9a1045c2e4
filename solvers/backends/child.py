"""A foreign solver in a process of its own: ``python -m prefixplace_opt.solvers.backends.child``.

Takes a folder (:mod:`.exchange`), streams incumbents and bounds, ends when its standard input says
so or is closed: also when its parent died, and then it leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixPlaceError
from prefixplace_opt.solvers.run import Options, Run

from .backend import Listener
from .exchange import number, read_request, write_answer
from .registry import backend_named

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]

#: Seconds that a solver has to end by itself once the parent is gone.
GRACE = 1.0


class Streaming(Listener):
    """Writes incumbents to files, and tells of them and of bounds on the pipe."""

    def __init__(self, folder: Path, tell: Callable[[dict[str, Any]], None]) -> None:
        self._folder = folder
        self._tell_parent = tell
        self._count = 0

    def incumbent(self, solution: Floats) -> None:
        """Write it, then tell."""
        self._count += 1
        name = f"incumbent-{self._count}.npy"
        np.save(self._folder / name, solution, allow_pickle=False)
        self._tell_parent({"incumbent": name})

    def bound(self, upper: float, nodes: int) -> None:
        """Tell."""
        self._tell_parent({"bound": number(upper), "nodes": nodes})


def main(folder: Path) -> int:
    """Solve what the folder asks for; return the exit status."""
    # Whatever a solver prints must not get between our lines: the pipe moves to another number.
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def tell(line: dict[str, Any]) -> None:
        with lock:
            pipe.write(json.dumps(line, allow_nan=False) + "\n")
            pipe.flush()

    try:
        request = read_request(folder)
        options = dict(request.options)
        if request.deadline is not None:
            options["time_limit"] = max(request.deadline - time.time(), 1e-3)
        run = Run(Options(**options))
        threading.Thread(target=_obey, args=(run, folder), daemon=True).start()
        answer = backend_named(request.backend).solve(
            request.model,
            run,
            relaxed=request.relaxed,
            start=request.start,
            listener=Streaming(folder, tell),
        )
        tell({"answer": write_answer(folder, answer)})
    except PrefixPlaceError as error:
        tell({"error": str(error)})
    except BrokenPipeError:
        # The parent is gone: nobody else will clear up.
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)
    return 0


def _obey(run: Run, folder: Path) -> None:
    """End the run at the first word, or when the parent is gone; then do not outlive it."""
    word = os.read(0, 1)
    run.interrupt()
    if word:
        # The parent is there and will see to the rest; unless it goes now.
        os.read(0, 1)
    time.sleep(GRACE)
    shutil.rmtree(folder, ignore_errors=True)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
