"""The planner: WorkerGreedy from several orders, refined; baselines beside it; the best of all.

The plan is never worse than any baseline, and at least half the optimum.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import Holders, Placement, Problem

from . import greedy
from .cluster import ClusterPool, connected
from .memory import allow
from .pool import LocalPool, Pool, Work
from .result import Result, Status
from .tree_oracle import TreeOracle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    """A plan by position, its value, where it comes from, and how many sweeps refined it.

    ``held`` is None once a better plan is known.
    """

    name: str
    held: Mask | None
    value: float
    sweeps: int = 0


class Best:
    """The candidates so far, and the plan of the best: of equal ones, the first by rank."""

    def __init__(self) -> None:
        self.candidates: dict[int, Candidate] = {}
        self._rank = 0

    def add(self, rank: int, candidate: Candidate) -> bool:
        """Add a candidate; return whether it is the best so far."""
        self.candidates[rank] = candidate
        if len(self.candidates) == 1:
            self._rank = rank
            return True
        best = self.best
        better = (candidate.value, -rank) > (best.value, -self._rank)
        loser = self._rank if better else rank
        self.candidates[loser] = replace(self.candidates[loser], held=None)
        if better:
            self._rank = rank
        return better

    @property
    def best(self) -> Candidate:
        """The best candidate so far."""
        return self.candidates[self._rank]

    def ranked(self) -> list[Candidate]:
        """Return all candidates by rank."""
        return [self.candidates[rank] for rank in sorted(self.candidates)]


def plan(problem: Problem, run: Run) -> Result:
    """Return the best of all starts and baselines, refined to a fixed point.

    Statistics: ``winner``, ``starts``, ``sweeps`` (of each start), ``values`` (of each candidate,
    ms per epoch), ``seconds`` (of each part). Stops early, with the best plan so far, at the
    run's limits; the first start is always finished.
    """
    with _working(problem, run) as (work, pool):
        upper, alone = _bounds(work, pool, run)
        orders = start_orders(problem.m, alone, run.options.seed)
        found = Best()
        if run.options.warm_start is not None:
            with run.timed("warm start"):
                start = run.options.warm_start.held(problem.n)[:, problem.tree.order]
                found.add(-1, _refined(work, "warm-start", Holders(work.form, start)))
        with run.timed("starts"):

            def done(rank: int, candidate: Candidate) -> None:
                if found.add(rank, candidate):
                    run.report("planning", candidate.value, upper)

            pool.map(start_from, orders, needed=1, done=done)
    with run.timed("baselines"):
        for rank, (name, baseline) in enumerate(BASELINES.items(), len(orders)):
            if not run.stopped():
                held = baseline(problem, work.oracle)
                found.add(rank, Candidate(name, held, work.form.value(held)))
    best = found.best
    assert best.held is not None
    if best.name in BASELINES:
        with run.timed("refine winner"):
            best = _refined(work, best.name, Holders(work.form, best.held))
    status: Status = run.stopped() or "feasible"
    candidates = found.ranked()
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
            "sweeps": [each.sweeps for each in candidates if each.name not in BASELINES],
            "values": {each.name: each.value for each in candidates},
        },
    )


def single(problem: Problem, run: Run, method: str) -> Result:
    """Return one plain plan: ``greedy`` (WorkerGreedy in standalone-score order) or a baseline."""
    with _working(problem, run) as (work, pool):
        upper, alone = _bounds(work, pool, run)
    with run.timed(method):
        if method == "greedy":
            holders = Holders(work.form)
            order = standalone_order(alone)
            greedy.worker_greedy(holders, work.oracle, problem.budgets.tolist(), order)
            held = holders.held
        else:
            held = BASELINES[method](problem, work.oracle)
    candidate = Candidate(method, held, work.form.value(held))
    return _result(problem, candidate, upper, "feasible", method, run, {})


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


@contextmanager
def _working(problem: Problem, run: Run) -> Iterator[tuple[Work, Pool]]:
    """Prepare the work of a run, and where its pieces are done, within the run's memory."""
    options = run.options
    allowance = allow(problem, options.threads, options.memory_limit)
    with run.timed("savings"):
        work = Work(problem, allowance.table, run.stopped)
    if options.cluster is None:
        yield work, LocalPool(work, allowance.threads)
    else:
        with connected(options.cluster) as client:
            yield work, ClusterPool(client, problem, allowance.table, run)


def _bounds(work: Work, pool: Pool, run: Run) -> tuple[float, list[float]]:
    """Return a first bound, and each worker's standalone optimum."""
    form = work.form
    with run.timed("standalone"):
        workers = range(work.problem.m)
        alone = [value or 0.0 for value in pool.map(value_alone, workers, needed=len(workers))]
    # The bound at zero prices; and nobody saves more than by an own copy of everything.
    everything = sum(float(value.sum()) for value in form.local_value) + float(form.row_best.sum())
    return min(sum(alone), everything), alone


def value_alone(work: Work, worker: int) -> float:
    """Return the most that ``worker`` alone can save, ms per epoch."""
    profit = work.form.priced_profits(worker, np.zeros(work.form.rows))
    return work.oracle.solve(profit, int(work.problem.budgets[worker])).value


def start_from(work: Work, order: tuple[int, ...]) -> Candidate:
    """Return WorkerGreedy's plan in ``order``, refined."""
    holders = Holders(work.form)
    greedy.worker_greedy(holders, work.oracle, work.problem.budgets.tolist(), order)
    return _refined(work, "start " + "-".join(map(str, order)), holders, order)


def _refined(
    work: Work, name: str, holders: Holders, order: Sequence[int] | None = None
) -> Candidate:
    walk = range(work.problem.m) if order is None else order
    budgets = work.problem.budgets.tolist()
    sweeps = greedy.refine(holders, work.oracle, budgets, walk, work.stopped)
    return Candidate(name, holders.held, work.form.value(holders.held), sweeps)


def _result(
    problem: Problem,
    best: Candidate,
    upper: float,
    status: Status,
    method: str,
    run: Run,
    statistics: dict[str, object],
) -> Result:
    assert best.held is not None
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
