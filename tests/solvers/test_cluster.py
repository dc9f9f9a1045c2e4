"""A real scheduler and two worker processes on this machine, one of them killed on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import prefixplace_opt as pp
from prefixplace_opt.report import Protocol, run_trials
from prefixplace_opt.solvers.cluster import ClusterPool, connected
from prefixplace_opt.solvers.planner import start_from, start_orders
from prefixplace_opt.solvers.pool import LocalPool, Work
from prefixplace_opt.solvers.run import Options, Run
from tests.solvers.forests import problem_of
from tests.solvers.slow_piece import broken, slow_start

pytest.importorskip("distributed")

REPOSITORY = Path(__file__).resolve().parents[2]
TABLE = 1 << 20


@dataclass
class Cluster:
    address: str
    folder: Path
    workers: list[subprocess.Popen[bytes]]

    def add_worker(self) -> None:
        self.workers.append(
            started(
                "dask_worker",
                self.address,
                "--nthreads=1",
                "--no-nanny",
                "--no-dashboard",
                "--memory-limit=0",
                f"--local-directory={self.folder}",
            )
        )


def started(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", "--host=127.0.0.1", *arguments],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY), "NUMBA_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    scheduler = started("dask_scheduler", "--port=0", "--no-dashboard", f"--scheduler-file={file}")
    workers: list[subprocess.Popen[bytes]] = []
    try:
        until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        made = Cluster(json.loads(file.read_text())["address"], folder, workers)
        made.add_worker()
        made.add_worker()
        with connected(made.address) as client:
            client.wait_for_workers(2, timeout=60)
        yield made
    finally:
        for process in [*workers, scheduler]:
            process.terminate()
        for process in [*workers, scheduler]:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


def until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
def test_same_plan_as_here(cluster: Cluster, objective: str) -> None:
    problem = problem_of(objective)
    here = pp.solve(problem, method="plan")
    there = pp.solve(problem, method="plan", cluster=cluster.address)
    assert there.placement == here.placement
    assert there.upper == here.upper
    assert there.statistics["values"] == here.statistics["values"]


def test_killed_worker_costs_no_result(cluster: Cluster, tmp_path: Path) -> None:
    problem = problem_of("requester", seed=3)
    orders = start_orders(problem.m, [0.0] * problem.m)
    work = Work(problem, TABLE, lambda: None)
    here = LocalPool(work, 1).map(start_from, orders, needed=len(orders))
    killed: list[int] = []

    def kill_the_other(index: int, outcome: object) -> None:
        # Both workers are at a piece: kill one that has begun and not ended.
        if not killed:
            until(lambda: len(list(tmp_path.iterdir())) >= 3)
            pids = {int(line) for file in tmp_path.iterdir() for line in file.read_text().split()}
            own = {process.pid for process in cluster.workers}
            killed.append(min(pids & own))
            os.kill(killed[0], signal.SIGKILL)

    with connected(cluster.address) as client:
        pool = ClusterPool(client, problem, TABLE, Run(Options()))
        there = pool.map(
            slow_start,
            [(order, str(tmp_path)) for order in orders],
            needed=len(orders),
            done=kill_the_other,
        )
    dead = [process for process in cluster.workers if process.pid == killed[0]]
    assert dead[0].wait(10) == -signal.SIGKILL
    cluster.workers.remove(dead[0])
    assert [each.value for each in there] == [each.value for each in here]
    assert all(np.array_equal(a.held, b.held) for a, b in zip(here, there, strict=True))
    begun = [file.read_text().split() for file in tmp_path.iterdir()]
    assert len(begun) == len(orders)
    # At least the piece that the dead worker was at was begun again by the other one.
    assert any(len(pids) > 1 for pids in begun)


def test_all_workers_lost_with_the_problem(cluster: Cluster, tmp_path: Path) -> None:
    problem = problem_of("pairwise", seed=4)
    orders = start_orders(problem.m, [0.0] * problem.m)[:4]
    happened: list[bool] = []

    def replace_all(index: int, outcome: object) -> None:
        if not happened:
            happened.append(True)
            for process in cluster.workers:
                process.kill()
                process.wait(10)
            cluster.workers.clear()
            cluster.add_worker()

    with connected(cluster.address) as client:
        pool = ClusterPool(client, problem, TABLE, Run(Options()))
        items = [(order, str(tmp_path)) for order in orders]
        there = pool.map(slow_start, items, needed=len(items), done=replace_all)
    work = Work(problem, TABLE, lambda: None)
    assert [each.value for each in there] == [start_from(work, order).value for order in orders]


def test_limits_hold_there_too(cluster: Cluster) -> None:
    problem = problem_of("requester", seed=5)
    result = pp.solve(problem, method="plan", cluster=cluster.address, time_limit=0.05)
    assert result.status in {"time-limit", "gap", "feasible"}
    assert 0 < result.lower <= result.upper


def test_fault_of_a_piece_is_raised_here(cluster: Cluster) -> None:
    with connected(cluster.address) as client:
        pool = ClusterPool(client, problem_of("requester"), TABLE, Run(Options()))
        with pytest.raises(ValueError, match="item 7"):
            pool.map(broken, [7], needed=1)


def test_suite_on_a_cluster(cluster: Cluster) -> None:
    problems = [problem_of("requester", seed) for seed in range(3)]
    protocol = Protocol(methods=("plan", "popularity"), seeds=(0, 1))
    here = run_trials(problems, protocol)
    seen: list[int] = []
    there = run_trials(
        problems, protocol, cluster=cluster.address, after=lambda t: seen.append(len(t.rows))
    )
    assert seen == [4, 8, 12]
    assert [(t.key, t.lower, t.upper) for t in there.rows] == [
        (t.key, t.lower, t.upper) for t in here.rows
    ]
    again = run_trials(problems, protocol, done=there, cluster=cluster.address)
    assert again.rows == there.rows


def test_nobody_at_the_address() -> None:
    with pytest.raises(pp.SolverError, match="no Dask scheduler answers"):
        pp.solve(problem_of("requester"), method="plan", cluster="tcp://127.0.0.1:9")
    with pytest.raises(pp.InputError, match="cluster"):
        pp.solve(problem_of("requester"), method="plan", cluster="nowhere")


def test_a_cluster_without_workers_is_named() -> None:
    class Empty:
        def scatter(self, *_: object, **__: object) -> object:
            raise TimeoutError("No valid workers found")

    pool = ClusterPool(Empty(), problem_of("requester"), TABLE, Run(Options()))
    with pytest.raises(pp.SolverError, match="the cluster has lost all its workers"):
        pool.map(lambda _, item: item, [1], 1)
