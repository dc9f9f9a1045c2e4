import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.certificates import closed_sets
from prefixplace_opt.problem import PrefixTree
from tests import brute_force
from tests.strategies import forests

KERNELS = {
    "int64": (closed_sets._best_value_int64, closed_sets._forced_values_int64),
    "plain": (closed_sets._best_value_int64.py_func, closed_sets._forced_values_int64.py_func),
    "object": (None, None),
}

NONE = np.array([], dtype=int)


@st.composite
def choices(draw):
    parents = draw(forests(7))
    n = len(parents)
    places = st.lists(st.integers(0, n - 1), max_size=2)
    profit = draw(st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=n, max_size=n))
    asked = st.lists(st.integers(0, n - 1), max_size=n)
    return parents, profit, draw(st.integers(0, n + 1)), draw(places), draw(places), draw(asked)


@pytest.mark.parametrize("kernel", KERNELS)
@given(choices())
def test_programs_agree_with_exhaustion(kernel, choice):
    parents, profit, budget, taken, barred, asked = choice
    tree = PrefixTree(parents)
    position = tree.position
    profits = np.array(profit)[tree.order]
    interest = (profits > 0) | np.isin(np.arange(len(parents)), position[asked])
    reduced = closed_sets.reduced(
        tree.end, tree.preorder_parents, budget, position[taken], position[barred], interest
    )
    sets = [
        held
        for held in brute_force.closed_sets(parents, budget)
        if held.issuperset(taken) and held.isdisjoint(barred)
    ]
    by_position = np.array(profit, dtype=object if kernel == "object" else np.int64)[tree.order]

    def best(allowed):
        return max((sum(profit[b] for b in held) for held in allowed), default=None)

    with pytest.MonkeyPatch.context() as patch:
        if kernel == "plain":
            patch.setattr(closed_sets, "_best_value_int64", KERNELS[kernel][0])
            patch.setattr(closed_sets, "_forced_values_int64", KERNELS[kernel][1])
        assert closed_sets.best_value(by_position, reduced) == best(sets)
        assert reduced.feasible == bool(sets)
        if not sets:
            return
        value_in, value_out = closed_sets.forced_values(by_position, reduced)
    for b in asked:
        wanted = best([held for held in sets if b in held])
        found = value_in[position[b]]
        assert found == wanted if wanted is not None else found < 0
        wanted = best([held for held in sets if b not in held])
        found = value_out[position[b]]
        assert found == wanted if wanted is not None else found < 0


def test_the_largest_sums_do_not_overflow():
    tree = PrefixTree([-1, 0, 1, -1])
    profit = np.full(4, 2**59, dtype=np.int64)
    everything = closed_sets.reduced(tree.end, tree.preorder_parents, 4, NONE, NONE, profit > 0)
    assert closed_sets.best_value(profit, everything) == 2**61
    value_in, value_out = closed_sets.forced_values(profit, everything)
    assert value_in.tolist() == [2**61] * 4
    assert value_out.tolist() == [2**59, 2**60, 3 * 2**59, 3 * 2**59]


def test_rows_are_reused_in_a_forest_that_is_deep_and_wide():
    rng = np.random.default_rng(3)
    parents = [-1, *(int(rng.integers(max(-1, i - 4), i)) for i in range(1, 300))]
    tree = PrefixTree(parents)
    profit = rng.integers(0, 50, 300)
    choice = closed_sets.reduced(tree.end, tree.preorder_parents, 40, NONE, NONE, profit > 0)
    wanted = int(brute_force.plain_oracle(profit.tolist(), tree.end.tolist(), 40))
    assert closed_sets.best_value(profit, choice) == wanted
    assert closed_sets.best_value(profit.astype(object), choice) == wanted
    narrow = closed_sets.forced_values(profit, choice)
    wide = closed_sets.forced_values(profit.astype(object), choice)
    for found, exact in zip(narrow, wide, strict=True):
        of_interest = profit > 0
        assert np.maximum(found, -1)[of_interest].tolist() == (
            np.maximum(exact, -1)[of_interest].tolist()
        )
