"""Probabilities from held-out scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import calibration_error_by_counting, platt_by_minimising
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score

from textmargin.decisions.calibration import Calibration, brier_score, calibration_error
from textmargin.errors import LabelError, ScoreError, SettingError


def drawn(n_texts, n_classes, seed=0, share=0.2):
    """Labels and scores whose log odds are 3s − 2 and a bit, whatever the class."""
    rng = np.random.default_rng(seed)
    positive = rng.random((n_texts, n_classes)) < share
    return positive, rng.normal(np.where(positive, 0.6, -0.6), 0.6)


def one_of_many(n_texts, n_classes, seed=0, noise=0.8):
    rng = np.random.default_rng(seed)
    classes = rng.choice(
        n_classes, n_texts, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    )
    positive = np.eye(n_classes, dtype=bool)[classes]
    return positive, rng.normal(positive * 1.0, noise)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n_positive=st.integers(1, 8), weighted=st.booleans())
def test_sigmoid_is_platts(seed, n_positive, weighted):
    rng = np.random.default_rng(seed)
    positive = np.arange(40) < n_positive
    scores = rng.normal(np.where(positive, rng.normal(), 0.0), 1.0).round(1)  # with ties
    weight = rng.uniform(0.5, 2.0, 40) if weighted else None
    order = rng.permutation(40)
    fitted = Calibration.fit(
        positive[order, None], scores[order, None], "binary", None if weight is None else weight[order]
    )
    slope, intercept = platt_by_minimising(positive, scores, weight)
    assert fitted.predict(scores) == pytest.approx(expit(slope * scores + intercept), abs=2e-4)


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_probabilities_do_not_depend_on_the_scale_of_the_scores(shift):
    positive, scores = drawn(200, 3, share=0.1)
    one = Calibration.fit(positive, scores, "multilabel").predict(scores)
    other = Calibration.fit(positive, 1000 * scores + shift, "multilabel").predict(1000 * scores + shift)
    assert other == pytest.approx(one, abs=1e-6)


def test_scores_that_rank_the_wrong_way_round_give_the_base_rate():
    positive, scores = np.arange(200)[:, None] < 10, np.linspace(-1, 1, 200)[:, None]
    p = Calibration.fit(positive, scores, "binary").predict(scores)
    assert np.ptp(p) == 0
    assert p[0] == pytest.approx((10 * 11 / 12 + 190 / 192) / 200)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e8])
def test_equal_scores_give_the_base_rate(value):
    positive = np.arange(100)[:, None] < 30
    p = Calibration.fit(positive, np.full((100, 1), value), "binary").predict([[value], [value + 1]])
    assert p == pytest.approx((30 * 31 / 32 + 70 / 72) / 100)


@pytest.mark.parametrize("gap", [0.01, 1.0, 1e6])
def test_separated_classes_keep_their_doubt(gap):
    positive = np.arange(100) < 60
    scores = np.where(positive, gap, -gap) + np.linspace(0, gap / 10, 100)
    p = Calibration.fit(positive[:, None], scores[:, None], "binary").predict(scores)
    assert (p[positive] > 0.9).all()
    assert (p[~positive] < 0.1).all()
    assert p.max() < 1
    assert p.min() > 0


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), n_positive=st.integers(0, 120), n_levels=st.integers(1, 200))
def test_strictly_inside_and_monotone(seed, n_positive, n_levels):
    rng = np.random.default_rng(seed)
    positive = np.arange(150) < n_positive
    scores = rng.integers(0, n_levels, 150) / 7 + positive * rng.normal()
    fitted = Calibration.fit(positive[:, None], scores[:, None], "binary")
    grid = np.concatenate([[-1e9], np.linspace(scores.min() - 1, scores.max() + 1, 500), [1e9]])
    p = fitted.predict(grid)
    assert (np.diff(p) >= 0).all()
    assert p.min() > 0
    assert p.max() < 1


def bent(n_texts, seed):
    """Scores on which no sigmoid fits: the log odds rise steeply below 0 and slowly above."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(-3, 3, n_texts)
    truth = expit(np.where(scores < 0, 5 * scores, 0.3 * scores))
    return rng.random(n_texts) < truth, scores, truth


def test_isotonic_where_no_sigmoid_fits_and_it_keeps_the_ranks():
    positive, scores, truth = bent(4000, 0)
    fitted = Calibration.fit(positive[:, None], scores[:, None], "binary")
    sigmoid = expit(fitted.slope * scores + fitted.intercept)
    p = fitted.predict(scores)
    assert fitted.isotonic.all()
    assert np.mean((p - truth) ** 2) < np.mean((sigmoid - truth) ** 2) / 2
    assert np.unique(p).size > 3990  # steps would leave some thirty
    assert roc_auc_score(positive, p) >= roc_auc_score(positive, scores) - 1e-9


def test_sigmoid_where_it_is_right():
    """Noise must not choose: at one standard error an isotonic fit that is truly worse is taken seldom."""
    chosen = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = rng.normal(0, 2, (1000, 1))
        chosen += Calibration.fit(rng.random((1000, 1)) < expit(scores), scores, "binary").isotonic[0]
    assert chosen <= 2


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_the_order_of_the_texts_is_no_matter(kind):
    positive, scores = one_of_many(500, 4)
    if kind == "binary":
        positive, scores, _ = (column[:, None] for column in bent(2000, 1))
    order = np.random.default_rng(0).permutation(len(scores))
    one, other = (
        Calibration.fit(positive[rows], scores[rows], kind) for rows in (np.arange(len(scores)), order)
    )
    assert other.predict(scores) == pytest.approx(one.predict(scores), abs=1e-9)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_texts_without_a_score_and_of_no_weight_are_left_out(kind):
    positive, scores = drawn(300, 1) if kind == "binary" else one_of_many(300, 3)
    with_more = np.vstack([scores, np.full((20, scores.shape[1]), np.nan), scores[:30] + 9])
    labels, weight = np.vstack([positive, positive[:50]]), np.repeat([1.0, 1.0, 0.0], [300, 20, 30])
    one, other = Calibration.fit(positive, scores, kind), Calibration.fit(labels, with_more, kind, weight)
    assert other.predict(scores) == pytest.approx(one.predict(scores), abs=1e-9)


def test_a_class_without_any_score_gets_its_share():
    positive, scores = drawn(100, 2)
    positive[:, 1] = np.arange(100) < 1
    scores[0, 1] = np.nan  # the only positive has none
    p = Calibration.fit(positive, scores, "multilabel").predict(np.zeros((1, 2)))
    assert p[0, 1] == pytest.approx((2 / 3 + 99 / 101) / 100)


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0, 30.0])
def test_several_classes_sum_to_one(noise):
    positive, scores = one_of_many(200, 5, noise=noise)
    p = Calibration.fit(positive, scores, "multiclass").predict(scores * 100)
    assert p.sum(axis=1) == pytest.approx(1)
    assert p.min() > 0
    assert p.max() < 1


def test_several_classes_are_better_than_normalised_sigmoids():
    positive, scores = one_of_many(1000, 6)
    labels, new = one_of_many(4000, 6, seed=1)
    p = Calibration.fit(positive, scores, "multiclass").predict(new)
    sigmoids = Calibration.fit(positive, scores, "multilabel").predict(new)
    sigmoids /= sigmoids.sum(axis=1, keepdims=True)
    truth = labels.argmax(axis=1)
    assert brier_score(labels, p) < brier_score(labels, sigmoids)
    assert log_loss(truth, p) < log_loss(truth, sigmoids)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), n_texts=st.integers(1, 60), n_bins=st.integers(1, 20))
def test_calibration_error_is_its_definition(seed, n_texts, n_bins):
    rng = np.random.default_rng(seed)
    p = rng.permutation(np.linspace(0.01, 0.99, n_texts))
    y = rng.random(n_texts) < p
    assert calibration_error(y, p, n_bins) == pytest.approx(calibration_error_by_counting(y, p, n_bins))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"kind": "ranking"}, SettingError, "kind must be"),
        ({"kind": "binary"}, ScoreError, "one column"),
        ({"kind": "multiclass", "positive": np.ones((4, 2))}, LabelError, "one class in every row"),
        ({"positive": np.full((4, 2), 3)}, LabelError, "True and False"),
        ({"positive": np.ones((4, 3))}, ScoreError, "a row per text"),
        ({"scores": np.full((4, 2), np.nan)}, ScoreError, "No text has a held-out score"),
        ({"scores": np.full((4, 2), np.inf)}, ScoreError, "infinity"),
        ({"weight": [1, 1, -1, 1]}, LabelError, "weight"),
        ({"weight": [1, 1, np.nan, 1]}, LabelError, "weight"),
    ],
)
def test_bad_input(change, error, words):
    given = {
        "positive": np.eye(4, 2) > 0,
        "scores": np.zeros((4, 2)),
        "kind": "multilabel",
        "weight": None,
    } | change
    with pytest.raises(error, match=words):
        Calibration.fit(**given)


def test_bad_scores_and_probabilities():
    fitted = Calibration.fit(*drawn(50, 2), "multilabel")
    with pytest.raises(ScoreError, match="each of the 2 classes"):
        fitted.predict(np.zeros((3, 1)))
    with pytest.raises(ScoreError, match="NaN"):
        fitted.predict([[0.0, np.nan]])
    with pytest.raises(ScoreError, match="from 0 to 1"):
        brier_score([True], [1.5])
    with pytest.raises(ScoreError, match="same shape"):
        brier_score([True], [[0.5]])
    with pytest.raises(SettingError, match="n_bins"):
        calibration_error([True], [0.5], 0)
