"""Of priors that are each adopted for themselves, those are used together that do not harm one another."""

import numpy as np

from textmargin import PriorSVC


def problem(n_texts=60, n_terms=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_texts, n_terms))
    direction = np.zeros(n_terms)
    direction[:20] = 1.0
    return X, (X @ direction > 0).astype(int), direction, rng


def test_a_prior_that_helps_alone_but_thins_out_a_better_one_is_dropped():
    X, y, direction, rng = problem(n_texts=300)
    noisy = direction + rng.standard_normal(direction.size)
    alone = PriorSVC(prior=noisy).fit(X, y)
    assert alone.verdict_[0].status == "supported"
    both = PriorSVC(prior=np.array([noisy, direction])).fit(X, y)
    assert [one.status for one in both.verdict_] == ["dropped", "supported"]
    assert both.verdict_[0].gain > 0
    np.testing.assert_allclose(both.coef_, PriorSVC(prior=direction).fit(X, y).coef_, atol=1e-4)


def test_what_is_said_twice_counts_once():
    X, y, direction, _ = problem()
    twice = PriorSVC(prior=np.array([direction, direction])).fit(X, y)
    assert [one.status for one in twice.verdict_] == ["supported"] * 2
    np.testing.assert_allclose(twice.coef_, PriorSVC(prior=direction).fit(X, y).coef_, atol=1e-4)


def test_two_halves_of_what_is_known_are_used_together():
    X, y, direction, _ = problem()
    halves = [
        np.where(own, direction, 0.0)
        for own in (np.arange(direction.size) < 10, np.arange(direction.size) >= 10)
    ]
    model = PriorSVC(prior=np.array(halves)).fit(X, y)
    assert (model.trust_ > 0).all()
    new, truth, _, _ = problem(n_texts=500, seed=1)
    assert model.score(new, truth) > max(PriorSVC(prior=half).fit(X, y).score(new, truth) for half in halves)
