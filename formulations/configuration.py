"""The configuration LP: a column is one parent-closed set of one worker.

    max  sum_{h,b} local_h(b) x[h,b] + coverage(x)
    s.t. x[h,b] = sum_{t : b in T_t} use[h,t]           resident
         sum_t use[h,t] <= 1                            choose
         use >= 0

With every set a column this is the strongest of the formulations' LPs and has exponentially many
columns: enumerate it for tiny instances, or hand in some columns and have the restricted master of
column generation. With pi the duals of ``resident`` (of x less columns), a set of worker h prices
out at ``sum_{b in T} pi[h,b]`` less the dual of ``choose[h]``: one call of the tree oracle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import CapacityError, InputError, Problem, savings

from .coverage import CoverageRows, add_coverage
from .flow import Network, network
from .linear_model import Axis, ModelBuilder
from .placement_model import PlacementModel, add_residency, worker_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]

#: Most columns that are enumerated unless the caller says otherwise.
MOST_CONFIGURATIONS = 100_000


@dataclass(frozen=True, eq=False)
class Configurations:
    """Parent-closed sets of workers: the columns of a configuration LP.

    Attributes
    ----------
    worker
        Shape (T,): whose set it is.
    start
        Shape (T + 1,): set t holds the chunks ``chunk[start[t] : start[t + 1]]``.
    chunk
        Chunk ids.
    """

    worker: Index
    start: Index
    chunk: Index

    @classmethod
    def of(cls, sets: Iterable[tuple[int, Index]]) -> Configurations:
        """Take pairs of a worker and the ids of its chunks."""
        pairs = list(sets)
        sizes = [np.size(chunks) for _, chunks in pairs]
        return cls(
            np.array([worker for worker, _ in pairs], dtype=np.int32),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            np.concatenate([np.zeros(0), *(chunks for _, chunks in pairs)]).astype(np.int32),
        )

    @property
    def size(self) -> int:
        """Number of sets, T."""
        return int(self.worker.size)

    @property
    def owner(self) -> Index:
        """Shape of ``chunk``: the number of the set that each entry belongs to."""
        return np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.start))


def all_configurations(problem: Problem, most: int = MOST_CONFIGURATIONS) -> Configurations:
    """Enumerate every parent-closed set within the budget of every worker.

    Raises
    ------
    CapacityError
        Where there are more than ``most``; they are counted before any is made.
    """
    networks = {k: network(problem.tree, k) for k in set(problem.budgets.tolist())}
    counts = {k: _paths(net) for k, net in networks.items()}
    total = sum(counts[k] for k in problem.budgets.tolist())
    if total > most:
        raise CapacityError(
            f"the workers have {total:.4g} parent-closed sets within their budgets, and at most "
            f"{most} are enumerated; use column generation or the flow formulation"
        )
    sets = {k: list(_walks(problem, net)) for k, net in networks.items()}
    return Configurations.of(
        (h, chunks) for h, k in enumerate(problem.budgets.tolist()) for chunks in sets[k]
    )


def _paths(net: Network) -> float:
    """Return the number of paths through the network; arcs lead from lower to higher states."""
    count = np.ones(net.states + 1)
    with np.errstate(over="ignore"):
        for state in range(net.states - 1, -1, -1):
            count[state] = count[net.skip[state]] + count[net.take[state]]
    return float(count[0])


def _walks(problem: Problem, net: Network) -> Iterator[Index]:
    """Yield the ids of the chunks that each path takes."""
    chunk = problem.tree.order[net.position].tolist()
    skip, take = net.skip.tolist(), net.take.tolist()
    walks: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while walks:
        state, held = walks.pop()
        if state == net.states:
            yield np.array(held, dtype=np.int32)
        else:
            walks.append((take[state], (*held, chunk[state])))
            walks.append((skip[state], held))


@dataclass(frozen=True, eq=False)
class ConfigurationModel(PlacementModel):
    """The (restricted) configuration LP as arrays; integer x make it the master MIP.

    Attributes
    ----------
    configurations
        The columns.
    use
        Shape (T,): where they stand.
    """

    configurations: Configurations
    use: Index

    def _complete(self, held: Mask, solution: Floats) -> None:
        sets = self.configurations
        size = np.diff(sets.start)
        inside = np.bincount(
            sets.owner[held[sets.worker[sets.owner], sets.chunk]], minlength=sets.size
        )
        for h in range(held.shape[0]):
            count = np.count_nonzero(held[h])
            same = np.flatnonzero((sets.worker == h) & (inside == count) & (size == count))
            if same.size:
                solution[self.use[same[0]]] = 1.0
            elif count:
                raise InputError(
                    f"the resident set of worker {h} is none of the model's columns",
                    field="warm_start",
                )


def configuration_arrays(
    problem: Problem,
    configurations: Configurations | None = None,
    *,
    coverage: CoverageRows | None = None,
) -> ConfigurationModel:
    """Return the configuration LP as arrays, or its restriction to some columns.

    Parameters
    ----------
    problem
        What to formulate.
    configurations
        The columns; all of them by default (:func:`all_configurations`). A worker without a column
        holds nothing.
    coverage
        See :mod:`.coverage`; by default aggregated requester-side and disaggregated pairwise.

    Raises
    ------
    CapacityError
        Where there are too many columns to enumerate.
    """
    sets = all_configurations(problem) if configurations is None else configurations
    builder = ModelBuilder(f"configuration {problem.name}".strip())
    form = savings(problem)
    labels = worker_labels(problem)
    x = add_residency(builder, problem, form)
    covered = add_coverage(builder, problem, form, x, labels, coverage)
    use = builder.add_columns("use", Axis(sets.worker, labels), Axis(np.arange(sets.size)))
    worker, chunk = np.divmod(np.arange(x.size), max(problem.n, 1))
    builder.add_rows(
        "resident",
        Axis(worker, labels),
        Axis(chunk),
        row=np.concatenate(
            [np.arange(x.size), sets.worker[sets.owner].astype(np.int64) * problem.n + sets.chunk]
        ),
        column=np.concatenate([x.ravel(), use[sets.owner]]),
        value=np.repeat([1.0, -1.0], [x.size, sets.chunk.size]),
        lower=0.0,
        upper=0.0,
    )
    builder.add_rows(
        "choose",
        Axis(np.arange(problem.m), labels),
        row=sets.worker,
        column=use,
        value=1.0,
        upper=1.0,
    )
    return ConfigurationModel(problem, builder.build(), covered, sets, use)
