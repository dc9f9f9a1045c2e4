"""`prefixplace demo`: an instance, its plans, what the best one saves, how good it provably is."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments
from .failures import CHECK_FAILED
from .live import LiveTable
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem
    from prefixplace_opt.report import InstanceSummary, PlacementSummary
    from prefixplace_opt.solvers.result import Result

#: Retrieval-augmented traffic on a mixed cluster: small enough to plan in seconds, and with plain
#: rules of thumb visibly behind.
FAMILY = "rag"
PARAMETERS = {"documents": 40, "workers": 6, "goodput_gbps": 1.5, "requests": 2000}
RULES_OF_THUMB = ("independent", "popularity", "local-dedup")
#: From the strongest on: the first that is there makes the plan.
PLANNERS = ("auto", "plan")


def demo(
    folder: Annotated[
        Path,
        typer.Option("--folder", metavar="DIR", help="Where the files go; made if need be."),
    ] = Path("demo"),
    seed: arguments.Seed = 1,
    json: arguments.Json = False,
) -> None:
    """Generate an instance, plan it, print what that saves, and draw who holds what."""
    from prefixplace_opt.instances.generators import generate
    from prefixplace_opt.plotting import draw_progress, draw_savings, draw_tree, write_figure
    from prefixplace_opt.problem import InputError, write_placement, write_problem
    from prefixplace_opt.report import summarise_instance, summarise_placement
    from prefixplace_opt.solvers.methods import METHODS
    from prefixplace_opt.solvers.run import Progress
    from prefixplace_opt.solving import solve

    start = time.perf_counter()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", source=str(folder)) from None
    problem = generate(FAMILY, seed=seed, **PARAMETERS)
    facts = summarise_instance(problem)
    if not json:
        _introduce(problem, facts)
    best = next(name for name in PLANNERS if name in METHODS)
    names = tuple(dict.fromkeys((*RULES_OF_THUMB, "plan", best)))
    events: list[Progress] = []
    results: dict[str, Result] = {}
    with LiveTable("planning", enabled=not json) as live:
        for name in names:
            events.clear()

            def told(progress: Progress) -> None:
                live(progress)
                events.append(progress)

            results[name] = solve(problem, method=name, progress=told)
    result = results[best]
    effect = summarise_placement(problem, result.placement)
    write_problem(problem, folder / "instance.json")
    write_placement(result.placement, folder / "placement.json")
    write_figure(draw_tree(problem, result.placement), folder / "plan.png")
    write_figure(
        draw_savings(
            {name: each.lower for name, each in results.items()},
            upper=result.upper,
            whole=facts.recompute_ms,
            best=best,
        ),
        folder / "savings.png",
    )
    write_figure(draw_progress(events), folder / "progress.png")
    gain = _gain(results, best)
    if json:
        print_json(_document(problem, results, best, effect, gain, folder))
    else:
        _print(results, effect, gain, folder, time.perf_counter() - start)
    if result.status in {"interrupted", "time-limit"}:
        raise typer.Exit(CHECK_FAILED)


def _gain(results: dict[str, "Result"], best: str) -> float:
    """Return how much more the plan saves than the best rule of thumb, as a share of that."""
    rule = max(results[name].lower for name in RULES_OF_THUMB)
    return results[best].lower / rule - 1 if rule > 0 else 0.0


def _introduce(problem: "Problem", facts: "InstanceSummary") -> None:
    cluster: dict[str, int] = {}
    for worker in problem.workers:
        kind = worker.hardware or "worker"
        cluster[kind] = cluster.get(kind, 0) + 1
    typer.echo(
        f"A cluster of {problem.m} workers ("
        + ", ".join(f"{count} x {kind}" for kind, count in cluster.items())
        + f") serves {facts.requests:,.0f} requests an epoch\n"
        f"whose prompts share {facts.chunks:,} prefix chunks of {facts.chunk_tokens} tokens; each "
        f"worker has room for {problem.workers[0].budget} of them.\n"
        f"Recomputing every chunk every time would take {facts.recompute_ms / 1000:,.0f} s of GPU "
        "time an epoch. Which chunks should each worker keep?\n"
    )


def _print(
    results: dict[str, "Result"],
    effect: "PlacementSummary",
    gain: float,
    folder: Path,
    seconds: float,
) -> None:
    from prefixplace_opt.report.table import percent, written
    from prefixplace_opt.solvers.methods import METHODS

    whole = effect.recompute_ms
    print_table(
        ("method", "what it does", "saves, ms", "of all", "at most", "time"),
        [
            (
                name,
                METHODS[name].summary,
                written(result.lower, "value"),
                percent(result.lower / whole),
                f"+{percent(result.upper / result.lower - 1, 3)}" if result.lower > 0 else "-",
                f"{result.seconds:.2f} s",
            )
            for name, result in results.items()
        ],
        title="Plans, from rules of thumb to the best ('at most': how much more any plan can save)",
        left=("what it does",),
    )
    result = list(results.values())[-1]
    more = percent(result.upper / result.lower - 1, 4)
    typer.echo(
        f"The plan saves {written(effect.value, 'value')} ms of every epoch, "
        f"{percent(effect.saved_share)} of recomputing everything,\n"
        f"and {percent(gain)} more than the best rule of thumb. "
        f"No plan can save {more} more: proven.\n"
        f"Of all chunk requests {percent(effect.local, 1)} are served locally, "
        f"{percent(effect.fetched, 1)} fetched from a peer, "
        f"{percent(effect.recomputed, 1)} recomputed.\n\n"
        f"{folder}/: instance.json, placement.json, plan.png (who holds what), savings.png, "
        f"progress.png\n"
        f"Look again with: prefixplace show {folder}/instance.json {folder}/placement.json\n"
        f"Done in {seconds:.1f} s."
    )


def _document(
    problem: "Problem",
    results: dict[str, "Result"],
    best: str,
    effect: "PlacementSummary",
    gain: float,
    folder: Path,
) -> dict[str, Any]:
    result = results[best]
    return {
        "command": "demo",
        "instance": problem.digest,
        "method": best,
        "status": result.status,
        "lower": result.lower,
        "upper": result.upper,
        "gap": result.gap,
        "saved_share": effect.saved_share,
        "gain_over_best_baseline": gain,
        "baselines": {name: results[name].lower for name in RULES_OF_THUMB},
        "folder": str(folder),
    }
