"""`prefixplace suite`: show a suite, check it, and improve what is known about its instances."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import arguments
from .bar import Bar
from .failures import CHECK_FAILED, naming_options
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.instances.suites import Suite
    from prefixplace_opt.suites import Improvement

app = typer.Typer(
    no_args_is_help=True,
    help="Show or check a suite of instances, or improve the bounds known for it.",
)

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder with a manifest, or `library`: the shipped.")
]
Only = Annotated[
    str | None,
    typer.Option("--only", metavar="TEXT", help="Only instances with this in their name."),
]
Traces = Annotated[
    Path | None,
    typer.Option("--traces", metavar="DIR", help="Folder of the traffic instances are cut from."),
]


@app.command("show")
def show(folder: Folder, only: Only = None, json: arguments.Json = False) -> None:
    """Show the instances and bounds, and the share proven optimal by family."""
    from prefixplace_opt.instances.suites import read_suite

    suite = _selected(read_suite(_folder(folder)), only)
    if json:
        families = [dict(zip(FAMILY_COLUMNS, row, strict=True)) for row in by_family(suite)]
        entries = [entry.document() for entry in suite.entries]
        print_json(
            {
                "command": "suite show",
                "suite": suite.name,
                "families": families,
                "instances": entries,
            }
        )
    else:
        print_suite(suite)


@app.command("check")
def check(
    folder: Folder,
    everything: Annotated[
        bool, typer.Option("--all", help="Verify every certificate, also all of the large ones.")
    ] = False,
    only: Only = None,
    traces: Traces = None,
    json: arguments.Json = False,
) -> None:
    """Generate every instance again, compare digests, verify the certificates of the bounds."""
    from prefixplace_opt.instances.suites import TrafficAbsentError, read_suite
    from prefixplace_opt.suites import check_entry, checked_certificates, foreign_files

    place = _folder(folder)
    whole = read_suite(place)
    suite = _selected(whole, only)
    verified = checked_certificates(suite, everything=everything)
    findings = []
    absent: list[str] = []
    with Bar(len(suite.entries)) as bar:
        for entry in suite.entries:
            bar.begin(entry.name)
            try:
                certificate = entry.name in verified
                findings += check_entry(entry, place, certificate=certificate, traces=traces)
            except TrafficAbsentError:
                absent.append(entry.name)
            bar.step()
    foreign = [] if only else foreign_files(whole, place)
    known = sum(entry.best is not None for entry in suite.entries)
    if json:
        print_json(
            {
                "command": "suite check",
                "suite": suite.name,
                "instances": len(suite.entries),
                "with_bounds": known,
                "certificates_verified": len(verified - set(absent)),
                "traffic_absent": absent,
                "findings": [vars(finding) for finding in findings],
                "foreign_files": foreign,
            }
        )
    else:
        for finding in findings:
            typer.echo(f"{finding.instance}: {finding.field}: {finding.message}", err=True)
        for name in foreign:
            typer.echo(f"{name}: no instance of the manifest has this file", err=True)
        typer.echo(
            f"{suite.name}: {len(suite.entries)} instances, {known} with bounds, "
            f"{len(verified - set(absent))} certificates verified, "
            f"{len(findings) + len(foreign)} findings"
        )
        if absent:
            typer.echo(f"not checked, since their traffic is absent: {', '.join(absent)}")
    if findings or foreign:
        raise typer.Exit(CHECK_FAILED)


@app.command("best")
def best(
    folder: Folder,
    certificates: Annotated[
        list[Path], typer.Argument(metavar="CERTIFICATE...", help="Certificate files.")
    ],
    seconds: Annotated[
        float, typer.Option("--seconds", min=0, help="Wall time of the run that found them.")
    ] = 0.0,
    traces: Traces = None,
    json: arguments.Json = False,
) -> None:
    """Take better bounds from certificates, each verified first; never to a worse value."""
    from prefixplace_opt.certificates import read_certificate
    from prefixplace_opt.instances.suites import read_suite
    from prefixplace_opt.problem import InputError
    from prefixplace_opt.report.table import percent
    from prefixplace_opt.suites import improved

    place = _folder(folder)
    suite = read_suite(place)
    rows: list[dict[str, Any]] = []
    for path in certificates:
        try:
            done = improved(suite, place, read_certificate(path), seconds=seconds, traces=traces)
        except InputError as error:
            raise error.at(source=str(path)) from None
        suite = done.suite
        rows.append(_improvement(done))
    if json:
        print_json({"command": "suite best", "suite": suite.name, "instances": rows})
    else:
        print_table(
            ("instance", "better", "lower", "upper", "gap", "difficulty"),
            [
                (
                    row["instance"],
                    "yes" if row["better"] else "no",
                    row["lower"],
                    row["upper"],
                    percent(row["gap"], 4),
                    row["difficulty"],
                )
                for row in rows
            ],
            left=("better", "difficulty"),
        )


@app.command("solve")
def solve(
    folder: Folder,
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="NAME", help="A method that proves.")
    ] = "exact",
    time_limit: arguments.TimeLimit = 60.0,
    threads: arguments.Threads = 1,
    again: Annotated[
        bool, typer.Option("--again", help="Also the instances that are proven already.")
    ] = False,
    only: Only = None,
    traces: Traces = None,
    json: arguments.Json = False,
) -> None:
    """Solve the instances that are not proven, and keep what is better, certified.

    The manifest is written after every instance: a stopped run goes on where it was.
    """
    from prefixplace_opt.instances.suites import difficulty, read_suite
    from prefixplace_opt.problem import SolverError
    from prefixplace_opt.report.table import percent
    from prefixplace_opt.solvers.methods import method_named
    from prefixplace_opt.solvers.run import Options
    from prefixplace_opt.suites import solved

    with naming_options("method", "time_limit", "threads"):
        if not method_named(method).proof:
            raise SolverError(f"the method {method!r} gives no proof to certify")
        Options(time_limit=time_limit, threads=threads)
    place = _folder(folder)
    suite = read_suite(place)
    chosen = [
        entry for entry in _selected(suite, only).entries if again or difficulty(entry) == "open"
    ]
    rows: list[dict[str, Any]] = []
    with Bar(len(chosen)) as bar:
        for entry in chosen:
            bar.begin(entry.name)
            done = solved(
                suite,
                place,
                entry,
                method=method,
                time_limit=time_limit,
                threads=threads,
                traces=traces,
            )
            suite = done.suite
            rows.append(_improvement(done))
            if done.better and not json:
                gap = percent(done.after.gap, 4)
                typer.echo(f"{entry.name}: {done.after.difficulty}, gap {gap}")
            bar.step()
    if json:
        print_json({"command": "suite solve", "suite": suite.name, "instances": rows})
    else:
        better = sum(row["better"] for row in rows)
        proven = sum(difficulty(entry) not in ("open", "unknown") for entry in suite.entries)
        typer.echo(
            f"{suite.name}: {len(rows)} instances run, {better} with better bounds; "
            f"{proven} of {len(suite.entries)} proven"
        )


FAMILY_COLUMNS = ("family", "instances", "easy", "hard", "open", "unknown", "proven")


def by_family(suite: "Suite") -> list[tuple[Any, ...]]:
    """Return a row a family, and one of all: how many of each class, and the share proven."""
    rows: list[tuple[Any, ...]] = []
    families = list(dict.fromkeys(entry.family for entry in suite.entries))
    for family in [*families, "all"]:
        own = [entry for entry in suite.entries if family in (entry.family, "all")]
        classes = ["unknown" if entry.best is None else entry.best.difficulty for entry in own]
        counts = [classes.count(name) for name in FAMILY_COLUMNS[2:6]]
        share = (counts[0] + counts[1]) / len(own) if own else None
        rows.append((family, len(own), *counts, share))
    return rows


def print_suite(suite: "Suite") -> None:
    """Print a table of the suite's families."""
    from prefixplace_opt.report.table import percent

    print_table(
        FAMILY_COLUMNS,
        [(*row[:-1], percent(row[-1], 1)) for row in by_family(suite)],
        title=suite.name,
    )


def _improvement(done: "Improvement") -> dict[str, Any]:
    return {
        "instance": done.instance,
        "better": done.better,
        "lower": done.after.lower,
        "upper": done.after.upper,
        "gap": done.after.gap,
        "difficulty": done.after.difficulty,
    }


def _selected(suite: "Suite", only: str | None) -> "Suite":
    from dataclasses import replace

    if only is None:
        return suite
    return replace(suite, entries=tuple(entry for entry in suite.entries if only in entry.name))


def _folder(folder: Path) -> Path:
    from prefixplace_opt.instances.suites.library import library_folder

    return library_folder() if str(folder) == "library" and not folder.exists() else folder
