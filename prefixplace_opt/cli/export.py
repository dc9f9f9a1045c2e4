"""`prefixplace export`: a placement for other software."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments
from .output import print_json

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

JUDGE_ONLY = (
    "warning: an instance carries the ids of chunks, not their tokens. This plan can be judged "
    "and compared, but it cannot be handed to a live cache"
)


def export(
    instance: arguments.Instance,
    placement: Annotated[
        Path, typer.Argument(metavar="PLACEMENT", help="A placement of that instance.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Write the neutral plan here.")
    ],
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens", metavar="FILE", help="JSON object: each chunk's key and its token ids."
        ),
    ] = None,
    warm_up: Annotated[
        Path | None,
        typer.Option(
            "--warm-up",
            metavar="FILE",
            help="Write a warm-up list (JSON lines): a request for each prefix and worker.",
        ),
    ] = None,
    json: arguments.Json = False,
) -> None:
    """Write a placement as a neutral plan, and as requests that load it into any engine.

    The plan lists, for each worker, whole prefixes as paths of keys, with bytes and value. A
    warm-up list needs the chunks' tokens, which no instance carries: give them with --tokens.
    """
    from prefixplace_opt.exporting import plan_document, warm_up_requests
    from prefixplace_opt.problem import InputError, read_problem
    from prefixplace_opt.problem.file_bytes import write_bytes
    from prefixplace_opt.problem.json_files import read_json, write_json

    from .placements import read_with_objective

    arguments.refuse_overwriting(output, instance, placement, tokens)
    problem, plan = read_with_objective(placement, read_problem(instance))
    if warm_up is not None and tokens is None:
        raise InputError(
            "expected --tokens too: ids say which chunks to load, only tokens can load them",
            field="--warm-up",
        )
    requests = []
    if tokens is not None:
        known = read_json(tokens)
        if not isinstance(known, dict):
            raise InputError("expected an object of keys and token ids", source=str(tokens))
        try:
            requests = list(warm_up_requests(problem, plan, known))
        except InputError as error:
            raise error.at(source=str(tokens)) from None
    write_json(output, plan_document(problem, plan))
    if warm_up is not None:
        lines = "".join(json_text.dumps(line, separators=(",", ":")) + "\n" for line in requests)
        write_bytes(warm_up, lines.encode("utf-8"))
    if tokens is None:
        _warn(problem)
    result: dict[str, Any] = {
        "command": "export",
        "instance": problem.digest,
        "named_by": "id" if problem.tree.keys is None else "key",
        "live": tokens is not None,
        "requests": len(requests),
        "output": str(output),
        "warm_up": None if warm_up is None else str(warm_up),
    }
    if json:
        print_json(result)
        return
    typer.echo(f"plan written to {output}")
    if warm_up is not None:
        typer.echo(f"{len(requests):,} warm-up requests written to {warm_up}")


def _warn(problem: "Problem") -> None:
    named = "has no keys at all" if problem.tree.keys is None else "names chunks by keys"
    typer.echo(
        f"{JUDGE_ONLY} unless that cache knows them by the same names (this instance {named}); "
        "give --tokens to make it loadable.",
        err=True,
    )
