"""All classes of a problem against the minimum that slow least squares find."""

import pytest
from learners.long_run_primal import GAP, examine


@pytest.mark.parametrize("seed", range(40))
def test_random_problems_with_every_option_reach_their_minimum(seed):
    """A sample of `long_run_primal.py`, which has columns of very unequal scales as well."""
    gap, n_decisions, n_differ, traits = examine(seed, rescale=False)
    assert gap <= GAP, traits
    assert n_differ <= n_decisions / 100, traits
