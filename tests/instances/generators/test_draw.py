"""Drawing and apportioning: exact, and the laws that they state."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.instances.generators.apportion import apportion, share_of, times, zipf
from prefixplace_opt.instances.generators.draw import Draw


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**9), min_size=1, max_size=20))
def test_apportion_adds_up_and_stays_next_to_the_exact_share(
    total: int, weights: list[int]
) -> None:
    shares = apportion(total, weights)
    assert sum(shares) == total
    if sum(weights):
        for share, weight in zip(shares, weights, strict=True):
            assert abs(share - Fraction(total * weight, sum(weights))) < 1


@given(st.integers(1, 50), st.floats(0, 3))
def test_zipf_follows_its_law(count: int, exponent: float) -> None:
    shares = zipf(10**15, count, exponent)
    whole = math.fsum(rank**-exponent for rank in range(1, count + 1))
    for rank, share in enumerate(shares, start=1):
        assert share / 10**15 == pytest.approx(rank**-exponent / whole, rel=1e-9, abs=1e-12)


def test_shares_are_read_as_the_decimals_that_they_are_written_as() -> None:
    assert share_of(0.29, 100) == 29
    assert int(0.29 * 100) == 28
    assert times(3.0, "0.4") == 1.2
    assert 3.0 * 0.4 != 1.2


def test_streams_are_named_and_fixed() -> None:
    # Golden numbers: a change here changes every generated instance.
    assert [Draw("a", 1).bits() for _ in range(2)] == [Draw("a", 1).bits()] * 2
    draw = Draw("golden", 0)
    assert [draw.below(1000) for _ in range(8)] == [473, 294, 61, 864, 16, 322, 547, 324]
    assert Draw("a", 1).bits() != Draw("a", 2).bits() != Draw("b", 2).bits()


def test_draws_stay_in_range_and_reach_every_value() -> None:
    draw = Draw("range")
    assert {draw.between(3, 6) for _ in range(200)} == {3, 4, 5, 6}
    assert {draw.choice("abc") for _ in range(100)} == set("abc")
    assert {draw.weighted([0, 2, 1]) for _ in range(100)} == {1, 2}
    items = list(range(30))
    draw.shuffle(items)
    assert sorted(items) == list(range(30)) != items
    lengths = [draw.geometric(4.0, 1000) for _ in range(4000)]
    assert min(lengths) == 1
    assert sum(lengths) / len(lengths) == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("concentration", [1, 4])
def test_dirichlet_has_the_moments_of_its_law(concentration: int) -> None:
    draw, parts, total = Draw("moments"), 5, 10**9
    shares = [draw.dirichlet(total, parts, concentration) for _ in range(4000)]
    assert all(sum(share) == total for share in shares)
    for part in range(parts):
        column = [share[part] / total for share in shares]
        mean = sum(column) / len(column)
        variance = sum((x - mean) ** 2 for x in column) / len(column)
        assert mean == pytest.approx(1 / parts, rel=0.05)
        expected = (1 / parts) * (1 - 1 / parts) / (parts * concentration + 1)
        assert variance == pytest.approx(expected, rel=0.1)
