"""`prefixplace export-model`: an instance as an optimisation model that any solver reads."""

from pathlib import Path
from typing import Annotated

import typer

from . import arguments
from .failures import naming_options
from .output import print_json

MEANING = {
    "x": "x[worker,chunk] = 1: the worker holds the chunk",
    "y": "y[...,chunk] = 1: somebody holds the chunk (for a group or requester)",
    "z": "z[requester,holder,chunk]: share of the requester's need that the holder serves",
    "skip": "skip[worker,chunk,left]: the chunk and all below it are left out, with left to spend",
    "take": "take[worker,chunk,left]: the chunk is held, with left chunks to spend before it",
}


def export_model(
    instance: arguments.Instance,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Model file: .mps or .lp, also with .gz."
        ),
    ],
    formulation: Annotated[
        str,
        typer.Option("--formulation", metavar="compact|flow", help="Which formulation."),
    ] = "compact",
    objective: arguments.ObjectiveChoice = None,
    closure: Annotated[
        str | None,
        typer.Option(
            "--closure",
            metavar="edge|subtree|both",
            help="Closure rows of the compact formulation (default edge).",
        ),
    ] = None,
    coverage: Annotated[
        str | None,
        typer.Option(
            "--coverage",
            metavar="aggregated|disaggregated",
            help="Coverage rows (default: aggregated requester-side, disaggregated pairwise).",
        ),
    ] = None,
    json: arguments.Json = False,
) -> None:
    """Write an instance as a mixed-integer model, with names that people can read back.

    `prefixplace import-solution` takes a solver's solution of it back to a placement.
    """
    from prefixplace_opt.formulations import compact_arrays, flow_arrays
    from prefixplace_opt.formulations.model_file import model_format, write_model
    from prefixplace_opt.problem import InputError, read_problem

    arguments.refuse_overwriting(output, instance)
    model_format(output)
    if formulation not in ("compact", "flow"):
        raise InputError(f"expected compact or flow, got {formulation!r}", field="--formulation")
    if closure is not None and formulation != "compact":
        raise InputError("expected --formulation compact beside it", field="--closure")
    problem = read_problem(instance)
    with naming_options("objective", "closure", "coverage"):
        if objective is not None:
            problem = problem.with_objective(objective)  # type: ignore[arg-type]
        if formulation == "compact":
            model = compact_arrays(
                problem,
                closure=closure or "edge",  # type: ignore[arg-type]
                coverage=coverage,  # type: ignore[arg-type]
            ).linear
        else:
            model = flow_arrays(problem, coverage=coverage).linear  # type: ignore[arg-type]
    meaning = [MEANING[family.symbol] for family in model.column_families]
    if model_format(output) == "lp":
        # Names stand in round brackets there.
        meaning = [text.replace("[", "(").replace("]", ")") for text in meaning]
    write_model(
        model,
        output,
        comments=[
            f"prefixplace {formulation} formulation, {problem.objective} objective",
            f"instance {problem.digest}",
            "maximise the savings against recomputing everything, ms per epoch",
            *meaning,
        ],
    )
    size = {
        "rows": model.rows,
        "columns": model.columns,
        "integers": int(model.integral.sum()),
        "entries": model.entries,
    }
    if json:
        print_json(
            {
                "command": "export-model",
                "instance": problem.digest,
                "objective": problem.objective,
                "formulation": formulation,
                **size,
                "output": str(output),
            }
        )
    else:
        words = ", ".join(f"{count:,} {name}" for name, count in size.items())
        typer.echo(f"{formulation} model with {words} written to {output}")
