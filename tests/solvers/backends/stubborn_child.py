"""A solver's process that tells of an incumbent and a bound, and then does what it is told to.

Called with a way to end and, as the last argument, the folder of the request. It starts a process
of its own, writes both numbers to the folder's parent's file that `pids` names, and ignores every
wish to end.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

how, pids, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
pids.write_text(json.dumps([os.getpid(), grandchild.pid, str(folder)]), encoding="utf-8")
np.save(folder / "incumbent-1.npy", np.array([0.0, 1.0, 0.0, 0.0]), allow_pickle=False)
for line in ({"incumbent": "incumbent-1.npy"}, {"bound": 21.5, "nodes": 3}):
    print(json.dumps(line), flush=True)
if how == "sleep":
    time.sleep(300)
elif how == "fail":
    print("Traceback\nMemoryError: no more of it", file=sys.stderr)
    sys.exit(3)
else:
    os.kill(os.getpid(), getattr(signal, how))
    time.sleep(300)
