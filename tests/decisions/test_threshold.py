"""ThresholdClassifier: every target score source, floors, and thresholds that survive inside other
estimators.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import make_problem, make_texts
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from textmargin import (
    T10U,
    T11SU,
    FBeta,
    PriorSVC,
    ThresholdClassifier,
    Utility,
    beta_gamma_threshold,
    retrofit_beta,
    utility_curve,
)
from textmargin.errors import LabelError, ScoreError

RULES = ["parameter-free", "select", "beta-gamma", "best", "zero"]


def skewed(n=400, seed=0):
    X, y, _ = make_problem(n=n, d=6, seed=seed, skew=1.0)
    return X, y


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scores", ["loo", "cv", "train"])
def test_zero_is_the_decision(rule, scores):
    X, y = skewed()
    model = ThresholdClassifier(PriorSVC(), rule=rule, scores=scores).fit(X, y)
    shifted = model.decision_function(X)
    np.testing.assert_allclose(shifted, model.estimator_.decision_function(X) - model.thresholds_[0])
    np.testing.assert_array_equal(model.predict(X), model.classes_[(shifted >= 0).astype(int)])
    if rule == "zero":
        assert model.thresholds_ == 0


def test_the_rule_is_applied_to_the_leave_one_out_scores():
    X, y = skewed()
    model = ThresholdClassifier(PriorSVC()).fit(X, y)
    held_out = model.estimator_.loo_decision_function()
    beta = retrofit_beta(y, held_out)
    assert model.beta_ == beta
    assert model.thresholds_ == beta_gamma_threshold(y, held_out, beta)
    assert model.curve_[0].utility.tolist() == utility_curve(y, held_out).utility.tolist()


def test_a_costly_miss_lowers_the_threshold():
    X, y = skewed()
    thresholds = [
        ThresholdClassifier(PriorSVC(), rule="best", utility=Utility(tp=tp)).fit(X, y).thresholds_[0]
        for tp in (0.2, 2, 20)
    ]
    assert thresholds[0] > thresholds[1] > thresholds[2]


def test_several_classes_and_labels_with_utilities_of_their_own():
    X, y = skewed()
    three = np.array(["ant", "bee", "cow"])[y + (X[:, 0] > 1)]
    model = ThresholdClassifier(PriorSVC(), utility={"cow": Utility(tp=20), "*": T10U}, rule="best").fit(
        X, three
    )
    plain = ThresholdClassifier(PriorSVC(), rule="best").fit(X, three)
    assert (model.predict(X) == "cow").sum() > (plain.predict(X) == "cow").sum()
    assert set(model.predict(X)) <= {"ant", "bee", "cow", None}

    Y = np.column_stack([three == name for name in ("ant", "bee", "cow")]).astype(int)
    multilabel = ThresholdClassifier(PriorSVC(), utility=[T10U, FBeta(1), T11SU]).fit(X, Y)
    np.testing.assert_array_equal(multilabel.predict(X), (multilabel.decision_function(X) >= 0).astype(int))
    assert multilabel.thresholds_.shape == multilabel.beta_.shape == multilabel.gamma_.shape == (3,)


@pytest.mark.parametrize("n_positive", [1, 2, 5])
@pytest.mark.parametrize("scores", ["loo", "cv", "train"])
@pytest.mark.parametrize("rule", RULES)
def test_classes_with_few_positives(n_positive, scores, rule):
    """Folds that miss a class altogether included."""
    X, y = make_texts(n=80, d=300)
    Y = np.column_stack([y, np.arange(80) < n_positive]).astype(int)
    model = ThresholdClassifier(PriorSVC(), scores=scores, rule=rule).fit(X, Y)
    assert np.isfinite(model.thresholds_).all()
    assert np.isfinite(
        ThresholdClassifier(PriorSVC(), scores=scores, rule=rule).fit(X, Y[:, 1] + 0).thresholds_
    ).all()


def test_rules_that_choose_for_themselves_do_not_choose_on_three_positives():
    X, _ = make_texts(n=80, d=300)
    rare = (np.arange(80) < 3).astype(int)
    trained = PriorSVC().fit(X, rare).decision_function(X)
    for rule in ("parameter-free", "select"):
        model = ThresholdClassifier(PriorSVC(), rule=rule).fit(X, rare)
        assert model.thresholds_[0] == beta_gamma_threshold(rare, trained, 0.775)
    held_out = PriorSVC().fit(X, rare).loo_decision_function()
    told = ThresholdClassifier(PriorSVC(), rule="beta-gamma", beta=0.3).fit(X, rare)
    assert told.thresholds_[0] == beta_gamma_threshold(rare, held_out, 0.3)


@pytest.mark.parametrize("estimator", [LogisticRegression(), RandomForestClassifier(20, random_state=0)])
def test_any_scorer_with_refitted_folds(estimator):
    X, y = skewed()
    model = ThresholdClassifier(estimator, scores="cv").fit(X, y)
    assert model.predict(X).mean() > 0
    Y = np.column_stack([y, X[:, 0] > 0]).astype(int)
    if isinstance(estimator, RandomForestClassifier):
        assert ThresholdClassifier(estimator, scores="train").fit(X, Y).predict(X).shape == Y.shape


def test_an_estimator_without_leave_one_out_scores_says_what_to_use():
    X, y = skewed()
    with pytest.raises(
        ScoreError, match="LogisticRegression has no leave-one-out scores of its own; use scores='cv'"
    ):
        ThresholdClassifier(LogisticRegression(), scores="loo").fit(X, y)
    assert ThresholdClassifier(LogisticRegression()).fit(X, y).held_out_.method == "cv"


def test_a_fitted_estimator_stays_as_it_is():
    X, y = skewed()
    fitted = PriorSVC().fit(X[:200], y[:200])
    model = ThresholdClassifier(FrozenEstimator(fitted), scores="train").fit(X[200:], y[200:])
    np.testing.assert_array_equal(
        model.decision_function(X), fitted.decision_function(X) - model.thresholds_[0]
    )
    with pytest.raises(
        ScoreError,
        match="are of the 200 texts the estimator was fitted on, not of the 50 given; use scores='train'",
    ):
        ThresholdClassifier(FrozenEstimator(fitted)).fit(X[200:250], y[200:250])


def test_floors_are_kept():
    X, y = skewed()
    careful = ThresholdClassifier(PriorSVC(), min_precision=0.9).fit(X, y)
    eager = ThresholdClassifier(PriorSVC(), min_recall=0.95).fit(X, y)
    held_out = PriorSVC().fit(X, y).loo_decision_function()
    accepted = held_out >= careful.thresholds_[0]
    assert y[accepted].mean() >= 0.9
    assert (held_out >= eager.thresholds_[0])[y == 1].mean() >= 0.95
    assert careful.thresholds_ > eager.thresholds_


def test_an_unreachable_floor_gives_the_best_that_can_be_had():
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1] * 5)
    X = np.tile(np.arange(4.0)[:, None], (10, 1))  # no score tells the classes apart
    with pytest.raises(
        ScoreError,
        match=r"class 1 reaches min_precision=0.99 with min_recall=0.9; the best precision to be had here "
        r"is \d\.\d+",
    ):
        ThresholdClassifier(PriorSVC(), min_precision=0.99, min_recall=0.9).fit(X, y)


def inner_decisions(inner, X):
    """What a ThresholdClassifier's own parts say, without its help."""
    return inner.estimator_.decision_function(X) >= inner.thresholds_[0]


def test_thresholds_survive_several_outputs_pipelines_and_grid_search():
    X, y = skewed()
    Y = np.column_stack([y, X[:, 0] > 1]).astype(int)
    outputs = MultiOutputClassifier(ThresholdClassifier(PriorSVC())).fit(X, Y)
    for k, inner in enumerate(outputs.estimators_):
        np.testing.assert_array_equal(outputs.predict(X)[:, k], inner_decisions(inner, X))

    scaler = StandardScaler().fit(X)
    piped = make_pipeline(StandardScaler(), ThresholdClassifier(PriorSVC())).fit(X, y)
    np.testing.assert_array_equal(piped.predict(X), inner_decisions(piped[-1], scaler.transform(X)))

    grid = {"estimator__C": [0.1, 1.0], "rule": ["best", "parameter-free"]}
    search = GridSearchCV(ThresholdClassifier(PriorSVC()), grid, cv=2).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), inner_decisions(search.best_estimator_, X))
    assert np.isfinite(cross_val_score(clone(search.best_estimator_), X, y, cv=2)).all()


def test_sample_weight_reaches_estimator_and_utility():
    X, y = skewed()
    weight = np.where(y == 1, 10.0, 1.0)
    weighted = ThresholdClassifier(PriorSVC(), rule="best").fit(X, y, sample_weight=weight)
    assert weighted.curve_[0].n_positive == pytest.approx(10 * y.sum())
    assert weighted.predict(X).sum() > ThresholdClassifier(PriorSVC(), rule="best").fit(X, y).predict(X).sum()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimator": None}, ValueError, "'estimator' parameter of ThresholdClassifier"),
        ({"utility": {"fish": T10U}}, LabelError, "names 'fish', which is not among the classes"),
        ({"utility": [T10U, T10U]}, LabelError, "utility has 2 measures, but there are 1 thresholds"),
        ({"rule": "guess"}, ValueError, "'rule' parameter"),
        ({"min_recall": 1.5}, ValueError, "'min_recall' parameter"),
        ({"n_folds": 1}, ValueError, "'n_folds' parameter"),
        ({"random_state": -1}, ValueError, "'random_state' parameter"),
    ],
)
def test_what_does_not_fit_is_refused(options, error, message):
    X, y = skewed()
    with pytest.raises(error, match=message):
        ThresholdClassifier(**{"estimator": PriorSVC(), **options}).fit(X, y)


def test_a_rule_may_be_a_function():
    X, y = skewed()
    model = ThresholdClassifier(PriorSVC(), rule=lambda y, score, utility=None: float(np.median(score))).fit(
        X, y
    )
    assert model.thresholds_[0] == np.median(model.estimator_.loo_decision_function())


@pytest.mark.parametrize("wrap", [pd.DataFrame, sp.coo_matrix, sp.csr_array])
def test_refitted_folds_take_rows_of_whatever_x_is(wrap):
    X, y = skewed()
    expected = ThresholdClassifier(PriorSVC(), scores="cv").fit(X, y).thresholds_
    X = wrap(X)
    if isinstance(X, pd.DataFrame):
        X.index = np.random.default_rng(0).permutation(len(X))
        X.columns = X.columns.astype(str)
    np.testing.assert_allclose(ThresholdClassifier(PriorSVC(), scores="cv").fit(X, y).thresholds_, expected)


def test_a_utility_may_name_either_of_two_classes():
    X, y = skewed()
    first = ThresholdClassifier(PriorSVC(), utility={0: Utility(tp=1, fp=-20)}).fit(X, y)
    assert first.pos_label_ == 0
    turned = ThresholdClassifier(
        PriorSVC(), utility={0: Utility(tp=1, fp=-20)}, pos_label=1, rule="best"
    ).fit(X, y)
    assert turned.pos_label_ == 1
    plain = PriorSVC().fit(X, y).predict(X)
    assert (first.predict(X) == 0).sum() < (plain == 0).sum()
    assert (turned.predict(X) == 0).sum() < (plain == 0).sum()
    with pytest.raises(LabelError, match="names 2, which is not among the classes: 0, 1"):
        ThresholdClassifier(PriorSVC(), utility={2: T10U}).fit(X, y)


def test_scores_that_are_not_one_per_class_are_refused():
    X, y = skewed()
    four = y + 2 * (X[:, 0] > 0)
    with pytest.raises(ScoreError, match="gives 6 scores per text, but there are 4 classes"):
        ThresholdClassifier(SVC(decision_function_shape="ovo"), scores="train").fit(X, four)
    Y = np.column_stack([y, X[:, 0] > 0]).astype(int)
    network = MLPClassifier((4,), max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ThresholdClassifier(network, scores="train").fit(X, Y).predict(X).shape == Y.shape


class Broken(PriorSVC):
    def decision_function(self, X):
        return np.where(np.arange(len(X)) % 3, super().decision_function(X), np.nan)


def test_nan_scores_are_refused():
    X, y = skewed()
    with pytest.raises(ScoreError, match="Broken gave NaN as a score"):
        ThresholdClassifier(Broken()).fit(X, y)


def test_a_frozen_estimator_is_not_given_scores_of_other_texts():
    X, y = skewed()
    frozen = FrozenEstimator(PriorSVC().fit(X[:200], y[:200]))
    same = ThresholdClassifier(frozen).fit(X[:200], y[:200])
    np.testing.assert_array_equal(
        same.thresholds_, ThresholdClassifier(PriorSVC()).fit(X[:200], y[:200]).thresholds_
    )
    with pytest.raises(ScoreError, match="use scores='train'"):
        ThresholdClassifier(frozen).fit(X[200:], y[200:])
    with pytest.raises(ScoreError, match="scores='cv' means nothing"):
        ThresholdClassifier(frozen, scores="cv").fit(X[:200], y[:200])


def test_settings_by_class_do_not_move_to_another_class_in_a_fold():
    X, y = skewed()
    Y = np.column_stack([np.arange(len(y)) == 3, y, X[:, 0] > 0]).astype(int)
    with pytest.raises(
        ScoreError,
        match="Class 0 has no example outside one of the folds, and class_weight speaks of classes",
    ):
        ThresholdClassifier(PriorSVC(class_weight={1: 50.0}), scores="cv").fit(X, Y)
    ThresholdClassifier(PriorSVC(class_weight="balanced"), scores="cv").fit(X, Y)


def test_weights_are_routed_where_they_are_asked_for():
    X, y = skewed()
    weight = np.where(y == 1, 10.0, 1.0)
    with config_context(enable_metadata_routing=True):
        for asked in (True, False):
            inner = LogisticRegression().set_fit_request(sample_weight=asked)
            piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
            model = ThresholdClassifier(piped, scores="cv").fit(X, y, sample_weight=weight)
            by_hand = LogisticRegression().fit(
                StandardScaler().fit_transform(X), y, weight if asked else None
            )
            np.testing.assert_allclose(model.estimator_[-1].coef_, by_hand.coef_)
            assert model.curve_[0].n_positive == 10 * y.sum()
        outer = ThresholdClassifier(PriorSVC().set_fit_request(sample_weight=True)).set_fit_request(
            sample_weight=True
        )
        search = GridSearchCV(
            outer.set_score_request(sample_weight=False), {"rule": ["best", "select"]}, cv=2
        )
        assert search.fit(X, y, sample_weight=weight).best_estimator_.curve_[0].n_positive == 10 * y.sum()


@pytest.mark.parametrize("rule", ["parameter-free", "select", "beta-gamma", "best", "zero"])
@pytest.mark.parametrize("multilabel", [False, True])
def test_moved_thresholds_are_those_of_a_new_fit(rule, multilabel):
    X, y = make_problem(n=120, seed=3)[:2]
    if multilabel:
        y = np.column_stack([y == 1, X[:, 0] > 0.5, np.arange(len(y)) < 2]).astype(int)
    before = ThresholdClassifier(PriorSVC(), utility=Utility(tp=2, fp=-1), rule=rule).fit(X, y)
    after = before.with_utility(utility=Utility(tp=7, fp=-1))
    anew = ThresholdClassifier(PriorSVC(), utility=Utility(tp=7, fp=-1), rule=rule).fit(X, y)
    np.testing.assert_array_equal(after.thresholds_, anew.thresholds_)
    np.testing.assert_array_equal(after.predict(X), anew.predict(X))
    assert before.utility == Utility(tp=2, fp=-1)
    assert after.estimator_ is before.estimator_


def test_moved_keeps_floors_and_refuses_new_scores():
    X, y = make_problem(n=120, seed=3)[:2]
    model = ThresholdClassifier(PriorSVC()).fit(X, y)
    assert recall_score(y, model.with_utility(min_recall=1.0).predict(X), pos_label=model.classes_[1]) >= 0.9
    with pytest.raises(ScoreError, match="'scores' cannot change"):
        model.with_utility(scores="cv")
    with pytest.raises(NotFittedError):
        ThresholdClassifier(PriorSVC()).with_utility()


def assert_moved_is_a_new_fit(X, y, before, after, weight=None):
    """Thresholds, β, γ and curves, to the bit."""
    moved = ThresholdClassifier(PriorSVC(), **before).fit(X, y, sample_weight=weight).with_utility(**after)
    anew = ThresholdClassifier(PriorSVC(), **{**before, **after}).fit(X, y, sample_weight=weight)
    for name in ("thresholds_", "beta_", "gamma_"):
        np.testing.assert_array_equal(getattr(moved, name), getattr(anew, name))
    for ours, theirs in zip(moved.curve_, anew.curve_, strict=True):
        np.testing.assert_array_equal(ours.utility, theirs.utility)
        np.testing.assert_array_equal(ours.scores, theirs.scores)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scores", ["loo", "cv", "train"])
@pytest.mark.parametrize("rule", RULES)
def test_with_utility_took_weights_for_repeated_texts(rule, scores, seed):
    X, y = make_problem(n=60, seed=seed)[:2]
    weight = np.random.default_rng(seed).integers(1, 4, size=60).astype(float)
    assert_moved_is_a_new_fit(
        X, y, {"scores": scores, "rule": rule}, {"utility": FBeta(2.0), "min_recall": 0.5}, weight
    )


def rare(n_positive):
    X, _ = make_texts(n=80, d=300)
    return X, (np.arange(80) < n_positive).astype(int)


@pytest.mark.parametrize(
    ("n_positive", "before", "after"),
    [
        (20, {"rule": "zero"}, {"rule": "best"}),
        (20, {"rule": "zero"}, {"rule": "parameter-free"}),
        (3, {}, {"rule": "best"}),
        (3, {}, {"few_positives": 2}),
        (3, {"rule": "best"}, {"rule": "select"}),
        (20, {}, {"rule": "zero"}),
    ],
)
def test_moved_took_training_scores_for_held_out_ones(n_positive, before, after):
    X, y = rare(n_positive)
    assert_moved_is_a_new_fit(X, y, before, after)
    assert_moved_is_a_new_fit(X, y, {**before, "scores": "train"}, after)


def test_training_scores_that_are_not_there_are_not_made_up():
    X, y = rare(20)
    model = ThresholdClassifier(PriorSVC()).fit(X, y)
    with pytest.raises(
        ScoreError, match=r"The held-out scores of class 1 are there, but rule=.*; fit again\."
    ):
        model.with_utility(few_positives=50)


def test_moved_does_not_deal_out_the_folds_of_the_scores_again():
    X, y = skewed()
    assert_moved_is_a_new_fit(X, y, {}, {"random_state": 7})
    with pytest.raises(ScoreError, match="'random_state' cannot change once the scores are there; fit again"):
        ThresholdClassifier(PriorSVC(), scores="cv").fit(X, y).with_utility(random_state=7)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = skewed()
    model = ThresholdClassifier(PriorSVC()).fit(X, y)
    expected = model.predict(X)
    with pytest.raises(ScoreError, match="No threshold for class"):
        model.set_params(min_precision=1.0, min_recall=1.0).fit(X, np.random.default_rng(0).permutation(y))
    np.testing.assert_array_equal(model.predict(X), expected)
