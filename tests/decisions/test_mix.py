"""Shares among new texts without labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import shares_by_em
from scipy.special import expit, logit, softmax

from textmargin.decisions._mix_draws import class_shares, positive_shares
from textmargin.decisions.calibration import Calibration
from textmargin.decisions.mix import estimate_mix
from textmargin.errors import ScoreError, SettingError


def texts(n_texts, share, rng, gap=1.0):
    """Labels and scores, a column per share."""
    positive = rng.random((n_texts, np.size(share))) < share
    return positive, rng.normal(np.where(positive, gap, -gap), 0.8)


def classes(n_texts, shares, rng, gap=1.5):
    positive = np.eye(len(shares), dtype=bool)[rng.choice(len(shares), n_texts, p=shares)]
    return positive, rng.normal(gap * positive, 0.6)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n_texts=st.integers(1, 50), old_share=st.floats(0.01, 0.99))
def test_two_classes_end_where_em_does(seed, n_texts, old_share):
    p = expit(np.random.default_rng(seed).normal(0, 3, n_texts))
    share = positive_shares((logit(p) - logit(old_share))[None], np.ones((1, n_texts)), old_share)[0]
    assert share == pytest.approx(
        shares_by_em(np.column_stack([p, 1 - p]), [old_share, 1 - old_share])[0], abs=1e-6
    )


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), n_texts=st.integers(1, 50), n_classes=st.integers(2, 5))
def test_several_classes_end_where_em_does(seed, n_texts, n_classes):
    rng = np.random.default_rng(seed)
    p, old = softmax(rng.normal(0, 2, (n_texts, n_classes)), axis=1), rng.dirichlet(np.ones(n_classes))
    twice = class_shares(p, np.vstack([np.ones(n_texts), np.full(n_texts, 1.0)]), old, tol=1e-13)
    assert twice[0] == pytest.approx(shares_by_em(p, old), abs=1e-6)
    assert twice[0] == pytest.approx(twice[1])
    assert twice.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(("share", "n_new"), [(0.02, 1000), (0.1, 200), (0.6, 500)])
def test_interval_covers_and_a_change_of_mix_is_refused_no_oftener_than_it_may(share, n_new):
    covered = refused = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        new = texts(n_new, [share], rng)[1]
        mix = estimate_mix(
            *texts(1000, [0.1], rng), new, "binary", tolerance=0, n_bootstrap=100, random_state=seed
        )
        covered += mix.low[0] <= share <= mix.high[0]
        refused += not mix.explained[0]
    assert covered >= 23  # of 30, nominally 27
    assert refused <= 5  # nominally 1.5; more than 5 in one of 300


def test_texts_of_another_kind_are_refused():
    rng = np.random.default_rng(0)
    positive, scores = texts(1000, [0.2, 0.2], rng)
    new = texts(500, [0.4, 0.4], rng)[1]
    new[:, 1] = rng.normal(0, 0.5, 500)  # neither like the positives nor like the negatives
    mix = estimate_mix(positive, scores, new, "multilabel")
    assert mix.explained.tolist() == [True, False]
    assert mix.reasons[0] == ""
    assert "another kind" in mix.reasons[1]


def test_several_classes():
    rng = np.random.default_rng(0)
    positive, scores = classes(1500, [0.5, 0.3, 0.2], rng)
    truth, new = classes(1000, [0.1, 0.2, 0.7], rng)
    mix = estimate_mix(positive, scores, new, "multiclass")
    assert mix.shares.sum() == pytest.approx(1)
    assert mix.shares == pytest.approx(truth.mean(axis=0), abs=0.04)
    assert mix.explained.all()
    new[:300, 2] += 2  # a third of the texts is now of no class that there was
    refused = estimate_mix(positive, scores, new, "multiclass")
    assert not refused.explained.all()


def test_few_new_texts_cannot_tell():
    rng = np.random.default_rng(0)
    mix = estimate_mix(*texts(500, [0.2], rng), texts(12, [0.9], rng)[1], "binary")
    assert not mix.explained[0]
    assert "12 new texts are too few" in mix.reasons[0]


def test_weights_of_old_texts_count():
    rng = np.random.default_rng(0)
    positive, scores = texts(1000, [0.3], rng)
    weight = np.where(positive[:, 0], 0.5, 1.0)
    mix = estimate_mix(positive, scores, texts(1000, [0.3], rng)[1], "binary", weight=weight)
    assert mix.old_shares[0] == pytest.approx(np.average(positive[:, 0], weights=weight))
    assert mix.low[0] < 0.3 < mix.high[0]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"level": 1.0}, SettingError, "level"),
        ({"alpha": 0.0}, SettingError, "alpha"),
        ({"tolerance": -0.1}, SettingError, "tolerance"),
        ({"n_bootstrap": 10}, SettingError, "n_bootstrap must be at least 20"),
        ({"new_scores": np.zeros((5, 2))}, ScoreError, "each of the 1 classes"),
        ({"new_scores": np.zeros((0, 1))}, ScoreError, "a row per text"),
        ({"new_scores": np.full((5, 1), np.nan)}, ScoreError, "NaN"),
    ],
)
def test_bad_input(change, error, words):
    given = {
        "positive": np.arange(40)[:, None] < 9,
        "scores": np.arange(40.0)[:, None],
        "new_scores": np.arange(40.0)[:, None],
    }
    with pytest.raises(error, match=words):
        estimate_mix(**(given | {"kind": "binary"} | change))


@pytest.mark.parametrize("only", ["positives", "negatives", "none"])
def test_a_class_of_which_no_scores_are_known_is_not_adapted_to(only):
    rng = np.random.default_rng(0)
    positive, scores = texts(300, [0.3, 0.3], rng)
    unknown = {"positives": ~positive[:, 1], "negatives": positive[:, 1], "none": np.full(300, True)}[only]
    scores[unknown, 1] = np.nan
    mix = estimate_mix(positive, scores, texts(300, [0.3, 0.3], rng)[1], "multilabel")
    assert mix.explained.tolist() == [True, False]
    assert (mix.low[1], mix.high[1]) == (0, 1)
    assert "no held-out scores" in mix.reasons[1]


def test_a_class_without_old_texts():
    with pytest.raises(ScoreError, match="Class 1 has no old text"):
        estimate_mix(np.eye(3)[[0, 2] * 20], np.zeros((40, 3)), np.zeros((40, 3)), "multiclass")


def test_a_shifted_calibration_is_that_of_the_new_mix():
    """By Bayes' rule the odds of a class grow by w₊/w₋; and a sigmoid fitted anew with the weights is close
    to it.
    """
    rng = np.random.default_rng(4)
    positive, scores = texts(20_000, [0.2], rng)
    old = Calibration.fit(positive, scores, "binary")
    p, shifted = (one.predict(scores) for one in (old, old.shift(np.log([6.0]))))
    assert shifted / (1 - shifted) == pytest.approx(6 * p / (1 - p))
    again = Calibration.fit(positive, scores, "binary", np.where(positive[:, 0], 6.0, 1.0)).predict(scores)
    assert np.abs(again - shifted).mean() < 0.02
