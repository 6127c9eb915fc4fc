"""Plots show what they are given."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from conftest import make_problem
from report.reports import in_form
from sklearn.svm import LinearSVC

from textmargin import (
    PriorDisplay,
    PriorSVC,
    TextClassifier,
    ThresholdClassifier,
    UtilityCurveDisplay,
    beta_gamma_threshold,
)
from textmargin.errors import PriorError, ScoreError


def test_from_predictions_marks_both_ends_and_the_threshold():
    y, score = np.array([1, 1, 0, 1, 0, 0]), np.array([3.0, 2.0, 1.5, 1.0, 0.5, 0.0])
    display = UtilityCurveDisplay.from_predictions(y, score, beta=0.2, name="wheat")
    assert display.threshold == beta_gamma_threshold(y, score, 0.2)
    line = display.axes_[1].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), display.curve.utility)
    labels = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert [label.split(" =")[0] for label in labels] == ["θ max", "θ zero", "threshold"]
    assert display.axes_[0].get_title() == "wheat"


def test_from_estimator_shows_the_class_asked_for():
    X, y, _ = make_problem(n=150)
    y = np.array(["ant", "bee", "cow"])[y + (X[:, 0] > 1)]
    model = ThresholdClassifier(PriorSVC()).fit(X, y)
    display = UtilityCurveDisplay.from_estimator(model, target="cow")
    assert display.threshold == model.thresholds_[2]
    with pytest.raises(ValueError, match="target 'fish' is not among the classes"):
        UtilityCurveDisplay.from_estimator(model, target="fish")


def test_there_is_no_curve_of_the_first_of_two_classes():
    X, y, _ = make_problem(n=150)
    model = ThresholdClassifier(PriorSVC(), pos_label="spam").fit(X, np.where(y > 0, "spam", "ham"))
    assert UtilityCurveDisplay.from_estimator(model).name == "spam"
    with pytest.raises(ValueError, match="one threshold, that of 'spam'"):
        UtilityCurveDisplay.from_estimator(model, target="ham")


def test_without_a_threshold_classifier_there_is_no_curve():
    model, _ = in_form("strings", learner=LinearSVC())
    with pytest.raises(ScoreError, match="LinearSVC has no such curve"):
        UtilityCurveDisplay.from_estimator(model)


def test_prior_display_shows_the_terms_that_the_prior_knows():
    X, y, direction = make_problem()
    known = np.where(np.arange(direction.size) < 3, direction, 0)
    model = PriorSVC(prior=known, trust=0.5).fit(X, y)
    display = PriorDisplay.from_estimator(model)
    np.testing.assert_allclose(display.prior, 0.5 * direction[:3])
    np.testing.assert_allclose(display.learnt, model.coef_[0, :3])
    assert display.terms.tolist() == [0, 1, 2]
    assert display.ax_.get_title() == "1"
    texts = ["corn wheat", "corn rises", "bank yen", "bank rises"]
    classifier = TextClassifier(knowledge={"grain": {"wheat": 1}}).fit(
        texts, ["grain", "grain", "money", "money"]
    )
    assert PriorDisplay.from_estimator(classifier, target="money").terms.tolist() == ["wheat"]
    kinds = [{"grain": ["wheat"]}, {"corn": -1.0}]
    several = TextClassifier(knowledge=kinds).fit(texts, ["grain", "grain", "money", "money"])
    assert PriorDisplay.from_estimator(several, prior=1).ax_.get_title() == "money, weights"
    with pytest.raises(PriorError, match="not among the classes"):
        PriorDisplay.from_estimator(model, target=7)
    with pytest.raises(PriorError, match="nothing to show"):
        PriorDisplay.from_estimator(PriorSVC().fit(X, y))
    with pytest.raises(PriorError, match="needs a fitted PriorSVC"):
        PriorDisplay.from_estimator(ThresholdClassifier(PriorSVC()).fit(X, y))
    with pytest.raises(PriorError, match="of one length"):
        PriorDisplay([1, 2], [1], ["a"])
