"""A piece of a run that takes its time, for the workers of a test's cluster to import."""

import os
import time
from pathlib import Path

from prefixplace_opt.solvers.planner import Candidate, start_from
from prefixplace_opt.solvers.pool import Work


def slow_start(work: Work, item: tuple[tuple[int, ...], str]) -> Candidate:
    """Say in the folder of the item which process begins, wait, and do the planner's piece."""
    order, folder = item
    name = "-".join(map(str, order))
    with (Path(folder) / name).open("a", encoding="utf-8") as begun:
        begun.write(f"{os.getpid()}\n")
    time.sleep(0.4)
    return start_from(work, order)


def broken(work: Work, item: int) -> None:
    raise ValueError(f"item {item}")
