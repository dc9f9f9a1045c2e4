"""What the verifier accepts, and every way in which it says no."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from prefixplace_opt.certificates import (
    Certificate,
    FixedChunks,
    ServicePrices,
    certificate_of,
    verify,
)
from prefixplace_opt.problem import (
    Branch,
    Decision,
    Demand,
    DenseCost,
    Fixing,
    InputError,
    Leaf,
    Placement,
    PrefixTree,
    Prices,
    Problem,
    Proof,
    SolverError,
    UniformCost,
    Worker,
    savings,
)

BOTH = pytest.mark.parametrize("arithmetic", ["exact", "directed"])


def problem_of(**changes) -> Problem:
    """Two workers, a root with three children; all savings are multiples of 2."""
    parts = {
        "tree": PrefixTree([-1, 0, 0, 0]),
        "workers": [Worker("a", 2), Worker("b", 2)],
        "demand": Demand.from_dense([[9, 4, 5, 1], [8, 4, 2, 3]], shape=(2, 4)),
        "recompute": UniformCost(6),
        "fetch": UniformCost(2),
    }
    return Problem(**(parts | changes))


@pytest.fixture
def problem():
    return problem_of()


@pytest.fixture
def certificate(problem) -> Certificate:
    """Optimal: a holds 0 and 2, b holds 0 and 1, worth 180; the root's price 68 bounds 182."""
    placement = Placement.of(problem, [[0, 2], [0, 1]])
    form = savings(problem)
    dense = np.where(form.row_position == problem.tree.position[0], form.row_best, 0.0)
    return certificate_of(problem, placement, Proof.single(dense))


def faults(report) -> list[tuple[str, str]]:
    assert not report.accepted
    assert not report.optimal
    return [(reason.fault, reason.field) for reason in report.reasons]


@BOTH
def test_accepts_a_true_claim(problem, certificate, arithmetic):
    report = verify(problem, certificate, arithmetic=arithmetic)
    assert report.reasons == ()
    assert report.accepted
    assert report.value == Fraction(certificate.lower)
    assert report.bound == Fraction(certificate.upper)
    assert (certificate.lower, certificate.upper, certificate.granularity) == (180, 182, 2)
    assert report.leaves == 1
    assert report.document()["accepted"] is True


@BOTH
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"instance": "0" * 64}, ("instance", "instance")),
        ({"objective": "pairwise"}, ("objective", "objective")),
        ({"lower": float("nan")}, ("number", "lower")),
        ({"lower": -1.0}, ("number", "lower")),
        ({"upper": float("inf")}, ("number", "upper")),
        ({"granularity": 0.0}, ("number", "granularity")),
        ({"granularity": 4.0}, ("granularity", "granularity")),
        ({"granularity": 1.5}, ("granularity", "granularity")),
        ({"resident": [[0, 2]]}, ("placement", "resident")),
        ({"resident": [[0, 4], []]}, ("placement", "resident[0][1]")),
        ({"resident": [[0], [-1]]}, ("placement", "resident[1][0]")),
        ({"resident": [[0, 0], []]}, ("placement", "resident[0]")),
        ({"resident": [[0, 1, 2], []]}, ("placement", "resident[0]")),
        ({"resident": [[], [1]]}, ("placement", "resident[1]")),
        ({"resident": [[0, 2], [0]]}, ("lower", "lower")),
        ({"prices": [ServicePrices([1], [0], [1])]}, ("prices", "prices[0].requester[0]")),
        ({"prices": [ServicePrices([0], [4], [1])]}, ("prices", "prices[0].chunk[0]")),
        ({"prices": [ServicePrices([0, 0], [1, 1], [1, 1])]}, ("prices", "prices[0]")),
        ({"prices": [ServicePrices([0], [1], [-1])]}, ("number", "prices[0].value[0]")),
        ({"prices": [ServicePrices([0], [1], [np.nan])]}, ("number", "prices[0].value[0]")),
        ({"prices": [ServicePrices([0], [1], [np.inf])]}, ("number", "prices[0].value[0]")),
        ({"prices": []}, ("tree", "tree[0].prices")),
        ({"prices": [ServicePrices([], [], [])]}, ("upper", "upper")),
        ({"prices": [ServicePrices([0], [0], [1e300])]}, ("upper", "upper")),
        ({"nodes": []}, ("tree", "tree")),
        ({"nodes": [Leaf(0), Leaf(0)]}, ("tree", "tree[1]")),
        ({"nodes": [Branch(0, 0, 1, 1), Leaf(0)]}, ("tree", "tree[0].out")),
        ({"nodes": [Branch(0, 0, 1, 2), Leaf(0)]}, ("tree", "tree[0].out")),
        ({"nodes": [Branch(0, 0, 0, 1), Leaf(0)]}, ("tree", "tree[0].in")),
        ({"nodes": [Branch(2, 0, 1, 2), Leaf(0), Leaf(0)]}, ("tree", "tree[0].worker")),
        ({"nodes": [Branch(0, 4, 1, 2), Leaf(0), Leaf(0)]}, ("tree", "tree[0].chunk")),
        (
            {"nodes": [FixedChunks(0, [0, 5], [1, 1], [1, 1], 1), Leaf(0)]},
            ("tree", "tree[0].fixed.worker[1]"),
        ),
        ({"nodes": [FixedChunks(0, [0], [1], [1], 2), Leaf(0)]}, ("tree", "tree[0].child")),
        ({"nodes": [FixedChunks(3, [0], [1], [1], 1), Leaf(0)]}, ("tree", "tree[0].prices")),
    ],
)
def test_says_why_not(problem, certificate, arithmetic, change, fault):
    report = verify(problem, replace(certificate, **change), arithmetic=arithmetic)
    assert fault in faults(report)
    assert all(reason.message for reason in report.reasons)


@BOTH
def test_claims_are_compared_without_rounding(problem, certificate, arithmetic):
    above = float(np.nextafter(certificate.lower, np.inf))
    below = float(np.nextafter(certificate.upper, 0))
    report = verify(problem, replace(certificate, lower=above), arithmetic=arithmetic)
    assert faults(report) == [("lower", "lower")]
    assert repr(above) in report.reasons[0].message
    report = verify(problem, replace(certificate, upper=below), arithmetic=arithmetic)
    assert faults(report) == [("upper", "upper")]
    assert repr(below) in report.reasons[0].message
    assert str(report.bound) in report.reasons[0].message
    weaker = replace(certificate, lower=certificate.lower - 1, upper=certificate.upper + 1)
    assert verify(problem, weaker, arithmetic=arithmetic).accepted


def test_a_fraction_is_shown_as_a_decimal_too(problem, certificate):
    prices = ServicePrices([0], [0], [200 + 2.0**-30])
    other = replace(certificate, prices=[prices], granularity=None)
    report = verify(problem, other, arithmetic="exact")
    (reason,) = report.reasons
    assert report.bound.denominator == 2**30
    assert f"314.00000000093132 ({report.bound}), the bound of node 0" in reason.message


@BOTH
def test_another_instance_with_the_same_shape_is_told_apart(problem, certificate, arithmetic):
    for other in (
        problem_of(fetch=UniformCost(2.0000000000000004)),
        problem_of(workers=[Worker("a", 2), Worker("b", 3)]),
        problem_of(tree=PrefixTree([-1, 0, 0, 1])),
    ):
        report = verify(other, certificate, arithmetic=arithmetic)
        assert faults(report) == [("instance", "instance")]


@BOTH
def test_the_granularity_rounds_the_bound_down(problem, certificate, arithmetic):
    odd = replace(certificate, granularity=None, upper=certificate.upper + 1.5)
    dearer = [ServicePrices([0], [0], [certificate.prices[0].value[0] + 1.25])]
    report = verify(problem, replace(odd, prices=dearer), arithmetic=arithmetic)
    assert report.accepted
    rounded = replace(certificate, prices=dearer)
    report = verify(problem, rounded, arithmetic=arithmetic)
    assert report.accepted
    assert report.bound == Fraction(certificate.upper)
    report = verify(problem, replace(rounded, granularity=None), arithmetic=arithmetic)
    assert faults(report) == [("upper", "upper")]


@BOTH
def test_decisions_lower_the_bound_and_fixed_chunks_count_their_opposites(problem, arithmetic):
    placement = Placement.of(problem, [[0, 2], [0, 1]])
    form = savings(problem)
    zero, best = Prices.of(np.zeros(form.rows)), Prices.of(form.row_best)

    def upper(*nodes):
        certificate = certificate_of(problem, placement, Proof((zero, best), nodes))
        assert verify(problem, certificate, arithmetic=arithmetic).accepted
        return certificate.upper

    # Zero prices: 86 + 40 at a, 84 + 40 at b; a worker without the root holds nothing.
    assert upper(Leaf(0)) == 250
    # Full prices: 144 for the rows, 18 + 10 at a, 16 + 8 at b.
    assert upper(Leaf(1)) == 196
    roots = (Decision(0, 0, inside=True), Decision(1, 0, inside=True))
    assert upper(Fixing(0, roots, child=1), Leaf(1)) == 196
    # The opposite, a without chunk 1, is worth 86 + 38 + 84 + 40.
    assert upper(Fixing(0, (Decision(0, 1, inside=True),), child=1), Leaf(1)) == 248
    assert upper(Branch(0, 0, 1, 2), Branch(1, 0, 3, 4), Leaf(0), Leaf(1), Leaf(0)) == 196


@BOTH
def test_contradictory_decisions_bound_nothing(problem, arithmetic):
    placement = Placement.of(problem, [[0, 2], [0, 1]])
    zero = Prices.of(np.zeros(savings(problem).rows))
    one = certificate_of(problem, placement, Proof((zero,), (Leaf(0),)))
    twice = Proof(
        (zero,),
        (Branch(0, 1, 1, 2), Branch(0, 0, 3, 4), Leaf(0), Leaf(0), Leaf(0)),
    )
    certificate = certificate_of(problem, placement, twice)
    assert certificate.upper <= one.upper
    assert verify(problem, certificate, arithmetic=arithmetic).accepted


def test_small_instances_are_checked_exactly_and_large_ones_with_directed_rounding(certificate):
    assert verify(problem_of(), certificate).arithmetic == "exact"
    n = 3000
    large = problem_of(
        tree=PrefixTree([-1] * n),
        workers=[Worker("a", 1000), Worker("b", 1000)],
        demand=Demand.from_dense(np.ones((2, n)), shape=(2, n)),
    )
    placement = Placement.of(large, [range(1000), range(1000, 2000)])
    claim = certificate_of(large, placement, Proof.single(np.zeros(n)))
    report = verify(large, claim)
    assert report.accepted
    assert report.arithmetic == "directed"


def test_optimal_to_a_tolerance(problem, certificate):
    near = replace(certificate, lower=100.0, upper=240.0)
    assert not verify(problem, near).optimal
    assert verify(problem, near, tolerance=0.6).optimal
    assert verify(problem, near).gap == pytest.approx(140 / 240)
    same = replace(certificate, lower=0.0, upper=0.0)
    assert not verify(problem, same).optimal


def test_nothing_to_gain_is_optimal():
    empty = problem_of(demand=Demand.from_dense(np.zeros((2, 4)), shape=(2, 4)))
    certificate = certificate_of(empty, Placement.of(empty, [[], []]), Proof.single(np.zeros(0)))
    assert certificate.granularity is None
    for arithmetic in ("exact", "directed"):
        report = verify(empty, certificate, arithmetic=arithmetic)
        assert report.accepted
        assert report.optimal
        assert report.gap == 0


def test_no_chunks_at_all():
    empty = problem_of(
        tree=PrefixTree([]), demand=Demand([], [], [], shape=(2, 0)), recompute=UniformCost(1)
    )
    certificate = certificate_of(empty, Placement.of(empty, [[], []]), Proof.single([]))
    for arithmetic in ("exact", "directed"):
        assert verify(empty, certificate, arithmetic=arithmetic).optimal


def test_a_placement_of_another_instance_gets_no_certificate(problem):
    other = problem_of(recompute=UniformCost(7))
    with pytest.raises(InputError, match="placement of this instance"):
        certificate_of(other, Placement.of(problem, [[], []]), Proof.single(np.zeros(4)))


def test_a_proof_that_is_no_tree_is_the_fault_of_its_maker(problem):
    placement = Placement.of(problem, [[], []])
    zero = Prices.of(np.zeros(savings(problem).rows))
    with pytest.raises(SolverError, match=r"the proof is unsound: tree\[1\]: expected a node with"):
        certificate_of(problem, placement, Proof((zero,), (Leaf(0), Leaf(0))))


def test_granularity_of_fractions_and_of_numbers_beyond_doubles():
    quarters = problem_of(recompute=UniformCost(0.75), fetch=UniformCost(0.5))
    certificate = certificate_of(
        quarters, Placement.of(quarters, [[0], [0]]), Proof.single(np.zeros(4))
    )
    assert certificate.granularity == 0.25
    tenths = problem_of(recompute=UniformCost(0.1), fetch=UniformCost(np.inf))
    certificate = certificate_of(
        tenths, Placement.of(tenths, [[0], [0]]), Proof.single(np.zeros(0))
    )
    assert certificate.granularity == 0.1
    odd = 1 + 2.0**-30
    long = problem_of(
        demand=Demand([0], [0], [odd], shape=(2, 4)),
        recompute=UniformCost(odd),
        fetch=UniformCost(np.inf),
    )
    certificate = certificate_of(long, Placement.of(long, [[0], []]), Proof.single(np.zeros(0)))
    # odd**2 has 61 bits: the power of two in it is finer than doubles there.
    assert certificate.granularity is None
    assert verify(long, certificate, arithmetic="exact").optimal


def test_dense_cost_infinite_fetch_and_groups():
    separate = problem_of(
        workers=[Worker("a", 2, compatibility="x"), Worker("b", 2)],
        fetch=DenseCost([[1, np.inf, 2, 3], [np.inf] * 4]),
    )
    form = savings(separate)
    certificate = certificate_of(
        separate, Placement.of(separate, [[0, 2], [0, 1]]), Proof.single(form.row_best / 3)
    )
    assert certificate.lower == 6 * (9 + 5 + 8 + 4)
    for arithmetic in ("exact", "directed"):
        assert verify(separate, certificate, arithmetic=arithmetic).accepted


def fixed(child: int, *decisions: tuple[int, int, int]) -> FixedChunks:
    worker, chunk, inside = zip(*decisions, strict=True)
    return FixedChunks(0, worker, chunk, np.array(inside) == 1, child)


@pytest.mark.parametrize(
    ("nodes", "where"),
    [
        ([Branch(1, 1, 1, 4), Branch(1, 1, 2, 3), Leaf(0), Leaf(0), Leaf(0)], "tree[1]"),
        ([Branch(1, 1, 3, 1), Branch(0, 1, 4, 2), fixed(5, (0, 2, 0), (1, 1, 0))], "tree[2]"),
        ([fixed(1, (0, 1, 1), (0, 1, 1)), Leaf(0)], "tree[0]"),
        ([fixed(1, (0, 1, 1)), fixed(2, (0, 1, 0)), Leaf(0)], "tree[1]"),
    ],
)
def test_a_path_that_decides_twice_on_the_same_is_rejected(certificate, problem, nodes, where):
    nodes = [*nodes, *[Leaf(0)] * (6 - len(nodes))] if where == "tree[2]" else nodes
    report = verify(problem, replace(certificate, nodes=tuple(nodes), upper=1e3))
    assert faults(report) == [("tree", where)]
    assert "decided on above already" in report.reasons[0].message


def test_two_paths_may_decide_on_the_same(certificate, problem):
    nodes = [Branch(1, 1, 1, 2), Branch(0, 2, 3, 4), Branch(0, 2, 5, 6), *[Leaf(0)] * 4]
    assert verify(problem, replace(certificate, nodes=tuple(nodes), upper=1e3)).accepted


def test_a_long_chain_of_decisions_is_read_once_a_node():
    """Every leaf's decisions are a path of up to 3,000; the bounds are those of the sets left."""
    n = 1500
    demand = np.stack([np.arange(n, 0, -1), np.arange(n, 0, -1)])
    long = problem_of(
        tree=PrefixTree([-1] * n),
        workers=[Worker("a", 1), Worker("b", 1)],
        demand=Demand.from_dense(demand, shape=(2, n)),
        fetch=UniformCost(float("inf")),
    )
    nodes: list = []
    for chunk in range(n):
        for worker in range(2):
            at = len(nodes)
            nodes += [Branch(worker, chunk, at + 1, at + 2), Leaf(0)]
    nodes.append(Leaf(0))
    certificate = Certificate(
        instance=long.digest,
        objective="requester",
        resident=[[0], [0]],
        lower=12 * n,
        upper=12 * n + 1e-6,
        prices=[ServicePrices([], [], [])],
        nodes=nodes,
    )
    assert verify(long, certificate, arithmetic="directed").optimal
    # Without the first leaf's chunks the rest is worth less.
    tighter = replace(certificate, upper=12 * n - 6)
    assert faults(verify(long, tighter, arithmetic="directed")) == [("upper", "upper")]


def test_numbers_are_plain_in_reasons(certificate, problem):
    own = certificate.prices[0]
    bad = ServicePrices(own.requester, own.chunk, [-5.0])
    report = verify(problem, replace(certificate, prices=(bad,)))
    assert report.reasons[0].message == "expected a finite number >= 0, got -5.0"


@BOTH
def test_savings_too_small_for_a_double_that_bound_nothing(arithmetic):
    """Nobody may hold anything: no granularity is of use, and none that is a double exists."""
    empty = problem_of(
        workers=[Worker("a", 0), Worker("b", 0)],
        demand=Demand.from_dense([[0.1, 0, 0, 0], [0.3, 0, 0, 0]], shape=(2, 4)),
        fetch=UniformCost(5e-324),
    )
    placement = Placement.of(empty, [[], []])
    rows = savings(empty).row_best
    certificate = certificate_of(empty, placement, Proof.single(np.zeros(rows.size)))
    assert certificate.granularity is None
    assert verify(empty, certificate, arithmetic=arithmetic).optimal
