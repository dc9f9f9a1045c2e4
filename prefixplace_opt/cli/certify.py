"""`prefixplace certify`: bound a placement, wherever it was made, and write the proof."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from . import arguments
from .failures import CHECK_FAILED, naming_options
from .live import LiveTable
from .output import print_json, print_table

OPTIONS = ("gap", "time_limit", "node_limit", "seed", "threads", "memory_limit")


def certify(
    instance: arguments.Instance,
    placement: Annotated[
        Path, typer.Argument(metavar="PLACEMENT", help="Placement file (.json or .json.gz).")
    ],
    gap: arguments.Gap = None,
    time_limit: arguments.TimeLimit = None,
    node_limit: arguments.NodeLimit = None,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = 1,
    memory_limit: arguments.MemoryLimit = None,
    json: arguments.Json = False,
    output: arguments.Output = None,
) -> None:
    """Bound how much better than a placement any other could be; write the certificate."""
    from prefixplace_opt.certificates import document_of_certificate, write_certificate
    from prefixplace_opt.certifying import bounded
    from prefixplace_opt.certifying import certify as claim
    from prefixplace_opt.problem import read_placement, read_problem
    from prefixplace_opt.report.table import percent
    from prefixplace_opt.solvers.result import gap_met, relative_gap
    from prefixplace_opt.solvers.run import Options

    arguments.refuse_overwriting(output, instance, placement)
    problem = read_problem(instance)
    given = read_placement(placement, problem)
    with (
        naming_options(*OPTIONS),
        LiveTable(f"certify {placement.name}", time_limit=time_limit) as live,
    ):
        options = Options(
            gap=1e-4 if gap is None else gap,
            time_limit=time_limit,
            node_limit=node_limit,
            seed=seed,
            threads=threads,
            memory_limit=arguments.bytes_of(memory_limit),
            progress=live,
        )
        result = bounded(problem, given, options)
    started = time.perf_counter()
    certificate = claim(problem, given, proof=result.proof)
    certify_seconds = time.perf_counter() - started
    if output is not None:
        write_certificate(certificate, output)
    reached = relative_gap(certificate.lower, certificate.upper)
    facts: dict[str, Any] = {
        "lower": certificate.lower,
        "upper": certificate.upper,
        "gap": reached,
        "granularity": certificate.granularity,
        "better_known": result.lower if result.lower > given.value else None,
        "seconds": result.seconds,
        "certify_seconds": certify_seconds,
    }
    if json:
        print_json(
            {
                "command": "certify",
                "file": str(instance),
                "placement": str(placement),
                "instance": problem.digest,
                **facts,
                "output": None if output is None else str(output),
                "certificate": document_of_certificate(certificate) if output is None else None,
            }
        )
    else:
        _print(facts)
        if output is not None:
            typer.echo(f"certificate written to {output}")
    if gap is not None and not gap_met(reached, gap):
        missed = f"gap target missed: {percent(reached, 4)}, asked {percent(gap, 4)}"
        if relative_gap(certificate.lower, result.lower) > gap:
            missed += ", which a better plan shows to be out of reach"
        typer.echo(missed, err=True)
        raise typer.Exit(CHECK_FAILED)


def _print(facts: dict[str, Any]) -> None:
    from prefixplace_opt.report.table import percent, written

    rows = [
        ("placement is worth", f"{written(facts['lower'], 'value')} ms per epoch"),
        ("none is worth more than", f"{written(facts['upper'], 'value')} ms per epoch"),
        ("gap", percent(facts["gap"], 4)),
        ("time", f"{facts['seconds']:.2f} s"),
        ("certificate made in", f"{facts['certify_seconds']:.2f} s"),
    ]
    if facts["better_known"] is not None:
        rows.append(("a better one is worth", written(facts["better_known"], "value")))
    print_table(("", "value"), rows, title="certificate", left=("value",))
