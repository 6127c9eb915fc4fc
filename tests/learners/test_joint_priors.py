"""Of priors that are each adopted for themselves, those are used together that do not harm one another."""

import numpy as np

from textmargin import PriorSVC
from textmargin.learners.joint_priors import join_priors

YES = np.ones((3, 2), dtype=bool)
NO = np.zeros((3, 2), dtype=bool)
GAIN = np.array([[0.1, 0.3], [0.3, 0.2], [0.1, 0.4]])  # in all the second saves more


def losses_of(change):
    """Losses that grow or fall by a share with every prior beyond the first."""
    return lambda classes, used: [np.full(4, 1.0 + change * (own.sum() - 1)) for own in used]


def problem(n_texts=60, n_terms=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_texts, n_terms))
    direction = np.zeros(n_terms)
    direction[:20] = 1.0
    return X, (X @ direction > 0).astype(int), direction, rng


def test_priors_that_do_not_harm_each_other_join():
    assert join_priors(YES, GAIN, NO, losses_of(-0.1), 1e-6).all()
    assert join_priors(YES, GAIN, NO, losses_of(0.0), 1e-6).all()


def test_where_they_do_worse_together_the_one_that_saves_most_is_used_in_all_classes():
    assert join_priors(YES, GAIN, NO, losses_of(0.1), 1e-6).tolist() == [[False, True]] * 3


def test_one_that_stays_out_elsewhere_is_used_where_it_is_alone():
    adopted = np.array([[True, True], [True, False], [False, False]])
    assert join_priors(adopted, GAIN, NO, losses_of(0.1), 1e-6).tolist() == [
        [False, True],
        [True, False],
        [False, False],
    ]


def test_one_whose_words_no_text_has_is_not_weighed_against_others():
    silent = np.array([[True, False]] * 3)
    assert join_priors(YES, GAIN, silent, losses_of(0.1), 1e-6).all()


def test_of_three_only_the_one_that_harms_stays_out():
    adopted, gain = np.ones((2, 3), dtype=bool), np.array([[0.3, 0.2, 0.1]] * 2)
    found = join_priors(
        adopted, gain, ~adopted, lambda classes, used: [np.full(4, 1.0 + own[1]) for own in used], 1e-6
    )
    assert found.tolist() == [[True, False, True]] * 2


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
