"""`prefixplace show`: what a file says, which methods there are, the files' schemas."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from . import arguments
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.problem import Placement, Problem
    from prefixplace_opt.report import InstanceSummary, PlacementSummary


class FileByDefault(TyperGroup):
    """A group in which a word that names no subcommand is a file: `show x.json` shows it."""

    DEFAULT = "file"

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the default subcommand in front of anything that names none."""
        if args and self.get_command(ctx, args[0]) is None:
            args = [self.DEFAULT, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=FileByDefault,
    no_args_is_help=True,
    subcommand_metavar="INSTANCE [PLACEMENT] | COMMAND [ARGS]...",
    help="Show an instance or a placement, the methods, or a file format's schema.",
)


@app.command("file")
def file(
    instance: arguments.Instance,
    placement: Annotated[
        Path | None, typer.Argument(metavar="[PLACEMENT]", help="A placement of that instance.")
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option("--draw", metavar="FILE", help="Draw the tree (.png, .svg or .pdf)."),
    ] = None,
    json: arguments.Json = False,
) -> None:
    """Show an instance, or a placement with its instance; the word `file` may be left out."""
    from prefixplace_opt.problem import InputError, read_problem
    from prefixplace_opt.report import summarise_instance, summarise_placement

    from .placements import read_with_objective

    if len(instance.parts) == 1 and not instance.suffix and not instance.exists():
        topics = ", ".join(sorted(_topics()))
        raise InputError(
            f"expected an instance file or one of {topics}, got neither", source=str(instance)
        )
    problem = read_problem(instance)
    plan = None
    if placement is not None:
        problem, plan = read_with_objective(placement, problem)
    facts = summarise_instance(problem)
    effect = None if plan is None else summarise_placement(problem, plan)
    if json:
        print_json(
            {
                "command": "show",
                "file": str(instance),
                "instance": asdict(facts),
                "placement": None if effect is None else _document(effect),
            }
        )
    else:
        _print(problem, plan, facts, effect)
    if draw is not None:
        from prefixplace_opt.plotting import draw_tree, write_figure

        write_figure(draw_tree(problem, plan), draw)
        if not json:
            typer.echo(f"drawing written to {draw}")


@app.command("methods")
def methods(json: arguments.Json = False) -> None:
    """List the methods of `prefixplace solve`."""
    from prefixplace_opt.solvers.methods import METHODS

    if json:
        rows = [
            {"name": method.name, "summary": method.summary, "proves": method.proves}
            for method in METHODS.values()
        ]
        print_json({"command": "show methods", "methods": rows})
    else:
        print_table(
            ("method", "what it does", "closes the gap"),
            [(m.name, m.summary, "yes" if m.proves else "no") for m in METHODS.values()],
            left=("what it does", "closes the gap"),
        )


@app.command("schema")
def schema(
    name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="instance, placement or certificate.")
    ],
) -> None:
    """Print the JSON Schema of a file format."""
    from prefixplace_opt.problem.schema import schema_text

    typer.echo(schema_text(name), nl=False)


def _topics() -> list[str]:
    group: Any = typer.main.get_group(app)
    return [name for name in group.commands if name != FileByDefault.DEFAULT]


def _document(effect: "PlacementSummary") -> dict[str, Any]:
    rows = [
        {**asdict(row), "saved_ms": row.saved_ms, "left_ms": row.left_ms} for row in effect.worker
    ]
    return {**asdict(effect), "saved_share": effect.saved_share, "worker": rows}


def _print(
    problem: "Problem",
    plan: "Placement | None",
    facts: "InstanceSummary",
    effect: "PlacementSummary | None",
) -> None:
    from rich.console import Console

    from .text_tree import MOST_CHUNKS, text_tree

    _print_instance(facts)
    if effect is not None:
        _print_placement(effect)
    if 0 < problem.n <= MOST_CHUNKS:
        Console(highlight=False).print(text_tree(problem, plan))


def _print_instance(facts: "InstanceSummary") -> None:
    from prefixplace_opt.report.table import counted, percent, written

    chunk = f"{facts.chunk_tokens:,} tokens"
    if facts.chunk_bytes is not None:
        chunk += f", {facts.chunk_bytes / 2**20:,.1f} MiB"
    tree = (
        f"{counted(facts.roots, 'root')}, {counted(facts.leaves, 'leaf', 'leaves')}, "
        f"height {facts.height:,}"
    )
    groups = counted(facts.groups, "compatible group")
    print_table(
        ("", "value"),
        [
            ("digest", facts.digest),
            ("objective", facts.objective),
            ("chunks", f"{facts.chunks:,} of {chunk}"),
            ("tree", tree),
            ("workers", f"{facts.workers:,} in {groups}"),
            (
                "budgets",
                f"{facts.budget:,} chunks, {percent(facts.budget_share)} of a full copy a worker",
            ),
            ("requests", f"{written(facts.requests)} per epoch"),
            ("demand entries", facts.demand_entries),
            ("recomputing all", f"{written(facts.recompute_ms, 'value')} ms per epoch"),
            ("cheaper to fetch", f"{percent(facts.worth_fetching)} of that"),
        ],
        title=facts.name or "instance",
        left=("value",),
    )
    print_table(
        ("worker", "hardware", "budget", "needs", "requests", "recompute ms", "fetch ms"),
        [
            (
                row.name,
                row.hardware,
                row.budget,
                row.needed,
                row.requests,
                row.mean_recompute_ms,
                row.mean_fetch_ms,
            )
            for row in facts.worker
        ],
        title="Workers (costs: mean per needed chunk)",
        left=("hardware",),
    )


def _print_placement(effect: "PlacementSummary") -> None:
    from prefixplace_opt.report.table import percent, written, written_column

    value, share = written(effect.value, "value"), percent(effect.saved_share)
    sources = (
        f"{percent(effect.local)} served locally, {percent(effect.fetched)} fetched, "
        f"{percent(effect.recomputed)} recomputed"
    )
    copies = ", ".join(f"{count:,} by {number}" for number, count in effect.copies.items())
    print_table(
        ("", "value"),
        [
            ("savings", f"{value} ms per epoch, {share} of recomputing all"),
            ("chunk requests", sources),
            ("chunks held", f"{effect.distinct:,} ({copies or 'none'})"),
        ],
        title="Placement",
        left=("value",),
    )
    print_table(
        (
            *("worker", "hardware", "holds", "alone", "saves, ms", "by own", "by fetching"),
            *("saves", "gives, ms"),
        ),
        [
            (
                row.name,
                row.hardware,
                f"{row.held:,}/{row.budget:,}",
                row.sole,
                *amounts[:3],
                percent(row.saved_ms / row.recompute_ms) if row.recompute_ms else "-",
                amounts[3],
            )
            for row, *amounts in zip(
                effect.worker,
                written_column([row.saved_ms for row in effect.worker], "value"),
                written_column([row.own_ms for row in effect.worker], "value"),
                written_column([row.fetched_ms for row in effect.worker], "value"),
                written_column([row.given_ms for row in effect.worker], "value"),
                strict=True,
            )
        ],
        title="Savings by worker, per epoch",
        left=("hardware",),
        note="alone: chunks that nobody else holds. saves: of recomputing all that it needs.\n"
        "gives: what others save by fetching from it; equally good holders share a fetch.",
    )
