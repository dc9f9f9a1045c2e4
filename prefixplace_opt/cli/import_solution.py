"""`prefixplace import-solution`: any solver's solution of an exported model, as a placement."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import arguments
from .failures import CHECK_FAILED, naming_options
from .output import print_json

if TYPE_CHECKING:
    from prefixplace_opt.formulations.repair import Repair
    from prefixplace_opt.problem import Problem


def import_solution(
    instance: arguments.Instance,
    solution: Annotated[
        Path,
        typer.Argument(
            metavar="SOLUTION",
            help="Solution file of HiGHS, SCIP, CBC, Gurobi, CPLEX, GLPK, or `name value` lines.",
        ),
    ],
    objective: arguments.ObjectiveChoice = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit status 1 where the solution had to be repaired."),
    ] = False,
    json: arguments.Json = False,
    output: arguments.Output = None,
) -> None:
    """Turn a solution of a model from `prefixplace export-model` into a placement.

    Values are rounded, chunks without their ancestors and over the budget are dropped, and the
    value is recomputed; whatever had to be changed is reported.
    """
    from prefixplace_opt.formulations.repair import repaired
    from prefixplace_opt.formulations.solution_file import read_solution
    from prefixplace_opt.problem import read_problem, write_placement
    from prefixplace_opt.problem.placement_file import document_of_placement

    arguments.refuse_overwriting(output, instance, solution)
    problem = read_problem(instance)
    if objective is not None:
        with naming_options("objective"):
            problem = problem.with_objective(objective)  # type: ignore[arg-type]
    found = read_solution(solution, problem)
    repair = repaired(problem, found.residency)
    if output is not None:
        write_placement(repair.placement, output)
    if json:
        print_json(
            {
                "command": "import-solution",
                "instance": problem.digest,
                "objective": problem.objective,
                "value": repair.placement.value,
                "stated": found.objective,
                "named": found.named,
                "fractional": repair.fractional,
                "farthest": repair.farthest,
                "orphans": sum(repair.orphans),
                "excess": sum(repair.excess),
                "output": None if output is None else str(output),
                "placement": document_of_placement(repair.placement) if output is None else None,
            }
        )
    else:
        typer.echo(f"savings: {repair.placement.value:,.6f} ms per epoch")
        if found.objective is not None:
            typer.echo(f"stated by the file: {found.objective:,.6f}")
        if output is not None:
            typer.echo(f"placement written to {output}")
    for line in repairs(problem, repair):
        typer.echo(f"repaired: {line}", err=True)
    if strict and repair.changed:
        raise typer.Exit(CHECK_FAILED)


def repairs(problem: "Problem", repair: "Repair") -> list[str]:
    """Return a sentence for everything that had to be changed."""
    lines = []
    if repair.fractional:
        lines.append(
            f"{repair.fractional} values rounded, the farthest {repair.farthest:.3g} from 0 or 1"
        )
    for worker, orphans, excess in zip(problem.workers, repair.orphans, repair.excess, strict=True):
        if orphans:
            lines.append(f"worker {worker.name}: {orphans} chunks dropped, an ancestor is not held")
        if excess:
            lines.append(
                f"worker {worker.name}: {excess} chunks dropped, over its budget of {worker.budget}"
            )
    return lines
