"""Thresholds from scores in parts are those of the in-memory class, whatever the parts."""

import numpy as np
import pytest
from conftest import make_texts
from sklearn.frozen import FrozenEstimator

from textmargin import FBeta, PriorSVC, ThresholdClassifier, Utility, beta_gamma_threshold, scale
from textmargin.errors import ClusterError, LabelError, ScoreError, TooLargeError
from textmargin.scale import Blocks

pytestmark = pytest.mark.usefixtures("client")
PARTITIONS = (1, 2, 7)


def given(classes, multilabel=True):
    """A learner whose scores are the columns it is given."""
    n_columns = len(classes) if multilabel else 1
    learner = PriorSVC()
    learner.classes_, learner.multilabel_, learner.n_features_in_ = np.asarray(classes), multilabel, n_columns
    learner.coef_, learner.intercept_ = np.eye(n_columns), np.zeros(n_columns)
    return FrozenEstimator(learner)


def make_scores(n=400, seed=0):
    """Scores of three topics with many ties; the third topic has its few texts at the very end."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 3)) < [0.3, 0.1, 0.0]).astype(int)
    Y[-6:, 2] = 1
    return np.round(1.5 * Y + rng.standard_normal((n, 3)), 1), Y


def both(X, y, n_partitions, estimator=None, sample_weight=None, **settings):
    """The in-memory classifier, and the one on parts, on given scores."""
    frozen = estimator or given(range(X.shape[1]))
    known = ThresholdClassifier(frozen, scores="train", **settings).fit(X, y, sample_weight)
    blocks = Blocks.split(X, n_partitions)
    return known, scale.ThresholdClassifier(frozen, scores="train", **settings).fit(blocks, y, sample_weight)


def assert_same(found, known):
    np.testing.assert_array_equal(found.thresholds_, known.thresholds_)
    np.testing.assert_array_equal(found.beta_, known.beta_)
    for ours, theirs in zip(found.ranked_, known.ranked_, strict=True):
        np.testing.assert_array_equal(ours.score, theirs.score)
        np.testing.assert_array_equal(ours.positive, theirs.positive)
        assert (ours.held_out, ours.n_held_out) == (theirs.held_out, theirs.n_held_out)


@pytest.mark.parametrize("n_partitions", PARTITIONS)
def test_same_scores_same_thresholds(n_partitions):
    """Ties across parts, a topic absent from all parts but the last: to the bit."""
    X, Y = make_scores()
    known, found = both(X, Y, n_partitions)
    assert_same(found, known)
    np.testing.assert_array_equal(found.predict(Blocks.split(X, 3)).compute(), known.predict(X))
    np.testing.assert_array_equal(found.decision_function(Blocks.split(X, 3)).compute(), known.decision_function(X))


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "select", "utility": FBeta()},
        {"rule": "best", "min_recall": 0.8},
        {"rule": beta_gamma_threshold, "utility": [Utility(5, -1), Utility(1, -5), FBeta()]},
        {"rule": "beta-gamma", "beta": 0.3, "gamma": 0.05, "few_positives": 10},
        {"rule": "zero"},
    ],
    ids=lambda settings: str(settings["rule"])[:12],
)
def test_every_rule(settings):
    X, Y = make_scores()
    known, found = both(X, Y, 7, **settings)
    assert_same(found, known)


def test_weighted_texts():
    X, Y = make_scores()
    known, found = both(X, Y, 7, sample_weight=np.random.default_rng(1).random(len(X)))
    assert_same(found, known)


def test_parts_without_texts():
    """More parts than texts: most of them are empty."""
    X, Y = make_scores(n=20)
    known, found = both(X[:, :2], Y[:, :2] | np.eye(20, 2, dtype=int), 30)
    assert_same(found, known)


def test_two_classes_by_name():
    X, Y = make_scores()
    y = np.where(Y[:, 0] == 1, "yes", "no")
    known, found = both(X[:, :1], y, 7, given(["no", "yes"], multilabel=False), utility={"yes": Utility(5, -1)})
    assert_same(found, known)
    np.testing.assert_array_equal(found.predict(Blocks.split(X[:, :1], 2)).compute(), known.predict(X[:, :1]))


def test_a_sample_is_taken_where_scores_are_too_many(monkeypatch):
    """Every text of a rare class, and of the others a share, whatever the parts; weights make up for those left out."""
    monkeypatch.setattr("textmargin.scale._gather._RARE", 10)
    monkeypatch.setattr("textmargin.scale._gather._MOST_ENTRIES", 3 * 1000)
    X, Y = make_scores(n=4000)
    found = [both(X, Y, n)[1].held_out_ for n in (1, 7)]
    assert found[0].positive[:, 2].sum() == 6
    assert 850 < len(found[0]) < 1150
    assert found[0].weight.sum() == pytest.approx(4000, rel=0.1)
    np.testing.assert_array_equal(found[0].scores, found[1].scores)
    known = ThresholdClassifier(given(range(3)), scores="train").fit(X, Y)
    sampled = both(X, Y, 7)[1]
    assert np.abs(sampled.thresholds_ - known.thresholds_).max() < 0.6


def few_texts():
    """Few columns, so that training takes few passes; the third class is in two texts only."""
    X, y = make_texts(n=80, d=6, words=5)
    y[:2] = 2
    return X.toarray(), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("scores", ["loo", "cv"])
def test_with_a_learner(scores):
    X, y = few_texts()
    settings, costs = {"scores": scores, "n_folds": 2}, "balanced"
    known = ThresholdClassifier(PriorSVC(class_weight=costs), **settings).fit(X, y)
    found = scale.ThresholdClassifier(scale.PriorSVC(class_weight=costs), **settings).fit(Blocks.split(X, 2), y)
    np.testing.assert_allclose(found.thresholds_, known.thresholds_, atol=1e-6)
    plain = found.in_memory()
    assert type(plain) is ThresholdClassifier
    assert type(plain.estimator_) is type(plain.estimator) is PriorSVC
    np.testing.assert_array_equal(plain.predict(X), known.predict(X))
    other = {"utility": Utility(tp=9, fp=-1)}
    np.testing.assert_allclose(found.with_utility(**other).thresholds_, known.with_utility(**other).thresholds_, atol=1e-6)


def test_a_topic_that_a_fold_lacks():
    """A topic with one text cannot be learnt without it: that fold has no scores of it, as in memory."""
    X, y = few_texts()
    Y = np.column_stack([y == "a", y == "b", np.arange(80) == 79]).astype(int)
    known = ThresholdClassifier(PriorSVC(), scores="cv", n_folds=2).fit(X, Y)
    found = scale.ThresholdClassifier(scale.PriorSVC(), scores="cv", n_folds=2).fit(Blocks.split(X, 2), Y)
    np.testing.assert_allclose(found.thresholds_, known.thresholds_, atol=1e-6)
    assert (
        [texts.n_held_out for texts in found.ranked_] == [texts.n_held_out for texts in known.ranked_] == [*Y.sum(axis=0)[:2], 0]
    )


def test_weighted_texts_left_out():
    X, y = few_texts()
    weight = np.random.default_rng(2).random(80) + 0.5
    known = ThresholdClassifier(PriorSVC()).fit(X, y == "a", weight)
    found = scale.ThresholdClassifier(scale.PriorSVC()).fit(Blocks.split(X, 3), y == "a", weight)
    np.testing.assert_allclose(found.thresholds_, known.thresholds_, atol=1e-6)


def test_too_many_texts_inside_the_margin_to_leave_one_out(monkeypatch):
    monkeypatch.setattr("textmargin.scale._leave_one_out.MAX_SIZE", 5)
    X, y = few_texts()
    with pytest.raises(TooLargeError, match=r"texts inside its margin, more than 5; use scores='cv'"):
        scale.ThresholdClassifier(scale.PriorSVC(), scores="loo").fit(Blocks.split(X, 2), y == "a")
    assert scale.ThresholdClassifier(scale.PriorSVC(), n_folds=2).fit(Blocks.split(X, 2), y == "a").held_out_.method == "cv"


@pytest.mark.parametrize("scores", ["loo", "cv"])
def test_a_frozen_estimator_has_training_scores_only(scores):
    X, Y = make_scores(40)
    with pytest.raises(ScoreError, match="use scores='train'"):
        scale.ThresholdClassifier(given(range(3)), scores=scores).fit(Blocks.split(X, 2), Y)


def test_a_model_of_a_module_that_workers_lack_is_an_error_and_no_endless_wait(tmp_path, monkeypatch):
    """A worker that cannot read the arguments of a task ends, without a word; then the next one."""
    (tmp_path / "only_here.py").write_text("from textmargin import PriorSVC\n\nclass Mine(PriorSVC): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    from only_here import Mine

    X, Y = make_scores(40)
    frozen = given(range(3))
    frozen.estimator.__class__ = Mine
    with pytest.raises(ClusterError, match=r"cannot read the FrozenEstimator .* No module named 'only_here'\. Install"):
        scale.ThresholdClassifier(frozen, scores="train").fit(Blocks.split(X, 2), Y)


def test_a_topic_without_texts():
    X, Y = make_scores(40)
    with pytest.raises(LabelError, match="class 2 has no example for it among 40 texts"):
        scale.ThresholdClassifier(given(range(3)), scores="train").fit(Blocks.split(X, 2), Y * [1, 1, 0])


def test_matrices_in_memory_are_the_in_memory_classs_business():
    X, y = few_texts()
    found, known = (kind.fit(X, y) for kind in (scale.ThresholdClassifier(PriorSVC()), ThresholdClassifier(PriorSVC())))
    np.testing.assert_array_equal(found.thresholds_, known.thresholds_)
    np.testing.assert_array_equal(found.decision_function(X), known.decision_function(X))
