"""`prefixplace solve`: one plan for one instance."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments
from .failures import CHECK_FAILED, naming_options
from .live import LiveTable
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem
    from prefixplace_opt.solvers.result import Result

OPTIONS = (
    "method",
    "objective",
    "gap",
    "time_limit",
    "node_limit",
    "seed",
    "threads",
    "memory_limit",
    "cluster",
)
COUNTS = ("winner", "starts", "nodes", "rounds", "columns")


def solve(
    instance: arguments.Instance,
    method: arguments.Method = None,
    objective: arguments.ObjectiveChoice = None,
    gap: arguments.Gap = None,
    time_limit: arguments.TimeLimit = None,
    node_limit: arguments.NodeLimit = None,
    warm_start: Annotated[
        Path | None,
        typer.Option("--warm-start", metavar="FILE", help="Placement file to start from."),
    ] = None,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = 1,
    memory_limit: arguments.MemoryLimit = None,
    cluster: arguments.Cluster = None,
    log: Annotated[
        bool, typer.Option("--log", help="Let a foreign solver write its own log.")
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="Write the proof of the bound here."),
    ] = None,
    json: arguments.Json = False,
    output: arguments.Output = None,
) -> None:
    """Plan which chunks each worker keeps; a limit or Ctrl-C returns the best plan so far."""
    from prefixplace_opt.problem import read_placement, read_problem, write_placement
    from prefixplace_opt.solvers.result import gap_met
    from prefixplace_opt.solving import solve as run

    arguments.refuse_overwriting(output, instance, warm_start)
    arguments.refuse_overwriting(certificate, instance, warm_start, output)
    problem = read_problem(instance)
    chosen: dict[str, Any] = {"method": method, "gap": gap}
    with naming_options(*OPTIONS):
        limit = arguments.bytes_of(memory_limit)
        if certificate is not None:
            _require_proof(problem, method or "auto", limit)
        if objective is not None:
            problem = problem.with_objective(objective)  # type: ignore[arg-type]
        with LiveTable(f"{method or 'solve'} {instance.name}", time_limit=time_limit) as live:
            result = run(
                problem,
                **{name: value for name, value in chosen.items() if value is not None},
                time_limit=time_limit,
                node_limit=node_limit,
                warm_start=None if warm_start is None else read_placement(warm_start, problem),
                seed=seed,
                threads=threads,
                memory_limit=limit,
                cluster=cluster,
                log=log,
                progress=live,
            )
    if output is not None:
        write_placement(result.placement, output)
    certify_seconds = None
    if certificate is not None:
        started = time.perf_counter()
        _certify(problem, result, certificate)
        certify_seconds = time.perf_counter() - started
    if json:
        document = _document(problem, result, instance, output, certificate)
        print_json(document | {"certify_seconds": certify_seconds})
    else:
        _print(problem, result)
        if output is not None:
            typer.echo(f"placement written to {output}")
        if certificate is not None:
            typer.echo(f"certificate written to {certificate}, made in {certify_seconds:.2f} s")
    if gap is not None and not gap_met(result.gap, gap):
        from prefixplace_opt.report.table import percent

        typer.echo(
            f"gap target missed: {percent(result.gap, 4)}, asked {percent(gap, 4)}", err=True
        )
        raise typer.Exit(CHECK_FAILED)


def _require_proof(problem: "Problem", method: str, memory_limit: int | None) -> None:
    """Refuse a method that leaves no proof, or has no room for one, before it runs."""
    from prefixplace_opt.problem import CapacityError, InputError
    from prefixplace_opt.solvers.memory import proof_shortfall
    from prefixplace_opt.solvers.methods import METHODS, method_named

    if not method_named(method).proof:
        able = ", ".join(each.name for each in METHODS.values() if each.proof)
        raise InputError(
            f"method {method!r} leaves no proof; expected one of {able}, or bound its "
            "placement with `prefixplace certify`",
            field="--certificate",
        )
    shortfall = proof_shortfall(problem, memory_limit)
    if shortfall:
        raise CapacityError(f"--certificate: {shortfall}")


def _certify(problem: "Problem", result: "Result", target: Path) -> None:
    from prefixplace_opt.certificates import certificate_of, write_certificate
    from prefixplace_opt.problem import InputError

    if result.proof is None:
        raise InputError(
            f"method {result.method!r} ended without a proof ({result.reason or result.status}); "
            "bound its placement with `prefixplace certify`",
            field="--certificate",
        )
    certificate = certificate_of(problem, result.placement, result.proof)
    write_certificate(certificate, target)
    # They differ where the run had no time for the certificate, which is what counts.
    if certificate.upper > result.upper * (1 + 1e-9):
        typer.echo(f"the certificate proves no more than {certificate.upper!r}", err=True)


def _document(
    problem: "Problem",
    result: "Result",
    instance: Path,
    output: Path | None,
    certificate: Path | None,
) -> dict[str, Any]:
    from prefixplace_opt.problem.placement_file import document_of_placement

    return {
        "command": "solve",
        "file": str(instance),
        "instance": problem.digest,
        "name": problem.name,
        "chunks": problem.n,
        "workers": problem.m,
        "objective": problem.objective,
        "method": result.method,
        "status": result.status,
        "reason": result.reason,
        "lower": result.lower,
        "upper": result.upper,
        "gap": result.gap,
        "seconds": result.seconds,
        "statistics": result.statistics,
        "output": None if output is None else str(output),
        "certificate": None if certificate is None else str(certificate),
        "placement": document_of_placement(result.placement) if output is None else None,
    }


def _print(problem: "Problem", result: "Result") -> None:
    from math import fsum

    from prefixplace_opt.problem.objective import own_savings
    from prefixplace_opt.report.table import percent, written
    from prefixplace_opt.solvers.methods import method_named

    whole = fsum(own_savings(problem))
    share = f", {percent(result.lower / whole)} of recomputing all" if whole > 0 else ""
    bound = f"{written(result.upper, 'value')} ms per epoch"
    method = method_named(result.method)
    unproven = not method.bounds or (method.proof and result.proof is None)
    if unproven and result.gap > 0:
        bound += " (trivial: `prefixplace certify` proves a better one)"
    rows: list[tuple[str, str]] = [
        ("status", result.status + (f": {result.reason}" if result.reason else "")),
        ("savings", f"{written(result.lower, 'value')} ms per epoch{share}"),
        ("bound", bound),
        ("gap", percent(result.gap, 4)),
        ("time", f"{result.seconds:.2f} s"),
    ]
    rows += [
        (name, written(result.statistics[name])) for name in COUNTS if name in result.statistics
    ]
    print_table(
        ("", "value"),
        rows,
        title=f"{problem.name or 'instance'}: {result.method}, {problem.objective} objective",
        left=("value",),
    )
    print_table(
        ("worker", "holds", "budget"),
        [
            (worker.name, int(chunks.size), worker.budget)
            for worker, chunks in zip(problem.workers, result.placement.resident, strict=True)
        ],
    )
