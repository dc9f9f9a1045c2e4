"""Trials, their tables and how the tables are written."""

from dataclasses import replace
from pathlib import Path

import pytest

from prefixplace_opt.instances.generators import generate
from prefixplace_opt.problem import InputError
from prefixplace_opt.report import (
    BestKnown,
    Column,
    Protocol,
    Table,
    Trial,
    Trials,
    as_csv,
    as_html,
    as_markdown,
    read_trials,
    results_table,
    run_trials,
    write_trials,
)
from prefixplace_opt.report.table import counted, percent, written, written_column

TRIAL = Trial("i", "d" * 64, "requester", 10, 2, "a", 0, 90.0, 100.0, "feasible", 2.0, "start 0-1")


def test_rows_compare_values_bounds_and_times() -> None:
    rows = (
        TRIAL,
        replace(TRIAL, seed=1, lower=80.0, upper=None, status="time-limit", seconds=4.0, winner=""),
        replace(TRIAL, method="b", lower=96.0, upper=96.0, status="optimal", seconds=1.5),
        replace(TRIAL, method="b", seed=1, lower=96.0, upper=97.0, status="optimal", seconds=1.5),
        replace(TRIAL, instance="j", digest="e" * 64, method="b", lower=0.0, upper=0.0),
    )
    table, summary = results_table(Trials(Protocol(("plan", "greedy")), {}, ()))
    assert (table.rows, summary.rows) == ((), ())
    protocol = replace(Protocol(("plan",)), gap=0.02)
    object.__setattr__(protocol, "methods", ("a", "b"))
    table, summary = results_table(Trials(protocol, {}, rows), {"i": BestKnown(100.0, 100.0)})
    first, second, third = table.rows
    assert first["value"] == 85.0
    assert first["bound"] == 100.0
    # Method b proves that nothing exceeds 96; a's own runs prove 100, and nothing.
    assert first["gap"] == pytest.approx((6 / 96 + 16 / 96) / 2)
    assert first["own_gap"] == pytest.approx((0.1 + 1.0) / 2)
    assert "whichever method proved it" in table.note
    assert first["to_best"] == pytest.approx(0.15)
    assert first["status"] == "feasible, time-limit"
    assert second["time_ratio"] == 0.5
    assert second["winner"] == "start 0-1"
    assert third["time_ratio"] is None
    assert [row["method"] for row in summary.rows] == ["a", "b"]
    assert summary.rows[1]["proven"] == 2
    assert summary.rows[1]["wins"] == 1
    assert summary.rows[1]["time_ratio"] == pytest.approx(0.5)


def test_trials_survive_their_file(tmp_path: Path) -> None:
    problem = generate("rag", documents=3, seed=1)
    trials = run_trials([problem], Protocol(("plan", "greedy"), seeds=(0, 3), time_limit=30))
    path = tmp_path / "runs.json"
    write_trials(trials, path)
    assert read_trials(path) == trials
    seen: list[object] = []
    again = run_trials([problem], trials.protocol, done=trials, after=seen.append)
    assert again.rows == trials.rows
    assert seen == []


def test_a_protocol_names_methods_that_there_are() -> None:
    with pytest.raises(InputError, match="expected one of"):
        Protocol(("magic",))
    with pytest.raises(InputError, match="at least one method"):
        Protocol(())


TABLE = Table(
    "A|B",
    (Column("name", "name", "text"), Column("share", "share", "share"), Column("n", "n")),
    ({"name": "x|<y>", "share": 0.25, "n": 1234567}, {"name": "z", "share": float("inf")}),
)


def test_markdown_escapes_bars() -> None:
    lines = as_markdown([TABLE]).splitlines()
    assert lines[2:] == [
        "| name | share | n |",
        "| --- | ---: | ---: |",
        "| x\\|<y> | 25.0000 % | 1,234,567 |",
        "| z | - | - |",
    ]


def test_csv_has_raw_values() -> None:
    assert as_csv(TABLE) == "name,share,n\nx|<y>,0.25,1234567\nz,,\n"


def test_html_escapes_markup() -> None:
    page = as_html([TABLE], "t & t")
    assert "x|&lt;y&gt;" in page
    assert "t &amp; t" in page
    assert "<y>" not in page


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "value", "-"),
        (float("inf"), "value", "-"),
        (float("nan"), "number", "-"),
        (12345.678, "value", "12,346"),
        (1234.5678, "value", "1,234.57"),
        (0.5, "share", "50.0000 %"),
        (0.25, "ratio", "0.25x"),
        (1.005, "seconds", "1.00"),
        (1234567, "number", "1,234,567"),
        (0.000123456, "number", "0.00012346"),
        ("plan", "text", "plan"),
        (True, "text", "True"),
    ],
)
def test_cells(value: object, kind: str, text: str) -> None:
    assert written(value, kind) == text  # type: ignore[arg-type]


def test_percentages_have_one_style() -> None:
    assert percent(1e-7) == "< 0.01 %"
    assert percent(1e-7, 4) == "< 0.0001 %"
    assert percent(1e-4, 4) == "0.0100 %"
    assert percent(0.0) == "0.00 %"
    assert percent(0.123456, 3) == "12.346 %"


def test_a_column_has_the_same_decimals_in_every_row() -> None:
    assert written_column([1234.5, 2.25, None, 7.0]) == ["1,234.5", "2.2", "-", "7.0"]
    assert written_column([26696.6, 3.25], "value") == ["26,697", "3"]
    assert written_column([60.0, 40.0]) == ["60", "40"]
    assert written_column([12, 3456, "x"]) == ["12", "3,456", "x"]
    assert Table("t", (Column("v", "v", "value"),), ({"v": 0.5}, {"v": 10.0})).text() == [
        ["0.5"],
        ["10.0"],
    ]


def test_numbers_come_with_their_noun() -> None:
    assert counted(1, "root") == "1 root"
    assert counted(2000, "leaf", "leaves") == "2,000 leaves"
