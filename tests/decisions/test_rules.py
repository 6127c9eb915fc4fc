"""Utility curves and beta-gamma thresholds: the worked example, a brute-force definition, invariants, bad
input.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import utility_by_counting

from textmargin import (
    T11SU,
    FBeta,
    Utility,
    beta_gamma_threshold,
    retrofit_beta,
    select_beta_gamma,
    threshold_interval,
    utility_curve,
)
from textmargin._ties import just_above
from textmargin.errors import LabelError, ScoreError

SCORES = np.array([2.0, 1.5, 1.0, 0.6, 0.2, -0.1, -0.4, -0.7, -1.0, -1.3, -1.6, -1.9])
LABELS = np.array([1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0])

scores = st.lists(st.integers(-8, 8), min_size=2, max_size=25)  # integers: ties are common
labels = st.lists(st.booleans(), min_size=25, max_size=25)


def test_worked_example_curve():
    curve = utility_curve(LABELS, SCORES)
    assert curve.utility.tolist() == [0, 2, 4, 3, 5, 4, 3, 5, 4, 3, 2, 1, 0]
    assert (curve.theta_max, curve.theta_zero, curve.n_positive, curve.case) == (0.6, -1.9, 4, "crosses")


@pytest.mark.parametrize(
    ("beta", "gamma", "theta", "tp", "fp", "utility", "t11su"),
    [
        (0.1, None, 0.35, 3, 1, 5, 0.75),
        (0.1, 0.05, -1.492144, 4, 6, 2, 0.5),
        (0.3, 0.1, -1.323060, 4, 6, 2, 0.5),
        (-0.2, None, 1.1, 2, 0, 4, 0.666667),
    ],
)
def test_worked_example_thresholds(beta, gamma, theta, tp, fp, utility, t11su):
    """Every row of the worked example."""
    found = beta_gamma_threshold(LABELS, SCORES, beta, gamma)
    assert found == pytest.approx(theta, abs=1e-6)
    accepted = found <= SCORES
    assert ((accepted & (LABELS == 1)).sum(), (accepted & (LABELS == 0)).sum()) == (tp, fp)
    assert utility_curve(LABELS, SCORES).utility_at(found) == utility
    assert T11SU(tp, fp, 4 - tp, 8 - fp) == pytest.approx(t11su, abs=1e-6)


@given(
    score=scores,
    label=labels,
    worth=st.tuples(st.integers(1, 5), st.integers(-5, -1), st.integers(-3, 0), st.integers(0, 2)),
)
def test_curve_equals_counting(score, label, worth):
    """Every cut point, the first maximum and the way back, by the slow definition."""
    label = np.array(label[: len(score)])
    assume(label.any())
    curve = utility_curve(label, score, Utility(*worth))
    cuts = sorted(set(score), reverse=True)
    values = [utility_by_counting(label, score, theta, *worth) for theta in [np.inf, *cuts]]
    assert curve.scores.tolist() == cuts
    np.testing.assert_allclose(curve.utility, values)
    k_max = int(np.argmax(values))
    assert curve.theta_max == (cuts[k_max - 1] if k_max else just_above(cuts[0]))
    back = [k for k in range(k_max + 1, len(values)) if values[k] <= values[0]]
    assert curve.theta_zero == (cuts[back[0] - 1] if back else np.nextafter(cuts[-1], -np.inf))
    for theta in [*cuts, curve.theta_max, curve.theta_zero]:
        assert curve.utility_at(theta) == utility_by_counting(label, score, theta, *worth)


@given(
    score=scores,
    label=labels,
    beta=st.floats(-1, 1),
    gamma=st.none() | st.floats(0.01, 2),
    a=st.floats(0.5, 4),
    b=st.floats(-5, 5),
)
def test_threshold_follows_increasing_affine_maps(score, label, beta, gamma, a, b):
    label = np.array(label[: len(score)])
    assume(label.any())
    score = np.array(score, dtype=float)
    theta = beta_gamma_threshold(label, score, beta, gamma)
    assert beta_gamma_threshold(label, a * score + b, beta, gamma) == pytest.approx(a * theta + b, abs=1e-9)


@given(score=scores, label=labels)
def test_limits_of_beta_and_gamma(score, label):
    label = np.array(label[: len(score)])
    assume(label.any())
    curve = utility_curve(label, score)
    assert curve.theta_zero < curve.theta_max
    assert beta_gamma_threshold(label, score, 0.0) == curve.theta_max
    assert beta_gamma_threshold(label, score, 1.0) == curve.theta_zero
    assert beta_gamma_threshold(label, score, 0.3, 1e9) == beta_gamma_threshold(label, score, 0.3)
    assert beta_gamma_threshold(label, score, 0.3, 0.0) == pytest.approx(curve.theta_zero), "p·γ → 0: α = 1"
    for beta in (0.2, 0.7):
        assert curve.theta_zero <= beta_gamma_threshold(label, score, beta) <= curve.theta_max
    assert beta_gamma_threshold(label, score, -0.2) >= curve.theta_max


def test_which_boundary_case_occurred():
    assert utility_curve([1, 1, 0], [3, 2, 1]).case == "never returns"
    assert utility_curve([0, 0, 0, 1], [3, 2, 1, 0]).case == "accepts nothing"
    assert utility_curve([1, 0, 0], [3, 2, 1]).case == "crosses"


def test_weights_count_as_copies():
    weight = np.arange(1, 13)
    weighted = utility_curve(LABELS, SCORES, sample_weight=weight)
    copied = utility_curve(np.repeat(LABELS, weight), np.repeat(SCORES, weight))
    np.testing.assert_allclose(weighted.utility, copied.utility)


def noisy(n_positive, n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n_positive
    return y, rng.standard_normal(n) + 2.0 * y


def test_selection_takes_the_pair_that_is_best_on_held_out_folds():
    y, score = noisy(80)
    chosen = select_beta_gamma(y, score)
    single = [
        select_beta_gamma(y, score, betas=[beta], gammas=[gamma]).value
        for beta in (-0.5, 0.0, 0.5)
        for gamma in (None, 0.1)
    ]
    assert chosen.value >= max(single)
    assert chosen.theta == beta_gamma_threshold(y, score, chosen.beta, chosen.gamma)


@pytest.mark.parametrize("gamma", [None, 0.05])
def test_retrofitted_beta_is_the_mean_of_what_each_fold_needed(gamma):
    """The formula written out, on the folds that the rule itself deals."""
    y, score = noisy(30)
    rng = np.random.default_rng(0)
    order = np.argsort(-score, kind="stable")
    y, score = y[order], score[order]
    fold = np.empty(y.size, dtype=int)
    for side in (y, ~y):
        fold[side] = rng.permutation(np.arange(side.sum()) % 3)
    needed = []
    for j in range(3):
        rest, own = (utility_curve(y[rows], score[rows]) for rows in (fold != j, fold == j))
        best = np.mean(own.best_interval)
        alpha = (rest.theta_max - best) / (rest.theta_max - rest.theta_zero)
        vanishing = 0.0 if gamma is None else np.exp(-rest.n_positive * gamma)
        needed.append(np.clip((alpha - vanishing) / (1 - vanishing), -1, 1))
    assert retrofit_beta(y, score, gamma, n_folds=3, random_state=0) == pytest.approx(np.mean(needed))


def test_a_negative_gamma_works_until_it_overflows():
    y, score = noisy(50)
    assert np.isfinite(beta_gamma_threshold(y, score, 0.1, -0.01))
    with pytest.raises(ScoreError, match=r"gamma=-20 with 50 positives overflows"):
        beta_gamma_threshold(y, score, 0.1, -20)


@pytest.mark.parametrize("weight", [[1, 1], [1, 1, -1], [0, 1, 1], [np.nan, 1, 1]])
def test_weights_that_mean_nothing_are_refused(weight):
    with pytest.raises(ValueError, match=r"sample_weight must be|inconsistent"):
        utility_curve([1, 0, 0], [3.0, 2.0, 1.0], sample_weight=weight)


@pytest.mark.parametrize("n_positive", [1, 2, 5])
@pytest.mark.parametrize("utility", [Utility(), T11SU, FBeta(1)])
def test_few_positives_give_a_finite_threshold(n_positive, utility):
    y, score = noisy(n_positive)
    assert np.isfinite(select_beta_gamma(y, score, utility=utility).theta)
    assert np.isfinite(
        beta_gamma_threshold(y, score, retrofit_beta(y, score, utility=utility), utility=utility)
    )


def test_band_holds_its_threshold_and_narrows_with_more_texts():
    small, large = (threshold_interval(*noisy(n // 5, n=n), n_bootstrap=100) for n in (100, 4000))
    assert small.theta_low <= small.theta <= small.theta_high
    assert small.utility_low <= small.utility_high
    assert large.theta_high - large.theta_low < small.theta_high - small.theta_low


@pytest.mark.parametrize(
    ("y", "score", "error", "message"),
    [
        ([1, 0], [np.nan, 1.0], ScoreError, "score number 0 is nan"),
        ([1, 0], [1.0, np.inf], ScoreError, "score number 1 is inf"),
        ([0, 0], [1.0, 2.0], LabelError, "y has no positive"),
        ([1, 0], [[1.0], [2.0]], ScoreError, "must be vectors, one class at a time"),
        ([], [], ScoreError, "no scores"),
        ([1, 2], [1.0, 2.0], LabelError, "y must be 0/1"),
        ([1, 0, 1], [1.0, 2.0], ValueError, "inconsistent numbers"),
    ],
)
def test_what_cannot_be_ranked_is_refused(y, score, error, message):
    for rule in (utility_curve, beta_gamma_threshold, select_beta_gamma, retrofit_beta):
        with pytest.raises(error, match=message):
            rule(y, score)
