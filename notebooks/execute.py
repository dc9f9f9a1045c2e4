"""Execute the notebooks of this folder, or those that are named.

Each runs in a temporary folder and from top to bottom. An error in a cell fails the run, and so
does a committed notebook whose cells stand there without having been executed. The files
themselves stay as they are unless --write stores the new outputs in them.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

HERE = Path(__file__).resolve().parent
CELL_SECONDS = 300


def cells_without_run(notebook: nbformat.NotebookNode) -> list[int]:
    """Return the positions of the code cells that were committed without having been executed."""
    return [
        position
        for position, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.source.strip() and cell.execution_count is None
    ]


def execute(path: Path, *, write: bool) -> str | None:
    """Execute one notebook; return what is wrong with it, or None."""
    notebook = nbformat.read(path, as_version=4)
    bare = cells_without_run(notebook)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            record_timing=False,  # outputs stored twice are the same twice
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            return str(error)
    if write:
        nbformat.write(notebook, path)
    elif bare:
        return f"cells {bare} were committed without outputs: run this script with --write"
    return None


def main() -> int:
    """Execute the notebooks and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all in this folder")
    parser.add_argument("--write", action="store_true", help="store the outputs in the files")
    arguments = parser.parse_args()
    paths = arguments.notebooks or sorted(HERE.glob("*.ipynb"))
    failures = 0
    for path in paths:
        start = time.perf_counter()
        wrong = execute(path, write=arguments.write)
        print(f"{path.name}: {wrong or 'ok'} ({time.perf_counter() - start:.1f} s)", flush=True)
        failures += wrong is not None
    noun = "notebook" if len(paths) == 1 else "notebooks"
    print(f"{len(paths)} {noun} executed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
