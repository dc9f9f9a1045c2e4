"""The memory of a run: what is estimated, what is measured, and what a limit does."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import prefixplace_opt as pp
from prefixplace_opt.problem import (
    AffineCost,
    CapacityError,
    Demand,
    LinkCost,
    PrefixTree,
    Problem,
    Worker,
)
from prefixplace_opt.solvers.memory import (
    BASE,
    LEAST_TABLE,
    Allowance,
    allow,
    parse_bytes,
    proof_bytes,
    shared_bytes,
    start_bytes,
    written,
)
from prefixplace_opt.solvers.tree_oracle import TABLE_MEMORY


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("4GiB", 4 << 30),
        ("500MB", 500_000_000),
        ("1.5 GiB", 3 << 29),
        ("2t", 2 * 10**12),
        ("64 kib", 64 << 10),
        ("1048576", 1 << 20),
        ("12b", 12),
    ],
)
def test_amounts(text: str, amount: int) -> None:
    assert parse_bytes(text) == amount


@pytest.mark.parametrize("text", ["", "much", "-1GiB", "4 gigs", "0", "0.1B", "1e9", "i", "4ib"])
def test_no_amounts(text: str) -> None:
    with pytest.raises(pp.InputError, match="expected an amount of memory"):
        parse_bytes(text)


def problem_of(objective: str, n: int = 20_000, m: int = 6) -> Problem:
    rng = np.random.default_rng(0)
    parents = np.arange(-1, n - 1)
    parents[::40] = rng.integers(-1, 1, parents[::40].size)
    parents[0] = -1
    worker = np.repeat(np.arange(m), n // 2)
    chunk = np.concatenate([rng.choice(n, n // 2, replace=False) for _ in range(m)])
    shape = (m, m) if objective == "pairwise" else (m,)
    return Problem(
        tree=PrefixTree(parents, chunk_tokens=16, chunk_bytes=1 << 20),
        workers=[Worker(f"w{h}", 500) for h in range(m)],
        demand=Demand(worker, chunk, rng.integers(1, 9, worker.size), shape=(m, n)),
        recompute=AffineCost(1 + rng.random(m), 0.001 * rng.random(m)),
        fetch=LinkCost(1 + 20 * rng.random(shape), rng.random(shape)),
        objective=objective,
    )


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
@pytest.mark.parametrize("threads", [1, 2])
def test_estimate_covers_what_is_measured(objective: str, threads: int) -> None:
    problem = problem_of(objective)
    pp.solve(problem, method="plan", threads=threads)
    tracemalloc.start()
    problem = problem_of(objective)
    tracemalloc.reset_peak()
    pp.solve(problem, method="plan", threads=threads)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimated = shared_bytes(problem) + threads * start_bytes(problem)
    # Tables of decisions come from numba's own allocator and have their own figure.
    assert 0.4 * estimated < peak <= estimated


def test_limits_take_threads_and_tables_first() -> None:
    problem = problem_of("requester")
    shared, each = BASE + shared_bytes(problem), start_bytes(problem)
    assert allow(problem, 4, None) == Allowance(4, TABLE_MEMORY)
    assert allow(problem, 4, 1 << 40) == Allowance(4, TABLE_MEMORY)
    assert allow(problem, 4, shared + 4 * (each + LEAST_TABLE)) == Allowance(4, LEAST_TABLE)
    assert allow(problem, 4, shared + 3 * (each + LEAST_TABLE)) == Allowance(3, LEAST_TABLE)
    assert allow(problem, 4, shared + each + LEAST_TABLE) == Allowance(1, LEAST_TABLE)
    needed = written(shared + each + LEAST_TABLE)
    with pytest.raises(CapacityError, match=f"20,000 chunks on 6 workers.*takes about {needed}"):
        allow(problem, 4, shared)


def test_limit_changes_no_result() -> None:
    problem = problem_of("pairwise", n=2000)
    limit = BASE + shared_bytes(problem) + start_bytes(problem) + LEAST_TABLE
    free = pp.solve(problem, method="plan", threads=2)
    lean = pp.solve(problem, method="plan", threads=2, memory_limit=limit)
    assert lean.placement == free.placement
    assert lean.upper == free.upper
    with pytest.raises(CapacityError, match="memory limit is 1 MiB"):
        pp.solve(problem, method="plan", memory_limit=1 << 20)
    with pytest.raises(pp.InputError, match="memory_limit"):
        pp.solve(problem, method="plan", memory_limit=0)


def test_proof_that_does_not_fit_leaves_the_plan() -> None:
    problem = problem_of("requester", n=2000)
    enough = BASE + shared_bytes(problem) + start_bytes(problem) + TABLE_MEMORY
    assert proof_bytes(problem) < TABLE_MEMORY
    limit = BASE + shared_bytes(problem) + start_bytes(problem) + proof_bytes(problem) - 1
    plan = pp.solve(problem, method="plan")
    lean = pp.solve(problem, method="auto", memory_limit=max(limit, 1))
    assert lean.method == "auto"
    assert "a proof takes about" in lean.reason
    assert lean.placement == plan.placement
    proven = pp.solve(problem, method="auto", memory_limit=enough, node_limit=0)
    assert "a proof takes about" not in proven.reason


def test_pairwise_tables_count() -> None:
    problem = problem_of("pairwise", n=2000)
    n, m = problem.n, problem.m
    worker, chunk = np.divmod(np.arange(m * n), n)
    tensor = np.stack(
        [
            problem.fetch.cost_from(problem.tree, worker, h, chunk).reshape(m, n)  # type: ignore[union-attr]
            for h in range(m)
        ],
        axis=1,
    )
    dense = replace(problem, fetch=pp.problem.PairwiseCost(tensor))
    assert shared_bytes(dense) > shared_bytes(problem) + 8 * m * m * n
