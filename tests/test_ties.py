"""Ties: what is equal but for its last digits, on whatever machine these came out, is equal."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from textmargin._ties import first_maximum, tie_ranks, without_rounding

NOISE = 1e-15

integers = st.lists(st.integers(-5, 5), min_size=1, max_size=30)


def blurred(values, seed=0):
    """The same values as another machine might have them."""
    values = np.asarray(values, dtype=float)
    typical = np.abs(values).max(initial=1.0)
    return values + NOISE * typical * np.random.default_rng(seed).uniform(-1, 1, values.shape)


@given(integers, st.integers(0, 100))
def test_last_digits_rank_nothing(values, seed):
    exact = np.array(values, dtype=float)
    assert tie_ranks(blurred(exact, seed) + 7).tolist() == tie_ranks(exact).tolist()
    assert tie_ranks(exact).tolist() == [len({w for w in values if w > v}) for v in values]


@given(integers, st.integers(0, 100))
def test_equal_values_become_the_same_number(values, seed):
    found = without_rounding(blurred(values, seed) + 7)
    assert len(set(found.tolist())) == len(set(values))
    np.testing.assert_allclose(found, np.array(values) + 7.0, rtol=1e-12, atol=1e-12)


@given(st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), min_size=1, max_size=30))
def test_what_differs_stays_as_it_is(values):
    values = np.array(values)
    assert without_rounding(values).tolist() == values.tolist()


def test_numbers_around_zero_are_compared_by_the_size_of_the_others():
    assert tie_ranks([1.0, 1e-17, -1e-17, -1.0]).tolist() == [0, 1, 1, 2]
    assert tie_ranks([3e-17, 2e-17, 1e-17]).tolist() == [0, 1, 2]
    assert tie_ranks([1e12, 2.0, 1.0, 1.0]).tolist() == [0, 1, 2, 2], "one very long text"
    assert tie_ranks([np.inf, 1.0, -np.inf, np.inf]).tolist() == [0, 1, 2, 0]


def test_the_first_of_equal_maxima():
    assert first_maximum([0.3, 0.1 + 0.2, 0.1], 1e-12) == 0
    assert first_maximum([[1.0, 0.0], [1.0 + NOISE, 1.0]], np.array([1e-12, 0.0])).tolist() == [0, 1]
