"""Peak memory of this process, on Linux."""

from __future__ import annotations

import re
from pathlib import Path


def peak_mib() -> float:
    """Peak resident memory since the program began, MiB.

    ``ru_maxrss`` would not do: a child process starts with its parent's.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert match is not None
    return int(match[1]) / 1024
