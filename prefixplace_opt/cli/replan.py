"""`prefixplace replan`: a plan for new demand that respects what is loaded already."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments
from .failures import naming_options
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem
    from prefixplace_opt.replanning import Replan


def replan(
    instance: arguments.Instance,
    old_instance: Annotated[
        Path, typer.Argument(metavar="OLD_INSTANCE", help="The instance that the old plan is of.")
    ],
    old_placement: Annotated[
        Path, typer.Argument(metavar="OLD_PLACEMENT", help="What the workers hold already.")
    ],
    max_moves: Annotated[
        int | None,
        typer.Option(
            "--max-moves", metavar="N", help="Load at most N chunks, all workers together."
        ),
    ] = None,
    move_cost: Annotated[
        float,
        typer.Option("--move-cost", metavar="MS", help="What loading a chunk costs, ms per epoch."),
    ] = 0.0,
    method: arguments.Method = None,
    time_limit: arguments.TimeLimit = None,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = 1,
    json: arguments.Json = False,
    output: arguments.Output = None,
) -> None:
    """Plan for new demand, starting from an old placement and bounding what is moved.

    Workers are told by name; chunks by id where both instances have the same tree, else by their
    path of keys.
    """
    from prefixplace_opt.problem import carry_over, read_problem, write_placement
    from prefixplace_opt.replanning import replan as run

    from .placements import read_with_objective

    arguments.refuse_overwriting(output, instance, old_instance, old_placement)
    problem = read_problem(instance)
    old_problem, placement = read_with_objective(old_placement, read_problem(old_instance))
    held = carry_over(old_problem, placement, problem)
    with naming_options("max_moves", "move_cost", "method", "time_limit", "seed", "threads"):
        new = run(
            problem,
            held,
            max_moves=max_moves,
            move_cost=move_cost,
            time_limit=time_limit,
            seed=seed,
            threads=threads,
            **({} if method is None else {"method": method}),
        )
    if output is not None:
        write_placement(new.placement, output)
    if json:
        print_json(_document(new, output))
        return
    _print(problem, new)
    if output is not None:
        typer.echo(f"placement written to {output}")


def _document(new: "Replan", output: Path | None) -> dict[str, Any]:
    from prefixplace_opt.problem.placement_file import document_of_placement

    return {
        "command": "replan",
        "instance": new.placement.instance,
        "objective": new.placement.objective,
        "lower": new.placement.value,
        "upper": new.free.upper,
        "moves": new.moves,
        "drops": new.drops,
        "kept_value": new.kept_value,
        "free_value": new.free.lower,
        "free_moves": new.free_moves,
        "output": None if output is None else str(output),
        "placement": document_of_placement(new.placement) if output is None else None,
    }


def _print(problem: "Problem", new: "Replan") -> None:
    from prefixplace_opt.report.table import percent, written

    free = new.free.lower

    def row(name: str, value: float, moves: int) -> tuple[str, str, str, int]:
        share = percent(value / free) if free > 0 else "-"
        return (name, written(value, "value"), share, moves)

    print_table(
        ("plan", "saves, ms", "of the free plan", "chunks to load"),
        [
            row("keep what is there", new.kept_value, 0),
            row("this plan", new.placement.value, new.moves),
            row("free to move", free, new.free_moves),
        ],
        title=f"{problem.name or 'instance'}: plan again",
    )
