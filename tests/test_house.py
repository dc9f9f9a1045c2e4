"""The package as it is installed: light, with one version, whole."""

import ast
import importlib
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points, version
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import prefixplace_opt

REPOSITORY = Path(__file__).resolve().parent.parent
ROOMS = {
    "prefixplace_opt": REPOSITORY / "prefixplace_opt",
    "prefixplace_opt/formulations": REPOSITORY / "formulations",
    "prefixplace_opt/instances": REPOSITORY / "instances",
    "prefixplace_opt/solvers": REPOSITORY / "solvers",
}
HEAVY = {"pyomo", "ortools", "highspy", "pyscipopt", "matplotlib", "networkx", "distributed"}
RUN_COMMAND = (
    "import sys; from prefixplace_opt.cli import main; sys.argv = ['prefixplace', {!r}]; main()"
)


def imported_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has imported after running the code."""
    report = (
        "import atexit, json, sys; atexit.register(lambda: print(json.dumps([*sys.modules])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", report + code], capture_output=True, text=True, check=True, cwd="/"
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    "code",
    ["import prefixplace_opt", RUN_COMMAND.format("--help"), RUN_COMMAND.format("--version")],
    ids=["import", "help", "version"],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    imported = imported_by(code)
    assert "prefixplace_opt" in imported
    assert not imported & HEAVY


def test_import_alone_brings_no_third_party_module() -> None:
    before = imported_by("pass")
    assert imported_by("import prefixplace_opt") - before - sys.stdlib_module_names == {
        "prefixplace_opt"
    }


def test_version_is_the_same_everywhere() -> None:
    assert prefixplace_opt.__version__ == version("prefixplace-opt")
    done = subprocess.run(
        [sys.executable, "-c", RUN_COMMAND.format("--version")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert prefixplace_opt.__version__ in done.stdout


def test_command_is_installed() -> None:
    (command,) = entry_points(group="console_scripts", name="prefixplace")
    assert command.value == "prefixplace_opt.cli:main"


def typed_exports() -> dict[str, str | None]:
    """Name -> module, as the `if TYPE_CHECKING:` block of the front door says it."""
    tree = ast.parse(Path(prefixplace_opt.__file__).read_text(encoding="utf-8"))
    blocks = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
    ]
    return {
        name.asname or name.name: f"prefixplace_opt.{node.module}" if node.level else node.module
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def test_front_door_offers_the_same_names_to_people_and_to_type_checkers() -> None:
    exports = prefixplace_opt._EXPORTS
    assert typed_exports() == exports
    assert set(prefixplace_opt.__all__) == {"__version__", *exports}
    for name, module in exports.items():
        assert getattr(prefixplace_opt, name) is getattr(importlib.import_module(module), name)


def test_no_module_of_the_front_door_hides_an_export() -> None:
    modules = {path.stem for path in ROOMS["prefixplace_opt"].iterdir()} | {
        name.partition("/")[2] for name in ROOMS
    }
    assert not modules & set(prefixplace_opt._EXPORTS)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_the_kind'"):
        _ = prefixplace_opt.nothing_of_the_kind


def test_wheel_holds_every_module_and_data_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
    ).stdout.split("\0")
    for name in filter(None, tracked):
        if (REPOSITORY / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((REPOSITORY / name).read_bytes())
    code = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", code, os.fspath(tmp_path)],
        check=True,
        capture_output=True,
        cwd=source,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {
        f"{package}/{Path(name).relative_to(room.name).as_posix()}"
        for package, room in ROOMS.items()
        for name in tracked
        if name.startswith(f"{room.name}/") and (REPOSITORY / name).is_file()
    }
    assert held == wanted


def test_lock_pins_every_dependency_within_its_bounds_and_names_no_index() -> None:
    lock = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    pins = dict(line.removesuffix(" \\").split("==") for line in lock.splitlines() if "==" in line)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for text in chain(project["dependencies"], *extras):
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[requirement.name]), text
    assert "://" not in lock
    assert "--index-url" not in lock
    assert "--find-links" not in lock
    assert lock.count("==") <= lock.count("--hash=sha256:")
