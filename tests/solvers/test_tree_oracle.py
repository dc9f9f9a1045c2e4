import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.problem import PrefixTree
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.strategies import forests

PROFITS = st.one_of(
    st.integers(-3, 3).map(float),  # ties, zeros, negatives
    st.floats(-10, 10, allow_nan=False),
)


@given(forests(9), st.data())
def test_oracle_is_brute_force(parents: list[int], data: st.DataObject) -> None:
    tree = PrefixTree(parents)
    oracle = TreeOracle(tree)
    for budget in data.draw(st.permutations(range(tree.n + 2))):
        profit = np.array(data.draw(st.lists(PROFITS, min_size=tree.n, max_size=tree.n)))
        best = oracle.solve(profit[tree.order], budget)
        exact = max(
            sum(profit[b] for b in held) for held in brute_force.closed_sets(parents, budget)
        )
        assert best.value == np.float64(exact) or abs(best.value - exact) < 1e-12
        chosen = np.flatnonzero(best.resident)
        assert chosen.size <= budget
        assert all(
            tree.preorder_parents[p] < 0 or best.resident[tree.preorder_parents[p]] for p in chosen
        )
        assert abs(profit[tree.order][chosen].sum() - best.value) < 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(0, 70))
def test_oracle_is_the_plain_recurrence(seed: int, n: int, budget: int) -> None:
    rng = np.random.default_rng(seed)
    reach = int(rng.integers(1, n + 1))
    parents = [max(-1, int(rng.integers(i - reach, i))) if i else -1 for i in range(n)]
    tree = PrefixTree(parents)
    profit = rng.integers(-2, 8, n).astype(float)
    plain = brute_force.plain_oracle(profit.tolist(), tree.end.tolist(), min(budget, n))
    assert TreeOracle(tree).solve(profit, budget).value == plain


def test_deep_chain() -> None:
    n = 100_000
    oracle = TreeOracle(PrefixTree(np.arange(-1, n - 1)))
    profit = np.full(n, -1.0)
    profit[9] = 20.0
    best = oracle.solve(profit, 50)
    assert (best.value, np.count_nonzero(best.resident)) == (11.0, 10)
