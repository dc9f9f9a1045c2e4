from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.certificates.dyadic import at_least, at_most, grid, power_of_two, whole

doubles = st.floats(0, allow_nan=False, allow_infinity=False)


@given(st.lists(doubles, max_size=6))
def test_doubles_are_whole_multiples_of_the_grid(values):
    array = np.array(values, dtype=float)
    exponent = grid([array])
    counts = whole(array, exponent).tolist()
    assert [c * power_of_two(exponent) for c in counts] == [Fraction(v) for v in values]
    if any(values):
        assert any(c % 2 for c in counts), "the grid is the coarsest"
    else:
        assert exponent == 0


@given(st.fractions(0, 10**9))
def test_rationals_are_rounded_to_the_next_double_on_either_side(number):
    below, above = at_most(number), at_least(number)
    assert Fraction(below) <= number <= Fraction(above)
    assert Fraction(float(np.nextafter(below, np.inf))) > number
    assert above == 0 or Fraction(float(np.nextafter(above, -np.inf))) < number


def test_the_smallest_double():
    tiny = Fraction(5e-324)
    assert at_most(tiny / 3) == 0.0
    assert at_least(tiny / 3) == 5e-324
    assert grid([np.array([5e-324, 1e300])]) == -1074
