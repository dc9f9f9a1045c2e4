"""Arguments and options that several subcommands share, so that they mean the same everywhere."""

from pathlib import Path
from typing import Annotated

import typer

Instance = Annotated[
    Path, typer.Argument(metavar="INSTANCE", help="Instance file (.json or .json.gz).")
]
ObjectiveChoice = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="requester|pairwise",
        help="Solve under this objective instead of the instance's own.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method", "-m", metavar="NAME", help="How to solve; see `prefixplace show methods`."
    ),
]
Gap = Annotated[
    float | None,
    typer.Option(
        "--gap",
        metavar="SHARE",
        help="Stop at this relative gap (default 1e-4); when given and missed, exit status 1.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="SECONDS", help="Return the best plan found by then."),
]
NodeLimit = Annotated[
    int | None,
    typer.Option("--node-limit", metavar="NODES", help="Most branching nodes."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of everything drawn.")]
Threads = Annotated[
    int, typer.Option("--threads", metavar="N", help="Threads; results do not depend on them.")
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Stay within this much memory (4GiB, 500MB), or say what would be needed.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="Work on a Dask cluster: the address of its scheduler.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the result file here."),
]


def bytes_of(memory_limit: str | None) -> int | None:
    """Return the bytes that ``--memory-limit`` states."""
    from prefixplace_opt.solvers.memory import parse_bytes

    return None if memory_limit is None else parse_bytes(memory_limit)


def refuse_overwriting(output: Path | None, *inputs: Path | None) -> None:
    """Raise InputError where ``output`` is a file that the command reads."""
    from prefixplace_opt.problem import InputError

    for source in inputs:
        if output is None or source is None or not (output.is_file() and source.is_file()):
            continue
        if output.samefile(source):
            raise InputError(f"expected another file than the input {source}", field="--output")
