"""`prefixplace demo`: an instance, plans for it, what the best saves, and the proof, checked."""

import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments
from .failures import CHECK_FAILED
from .live import LiveTable
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.certificates import Report
    from prefixplace_opt.problem import Problem
    from prefixplace_opt.report import InstanceSummary, PlacementSummary
    from prefixplace_opt.solvers.result import Result
    from prefixplace_opt.solvers.run import Progress

#: Retrieval-augmented traffic on a mixed cluster: small enough to plan in seconds, and with plain
#: rules of thumb visibly behind.
FAMILY = "rag"
PARAMETERS = {"documents": 40, "workers": 6, "goodput_gbps": 1.5, "requests": 2000}
RULES_OF_THUMB = ("independent", "popularity", "local-dedup")
BEST = "auto"
FILES = {
    "instance.json": "",
    "placement.json": "",
    "certificate.json": "",
    "plan.png": "who holds what",
    "savings.png": "the plans compared",
    "progress.png": "plan and bound over time",
}


@dataclass(frozen=True)
class Outcome:
    """Everything that the demo has to tell."""

    problem: "Problem"
    results: "dict[str, Result]"
    effect: "PlacementSummary"
    checked: "Report"
    seconds: float

    @property
    def best(self) -> "Result":
        """The certified plan's run."""
        return self.results[BEST]

    @property
    def gain(self) -> float:
        """How much more the plan saves than the best rule of thumb, as a share of that."""
        rule = max(self.results[name].lower for name in RULES_OF_THUMB)
        return self.best.lower / rule - 1 if rule > 0 else 0.0


def demo(
    folder: Annotated[
        Path,
        typer.Option("--folder", metavar="DIR", help="Where the files go; made if need be."),
    ] = Path("demo"),
    seed: arguments.Seed = 1,
    json: arguments.Json = False,
) -> None:
    """Generate an instance, plan it, certify and verify the plan, and draw who holds what."""
    from prefixplace_opt.instances.generators import generate
    from prefixplace_opt.problem import InputError
    from prefixplace_opt.report import summarise_instance

    start = time.perf_counter()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", source=str(folder)) from None
    problem = generate(FAMILY, seed=seed, **PARAMETERS)
    facts = summarise_instance(problem)
    if not json:
        _introduce(problem, facts)
    _compile(quiet=json)
    results, events = _solve(problem, quiet=json)
    checked = _write(problem, results, events, facts, folder)
    effect = _effect(problem, results[BEST])
    outcome = Outcome(problem, results, effect, checked, time.perf_counter() - start)
    if json:
        print_json(_document(outcome, folder))
    else:
        _print(outcome, folder)
    if not checked.accepted:
        raise typer.Exit(CHECK_FAILED)


def _compile(*, quiet: bool) -> None:
    """Run every method once on a tiny instance, so that no time below holds a compilation."""
    from prefixplace_opt.instances.generators import generate
    from prefixplace_opt.solving import solve

    start = time.perf_counter()
    if not quiet:
        typer.echo("compiling, once: ", nl=False)
    tiny = generate(FAMILY, seed=0, documents=4, workers=3, requests=200)
    for name in (*RULES_OF_THUMB, "plan", BEST):
        solve(tiny, method=name, gap=0.0)
    if not quiet:
        typer.echo(f"{time.perf_counter() - start:.1f} s\n")


def _solve(problem: "Problem", *, quiet: bool) -> "tuple[dict[str, Result], list[Progress]]":
    """Return the result of each method, the best last, and what the best one told."""
    from prefixplace_opt.solving import solve

    results: dict[str, Result] = {}
    events: list[Progress] = []
    with LiveTable("planning", enabled=not quiet) as live:
        for name in (*RULES_OF_THUMB, "plan"):
            results[name] = solve(problem, method=name, progress=live)

        def told(progress: "Progress") -> None:
            live(progress)
            events.append(progress)

        results[BEST] = solve(problem, method=BEST, progress=told)
    return results, events


def _write(
    problem: "Problem",
    results: "dict[str, Result]",
    events: "list[Progress]",
    facts: "InstanceSummary",
    folder: Path,
) -> "Report":
    """Write all files; return the verifier's answer to the certificate as it was written."""
    from prefixplace_opt.certificates import write_certificate
    from prefixplace_opt.certifying import certify, verify
    from prefixplace_opt.plotting import draw_progress, draw_savings, draw_tree, write_figure
    from prefixplace_opt.problem import read_problem, write_placement, write_problem

    best = results[BEST]
    certificate = certify(problem, best)
    write_problem(problem, folder / "instance.json")
    write_placement(best.placement, folder / "placement.json")
    write_certificate(certificate, folder / "certificate.json")
    write_figure(draw_tree(problem, best.placement), folder / "plan.png")
    values = {name: result.lower for name, result in results.items()}
    bars = draw_savings(values, upper=certificate.upper, whole=facts.recompute_ms, best=BEST)
    write_figure(bars, folder / "savings.png")
    write_figure(draw_progress(events), folder / "progress.png")
    return verify(read_problem(folder / "instance.json"), folder / "certificate.json")


def _effect(problem: "Problem", result: "Result") -> "PlacementSummary":
    from prefixplace_opt.report import summarise_placement

    return summarise_placement(problem, result.placement)


def _introduce(problem: "Problem", facts: "InstanceSummary") -> None:
    cluster: dict[str, int] = {}
    for worker in problem.workers:
        kind = worker.hardware or "worker"
        cluster[kind] = cluster.get(kind, 0) + 1
    workers = ", ".join(f"{count} x {kind}" for kind, count in cluster.items())
    typer.echo(
        f"A cluster of {problem.m} workers ({workers}) serves {facts.requests:,.0f} requests an "
        f"epoch.\nTheir prompts share {facts.chunks:,} prefix chunks of {facts.chunk_tokens} "
        f"tokens; each worker has room for {problem.workers[0].budget}.\n"
        f"Recomputing every chunk every time takes {facts.recompute_ms / 1000:,.0f} s of GPU time "
        "an epoch.\nWhich chunks should each worker keep?\n"
    )


def _print(outcome: Outcome, folder: Path) -> None:
    from prefixplace_opt.report.table import percent, written, written_column
    from prefixplace_opt.solvers.methods import METHODS

    effect, checked = outcome.effect, outcome.checked
    print_table(
        ("method", "what it does", "saves, ms", "of all", "time"),
        [
            (
                name,
                METHODS[name].summary,
                value,
                percent(result.lower / effect.recompute_ms),
                f"{result.seconds:.2f} s",
            )
            for (name, result), value in zip(
                outcome.results.items(),
                written_column([each.lower for each in outcome.results.values()], "value"),
                strict=True,
            )
        ],
        title="Plans, from rules of thumb to the best",
        left=("what it does",),
    )
    typer.echo(
        f"The plan saves {written(effect.value, 'value')} ms of every epoch: "
        f"{percent(effect.saved_share)} of recomputing everything,\n"
        f"and {percent(outcome.gain)} more than the best rule of thumb. "
        f"Of all chunk requests\n{percent(effect.local, 1)} are served locally, "
        f"{percent(effect.fetched, 1)} fetched from a peer, "
        f"{percent(effect.recomputed, 1)} recomputed.\n"
    )
    if checked.accepted:
        typer.echo(
            f"CERTIFIED: it saves at least {checked.lower:,.1f} ms, and no plan saves more than "
            f"{checked.upper:,.1f} ms\n(gap {percent(checked.gap, 4)}; certificate accepted by the "
            f"independent verifier, {checked.arithmetic} arithmetic, {checked.seconds:.1f} s)."
        )
    else:
        typer.echo("NOT CERTIFIED: " + "; ".join(map(str, checked.reasons)), err=True)
    listed = "\n".join(f"  {folder / name}  {what}".rstrip() for name, what in FILES.items())
    typer.echo(
        f"\n{listed}\n{_activation()}"
        f"Look again: prefixplace show {folder}/instance.json {folder}/placement.json\n"
        f"Check again: prefixplace verify {folder}/instance.json {folder}/certificate.json\n"
        f"Done in {outcome.seconds:.1f} s."
    )


def _activation() -> str:
    """Return how a shell comes to find the command, where it does not yet."""
    scripts = os.path.dirname(sys.executable)  # noqa: PTH120 - not resolved: a venv links out
    activate = os.path.join(scripts, "activate")  # noqa: PTH118
    if shutil.which("prefixplace") is not None or not os.path.exists(activate):  # noqa: PTH110
        return ""
    short = os.path.relpath(activate)
    return (
        f"So that the shell finds prefixplace: . {activate if short.startswith('..') else short}\n"
    )


def _document(outcome: Outcome, folder: Path) -> dict[str, Any]:
    best = outcome.best
    return {
        "command": "demo",
        "instance": outcome.problem.digest,
        "method": BEST,
        "status": best.status,
        "lower": outcome.checked.lower,
        "upper": outcome.checked.upper,
        "gap": outcome.checked.gap,
        "certified": outcome.checked.accepted,
        "saved_share": outcome.effect.saved_share,
        "gain_over_best_baseline": outcome.gain,
        "baselines": {name: outcome.results[name].lower for name in RULES_OF_THUMB},
        "folder": str(folder),
    }
