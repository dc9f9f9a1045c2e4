"""`prefixplace import` and `prefixplace show crossover` from the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prefixplace_opt import read_problem
from prefixplace_opt.cli import app


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    rows = [
        {"timestamp": 1000 * at, "input_length": 1000, "output_length": 5, "hash_ids": [at % 3, 7]}
        for at in range(10)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_import_writes_an_instance_that_solves(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "chat.json.gz"
    code, out, _ = run("import", trace, "-w", "mixed-8", "-o", target, "--json")
    assert code == 0
    document = json.loads(out)
    assert document["requests"] == document["rows"] == 10
    assert document["chunks"] == 6
    assert document["notes"] == {"partial last blocks": 10}
    assert document["instances"][0]["digest"] == read_problem(target).digest
    assert run("solve", target, "--json")[0] == 0


def test_tables_for_people(trace: Path, tmp_path: Path) -> None:
    code, out, _ = run("import", trace, "-w", "mixed-8", "-o", tmp_path / "x.json", "--epoch", 5)
    assert code == 0
    assert "token hit rate" in out
    assert (tmp_path / "x-0000.json").exists()
    assert (tmp_path / "x-0001.json").exists()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--route", "near"), "error: --route: expected one of"),
        (("--load-cap", "0.5"), "error: --load-cap: expected a number >= 1"),
        (("--epoch", "-3"), "error: --epoch: expected a finite number >= 0"),
        (("--from", "nan"), "error: --from: expected a finite number"),
        (("--format", "csv"), "error: --format: expected one of"),
        (("--chunk-tokens", "100"), "error: --chunk-tokens: expected a multiple"),
    ],
)
def test_errors_name_the_option(
    trace: Path, tmp_path: Path, extra: tuple[str, ...], message: str
) -> None:
    code, _, err = run("import", trace, "-w", "mixed-8", "-o", tmp_path / "x.json", *extra)
    assert code == 2
    assert err.startswith(message)
    assert not (tmp_path / "x.json").exists()


def test_errors_name_file_row_and_field(trace: Path, tmp_path: Path) -> None:
    trace.write_text(trace.read_text(encoding="utf-8") + '{"timestamp": "now"}\n', encoding="utf-8")
    code, _, err = run("import", trace, "-w", "mixed-8", "-o", tmp_path / "x.json")
    assert code == 2
    assert err.startswith(f"error: {trace}: line 11: missing key 'input_length'")


def test_crossover_table_and_json() -> None:
    code, out, _ = run("show", "crossover")
    assert code == 0
    assert "6,039" in out
    code, out, _ = run("show", "crossover", "--gpu", "a100", "--gpu", "L4", "--json")
    assert code == 0
    gpus = {row["gpu"]: row for row in json.loads(out)["gpus"]}
    assert gpus["A100"]["crossover_prefix_tokens"] == 6039
    assert gpus["L4"]["verdict"] == "fetching wins at every depth"
    assert gpus["L4"]["profile"] == "measured"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--gpu", "V9"), "error: --gpu: expected a GPU of the catalogue"),
        (("--model", "x"), "error: --model: expected a model of the catalogue"),
        (("--goodput-gbps", "0"), "error: --goodput-gbps: expected a number > 0"),
        (("--chunk-tokens", "0"), "error: --chunk-tokens: expected a whole number"),
    ],
)
def test_crossover_errors(extra: tuple[str, ...], message: str) -> None:
    code, _, err = run("show", "crossover", *extra)
    assert code == 2
    assert err.startswith(message)


def test_catalogue_and_formats_are_shown() -> None:
    code, out, _ = run("show", "hardware", "--json")
    assert code == 0
    document = json.loads(out)
    assert {"T4", "L4", "A100", "H100", "H200", "B200"} <= {gpu["name"] for gpu in document["gpus"]}
    assert all(entry["source"] for entry in (*document["gpus"], *document["models"]))
    assert {row["kind"] for row in document["profiles"]} == {"measured", "assumed"}
    code, out, _ = run("show", "hardware", "--sources")
    assert code == 0
    assert "two-racks-8" in out
    code, out, _ = run("show", "traces", "--json")
    assert [row["name"] for row in json.loads(out)["formats"]][-1] == "mooncake"
    assert run("show", "traces")[0] == 0
