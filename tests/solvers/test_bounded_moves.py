"""The tree oracle with a bound on new chunks, against exhaustion."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt import PrefixTree
from prefixplace_opt.solvers import bounded_moves
from prefixplace_opt.solvers.bounded_moves import best_with_moves, table_cells


@given(st.data())
def test_best_closed_set_with_few_new_chunks(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 7))
    tree = PrefixTree([data.draw(st.integers(-1, v - 1)) for v in range(n)])
    numbers = st.sampled_from([-3.0, 0.0, 1.0, 2.0, 2.5])
    profit = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    closed = []
    for bits in itertools.product([False, True], repeat=n):
        mask = np.array(bits, dtype=np.bool_)
        if n == 0 or tree.orphan(mask[tree.position]) < 0:
            closed.append(mask)
    old = data.draw(st.sampled_from(closed))
    usable = data.draw(st.sampled_from(closed))
    budget, moves = data.draw(st.integers(0, n + 1)), data.draw(st.integers(0, n + 1))
    found = best_with_moves(profit, ~old, tree.preorder_depth, usable, budget, moves)
    allowed = [
        mask
        for mask in closed
        if mask.sum() <= budget and (mask & ~old).sum() <= moves and not (mask & ~usable).any()
    ]
    assert any(np.array_equal(found, mask) for mask in allowed)
    assert profit[found].sum() == max(profit[mask].sum() for mask in allowed)


def test_the_plain_kernel_gives_the_same() -> None:
    rng = np.random.default_rng(1)
    n = 30
    tree = PrefixTree([-1, *(int(rng.integers(-1, v)) for v in range(1, n))])
    profit, new = rng.normal(1, 2, n), rng.random(n) < 0.5
    depth = tree.preorder_depth
    for budget, moves in ((5, 2), (12, 0), (30, 30)):
        plain = bounded_moves._solve.py_func(profit, new, depth, budget, moves)
        assert np.array_equal(plain, bounded_moves._solve(profit, new, depth, budget, moves))


def test_size_of_the_table() -> None:
    assert table_cells(10, 4, 2) == 11 * 5 * 3
    assert table_cells(3, 100, 100) == 4 * 4 * 4
