"""The tree-DP flow MILP: the tree oracle's recurrence as a path through a network.

    D[i, j] = max( D[next(i), j],  p(b_i) + D[i + 1, j - 1] ),   D[n, .] = D[., 0] = 0

A state (i, j) is a preorder position i with j chunks left. ``skip`` leads from (i, j) to
(next(i), j) and ``take`` to (i + 1, j - 1). A path from (0, k) to the end is exactly a
parent-closed set of at most k chunks, and path polytopes are integral, so with

    x[h, b_i] = sum_j take[h, b_i, j]

the x of worker h range over the convex hull of its resident sets: the LP value is that of the
configuration LP (docs/formulations/flow.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixTree, Problem, savings

from .coverage import CoverageRows, add_coverage
from .linear_model import Axis, ModelBuilder, require_room
from .placement_model import PlacementModel, add_residency, worker_labels

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Network:
    """The states of one worker that can be reached and are not the end, and where arcs lead.

    At position i a path has taken at least the ancestors of b_i and at most every earlier chunk;
    j beyond the n - i chunks to come is no use and counts as n - i. Both keep the reachable j an
    interval. No chunks left, or no positions left, is the end, numbered ``states``.

    Attributes
    ----------
    position, left
        Shape (states,): i and j of each state, ascending; state 0 is the source.
    skip, take
        Shape (states,): the state that the arc leads to.
    """

    position: Index
    left: Index
    skip: Index
    take: Index

    @property
    def states(self) -> int:
        """Number of states, not counting the end."""
        return int(self.position.size)


def network(tree: PrefixTree, budget: int) -> Network:
    """Return the network of the recurrence for a budget of ``budget`` chunks."""
    n, end = tree.n, tree.end.astype(np.int64)
    least, width = _reachable(tree, budget)
    first = np.concatenate([[0], np.cumsum(width)])
    states = int(first[-1])
    position = np.repeat(np.arange(n), width)
    left = np.arange(states) - first[position] + least[position]

    def state(at: NDArray[np.int64], j: NDArray[np.int64]) -> Index:
        over = (at == n) | (j == 0)
        inside = np.where(over, 0, at)
        number = first[inside] + np.minimum(j, n - inside) - least[inside]
        return np.where(over, states, number).astype(np.int32)

    return Network(
        position.astype(np.int32),
        left.astype(np.int32),
        state(end[position], left),
        state(position + 1, left - 1),
    )


def state_count(tree: PrefixTree, budget: int) -> int:
    """Return how many states :func:`network` has, without making them: about n times the budget."""
    return int(_reachable(tree, budget)[1].sum())


def _reachable(tree: PrefixTree, budget: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, by position, the least j that can be reached and how many there are."""
    i = np.arange(tree.n, dtype=np.int64)
    most = np.minimum(budget - tree.preorder_depth, tree.n - i)
    least = np.minimum(np.maximum(budget - i, 1), tree.n - i)
    return least, np.maximum(most - least + 1, 0)


@dataclass(frozen=True, eq=False)
class FlowModel(PlacementModel):
    """The tree-DP flow MILP as arrays.

    Attributes
    ----------
    networks
        The network of each worker.
    skip_columns, take_columns
        For each worker the columns of its arcs, by state.
    """

    networks: tuple[Network, ...]
    skip_columns: tuple[Index, ...]
    take_columns: tuple[Index, ...]

    def _complete(self, held: Mask, solution: Floats) -> None:
        order = self.problem.tree.order
        for h, net in enumerate(self.networks):
            state = 0
            while state < net.states:
                taken = held[h, order[net.position[state]]]
                arcs, target = (
                    (self.take_columns, net.take) if taken else (self.skip_columns, net.skip)
                )
                solution[arcs[h][state]] = 1.0
                state = int(target[state])


def flow_arrays(problem: Problem, *, coverage: CoverageRows | None = None) -> FlowModel:
    """Return the tree-DP flow MILP as arrays.

    Only x is binary: where x is 0/1, whatever flow carries it adds up to that same set.

    Parameters
    ----------
    problem
        What to formulate.
    coverage
        See :mod:`.coverage`; by default aggregated requester-side and disaggregated pairwise.
    """
    # On RAG-shaped instances HiGHS' interior point method solved the LP, a large and degenerate
    # network, 2 to 8 times faster than its simplex method.
    builder = ModelBuilder(f"flow {problem.name}".strip(), interior_point=True)
    form = savings(problem)
    labels = worker_labels(problem)
    x = add_residency(builder, problem, form)
    covered = add_coverage(builder, problem, form, x, labels, coverage)
    # Each state has two arcs out, each arc leads into a state, and a take arc is part of an x.
    require_room(
        builder.name, 5 * sum(state_count(problem.tree, k) for k in problem.budgets.tolist())
    )
    known: dict[int, Network] = {}
    networks = [
        known.get(k) or known.setdefault(k, network(problem.tree, k))
        for k in problem.budgets.tolist()
    ]
    sizes = [net.states for net in networks]
    worker = np.repeat(np.arange(problem.m), sizes)
    position = np.concatenate([net.position for net in networks])
    left = np.concatenate([net.left for net in networks])
    chunk = problem.tree.order[position]
    axes = (Axis(worker, labels), Axis(chunk), Axis(left))
    skip = builder.add_columns("skip", *axes)
    take = builder.add_columns("take", *axes)

    # Flow out of a state less flow into it: 1 at a source, 0 elsewhere.
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    state = np.arange(worker.size)
    into = [np.concatenate([getattr(net, arc) for net in networks]) for arc in ("skip", "take")]
    ends = np.array(sizes)[worker]
    inner = [target < ends for target in into]
    source = np.zeros(worker.size)
    source[first[np.array(sizes) > 0]] = 1.0
    builder.add_rows(
        "flow",
        *axes,
        row=np.concatenate(
            [
                state,
                state,
                *((target + first[worker])[ok] for target, ok in zip(into, inner, strict=True)),
            ]
        ),
        column=np.concatenate([skip, take, skip[inner[0]], take[inner[1]]]),
        value=np.repeat([1.0, -1.0], [2 * state.size, int(inner[0].sum() + inner[1].sum())]),
        lower=source,
        upper=source,
    )
    every_worker, every_chunk = np.divmod(np.arange(x.size), max(problem.n, 1))
    builder.add_rows(
        "resident",
        Axis(every_worker, labels),
        Axis(every_chunk),
        row=np.concatenate([np.arange(x.size), worker * problem.n + chunk]),
        column=np.concatenate([x.ravel(), take]),
        value=np.repeat([1.0, -1.0], [x.size, take.size]),
        lower=0.0,
        upper=0.0,
    )
    cut = np.cumsum(sizes)[:-1]
    return FlowModel(
        problem,
        builder.build(),
        covered,
        tuple(networks),
        tuple(np.split(skip, cut)),
        tuple(np.split(take, cut)),
    )
