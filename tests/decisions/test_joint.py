"""Thresholds of all classes together: the utility of the decision made, its search, and that it never pays
for its daring.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import cross_val_score

from textmargin import T11SU, FBeta, PriorSVC, ThresholdClassifier, Utility, utility_score, utility_scorer
from textmargin.decisions.joint import joint_thresholds, search
from textmargin.decisions.joint_floors import Floors
from textmargin.decisions.scores import HeldOutScores
from textmargin.decisions.single_label import SingleLabelTexts, answer_table
from textmargin.errors import ScoreError

MEASURES = [
    Utility(5, -1),
    Utility(1, -20),
    Utility(2, -3, -1, 0.5),
    Utility(2, -5, ask=-0.5),
    FBeta(1),
    T11SU,
]


def made_up(n=300, n_classes=5, noise=1.0, seed=0, always_answer=False, measure=MEASURES[0], weighted=False):
    """Scores that know the class, more or less; some classes are rare, some score high throughout."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    scores = noise * rng.standard_normal((n, n_classes)) + rng.normal(0, 0.5, n_classes) - 1
    scores[np.arange(n), truth] += 2
    weight = rng.random(n) + 0.5 if weighted else None
    return SingleLabelTexts(truth, scores, (measure,) * n_classes, always_answer, weight)


def by_definition(texts, thresholds):
    """Text by text, from the counts of every class."""
    n_classes, weight = texts.n_classes, np.ones(len(texts)) if texts.weight is None else texts.weight
    answers = []
    for row in texts.scores - thresholds:
        best = int(row.argmax())
        answers.append(best if texts.always_answer or row[best] >= 0 else n_classes)
    table = confusion_matrix(texts.truth, answers, labels=range(n_classes + 1), sample_weight=weight)
    values = []
    for k, measure in enumerate(texts.measures):
        asks = isinstance(measure, Utility) and measure.ask is not None
        asked = table[:, n_classes]
        tp = table[k, k] + (asked[k] if asks else 0)
        fp = table[:, k].sum() - table[k, k]
        fn = table[k].sum() - tp
        values.append(
            measure(tp, fp, fn, weight.sum() - tp - fp - fn) + (measure.ask * asked[k] if asks else 0)
        )
    adds_up = all(isinstance(measure, Utility) for measure in texts.measures)
    return np.sum(values) if adds_up else np.nanmean(values)


@pytest.mark.parametrize("always_answer", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_utility_is_that_of_the_decisions_made(measure, weighted, always_answer):
    for seed in range(5):
        texts = made_up(60, seed=seed, measure=measure, weighted=weighted, always_answer=always_answer)
        thresholds = np.random.default_rng(seed).normal(size=texts.n_classes)
        assert texts.utility(thresholds) == pytest.approx(by_definition(texts, thresholds))


def test_worth_of_answers():
    """Right, wrong, unsure, asked: by hand, for classes with different costs."""
    table = answer_table((Utility(5, -1, -2), Utility(3, -4, 0, ask=-0.5)))
    assert table.tolist() == [[5, -6, -2], [-1, 3, 2.5]]


@pytest.mark.parametrize("always_answer", [False, True])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_sweep_has_the_utility_of_every_threshold(measure, always_answer):
    texts = made_up(80, seed=3, measure=measure, always_answer=always_answer, weighted=True)
    thresholds = np.random.default_rng(1).normal(size=texts.n_classes)
    sweep = texts.sweep_class(2, texts.standing(thresholds), thresholds[2])
    for place in range(sweep.cuts.size):
        moved = thresholds.copy()
        moved[2] = sweep.threshold(place)
        assert sweep.utility[place] == pytest.approx(by_definition(texts, moved))
    assert sweep.utility[sweep.place(thresholds[2])] == pytest.approx(by_definition(texts, thresholds))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(MEASURES))
def test_search_never_loses(seed, measure):
    texts = made_up(50, 3, seed=seed, measure=measure)
    start = np.full(3, -0.5)
    assert texts.utility(search(texts, start)) >= texts.utility(start) - 1e-9


def test_search_finds_the_best_of_all_thresholds_of_a_small_problem():
    texts = made_up(12, 2, seed=5, measure=Utility(2, -3))
    best = max(texts.utility(np.array(both)) for both in product(np.linspace(-4, 4, 81), repeat=2))
    assert texts.utility(search(texts, np.zeros(2))) == pytest.approx(best, abs=1.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("costs", [(5, -1), (1, -1), (2, -5), (1, -20)])
def test_costs_made_multiclass_decisions_worse(costs, seed):
    """On texts that the thresholds were not set on, as far as two thousand of these can tell."""
    both = made_up(4000, 8, noise=1.2, seed=seed, measure=Utility(*costs))
    train, test = both.part(np.arange(400)), both.part(np.arange(2000, 4000))
    found = joint_thresholds(train)
    plain = replace(test, always_answer=True)
    answers = replace(test, always_answer=found.always_answer).answers(found.thresholds)
    gain = test.text_utilities(answers) - plain.text_utilities(plain.answers(np.zeros(8)))
    assert gain.sum() >= -2 * np.sqrt(gain.size) * gain.std() - 0.004 * 2000
    if costs == (1, -20):
        assert gain.mean() > 2


def test_noise_is_left_alone():
    """Scores that know nothing, and a cost that asks for an answer: there is nothing to gain, so argmax
    stays.
    """
    rng = np.random.default_rng(0)
    texts = SingleLabelTexts(rng.integers(0, 4, 60), rng.normal(size=(60, 4)), (Utility(5, -1),) * 4)
    found = joint_thresholds(texts)
    assert (found.way, found.always_answer) == ("argmax", True)
    assert not found.thresholds.any()


def precision_of_each(texts, thresholds):
    answers = texts.answers(thresholds)
    return np.array([(texts.truth[answers == k] == k).mean() for k in range(texts.n_classes)])


def test_a_floor_for_precision_lowered_precision():
    texts = made_up(800, seed=1)
    before = np.full(5, -2.0)
    assert precision_of_each(texts, before).min() < 0.9
    after = Floors(0.9, None).keep(texts, before, "abcde")
    assert precision_of_each(texts, after).min() >= 0.9
    assert (after >= before).all()


def test_a_floor_for_recall_holds_for_the_decisions_made():
    texts = made_up(800, noise=0.6, seed=1)
    after = Floors(None, 0.8).keep(texts, np.full(5, 1.0), "abcde")
    answers = texts.answers(after)
    assert min((answers[texts.truth == k] == k).mean() for k in range(5)) >= 0.8


def test_floors_that_cannot_be_kept_say_how_near_one_can_get():
    rng = np.random.default_rng(0)
    texts = SingleLabelTexts(rng.integers(0, 3, 200), rng.normal(size=(200, 3)), (Utility(),) * 3)
    with pytest.raises(ScoreError, match=r"do not keep min_recall=0\.9.*: .*\."):
        Floors(None, 0.9).keep(texts, np.full(3, 1.0), "abc")
    with pytest.raises(
        ScoreError, match=r"with that recall the best precision to be had is|take each other's texts"
    ):
        Floors(0.95, 0.9).keep(texts, np.zeros(3), "abc")
    with pytest.raises(
        ScoreError, match=r"do not keep min_precision=0\.99.*: the best precision to be had is 0\.\d+\."
    ):
        Floors(0.99, None).keep(texts, np.zeros(3), "abc")


def classes():
    texts = made_up(400, 4, noise=0.9, seed=7)
    return texts.scores, np.array(["ant", "bee", "cow", "dog"])[texts.truth]


def test_unsure_is_none_or_a_name_of_choice():
    X, y = classes()
    model = ThresholdClassifier(PriorSVC(), utility=Utility(1, -20)).fit(X, y)
    decided = model.predict(X)
    assert set(decided) == {*np.unique(y), None}
    decisions = model.decide(X)
    unsure = decisions.unsure.any(axis=1)
    assert (decided[~unsure] != None).all()  # noqa: E711
    assert (decisions.unsure.sum(axis=1) + decisions.accepted.sum(axis=1) == 1).all()
    assert (model.decision_function(X).max(axis=1)[unsure] < 0).all()
    named = model.with_utility(unsure_label="?").predict(X)
    assert (named[unsure] == "?").all()
    answered = model.with_utility(always_answer=True)
    assert None not in set(answered.predict(X))
    assert not answered.decide(X).unsure.any()


@pytest.mark.parametrize("labels", [np.array(["ham", "spam"]), np.array([0, 1])], ids=str)
def test_between_accepting_and_rejecting_there_is_asking(labels):
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.2
    X = rng.normal(size=(600, 3)) + 1.2 * y[:, None]
    two = ThresholdClassifier(PriorSVC(), utility=Utility(2, -5, -3)).fit(X, labels[y.astype(int)])
    shares = []
    for price in (0.0, 0.25, 1.0, 100.0):
        model = two.with_utility(Utility(2, -5, -3, ask=-price))
        decided = model.predict(X)
        shares.append(np.mean([one is None for one in decided]))
        assert (model.ask_thresholds_ <= model.thresholds_).all()
    assert shares[0] > 0.99  # who costs nothing is asked
    assert shares[0] > shares[1] > shares[2] > 0
    assert shares[3] == 0
    np.testing.assert_array_equal(two.with_utility(Utility(2, -5, -3, ask=-100)).predict(X), two.predict(X))
    assert not model.with_utility(Utility(2, -5, -3, ask=-0.25), always_answer=True).decide(X).unsure.any()


def test_open_labels_of_a_text_with_several():
    rng = np.random.default_rng(0)
    Y = rng.random((500, 3)) < [0.5, 0.3, 0.1]
    X = rng.normal(size=(500, 3)) + 1.2 * Y
    model = ThresholdClassifier(PriorSVC(), utility=Utility(2, -5, -3, ask=-0.5)).fit(X, Y.astype(int))
    decisions = model.decide(X)
    assert decisions.unsure.any(axis=0).all()
    assert not (decisions.unsure & decisions.accepted).any()
    np.testing.assert_array_equal(model.predict(X), decisions.accepted.astype(int))


def test_unsure_decisions_in_scikit_learns_tools():
    """Accuracy and utility count them as no answer, whatever their name is."""
    X, y = classes()
    costs = Utility(1, -20)
    for unsure in (None, "?"):
        model = ThresholdClassifier(PriorSVC(), utility=costs, unsure_label=unsure).fit(X, y)
        decided = model.predict(X)
        assert decided.dtype.kind == ("O" if unsure is None else "U")
        assert model.score(X, y) == np.mean(decided == y)
        right = np.array([(decided == name) & (y == name) for name in model.classes_]).sum()
        wrong = sum(one in set(y) and one != truth for one, truth in zip(decided, y, strict=True))
        assert utility_score(y, decided, costs, average="micro", unsure_label=unsure) == right - 20 * wrong
        assert utility_score(y, decided, costs, unsure_label=unsure) == pytest.approx(
            (right - 20 * wrong) / 4
        )
        scores = cross_val_score(model, X, y, cv=3, scoring=utility_scorer(costs, unsure_label=unsure))
        assert np.isfinite(scores).all()
        assert np.isfinite(cross_val_score(model, X, y, cv=3)).all()
    numbers = ThresholdClassifier(PriorSVC(), utility=costs, unsure_label=-1).fit(
        X, np.unique(y, return_inverse=True)[1]
    )
    assert numbers.predict(X).dtype.kind == "i"


def test_a_sample_has_all_of_the_rare_classes():
    texts = made_up(30_000, 5)
    positive = texts.truth[:, None] == np.arange(5)
    positive[:, 4] &= np.arange(30_000) < 300
    none = np.empty(0, dtype=int)
    whole = HeldOutScores(positive, texts.scores, "loo", none, np.empty((30_000, 0)))
    part = whole.sample(10_000)
    assert 9_000 < len(part) < 11_000
    assert part.positive[:, 4].sum() == positive[:, 4].sum()
    np.testing.assert_allclose(part.weight @ part.positive, positive.sum(axis=0), rtol=0.1)
    assert whole.sample(30_000) is whole
