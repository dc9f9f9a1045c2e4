import numpy as np
import pytest
from hypothesis import given

from prefixplace_opt.problem import InputError, PrefixTree, PrefixTreeBuilder
from tests.strategies import forests


@given(forests(12))
def test_preorder_is_what_it_says(parents: list[int]) -> None:
    tree = PrefixTree(parents)
    order, position, end = tree.order.tolist(), tree.position.tolist(), tree.end.tolist()
    assert sorted(order) == list(range(len(parents)))
    for node, parent in enumerate(parents):
        assert order[position[node]] == node
        below = {other for other in range(len(parents)) if node in tree.path(other)}
        assert {order[p] for p in range(position[node], end[position[node]])} == below
        assert tree.depth[node] == len(tree.path(node)) - 1
        if parent >= 0:
            assert tree.preorder_parents[position[node]] == position[parent]
        else:
            assert tree.preorder_parents[position[node]] == -1
    for first, second in zip(tree.roots, tree.roots[1:], strict=False):
        assert position[first] < position[second]


@pytest.mark.parametrize(
    ("parents", "field", "message"),
    [
        ([-1, 2], "parents[1]", "0 to 1"),
        ([-2], "parents[0]", "-1"),
        ([1, 0], "parents[0]", "cycle"),
        ([-1, 1], "parents[1]", "cycle"),
        ([0.5], "parents[0]", "whole number"),
        ([float("nan")], "parents[0]", "whole number"),
        ([[-1]], "parents", "shape"),
        (["a"], "parents", "numbers"),
        ([True], "parents", "numbers"),
        ([10**400], "parents[0]", "number"),
    ],
)
def test_wrong_parents_are_named(parents: object, field: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        PrefixTree(parents)  # type: ignore[arg-type]
    assert raised.value.field == field


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "8", None, 10**30])
def test_wrong_chunk_tokens_are_named(size: object) -> None:
    with pytest.raises(InputError, match="whole number") as raised:
        PrefixTree([-1], chunk_tokens=size)  # type: ignore[arg-type]
    assert raised.value.field == "chunk_tokens"


def test_empty_forest() -> None:
    tree = PrefixTree([])
    assert (tree.n, tree.height, tree.roots.size) == (0, 0, 0)


def test_deep_chain_and_wide_star_need_no_recursion() -> None:
    chain = PrefixTree(np.arange(-1, 99_999))
    assert chain.height == 100_000
    assert chain.end.tolist() == [100_000] * 100_000
    star = PrefixTree(np.r_[-1, np.zeros(999_999, dtype=int)])
    assert (star.n, star.height) == (1_000_000, 2)


def test_same_hash_below_another_prefix_is_another_chunk() -> None:
    tree = PrefixTree.from_paths([[7, 8], [8, 7], [7, 7], [7, 8, 8]])
    assert tree.parents.tolist() == [-1, 0, -1, 2, 0, 1]
    assert tree.keys == ("7", "8", "8", "7", "7", "8")


def test_builder_counts_and_returns_the_last_chunk() -> None:
    builder = PrefixTreeBuilder()
    assert builder.add([]) == -1
    assert builder.add(["a", "b"]) == 1
    assert builder.add(["a"]) == 0
    assert builder.n == 2


@given(forests(10))
def test_networkx_round_trip(parents: list[int]) -> None:
    tree = PrefixTree(parents, chunk_tokens=3, chunk_bytes=5)
    assert PrefixTree.from_networkx(tree.to_networkx(), chunk_tokens=3, chunk_bytes=5) == tree


def test_networkx_names_become_keys_and_two_parents_are_refused() -> None:
    nx = pytest.importorskip("networkx")
    tree = PrefixTree.from_networkx(nx.DiGraph([("root", "left"), ("root", "right")]))
    assert tree.keys == ("root", "left", "right")
    assert tree.parents.tolist() == [-1, 0, 0]
    with pytest.raises(InputError, match="more than one parent"):
        PrefixTree.from_networkx(nx.DiGraph([("a", "c"), ("b", "c")]))


def test_keys_must_fit() -> None:
    with pytest.raises(InputError, match="one key a chunk"):
        PrefixTree([-1], keys=[])
    with pytest.raises(InputError, match="string") as raised:
        PrefixTree([-1, 0], keys=["a", 3])  # type: ignore[list-item]
    assert raised.value.field == "keys[1]"


def test_arrays_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        PrefixTree([-1]).parents[0] = 0
