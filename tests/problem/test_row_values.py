"""Row values over links are the table's, to the last bit, without the table."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.problem import Holders, PairwiseCost, Problem, savings
from tests.strategies import problems


def with_table(problem: Problem) -> Problem:
    """The same pairwise problem with every fetch cost written out."""
    worker = np.repeat(np.arange(problem.m, dtype=np.int32), problem.n)
    chunk = np.tile(np.arange(problem.n, dtype=np.int32), problem.m)
    times = np.empty((problem.m, problem.m, problem.n))
    for h in range(problem.m):
        by_holder = hasattr(problem.fetch, "cost_from")
        cost = (
            problem.fetch.cost_from(problem.tree, worker, h, chunk)
            if by_holder
            else problem.fetch.cost(problem.tree, worker, chunk)
        )
        times[:, h, :] = cost.reshape(problem.m, problem.n)
    return Problem(
        tree=problem.tree,
        workers=problem.workers,
        demand=problem.demand,
        recompute=problem.recompute,
        fetch=PairwiseCost(times),
        objective="pairwise",
    )


@given(problems(objective="pairwise", integral=False), st.data())
def test_links_give_the_table(problem: Problem, data: st.DataObject) -> None:
    given_form, table_form = savings(problem), savings(with_table(problem))
    assert table_form.row_values.table.shape == (table_form.rows, problem.m)
    if not isinstance(problem.fetch, PairwiseCost):
        assert given_form.row_values.table.size == 0
    assert np.array_equal(given_form.row_position, table_form.row_position)
    dense = np.broadcast_to(given_form.row_value, (given_form.rows, problem.m))
    assert np.array_equal(dense, table_form.row_value)
    assert np.array_equal(given_form.row_best, table_form.row_best)
    held = np.array(
        data.draw(
            st.lists(
                st.lists(st.booleans(), min_size=problem.n, max_size=problem.n),
                min_size=problem.m,
                max_size=problem.m,
            )
        )
    )
    assert given_form.value(held) == table_form.value(held)
    for worker in range(problem.m):
        a, b = Holders(given_form, held), Holders(table_form, held)
        assert np.array_equal(a.profits(worker), b.profits(worker))


@given(problems(objective="requester", integral=False))
def test_groups_need_no_table(problem: Problem) -> None:
    form = savings(problem)
    dense = np.broadcast_to(form.row_value, (form.rows, problem.m))
    same = problem.groups[None, :] == form.row_requester[:, None]
    assert np.array_equal(dense > 0, same & (form.row_best > 0)[:, None])
    assert form.row_values.table.shape[1] == (1 if problem.groups.max() == 0 else 0)
