"""`prefixplace generate FAMILY`: options from the family's parameters, a file, both."""

import json
from pathlib import Path

from typer.testing import CliRunner

from prefixplace_opt import generate, read_problem
from prefixplace_opt.cli import app
from prefixplace_opt.instances.generators import FAMILIES
from prefixplace_opt.instances.generators.parameters import described


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, done.stderr


def test_options_and_keywords_give_the_same_instance(tmp_path: Path) -> None:
    target = tmp_path / "x.json.gz"
    options = ["--documents", 6, "--objective", "pairwise", "--budget", 0.2, "--seed", 5]
    code, out, _ = run("generate", "rag", *options, "-o", target, "--name", "mine", "--json")
    assert code == 0
    written = read_problem(target)
    expected = generate("rag", documents=6, objective="pairwise", budget=0.2, seed=5)
    assert written.digest == expected.digest == json.loads(out)["instance"]
    assert written.provenance == expected.provenance
    assert written.name == "mine"


def test_options_override_the_parameter_file(tmp_path: Path) -> None:
    file = tmp_path / "rag.toml"
    file.write_text("documents = 6\nworkers = 3\nseed = 2\n", encoding="utf-8")
    code, out, _ = run("generate", "rag", "--parameters", file, "--workers", 5, "--json")
    assert code == 0
    assert json.loads(out)["instance"] == generate("rag", documents=6, workers=5, seed=2).digest


def test_faults_name_the_option_or_the_file(tmp_path: Path) -> None:
    code, _, err = run("generate", "rag", "--documents", 0)
    assert (code, err.split(":")[1].strip()) == (2, "--documents")
    file = tmp_path / "rag.toml"
    file.write_text("zip = 1\n", encoding="utf-8")
    code, _, err = run("generate", "rag", "--parameters", file)
    assert code == 2
    assert str(file) in err
    assert "did you mean zipf" in err
    file.write_text("zip = \n", encoding="utf-8")
    assert run("generate", "rag", "--parameters", file)[0] == 2
    assert run("generate", "rag", "--parameters", tmp_path / "none.toml")[0] == 2
    assert run("generate", "nothing")[0] == 2


def test_help_lists_every_family_and_every_parameter() -> None:
    code, out, _ = run("generate", "--help")
    assert code == 0
    for name, family in FAMILIES.items():
        assert name in out
        code, text, _ = run("generate", name, "--help")
        assert code == 0
        for parameter in described(family.parameters):
            assert "--" + parameter.name.replace("_", "-") in text
