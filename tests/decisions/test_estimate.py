"""An estimate from held-out scores: without the optimism of thresholds, with an interval that holds the
figure of new texts.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC

from textmargin import T11SU, PriorSVC, TextClassifier, ThresholdClassifier, Utility, load_dataset
from textmargin.decisions.estimate import estimate
from textmargin.decisions.held_out import shared_length
from textmargin.decisions.single_label import answer_table
from textmargin.errors import ScoreError, SettingError
from textmargin.representations.bow import BagOfWords


class Given(ClassifierMixin, BaseEstimator):
    """Scores are the columns of X, held out as they are."""

    def fit(self, X, y):
        self.classes_, self.X_ = np.unique(y, axis=None) if np.ndim(y) == 1 else np.arange(np.shape(y)[1]), X
        return self

    def decision_function(self, X):
        return X[:, 0] if X.shape[1] == 1 else X

    def loo_decision_function(self):
        return self.decision_function(self.X_)


def drawn(n, n_classes, seed, strength=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return strength * np.eye(n_classes)[y] + rng.standard_normal((n, n_classes)), y


def test_without_thresholds_the_figures_are_those_of_the_held_out_scores():
    X, y = drawn(300, 4, 0)
    found = estimate(ThresholdClassifier(Given(), rule="zero").fit(X, y))
    assert found.accuracy.value == np.mean(X.argmax(axis=1) == y)
    assert (found.answered.value, found.by_thresholds, found.by_knowledge, found.n_new) == (
        1.0,
        None,
        None,
        300,
    )


@pytest.mark.parametrize("n_classes", [2, 6])
def test_thresholds_on_noise_are_not_expected_to_pay(n_classes):
    """Scores that know nothing: what thresholds gain on them is chance, and the estimate does not count on
    it.
    """
    apparent, expected, real = [], [], []
    utility = Utility(tp=1, fp=-1)
    for seed in range(60):
        X, y = drawn(60, n_classes, seed, strength=0.0)
        columns = X[:, :1] if n_classes == 2 else X
        model = ThresholdClassifier(
            Given(), utility=utility, rule="best", pos_label=1 if n_classes == 2 else None
        )
        model.fit(columns, y)
        X_new, y_new = drawn(5_000, n_classes, 100 + seed, strength=0.0)
        for list_of, scores, truth in ((apparent, X, y), (real, X_new, y_new)):
            accepted = model.decide_scores(scores[:, :1] if n_classes == 2 else scores).accepted
            if n_classes == 2:
                worth = np.where(accepted[:, 1], np.where(truth == 1, 1, -1), 0)
            else:
                answer = np.where(accepted.any(axis=1), accepted.argmax(axis=1), n_classes)
                worth = answer_table((utility,) * n_classes)[truth, answer]
            list_of.append(1000 * worth.mean())
        expected.append(estimate(model).utility.value)
    assert np.mean(apparent) > np.mean(real) + 20
    assert abs(np.mean(expected) - np.mean(real)) < np.mean(apparent) - np.mean(real)


@pytest.mark.parametrize(
    ("kind", "utility"), [("binary", None), ("multiclass", None), ("multiclass", Utility(1, -3))]
)
def test_the_interval_holds_the_figure_of_new_texts(kind, utility):
    """In 90 % of draws; by chance in 80 to 98 % of 100."""
    inside = 0
    for seed in range(100):
        n_classes = 2 if kind == "binary" else 3
        (X, y), (X_new, y_new) = drawn(150, n_classes, seed), drawn(400, n_classes, 1000 + seed)
        X, X_new = (X[:, 1:] - X[:, :1], X_new[:, 1:] - X_new[:, :1]) if kind == "binary" else (X, X_new)
        model = ThresholdClassifier(
            Given(), **({"rule": "zero"} if utility is None else {"utility": utility})
        ).fit(X, y)
        found = estimate(model, n_new=400, with_utility=utility is not None)
        accepted = model.decide_scores(X_new).accepted
        answer = np.where(accepted.any(axis=1), accepted.argmax(axis=1), n_classes)
        figure, value = found.accuracy, np.mean(answer == y_new)
        if utility is not None:
            figure, value = found.utility, 1000 * answer_table((utility,) * n_classes)[y_new, answer].mean()
        inside += figure.low <= value <= figure.high
    assert 80 <= inside <= 98


def test_no_mistake_among_few_texts_does_not_mean_none_ever():
    X, y = drawn(20, 2, 0, strength=100.0)
    found = estimate(ThresholdClassifier(Given(), rule="zero").fit(X[:, 1:] - X[:, :1], y))
    assert found.accuracy.value == found.accuracy.high == 1.0
    assert found.accuracy.low < 0.97


def test_several_labels_and_measures_that_do_not_add_up():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 5)) < [0.5, 0.3, 0.1, 0.03, 0.01]).astype(int)
    Y[:2] = 1  # of the rarest a few, which have no held-out scores that mean anything
    X = Y + rng.standard_normal(Y.shape)
    for utility, per_1000 in ((Utility(2, -1), True), (Utility(2, -1, ask=-0.2), True), (T11SU, False)):
        found = estimate(ThresholdClassifier(PriorSVC(), utility=utility).fit(X, Y))
        assert found.multilabel
        assert found.per_1000 == per_1000
        for figure in (found.macro_f1, found.micro_f1, found.utility):
            assert figure.low < figure.value < figure.high
        assert (found.answered.value < 1) == (getattr(utility, "ask", None) is not None)


def test_a_price_for_asking_is_paid():
    X, y = drawn(400, 2, 3)
    model = ThresholdClassifier(Given(), utility=Utility(1, -1, ask=0.0), pos_label=1).fit(
        X[:, 1:] - X[:, :1], y
    )
    found = estimate(model)  # asking costs nothing, so that all is asked, and every text of the class a hit
    assert found.answered.value < 0.02  # but beyond the highest and the lowest score of training
    assert found.utility.value == pytest.approx(1000 * y.mean(), abs=20)


def test_what_knowledge_adds_is_told_beside_a_model_without_it():
    train = load_dataset("desk").part("train")
    known = {"billing": ["invoice", "payment"], "printing": ["printer", "toner"]}
    plain = TextClassifier().fit(train.texts, train.labels)
    informed = TextClassifier(knowledge=known).fit(train.texts, train.labels)
    found = informed.estimate(without=plain)
    gain = found.by_knowledge.accuracy
    assert gain.value == pytest.approx(found.accuracy.value - plain.estimate().accuracy.value)
    assert gain.low <= gain.value <= gain.high
    # the same texts: most of chance is shared
    assert gain.high - gain.low < found.accuracy.high - found.accuracy.low
    half = TextClassifier().fit(train.texts[:150], train.labels[:150])
    with pytest.raises(ScoreError, match="not fitted to the same texts"):
        informed.estimate(without=half)


def test_training_scores_and_learners_without_scores_are_refused():
    X, y = drawn(100, 2, 0)
    with pytest.raises(ScoreError, match="looks better than it is"):
        estimate(ThresholdClassifier(PriorSVC(), scores="train").fit(X, y))
    with pytest.raises(ScoreError, match="LinearSVC, has no held-out scores"):
        TextClassifier(learner=LinearSVC()).fit(
            ["wheat corn", "bank rates", "corn oats", "bank loan"], [0, 1, 0, 1]
        ).estimate()
    with pytest.raises(SettingError, match="n_new must be a number of texts"):
        estimate(ThresholdClassifier(PriorSVC(), rule="zero").fit(X, y), n_new=0)


def test_held_out_texts_are_scored_as_new_ones_would_be():
    """As by a vocabulary without the text: words that it alone has take no part, and no length."""
    texts = load_dataset("desk").part("train").texts[:40]
    words = BagOfWords("tf-idf")
    X = words.fit_transform(texts)
    every = np.arange(40)
    left = shared_length(X, every)
    for row in range(0, 40, 7):
        others = BagOfWords("tf-idf").fit([*texts[:row], *texts[row + 1 :]])
        known = np.isin(words.get_feature_names_out(), others.get_feature_names_out())
        assert left[row] == pytest.approx(np.linalg.norm(X[[row]].toarray()[0] * known))
    assert shared_length(2 * X, every) is None
    assert shared_length(X.toarray(), every) is None
