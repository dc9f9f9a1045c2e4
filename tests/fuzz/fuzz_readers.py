"""Coverage-guided fuzzing of one reader, or of all in turn, with atheris.

    python -m pip install atheris        # wheels for some Pythons only: no part of the lock file
    python -m tests.fuzz.fuzz_readers [READER ...] [--seconds 60] [--corpus DIR]

Starts from the readers' seeds and keeps what reaches new code in the corpus folder. The first input
that raises anything but the product's own errors, takes over 10 seconds or over 2 GiB ends the run
and is left as ``crash-...``, ``timeout-...`` or ``oom-...`` in the current folder.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path

#: Rooms whose functions are instrumented; what numba compiles is none of Python's functions.
ROOMS = (
    *("json.", "tomllib.", "prefixplace_opt.problem.", "prefixplace_opt.certificates."),
    "prefixplace_opt.instances.",
)


def functions() -> Iterator[types.FunctionType]:
    """Every function and method of the rooms' modules."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(ROOMS):
            continue
        owners = [value for value in vars(module).values() if isinstance(value, type)]
        for owner in (module, *(owner for owner in owners if owner.__module__ == name)):
            for value in vars(owner).values():
                function = getattr(value, "__func__", value)
                if isinstance(function, types.FunctionType) and function.__module__ == name:
                    yield function


def fuzz(reader: str, corpus: Path, seconds: int) -> None:
    import atheris  # type: ignore[import-not-found]

    from tests.fuzz import targets

    # Not at import: that would break what numba compiles.
    for raw in targets.SEEDS[reader]:
        targets.read(reader, raw)
    for function in functions():
        atheris.instrument_func(function)
    for raw in targets.SEEDS[reader]:
        (corpus / hashlib.sha256(raw).hexdigest()[:16]).write_bytes(raw)
    options = ["-max_len=65536", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]
    arguments = [sys.argv[0], *options, f"-max_total_time={seconds}", str(corpus)]
    atheris.Setup(arguments, lambda raw: targets.read(reader, raw) and None)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--corpus", type=Path, help="kept between runs; default: a scratch folder")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.corpus or Path(scratch)
        if arguments.alone:
            reader = arguments.readers[0]
            corpus = folder / reader
            corpus.mkdir(parents=True, exist_ok=True)
            fuzz(reader, corpus, arguments.seconds)
            return 0
        from tests.fuzz.targets import READERS

        # A process for each: the fuzzer ends its own.
        for reader in arguments.readers or READERS:
            command = [sys.executable, "-m", "tests.fuzz.fuzz_readers", reader, "--alone"]
            command += ["--seconds", str(arguments.seconds), "--corpus", str(folder)]
            print(f"fuzzing {reader}", flush=True)
            if subprocess.run(command, check=False).returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
