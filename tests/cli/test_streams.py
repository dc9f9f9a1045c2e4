"""Outputs that cannot be written to, inputs that must not be, signals."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import prefixplace_opt as pp
from prefixplace_opt.instances.generators import generate

PROGRAM = [sys.executable, "-c", "from prefixplace_opt.cli import main; main()"]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams") / "i.json"
    pp.write_problem(generate("rag", seed=0, documents=6, workers=2), path)
    return path


def shell(command: str, instance: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which $P is the program and $I the instance."""
    program = " ".join(f"'{word}'" for word in PROGRAM)
    return subprocess.run(
        ["bash", "-c", f'P() {{ {program} "$@"; }}; {command}'],  # noqa: S607
        env={**os.environ, "I": str(instance)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_full_device_is_one_line(instance: Path) -> None:
    done = shell('P show "$I" --json > /dev/full', instance)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: standard output: ")


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_closed_streams_do_no_harm(instance: Path, closed: str, tmp_path: Path) -> None:
    plan = tmp_path / "p.json"
    done = shell(f'P solve "$I" -m plan -o "{plan}" {closed}', instance)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert pp.read_placement(plan, pp.read_problem(instance)).value > 0


@pytest.mark.parametrize("options", ["", "--json"])
def test_a_reader_that_leaves_is_a_broken_pipe(instance: Path, options: str) -> None:
    # The reader is gone before anything is written.
    done = shell(f'P show "$I" {options} | exec 0<&- ; echo "${{PIPESTATUS[0]}}"', instance)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "141")


@pytest.mark.parametrize(
    "command", ["solve I -m plan -o I", "export-model I -o I", "solve I --certificate I"]
)
def test_an_input_is_never_written_over(instance: Path, command: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    shutil.copy(instance, copy)
    done = subprocess.run(
        [*PROGRAM, *(str(copy) if word == "I" else word for word in command.split())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "expected another file than the input" in done.stderr
    assert copy.read_bytes() == instance.read_bytes()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signals_return_the_best_plan_so_far(sent: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "hard.json"
    # Too large to be proven optimal before the signal comes.
    pp.write_problem(generate("rag", seed=1, documents=400, workers=8), path)
    for patience in (3, 10, 40):
        run = subprocess.Popen(
            [*PROGRAM, "solve", str(path), "-m", "exact", "--time-limit", "120", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(patience)
        run.send_signal(sent)
        out, _ = run.communicate(timeout=100)
        if run.returncode == 0:
            break
        # The signal came while the program was still being loaded, and ended it.
        assert run.returncode in (130, -sent)
    document = json.loads(out)
    assert document["status"] == "interrupted"
    assert 0 < document["lower"] <= document["upper"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_suite_that_is_stopped_leaves_nothing(sent: signal.Signals, tmp_path: Path) -> None:
    block = f'[[instances]]\nfamily = "rag"\ndocuments = 100\nseed = {list(range(500))}\n'
    (tmp_path / "suite.toml").write_text('name = "many"\n' + block, encoding="utf-8")
    command = [*PROGRAM, "generate", "suite.toml", "-o", "out"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".*.part/*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(sent)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert [each.name for each in tmp_path.iterdir()] == ["suite.toml"]
