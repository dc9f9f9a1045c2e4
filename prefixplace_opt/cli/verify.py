"""`prefixplace verify`: check a certificate against its instance, and say why not."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import arguments
from .failures import CHECK_FAILED, naming_options
from .output import print_json, print_table

if TYPE_CHECKING:
    from prefixplace_opt.certificates import Report


def verify(
    instance: arguments.Instance,
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="Certificate file (.json or .json.gz).")
    ],
    arithmetic: Annotated[
        str | None,
        typer.Option(
            "--arithmetic",
            metavar="exact|directed",
            help="Rationals, or 64-bit integers rounded against the claim; by default by size.",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            "--tolerance", metavar="SHARE", help="Gap up to which a placement is called optimal."
        ),
    ] = 1e-9,
    json: arguments.Json = False,
) -> None:
    """Check a certificate: exit status 0 accepted, 1 rejected, 2 not a certificate."""
    from prefixplace_opt.certifying import verify as check
    from prefixplace_opt.problem import read_problem

    problem = read_problem(instance)
    with naming_options("arithmetic", "tolerance"):
        report = check(
            problem,
            certificate,
            arithmetic=arithmetic,  # type: ignore[arg-type]
            tolerance=tolerance,
        )
    if json:
        print_json(
            {
                "command": "verify",
                "file": str(instance),
                "certificate": str(certificate),
                "instance": problem.digest,
                **report.document(),
            }
        )
    else:
        _print(report)
    if not report.accepted:
        for reason in report.reasons:
            typer.echo(f"rejected: {certificate}: {reason}", err=True)
        raise typer.Exit(CHECK_FAILED)


def _print(report: "Report") -> None:
    from prefixplace_opt.report.table import percent, written

    rows = [
        ("certificate", "accepted" if report.accepted else "rejected"),
        ("claimed value, at least", written(report.lower, "value")),
        ("claimed bound, at most", written(report.upper, "value")),
    ]
    if report.accepted:
        rows.append(("gap", percent(report.gap, 4) + (", optimal" if report.optimal else "")))
    rows += [
        ("arithmetic", report.arithmetic),
        ("leaves", written(report.leaves)),
        ("decisions refuted", written(report.refuted)),
        ("time", f"{report.seconds:.2f} s"),
    ]
    print_table(("", "value"), rows, left=("value",))
