"""No bound lies below the optimum: random prices and trees against exhaustion."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from prefixplace_opt.certificates import (
    Certificate,
    ServicePrices,
    certificate_of,
    integer_savings,
    verify,
)
from prefixplace_opt.certificates.integer_savings import IntegerSavings, exact_value
from prefixplace_opt.certificates.verifier import proven_bound
from prefixplace_opt.problem import (
    Branch,
    Demand,
    DenseCost,
    InputError,
    Leaf,
    PairwiseCost,
    Placement,
    PrefixTree,
    Problem,
    Proof,
    Worker,
    objective_value,
    savings,
)
from prefixplace_opt.solvers.tree_oracle import TreeOracle
from tests import brute_force
from tests.certificates.proofs import bound_by_exhaustion, certificates, shared_saving, upper_bound
from tests.strategies import forests, problems

EXTREMES = [0.0, -0.0, 5e-324, 2.3e-308, 1e-160, 0.1, 1.0, 3.7, 1e9, 1e150, 1e300]


@st.composite
def extreme_problems(draw, chunks=4):
    """Numbers from the smallest double to 1e300, unfetchable chunks, empty budgets, groups."""
    parents = draw(forests(chunks))
    n, m = len(parents), draw(st.integers(1, 2))
    number = st.sampled_from(EXTREMES)

    def array(*shape, entry=number):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(entry, min_size=size, max_size=size))).reshape(shape)

    fetch = st.one_of(number, st.just(float("inf")))
    pairwise = draw(st.booleans())
    try:
        return Problem(
            tree=PrefixTree(parents),
            workers=[
                Worker(
                    f"w{h}",
                    draw(st.integers(0, n)),
                    compatibility=draw(st.sampled_from([None, "b"])),
                )
                for h in range(m)
            ],
            demand=Demand.from_dense(array(m, n), shape=(m, n)),
            recompute=DenseCost(array(m, n)),
            fetch=PairwiseCost(array(m, m, n, entry=fetch))
            if pairwise
            else DenseCost(array(m, n, entry=fetch)),
            objective="pairwise" if pairwise else "requester",
        )
    except InputError:
        # More than a double holds, all together.
        assume(False)


@given(problems(chunks=5, workers=2, integral=False), st.data())
@settings(max_examples=150)
def test_exact_bounds_are_those_of_the_theorem_and_never_below_the_optimum(problem, data):
    certificate = data.draw(certificates(problem))
    optimum, _ = brute_force.optimum(problem)
    exact = proven_bound(problem, certificate, "exact").bound
    assert exact == bound_by_exhaustion(problem, certificate)
    assert exact >= optimum
    directed = proven_bound(problem, certificate, "directed").bound
    assert exact <= directed <= exact + Fraction(1e-9) * max(exact, 1)


@given(extreme_problems(), st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.filter_too_much])
def test_extreme_numbers(problem, data):
    certificate = data.draw(certificates(problem, st.sampled_from(EXTREMES)))
    optimum, best = brute_force.optimum(problem)
    exact = proven_bound(problem, certificate, "exact").bound
    assert exact == bound_by_exhaustion(problem, certificate)
    directed = proven_bound(problem, certificate, "directed").bound
    assert optimum <= exact <= directed
    everything = sum(
        (
            Fraction(float(value))
            for table in certificate.prices
            for value in (*table.value, *table.withheld.value)
        ),
        sum(max(row[m]) * problem.m for m, row in enumerate(brute_force.all_savings(problem))),
    )
    assert directed <= exact + everything / 2**45
    assert exact_value(problem, Placement.of(problem, [*map(sorted, best)]).held(problem.n)) == (
        optimum
    )


@given(problems(chunks=5, workers=3, objective="requester", integral=False), st.data())
@settings(max_examples=60)
def test_a_price_a_chunk_is_the_general_bound_with_proportional_prices(problem, data):
    """docs/certificates.md: alpha_m = price * (own share of D) / D, for prices up to D."""
    s = brute_force.all_savings(problem)
    prices, general = {}, {}
    for group in range(int(problem.groups.max()) + 1):
        members = np.flatnonzero(problem.groups == group).tolist()
        for b in range(problem.n):
            shares = {m: shared_saving(problem, m, b) for m in members}
            worth = sum(shares.values())
            # A double below the exact worth.
            price = float(worth) * data.draw(st.floats(0, 0.99))
            prices[group, b] = price
            for m in members:
                general[m, b] = Fraction(price) * shares[m] / worth if worth else Fraction(0)
    total = sum(general.values())
    for h, worker in enumerate(problem.workers):
        profit = [
            sum(max(s[m][h][b] - general[m, b], 0) for m in range(problem.m))
            for b in range(problem.n)
        ]
        total += max(
            sum((profit[b] for b in held), Fraction(0))
            for held in brute_force.closed_sets(problem.tree.parents.tolist(), worker.budget)
        )
    positive = {row: price for row, price in prices.items() if price > 0}
    table = ServicePrices(
        [r for r, _ in positive], [b for _, b in positive], list(positive.values())
    )
    assert upper_bound(problem, table, ()) == total


@given(problems(chunks=5, workers=3, integral=False), st.data())
@settings(max_examples=60)
def test_the_exact_value_is_the_definition(problem, data):
    cells = st.lists(st.booleans(), min_size=problem.m * problem.n, max_size=problem.m * problem.n)
    held = np.array(data.draw(cells), dtype=bool).reshape(problem.m, problem.n)
    wanted = brute_force.value(
        brute_force.all_savings(problem), [frozenset(np.flatnonzero(row).tolist()) for row in held]
    )
    assert exact_value(problem, held) == wanted
    # Products of the smallest doubles are lost.
    assert abs(Fraction(objective_value(problem, held)) - wanted) <= wanted / 2**50 + Fraction(
        1e-300
    )


@given(problems(chunks=6, workers=3), st.data())
@settings(max_examples=60)
def test_whole_numbers_fit_int64_and_give_the_same_as_unbounded_integers(problem, data):
    certificate = data.draw(certificates(problem, st.integers(0, 90)))
    savings = IntegerSavings(problem, certificate.prices, "exact")
    priced = savings.priced(certificate.prices[0])
    # A fetch cost that comes from a link's goodput has too many digits.
    assume(savings.profits(0, priced).dtype == np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integer_savings, "_dtype_of", lambda _: np.dtype(object))
        wide = IntegerSavings(problem, certificate.prices, "exact")
        assert wide.profits(0, wide.priced(certificate.prices[0])).dtype == object
        unbounded = proven_bound(problem, certificate, "exact").bound
    assert proven_bound(problem, certificate, "exact").bound == unbounded


def test_a_deep_tree_of_decisions_needs_no_recursion():
    n = 1500
    problem = Problem(
        tree=PrefixTree([-1] * n),
        workers=[Worker("a", 2)],
        demand=Demand.from_dense(np.ones((1, n)), shape=(1, n)),
        recompute=DenseCost(np.arange(n)[None, :] % 7),
        fetch=DenseCost(np.full((1, n), np.inf)),
    )
    depth = 1200
    nodes = []
    for level in range(depth):
        nodes += [Branch(0, level, 2 * level + 1, 2 * level + 2), Leaf(0)]
    nodes.append(Leaf(0))
    placement = [6, 13]
    certificate = Certificate(
        problem.digest,
        problem.objective,
        [placement],
        12.0,
        12.0,
        [ServicePrices([], [], [])],
        nodes,
        granularity=1.0,
    )
    report = verify(problem, certificate, arithmetic="directed")
    assert report.accepted
    assert report.optimal
    assert report.leaves == depth + 1


@pytest.mark.parametrize("objective", ["requester", "pairwise"])
def test_larger_bounds_in_both_arithmetics_beside_the_solvers_own(objective):
    """Hundreds of chunks: exact, directed and the solvers' doubles agree as they should."""
    rng = np.random.default_rng(11)
    n, m = 400, 4
    fetch = rng.random((m, m, n)) * 40
    problem = Problem(
        tree=PrefixTree([-1, *(int(rng.integers(max(-1, i - 9), i)) for i in range(1, n))]),
        workers=[Worker(f"w{h}", 30 + 5 * h) for h in range(m)],
        demand=Demand.from_dense(rng.pareto(1.2, (m, n)), shape=(m, n)),
        recompute=DenseCost(rng.random((m, n)) * 50),
        fetch=PairwiseCost(fetch) if objective == "pairwise" else DenseCost(fetch[0]),
        objective=objective,
    )
    form = savings(problem)
    oracle = TreeOracle(problem.tree)
    empty = Placement.of(problem, [[] for _ in range(m)])
    for share in (0.0, 0.4, 1.0):
        dense = form.row_best * share * rng.random(form.rows)
        certificate = certificate_of(problem, empty, Proof.single(dense))
        exact = proven_bound(problem, certificate, "exact").bound
        directed = proven_bound(problem, certificate, "directed").bound
        assert exact <= directed <= exact * (1 + Fraction(1e-12))
        own = dense.sum() + sum(
            oracle.solve(form.priced_profits(h, dense), int(problem.budgets[h])).value
            for h in range(m)
        )
        assert float(exact) == pytest.approx(own, rel=1e-9)
