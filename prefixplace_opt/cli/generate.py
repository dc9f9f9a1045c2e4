"""`prefixplace generate`: one command a generator family, its parameters as options; or a suite."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from . import arguments
from .bar import Bar
from .failures import terminable
from .output import print_json, print_table
from .suite import Traces, print_suite

if TYPE_CHECKING:
    from prefixplace_opt.instances.generators import Family
    from prefixplace_opt.problem import Problem

ParameterFile = Annotated[
    Path | None,
    typer.Option(
        "--parameters", metavar="FILE", help="TOML file of parameters; options override it."
    ),
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="TEXT", help="Name of the instance, for people.")
]


class Families(TyperGroup):
    """A group with one subcommand a family, made from its declared parameters when asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the families in the order of their catalogue."""
        from prefixplace_opt.instances.generators import FAMILIES

        return list(FAMILIES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a family or of a suite file, or None."""
        from prefixplace_opt.instances.generators import FAMILIES

        if cmd_name.endswith(".toml"):
            return _suite_command(Path(cmd_name))
        family = FAMILIES.get(cmd_name)
        return None if family is None else _command(family)


app = typer.Typer(
    cls=Families,
    no_args_is_help=True,
    subcommand_metavar="FAMILY|SUITE.toml [OPTIONS]...",
    help="Generate an instance of a documented family, or all of a suite file into a folder; "
    "the same on every machine.",
)


# A group is one only when something is registered.
@app.callback()
def _generate() -> None:
    pass


def _command(family: "Family") -> Any:
    from prefixplace_opt.instances.generators.parameters import described

    # What a family declares itself stands before what all families share.
    shared = {each.name for each in described(family.parameters.__bases__[0])}
    own = sorted(described(family.parameters), key=lambda each: each.name in shared)

    def run(**options: Any) -> None:
        given = {name: options.pop(name) for name in [each.name for each in own]}
        _run(family, {name: value for name, value in given.items() if value is not None}, **options)

    hints: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for each in own:
        usual = "" if each.default is None else f" (default {_shown(each.default)})"
        hints[each.name] = Annotated[
            each.kind | None,
            typer.Option(
                "--" + each.name.replace("_", "-"),
                metavar=each.kind.__name__.upper(),
                help=f"{each.help[0].upper()}{each.help[1:]}: {each.expected}{usual}.",
            ),
        ]
        defaults[each.name] = None
    hints |= {
        "parameters": ParameterFile,
        "seed": Annotated[
            int | None, typer.Option("--seed", metavar="N", help="Seed of everything drawn.")
        ],
        "name": Name,
        "json": arguments.Json,
        "output": arguments.Output,
    }
    defaults |= {"parameters": None, "seed": None, "name": None, "json": False, "output": None}
    return _typer_command(run, family.name, f"{family.summary.capitalize()}.", hints, defaults)


def _suite_command(file: Path) -> Any:
    def run(
        output: Path, store: bool = True, traces: Path | None = None, json: bool = False
    ) -> None:
        from prefixplace_opt.instances.suites import generate_suite, read_suite_file

        wanted = read_suite_file(file)
        with Bar(len(wanted.wanted)) as bar, terminable():
            bar.begin(wanted.name)
            suite = generate_suite(
                wanted, output, store=store, traces=traces, on_progress=lambda _: bar.step()
            )
        if json:
            digests = {entry.name: entry.digest for entry in suite.entries}
            print_json({"command": "generate", "suite": suite.name, "instances": digests})
            return
        print_suite(suite)
        typer.echo(f"{len(suite.entries)} instances and manifest written to {output}")

    folder = typer.Option("--output", "-o", metavar="DIR", help="Folder, made where it is not.")
    stored = typer.Option(help="Write the instance files, or the manifest alone.")
    hints = {
        "output": Annotated[Path, folder],
        "store": Annotated[bool, stored],
        "traces": Traces,
        "json": arguments.Json,
    }
    defaults = {"output": inspect.Parameter.empty, "store": True, "traces": None, "json": False}
    return _typer_command(run, file.name, f"Generate the suite {file}.", hints, defaults)


def _typer_command(
    run: Callable[..., None], name: str, text: str, hints: dict[str, Any], defaults: dict[str, Any]
) -> Any:
    """Return the command that typer makes of ``run`` with the given typed options."""
    run.__annotations__ = hints
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                option, inspect.Parameter.KEYWORD_ONLY, default=defaults[option], annotation=hint
            )
            for option, hint in hints.items()
        ]
    )
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, help=text)(run)
    return typer.main.get_command(single)


def _run(
    family: "Family",
    options: dict[str, Any],
    parameters: Path | None,
    seed: int | None,
    name: str | None,
    json: bool,
    output: Path | None,
) -> None:
    from prefixplace_opt.instances.toml_files import read_toml
    from prefixplace_opt.problem import InputError, write_problem

    values = {} if parameters is None else read_toml(parameters)
    own_seed = values.pop("seed", 0)
    try:
        chosen = family.parameters.of({**values, **options})
        problem = family.generate(own_seed if seed is None else seed, chosen, name or "")
    except InputError as error:
        if error.field in options or (error.field == "seed" and seed is not None):
            option = "--" + error.field.replace("_", "-")
            raise InputError(error.message, field=option) from None
        raise error.at(source="" if parameters is None else str(parameters)) from None
    if output is not None:
        write_problem(problem, output)
    if json:
        print_json(_document(problem, output))
        return
    print_table(
        ("", "value"),
        [
            ("digest", problem.digest),
            ("objective", problem.objective),
            ("chunks", problem.n),
            ("tree height", problem.tree.height),
            ("workers", problem.m),
            ("budgets, chunks", sum(worker.budget for worker in problem.workers)),
            ("demand entries", len(problem.demand)),
        ],
        title=problem.name,
        left=("value",),
    )
    typer.echo(f"instance written to {output}" if output else "not written: name a file with -o")


def _document(problem: "Problem", output: Path | None) -> dict[str, Any]:
    return {
        "command": "generate",
        "instance": problem.digest,
        "name": problem.name,
        "objective": problem.objective,
        "chunks": problem.n,
        "workers": problem.m,
        "provenance": problem.provenance,
        "output": None if output is None else str(output),
    }


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
