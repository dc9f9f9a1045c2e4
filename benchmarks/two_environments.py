"""Generate one suite file in several environments and compare the manifests byte for byte.

    python benchmarks/two_environments.py SUITE.toml PYTHON:REQUIREMENTS PYTHON:REQUIREMENTS ...
    python benchmarks/two_environments.py instances/library/suite.toml \
        python3.11:numpy==2.0.2,numba==0.61.0 python3.13:numpy,numba --traces TRACES

Each environment is a fresh virtual environment of that interpreter with the given packages, typer
and rich, and this checkout without its other dependencies, which generating does not import.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
FACTS = (
    "import platform, numpy, numba;"
    "print(f'Python {platform.python_version()}, NumPy {numpy.__version__},',"
    "f'numba {numba.__version__}')"
)


def run(*command: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


def manifest(environment: str, suite: Path, traces: Path | None, folder: Path) -> tuple[str, bytes]:
    interpreter, requirements = environment.split(":", 1)
    run(interpreter, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, *requirements.split(","), "typer", "rich", "setuptools>=77", "wheel")
    run(*pip, "--no-deps", "--no-build-isolation", CHECKOUT)
    command = folder / "venv" / "bin" / "prefixplace"
    options = [] if traces is None else ["--traces", traces]
    run(command, "generate", suite, "-o", folder / "out", "--no-store", *options)
    return run(python, "-c", FACTS), (folder / "out" / "manifest.json").read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", type=Path)
    parser.add_argument("environments", nargs="+", metavar="PYTHON:REQUIREMENTS")
    parser.add_argument("--traces", type=Path)
    given = parser.parse_args()
    seen = set()
    for environment in given.environments:
        with tempfile.TemporaryDirectory() as folder:
            facts, content = manifest(environment, given.suite, given.traces, Path(folder))
        digest = hashlib.sha256(content).hexdigest()
        count = content.count(b'"digest"')
        print(f"{facts}: {count} instances, manifest {digest}", flush=True)
        seen.add(digest)
    print("identical" if len(seen) == 1 else "DIFFERENT")
    sys.exit(len(seen) > 1)


if __name__ == "__main__":
    main()
