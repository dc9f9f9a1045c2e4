"""Old holdings on a newer instance: by id, by path of keys, by workers' names."""

from dataclasses import replace

import numpy as np
import pytest

from prefixplace_opt import Placement, PrefixTree, Problem, Worker
from prefixplace_opt.problem import Demand, InputError, UniformCost, carry_over


def problem_of(tree: PrefixTree, names: str = "ab", value: float = 1.0) -> Problem:
    m = len(names)
    return Problem(
        tree,
        [Worker(name, tree.n) for name in names],
        Demand.from_dense(np.full((m, tree.n), value), shape=(m, tree.n)),
        UniformCost(5.0),
        UniformCost(2.0),
    )


OLD = problem_of(PrefixTree.from_paths([["x", "y", "z"], ["x", "w"], ["y"]]))
PLACEMENT = Placement.of(OLD, [[0, 1, 2], [0, 3, 4]])


def test_same_tree_keeps_ids_whatever_the_demand() -> None:
    new = problem_of(OLD.tree, value=7.0)
    assert carry_over(OLD, PLACEMENT, new).tolist() == PLACEMENT.held(OLD.n).tolist()


def test_chunks_are_found_by_their_path_of_keys() -> None:
    # "y" is both a root and a child of "x"; "z" below another prefix is another chunk.
    new = problem_of(PrefixTree.from_paths([["y", "z"], ["x", "y"], ["x", "w"]]))
    held = carry_over(OLD, PLACEMENT, new)
    assert [np.flatnonzero(row).tolist() for row in held] == [[2, 3], [0, 2, 4]]
    for row in held:
        assert new.tree.orphan(row) < 0


def test_workers_are_found_by_name() -> None:
    new = problem_of(OLD.tree, names="bc")
    assert carry_over(OLD, PLACEMENT, new).tolist() == [
        PLACEMENT.held(OLD.n)[1].tolist(),
        [False] * OLD.n,
    ]


def test_what_cannot_be_matched_is_refused() -> None:
    bare = problem_of(PrefixTree(OLD.tree.parents))
    with pytest.raises(InputError, match="or keys in both"):
        carry_over(OLD, PLACEMENT, bare)
    with pytest.raises(InputError, match="a placement of the old instance"):
        carry_over(bare, PLACEMENT, OLD)
    longer = PrefixTree(OLD.tree.parents, chunk_tokens=2, keys=OLD.tree.keys)
    with pytest.raises(InputError, match="expected chunks of 1 tokens"):
        carry_over(OLD, PLACEMENT, replace(OLD, tree=longer))
