"""What the pages say is true: commands run or parse, programs run, files are valid, links exist."""

import importlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner

import prefixplace_opt
from prefixplace_opt import METHODS, read_problem, solve, write_placement
from prefixplace_opt.cli import app
from prefixplace_opt.problem.schema import schema

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
FORMATS = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def commands(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if re.match(r"^(    )?prefixplace ", line):
            yield shlex.split(line, comments=True)[1:]


def test_the_two_commands_come_first() -> None:
    lines = [line for line in README.splitlines() if line]
    assert lines[1].startswith("    make demo")
    assert lines[2].startswith("    make test")


def test_commands_of_the_readme_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(README, "sh")
    for arguments in commands(block):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_figures_of_the_readme_are_those_of_the_demo(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--folder", str(tmp_path), "--json"])
    demo = json.loads(done.stdout)
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "instance.json"), "--json"])
    facts = json.loads(shown.stdout)["instance"]
    figures = [value / facts["recompute_ms"] for value in demo["baselines"].values()]
    for share in (*figures, demo["saved_share"], demo["gain_over_best_baseline"]):
        assert f"{100 * share:.1f} %" in README
    assert demo["gap"] < 1e-4
    assert f"{facts['chunks']} prefix chunks" in README
    assert f"{facts['requests']:,.0f} requests an epoch" in README


@pytest.mark.parametrize("program", blocks(README, "python"), ids=["solve", "from arrays"])
def test_programs_of_the_readme_run(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})  # noqa: S102


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_parses(page: Path) -> None:
    root: Any = typer.main.get_command(app)
    for arguments in commands(page.read_text(encoding="utf-8")):
        if not {"COMMAND", "FAMILY", "TRACE...", "FORMAT"}.isdisjoint(arguments):
            continue  # a pattern, not a command
        context = root.make_context("prefixplace", list(arguments))
        command = root
        while hasattr(command, "resolve_command"):
            # Which attribute holds the subcommand's name depends on the version of click.
            kept = getattr(context, "_protected_args", getattr(context, "protected_args", []))
            _, command, left = command.resolve_command(context, [*kept, *context.args])
            context = command.make_context(command.name, list(left), parent=context)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        linked = page if not path else (page.parent / path)
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings]


def test_files_of_the_formats_page_are_valid(tmp_path: Path) -> None:
    instance, array, placement = map(json.loads, blocks(FORMATS, "json"))
    jsonschema.validate(instance, schema("instance"))
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(instance), encoding="utf-8")
    problem = read_problem(path)
    instance["recompute"]["affine"]["per_prefix_token"] = array
    jsonschema.validate(instance, schema("instance"))
    path.write_text(json.dumps(instance), encoding="utf-8")
    assert read_problem(path).recompute.per_prefix_token.tolist() == [1.5, 2.5]  # type: ignore[union-attr]
    # The placement on the page is the instance's own; only its digest is cut short.
    placement["instance"] = problem.digest
    jsonschema.validate(placement, schema("placement"))
    own = solve(problem, method="exact").placement
    assert [chunks.tolist() for chunks in own.resident] == placement["resident"]
    assert placement["value"] == pytest.approx(own.value, rel=1e-9)


def digest_as_documented() -> Any:
    (program,) = blocks(FORMATS, "python")
    scope: dict[str, Any] = {}
    exec(compile(program, "formats.md", "exec"), scope)  # noqa: S102
    return scope["digest"]


def test_digest_is_the_documented_one(case_path: Path) -> None:
    assert digest_as_documented()(str(case_path)) == read_problem(case_path).digest


@pytest.mark.parametrize(
    "change",
    [
        {"recompute": {"table": {"prefix_tokens": [0, 512], "cost": [[1, 2], [2.5, 3]]}}},
        {"fetch": None},
        {"fetch": {"dense": [[1, None, 3, 4], [1, 2, 3, 4]]}},
        {"fetch": {"goodput_gbps": [[0, 1], [2, 0]], "latency_ms": [[0, 1], [1, 0]]}},
        {"fetch": {"pairwise": [[[0] * 4, [1, None, 2, 3]], [[1] * 4, [0] * 4]]}},
        {"tree": {"parents": [-1, 0, 0, 1], "chunk_tokens": 1, "keys": ["ä", "'", '"', "\n"]}},
        {"workers": [{"name": "a", "budget": 1, "compatibility": "x"}, {"name": "é", "budget": 2}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_digest_is_the_documented_one_for_every_kind(tmp_path: Path, change: Any) -> None:
    instance = json.loads(blocks(FORMATS, "json")[0]) | {"objective": "pairwise"}
    path = tmp_path / "instance.json"
    if "tree" in change:
        change = {**change, "fetch": 3}
    path.write_text(json.dumps(instance | change), encoding="utf-8")
    assert digest_as_documented()(str(path)) == read_problem(path).digest


METHODS_PAGE = (REPOSITORY / "docs" / "methods.md").read_text(encoding="utf-8")


def test_the_methods_page_tells_what_each_method_proves() -> None:
    row = re.compile(r"^\| `([^`]+)` \| .* \| ([^|]+ \| (?:yes|no)) \|$", re.MULTILINE)
    rows = dict(row.findall(METHODS_PAGE))
    assert set(rows) == {*METHODS, "pyomo:NAME"}
    for method in METHODS.values():
        bound, _, proof = rows[method.name].partition(" | ")
        assert (bound == "closes the gap") == method.proves
        assert (bound == "trivial") == (not method.bounds)
        assert proof == ("yes" if method.proof else "no")


def test_program_of_the_methods_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = blocks(METHODS_PAGE, "python")
    exec(compile(program, "methods.md", "exec"), {})  # noqa: S102
    assert "%" in capsys.readouterr().out


def test_the_python_page_lists_every_public_name_and_what_there_is() -> None:
    page = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    front, _, rest = page.partition("## Where the rest is")
    rows = [line for line in front.splitlines() if line.startswith("| `pp.")]
    listed = [name for row in rows for name in re.findall(r"`pp\.(\w+)`", row.split("|")[1])]
    assert sorted(listed) == sorted(prefixplace_opt._EXPORTS)
    for row in [line for line in rest.splitlines() if line.startswith("| `")]:
        _, module, what, _ = row.split("|")
        imported = importlib.import_module(module.strip(" `"))
        for name in re.findall(r"`([A-Za-z_]+)[`(]", what):
            assert hasattr(imported, name), (module, name)


def test_documented_placement_is_read_back(tmp_path: Path) -> None:
    problem_path, path = tmp_path / "i.json", tmp_path / "p.json"
    problem_path.write_text(blocks(FORMATS, "json")[0], encoding="utf-8")
    write_placement(solve(read_problem(problem_path)).placement, path)
    documented = json.loads(blocks(FORMATS, "json")[2])
    assert set(json.loads(path.read_text(encoding="utf-8"))) == set(documented)
