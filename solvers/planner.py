"""The planner: WorkerGreedy from several orders, refined; baselines beside it; the best of all.

The plan is never worse than any baseline, and at least half the optimum.
"""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Holders, Placement, Problem, Savings, savings

from . import greedy
from .result import Result, Status
from .tree_oracle import TreeOracle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .run import Run

Mask = NDArray[np.bool_]

#: Up to this many workers every order is a start.
ALL_ORDERS_UP_TO = 5
#: Fixed pseudorandom orders beyond that.
RANDOM_ORDERS = 6

BASELINES: dict[str, Callable[[Problem, TreeOracle], Mask]] = {
    "independent": greedy.independent,
    "popularity": greedy.popularity,
    "local-dedup": greedy.local_dedup,
}


@dataclass(frozen=True)
class Candidate:
    """A plan by position, its value, where it comes from, and how many sweeps refined it."""

    name: str
    held: Mask
    value: float
    sweeps: int = 0


def plan(problem: Problem, run: Run) -> Result:
    """Return the best of all starts and baselines, refined to a fixed point.

    Statistics: ``winner``, ``starts``, ``sweeps`` (of each start), ``values`` (of each candidate,
    ms per epoch), ``seconds`` (of each part). Stops early, with the best plan so far, at the
    run's limits; the first start is always finished.
    """
    form, upper, alone = _prepare(problem, run)
    orders = start_orders(problem.m, alone, run.options.seed)
    candidates: list[Candidate] = []
    if run.options.warm_start is not None:
        with run.timed("warm start"):
            start = run.options.warm_start.held(problem.n)[:, problem.tree.order]
            candidates.append(
                _refined(problem, form, "warm-start", start, TreeOracle(problem.tree), run)
            )
    with run.timed("starts"):
        candidates += _all_starts(problem, form, orders, upper, run)
    with run.timed("baselines"):
        oracle = TreeOracle(problem.tree)
        for name, baseline in BASELINES.items():
            if not run.stopped():
                held = baseline(problem, oracle)
                candidates.append(Candidate(name, held, form.value(held)))
    best = max(candidates, key=lambda candidate: candidate.value)
    if best.name in BASELINES:
        with run.timed("refine winner"):
            best = _refined(problem, form, best.name, best.held, oracle, run)
    status: Status = run.stopped() or "feasible"
    return _result(
        problem,
        best,
        upper,
        status,
        "plan",
        run,
        {
            "winner": best.name,
            "starts": len(orders),
            "sweeps": [
                candidate.sweeps for candidate in candidates if candidate.name not in BASELINES
            ],
            "values": {candidate.name: candidate.value for candidate in candidates},
        },
    )


def single(problem: Problem, run: Run, method: str) -> Result:
    """Return one plain plan: ``greedy`` (WorkerGreedy in standalone-score order) or a baseline."""
    form, upper, alone = _prepare(problem, run)
    oracle = TreeOracle(problem.tree)
    with run.timed(method):
        if method == "greedy":
            holders = Holders(form)
            greedy.worker_greedy(holders, oracle, problem.budgets.tolist(), standalone_order(alone))
            held = holders.held
        else:
            held = BASELINES[method](problem, oracle)
    return _result(
        problem, Candidate(method, held, form.value(held)), upper, "feasible", method, run, {}
    )


def standalone_order(alone: Sequence[float]) -> list[int]:
    """Return the workers by falling standalone value, ties by index."""
    return sorted(range(len(alone)), key=lambda worker: (-alone[worker], worker))


def start_orders(m: int, alone: Sequence[float], seed: int = 0) -> list[tuple[int, ...]]:
    """Return the multi-start orders: all for few workers, else score, reverse and six drawn."""
    by_score = tuple(standalone_order(alone))
    if m <= ALL_ORDERS_UP_TO:
        others = [order for order in itertools.permutations(range(m)) if order != by_score]
        return [by_score, *others]
    rng = np.random.default_rng(seed)
    drawn = [tuple(rng.permutation(m).tolist()) for _ in range(RANDOM_ORDERS)]
    return list(dict.fromkeys([by_score, by_score[::-1], *drawn]))


def _prepare(problem: Problem, run: Run) -> tuple[Savings, float, list[float]]:
    """Return the normal form, a first bound, and each worker's standalone optimum."""
    with run.timed("savings"):
        form = savings(problem)
    with run.timed("standalone"):
        oracle = TreeOracle(problem.tree)
        nothing = np.zeros(form.rows)
        alone = [
            oracle.solve(form.priced_profits(worker, nothing), int(problem.budgets[worker])).value
            for worker in range(problem.m)
        ]
    # The bound at zero prices; and nobody saves more than by an own copy of everything.
    everything = sum(float(value.sum()) for value in form.local_value) + float(form.row_best.sum())
    return form, min(sum(alone), everything), alone


def _all_starts(
    problem: Problem, form: Savings, orders: Sequence[tuple[int, ...]], upper: float, run: Run
) -> list[Candidate]:
    own = threading.local()
    lock = threading.Lock()
    best = 0.0

    def start(index: int) -> Candidate | None:
        nonlocal best
        if index > 0 and run.stopped():
            return None
        if not hasattr(own, "oracle"):
            own.oracle = TreeOracle(problem.tree)
        holders = Holders(form)
        greedy.worker_greedy(holders, own.oracle, problem.budgets.tolist(), orders[index])
        name = "start " + "-".join(map(str, orders[index]))
        candidate = _refined(problem, form, name, holders, own.oracle, run, orders[index])
        with lock:
            if candidate.value > best:
                best = candidate.value
                run.report("planning", best, upper)
        return candidate

    if run.options.threads == 1:
        found = [start(index) for index in range(len(orders))]
    else:
        with ThreadPoolExecutor(min(run.options.threads, len(orders))) as pool:
            found = list(pool.map(start, range(len(orders))))
    return [candidate for candidate in found if candidate is not None]


def _refined(
    problem: Problem,
    form: Savings,
    name: str,
    start: Holders | Mask,
    oracle: TreeOracle,
    run: Run,
    order: Sequence[int] | None = None,
) -> Candidate:
    holders = start if isinstance(start, Holders) else Holders(form, start)
    walk = range(problem.m) if order is None else order
    sweeps = greedy.refine(holders, oracle, problem.budgets.tolist(), walk, run.stopped)
    return Candidate(name, holders.held, form.value(holders.held), sweeps)


def _result(
    problem: Problem,
    best: Candidate,
    upper: float,
    status: Status,
    method: str,
    run: Run,
    statistics: dict[str, object],
) -> Result:
    held = np.empty_like(best.held)
    held[:, problem.tree.order] = best.held
    placement = Placement.of_mask(problem, held)
    run.report("planned", placement.value, upper)
    if run.closed(placement.value, upper) and status == "feasible":
        status = "gap"
    return Result(
        placement=placement,
        upper=upper,
        status=status,
        method=method,
        seconds=run.seconds,
        statistics={**statistics, "seconds": dict(run.seconds_of)},
    )
