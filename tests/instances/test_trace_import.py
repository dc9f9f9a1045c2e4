"""From trace to problem: tree, demand, costs, windows, epochs, and the handed traces' figures."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.instances.clusters import read_cluster
from prefixplace_opt.instances.trace_import import (
    Imported,
    ImportOptions,
    ImportSummary,
    import_traces,
)
from prefixplace_opt.problem import InputError, PrefixTree, Problem

#: Chunks, block hit rate and token hit rate in per cent of the handed traces.
FIGURES = {
    "conversation_trace": (182_790, 36.64, 37.36),
    "synthetic_trace": (43_924, 63.96, 65.12),
}


def rows_of(paths: list[list[int]], step_ms: int = 1000) -> list[dict[str, Any]]:
    return [
        {
            "timestamp": at * step_ms,
            "input_length": 512 * len(path),
            "output_length": 1,
            "hash_ids": path,
        }
        for at, path in enumerate(paths)
    ]


def write(path: Path, rows: list[Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def imported(
    path: Path, workers: str = "a100-l4-8", **options: Any
) -> tuple[list[Imported], ImportSummary]:
    return import_traces([path], read_cluster(workers), ImportOptions(**options))


def dense_demand(problem: Problem) -> np.ndarray:
    return problem.demand.dense()


def test_the_handed_traces(trace_path: Path) -> None:
    instances, summary = imported(trace_path)
    chunks, block, token = FIGURES[trace_path.stem]
    assert summary.chunks == instances[0].problem.n == chunks
    assert round(100 * summary.hits.block_rate, 2) == block
    assert round(100 * summary.hits.token_rate, 2) == token
    problem = instances[0].problem
    roots = problem.tree.parents[problem.demand.chunk] < 0
    assert problem.demand.value[roots].sum() == summary.requests == summary.report.rows


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=30),
    st.sampled_from(["round-robin", "random"]),
)
def test_demand_counts_every_request_on_its_path(
    tmp_path_factory: pytest.TempPathFactory, paths: list[list[int]], route: str
) -> None:
    path = write(tmp_path_factory.mktemp("trace") / "t.jsonl", rows_of(paths))
    problem = imported(path, route=route)[0][0].problem
    tree = problem.tree
    assert tree == PrefixTree.from_paths(paths, chunk_tokens=512, chunk_bytes=tree.chunk_bytes)
    keys = tree.keys
    assert keys is not None
    wanted = Counter(tuple(p[:k]) for p in paths for k in range(1, len(p) + 1))
    total = problem.demand.total()
    for chunk in range(tree.n):
        prefix = tuple(int(keys[step]) for step in tree.path(chunk))
        assert total[chunk] == wanted[prefix]
    if route == "round-robin":
        alone = Counter(tuple(paths[i][:1]) for i in range(0, len(paths), 8))
        chunks, counts = problem.demand.of_worker(0)
        for chunk, count in zip(chunks, counts, strict=True):
            if tree.parents[chunk] < 0:
                assert count == alone[int(keys[chunk]),]


def test_an_id_below_another_prefix_is_another_chunk(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", rows_of([[1, 2, 1], [2, 1], [1, 2, 3]]))
    instances, summary = imported(path)
    assert instances[0].problem.tree.parents.tolist() == [-1, 0, 1, -1, 3, 1]
    assert instances[0].problem.tree.keys == ("1", "2", "1", "2", "1", "3")
    assert summary.recurring_ids == 3


def test_ids_of_64_bits_are_kept_whole(tmp_path: Path) -> None:
    large = 2**64 - 1
    path = write(tmp_path / "t.jsonl", rows_of([[large, large - 2**32]]))
    assert imported(path)[0][0].problem.tree.keys == (str(large), str(large - 2**32))


def test_costs_come_from_hardware_and_links(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", rows_of([[1, 2]] * 8))
    problem = imported(path, route="round-robin")[0][0].problem
    at = {
        (m, c): i
        for i, (m, c) in enumerate(zip(problem.demand.worker, problem.demand.chunk, strict=True))
    }
    assert problem.recompute_costs[at[0, 1]] == pytest.approx(48.1 + 0.005 * 512)
    assert problem.recompute_costs[at[4, 0]] == pytest.approx(170.2)
    assert problem.fetch_costs(1)[at[0, 0]] == pytest.approx(29_360_128 * 8 / 3e6 + 1)
    assert problem.tree.chunk_bytes == 29_360_128
    pairwise = imported(path, workers="two-racks-8", route="round-robin")[0][0].problem
    assert pairwise.objective == "pairwise"
    assert pairwise.fetch_costs(0)[at[1, 0]] == pytest.approx(29_360_128 * 8 / 7.5e6 + 0.5)
    requester = imported(path, workers="two-racks-8", objective="requester")[0][0].problem
    assert requester.objective == "requester"


def test_partial_tails_are_kept_or_dropped(tmp_path: Path) -> None:
    rows = rows_of([[1, 2], [1, 3]])
    rows[1]["input_length"] = 600
    path = write(tmp_path / "t.jsonl", rows)
    kept, summary = imported(path)
    assert kept[0].problem.n == 3
    assert summary.report.notes == {"partial last blocks": 1}
    dropped, summary = imported(path, partial_tail=False)
    assert dropped[0].problem.tree.keys == ("1", "2")
    assert summary.hits.tokens == 1624
    assert summary.hits.hit_tokens == 512


def test_window_epochs_and_decay(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", rows_of([[1], [2, 3], [1, 4], [2, 3], [5]]))
    window, summary = imported(path, start_s=1, stop_s=4)
    assert window[0].problem.tree.keys == ("2", "3", "1", "4")
    assert summary.report.notes == {"requests outside the window": 2}
    epochs, _ = imported(path, epoch_s=2)
    assert [each.problem.tree.keys for each in epochs] == [
        ("1", "2", "3"),
        ("1", "2", "3", "4"),
        ("5",),
    ]
    assert [(each.start_s, each.requests) for each in epochs] == [(0, 2), (2, 2), (4, 1)]
    assert [each.problem.name for each in epochs] == ["t-0000", "t-0001", "t-0002"]
    decayed = imported(path, half_life_s=2)[0][0].problem
    assert decayed.demand.total() == pytest.approx(
        [2**-2 + 2**-1, 2**-1.5 + 2**-0.5, 2**-1.5 + 2**-0.5, 2**-1, 1]
    )


def test_epochs_add_up_to_the_whole(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    paths = [generator.integers(0, 3, size=4).tolist() for _ in range(60)]
    path = write(tmp_path / "t.jsonl", rows_of(paths))
    whole = imported(path, route="prefix-affinity")[0][0].problem
    epochs, _ = imported(path, route="prefix-affinity", epoch_s=7)
    sums: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for each in epochs:
        _add_demand(sums, each.problem)
    expected: Counter[tuple[int, tuple[str, ...]]] = Counter()
    _add_demand(expected, whole)
    assert sums == expected


def _add_demand(sums: Counter[tuple[int, tuple[str, ...]]], problem: Problem) -> None:
    keys = problem.tree.keys
    assert keys is not None
    entries = zip(problem.demand.worker, problem.demand.chunk, problem.demand.value, strict=True)
    for worker, chunk, value in entries:
        prefix = tuple(keys[step] for step in problem.tree.path(int(chunk)))
        sums[int(worker), prefix] += int(value)


def test_many_files_are_one_stream(tmp_path: Path) -> None:
    rows = rows_of([[1, 2], [1, 3], [2], [1, 2]])
    whole = imported(write(tmp_path / "all.jsonl", rows))[0][0].problem
    parts = [write(tmp_path / "a.jsonl.gz", rows[:2]), write(tmp_path / "b.jsonl", rows[2:])]
    instances, summary = import_traces(parts, read_cluster("a100-l4-8"))
    assert instances[0].problem.digest == whole.digest
    assert summary.report.rows == 4


def test_out_of_order_rows_are_reported(tmp_path: Path) -> None:
    rows = rows_of([[1], [2], [3]])
    rows[2]["timestamp"] = 500
    _, summary = imported(write(tmp_path / "t.jsonl", rows))
    assert summary.report.notes == {"requests older than the one before": 1}


def test_keys_can_be_left_out_and_progress_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", rows_of([[i] for i in range(1000)]))
    told: list[tuple[int, int]] = []
    instances, _ = import_traces(
        [path],
        read_cluster("mixed-8"),
        ImportOptions(keys=False),
        on_progress=lambda done, requests: told.append((done, requests)),
    )
    assert instances[0].problem.tree.keys is None
    assert told
    assert told[-1][0] <= path.stat().st_size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunk_tokens": 500}, "chunk_tokens: expected a multiple of the trace's blocks of 512"),
        ({"chunk_tokens": 0}, "chunk_tokens: expected a whole number"),
        ({"sample": 0}, "sample: expected a share"),
        ({"epoch_s": 0}, "epoch_s: expected a number > 0"),
        ({"epoch_s": 1e-9}, "epoch_s: expected at most 100,000 epochs"),
        ({"half_life_s": -1}, "half_life_s: expected a finite number >= 0"),
        ({"start_s": float("nan")}, "start_s: expected a finite number"),
        ({"start_s": 1e6}, "expected a request with a chunk, in the window"),
        ({"route": "nearest"}, "route: expected one of"),
        ({"format": "csv"}, "format: expected one of kv-events"),
        ({"objective": "both"}, "objective: expected 'requester' or 'pairwise'"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "t.jsonl", rows_of([[1], [2]]))
    with pytest.raises(InputError, match=message):
        imported(path, **options)
