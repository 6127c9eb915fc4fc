"""Thresholds of several classes set together on feedback: for the decision made, and only where it is better
than chance.
"""

from dataclasses import replace

import numpy as np
import pytest

from textmargin import TextClassifier, ThresholdClassifier, Utility, load_dataset
from textmargin.decisions.joint_feedback import JudgedTexts, joint_feedback
from textmargin.decisions.single_label import answer_table
from textmargin.decisions.utility import F1
from textmargin.errors import ScoreError
from textmargin.feedback.retune import retune
from textmargin.feedback.store import Feedback

PRICES = (Utility(tp=1, fp=-4),) * 3


def draw(n, rng, noise=1.0):
    truth = rng.integers(3, size=n)
    return truth, rng.normal(0, noise, (n, 3)) + 2.0 * (truth[:, None] == np.arange(3)) - 1.0


def utility(truth, scores, found, measures=PRICES):
    texts = JudgedTexts(truth, scores, measures, found.always_answer)
    return texts.utility(found.thresholds)


def test_worth_where_only_wrong_was_said():
    """Every answer to a text of unknown class is a false alarm; none is a miss: by hand for two prices."""
    measures = (Utility(tp=3, fp=-1, fn=-2), Utility(tp=1, fp=-4, fn=0), Utility(tp=1, fp=-1, fn=-4))
    table = JudgedTexts(np.zeros(1, dtype=int), np.zeros((1, 3)), measures).table
    assert table[:3].tolist() == answer_table(measures).tolist()
    missed = (0 - 4) / 2  # not the first: the second or the third, equally likely
    assert table[3].tolist() == [missed - 1, missed - 4, missed - 1, missed]


def test_thresholds_far_too_low_are_raised_and_pay_on_other_texts():
    rng = np.random.default_rng(0)
    before = np.full(3, -5.0)
    found = joint_feedback(JudgedTexts(*draw(600, rng), PRICES), before, answers_all=False)
    assert (found.thresholds > before).all()
    truth, scores = draw(5000, rng)
    assert utility(truth, scores, found) > utility(truth, scores, replace(found, thresholds=before))


def test_what_is_no_better_than_chance_stays():
    """At the thresholds that are best there is nothing to gain: over 20 draws they move seldom, and lose
    nothing that matters.
    """
    rng = np.random.default_rng(1)
    truth, scores = draw(20_000, rng)
    best = joint_feedback(JudgedTexts(truth, scores, PRICES), np.full(3, -5.0), answers_all=False).thresholds
    stays, lost = 0, []
    for _ in range(20):
        own = JudgedTexts(*draw(300, rng), PRICES)
        found = joint_feedback(own, best, answers_all=False)
        stays += found.way == "as they were"
        lost.append(
            (utility(truth, scores, replace(found, thresholds=best)) - utility(truth, scores, found))
            / truth.size
        )
    assert stays >= 12
    assert np.mean(lost) < 0.02  # of a hit


@pytest.mark.parametrize("n_unsure", [19, 60])
def test_they_fall_only_where_enough_unsure_texts_were_judged(n_unsure):
    rng = np.random.default_rng(2)
    truth, scores = draw(3000, rng, noise=0.4)
    before = np.full(3, 1.5)  # far too high
    unsure = (scores < before).all(axis=1)
    rows = np.concatenate([np.flatnonzero(~unsure)[:200], np.flatnonzero(unsure)[:n_unsure]])
    found = joint_feedback(JudgedTexts(truth[rows], scores[rows], PRICES), before, answers_all=False)
    assert (found.thresholds < before).any() == (n_unsure >= 20)
    assert (found.thresholds >= before).all() or n_unsure >= 20


def test_other_measures_are_refused():
    with pytest.raises(ScoreError, match="which nobody knows where only decided texts are judged"):
        joint_feedback(
            JudgedTexts(*draw(100, np.random.default_rng(0)), (F1,) * 3), np.zeros(3), answers_all=True
        )


@pytest.fixture(scope="module")
def desk():
    """A model of half of the training texts whose thresholds are set for other prices, and texts to judge and
    to decide on.
    """
    train, test = (load_dataset("desk").part(part) for part in ("train", "test"))
    model = TextClassifier(decision=ThresholdClassifier(utility=Utility(5, -1))).fit(
        train.texts, np.array(train.labels)
    )
    return model, test.texts, list(test.labels)


@pytest.mark.parametrize("judge", ["named", "right or wrong"])
def test_retune_sets_them_together_for_new_prices(desk, judge):
    model, texts, labels = desk
    decided = model.decide(texts).labels
    feedback = [
        Feedback(text, own, (label,) if judge == "named" else own == (label,))
        for text, own, label in zip(texts, decided, labels, strict=True)
    ]
    found = retune(model, feedback, Utility(1, -20))
    assert found.way != "as they were"
    answered = found.model.decide(texts)
    given = [own for own in zip(answered.labels, labels, strict=True) if own[0]]
    wrong = sum(own != (label,) for own, label in given) / len(given)
    assert 0 < len(given) < len(texts)
    assert wrong < sum(own != (label,) for own, label in zip(decided, labels, strict=True)) / len(texts)
    assert found.model.can_be_unsure
    again = found.model.predict(texts)
    assert [None if label is None else (label,) for label in again] == [
        own or None for own in answered.labels
    ]


def test_a_floor_holds_for_the_decisions_judged(desk):
    model, texts, labels = desk
    feedback = [
        Feedback(text, own, (label,))
        for text, own, label in zip(texts, model.decide(texts).labels, labels, strict=True)
    ]
    careful = retune(model, feedback, min_precision=0.9).model.decide(texts)
    truth = np.array(labels)[:, None] == np.array(careful.names)
    n_given = careful.accepted.sum(axis=0)
    assert ((careful.accepted & truth).sum(axis=0)[n_given > 0] / n_given[n_given > 0] >= 0.9).all()


def test_feedback_on_a_text_left_to_a_person_counts_once_its_label_is_named(desk):
    model, texts, labels = desk
    careful = model.with_utility(Utility(1, -20))
    decided = careful.decide(texts).labels
    assert () in decided
    named = [Feedback(text, own, (label,)) for text, own, label in zip(texts, decided, labels, strict=True)]
    silent = [replace(one, correct=True) if not one.predicted else one for one in named]
    n_open = sum(not own for own in decided)
    counts = [
        sum(one.n_rejected for one in retune(careful, given).thresholds.values()) for given in (named, silent)
    ]
    assert counts == [n_open, 0]
