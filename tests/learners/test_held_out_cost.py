"""Which held-out scores are taken: exact leave-one-out where it is cheap beside training, else folds."""

import numpy as np
from conftest import make_texts

from textmargin import PriorSVC
from textmargin.learners._held_out_cost import ProblemSize, leave_one_out_pays
from textmargin.learners.trust import Solver


def noisy_texts(n, d=5000):
    X, y = make_texts(n=n, d=d, words=10)
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(n) < 0.5, rng.integers(2, size=n), y)


def test_few_texts_inside_the_margin_are_left_out_one_at_a_time_and_many_in_folds():
    assert PriorSVC().fit(*make_texts(n=100)).held_out_method() == "loo"
    assert PriorSVC().fit(*noisy_texts(4000)).held_out_method() == "cv"


def test_the_choice_goes_class_by_class_but_for_little_work():
    many = ProblemSize(10_000, 30_000, 500_000, 6000, 300_000)
    few = ProblemSize(10_000, 30_000, 500_000, 60, 3000)
    assert leave_one_out_pays([few] * 10).all()
    assert not leave_one_out_pays([many] * 10).any()
    assert leave_one_out_pays([few] * 500 + [many]).tolist() == [True] * 500 + [False]
    assert leave_one_out_pays([ProblemSize(400, 5000, 20_000, 400, 20_000)] * 3).all()


def test_evidence_of_many_texts_inside_the_margin_takes_no_cubic_time(monkeypatch):
    """11,000 of them took minutes: per fit a dense matrix of that side was factored and inverted."""
    monkeypatch.setattr(Solver, "leave_one_out", None)
    X, y = noisy_texts(12_000, d=15_000)
    prior = np.asarray(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).ravel()
    plain = PriorSVC().fit(X, y)
    assert ((2 * y - 1) * plain.decision_function(X) < 1).sum() > 5000
    model = PriorSVC(prior=prior).fit(X, y)
    assert len(model.verdict_) == 1
