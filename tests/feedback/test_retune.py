"""Thresholds set on what people said of a model's decisions."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from textmargin import (
    T10U,
    Feedback,
    FeedbackStore,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load,
    retune,
)
from textmargin.cli import app
from textmargin.decisions.utility import F1
from textmargin.errors import ScoreError
from textmargin.feedback.retune import feedback_threshold


def test_worked_example():
    """Accepted from 1.0 on, +2 right and −1 wrong: the utility from the top is 2, 4, 3, 5, 4, 3, 2; best in
    the gap at 1.5.
    """
    y, score = [1, 1, 0, 1, 0, 0, 0], [2.0, 1.9, 1.8, 1.6, 1.4, 1.2, 1.0]
    found = feedback_threshold(y, score, 1.0, T10U, least=5)
    assert (found.theta, found.gain) == (1.5, 3.0)
    assert (found.n_accepted, found.n_right, found.n_rejected, found.n_missed) == (7, 3, 0, 0)


def test_it_falls_only_where_rejected_texts_were_judged_and_no_further():
    y, score = [1, 1, 1, 1], [2.0, 1.5, 0.5, 0.2]  # all right: lower would be better
    assert feedback_threshold(y[:2], score[:2], 1.0, least=2).theta == 1.0
    assert feedback_threshold(y[:3], score[:3], 1.0, least=2).theta == 1.0  # one rejected text is too few
    falls = feedback_threshold(y, score, 1.0, least=2)
    assert (falls.theta, falls.n_missed) == (0.2, 2)


def test_it_stays_unless_another_is_worth_more():
    assert feedback_threshold([1, 0, 0], [2.0, 1.5, 1.2], 1.0, Utility(tp=2, fp=-1), least=3).theta == 1.75
    # as good at 1.75
    assert feedback_threshold([1, 0, 1], [2.0, 1.5, 1.2], 1.0, Utility(tp=1, fp=-1), least=3).theta == 1.0


def test_misses_count():
    """A text that is no longer accepted is missed, and costs what a miss costs."""
    y, score = [1, 0, 0, 0, 0, 0, 0, 0, 1], [3.0, 2.5, 2.4, 2.3, 2.2, 2.1, 2.0, 1.5, 1.0]
    assert feedback_threshold(y, score, 1.0, Utility(tp=2, fp=-1), least=5).theta == 2.75
    assert feedback_threshold(y, score, 1.0, Utility(tp=2, fp=-1, fn=-5), least=5).theta == 1.0


@pytest.mark.parametrize(
    ("y", "utility", "why"),
    [
        ([1, 1], T10U, "2 accepted texts were judged, and it takes 3"),
        ([0, 0, 0], T10U, "none of the 3"),
        ([0, 0, 1], Utility(tp=1, fp=-1), "accepting nothing"),
        ([1, 1, 1], F1, "number of texts that were missed"),
    ],
)
def test_too_little_to_go_by_is_refused(y, utility, why):
    with pytest.raises(ScoreError, match=why):
        feedback_threshold(y, [3.0, 2.0, 1.0][: len(y)], 0.5, utility, least=3)


WORDS = {"spam": ["win", "prize", "cash"], "other": ["meeting", "report", "lunch"]}


def messages(n, rng):
    labels = [str(label) for label in rng.choice(["other", "spam"], n, p=[0.7, 0.3])]
    every = [*WORDS["spam"], *WORDS["other"]]
    return [" ".join([*rng.choice(WORDS[label], 2), *rng.choice(every, 3)]) for label in labels], labels


@pytest.fixture(scope="module")
def spam():
    """A model for one of two labels, new texts with their labels, and the threshold set far too low for
    them.
    """
    rng = np.random.default_rng(0)
    decision = ThresholdClassifier(utility=Utility(tp=9, fp=-1))
    return TextClassifier(positive="spam", decision=decision).fit(*messages(200, rng)), *messages(400, rng)


def judged(model, texts, labels, judge):
    return [
        Feedback(text, own, judge(own, label))
        for text, own, label in zip(texts, model.decide(texts).labels, labels, strict=True)
        if judge(own, label) is not None
    ]


def named_if_spam(own, label):
    return (label,) if own == ("spam",) else None


def test_accepted_texts_alone_raise_the_threshold(spam):
    model, texts, labels = spam
    costly = Utility(tp=1, fp=-3)
    named = judged(model, texts, labels, named_if_spam)
    right_or_wrong = judged(
        model, texts, labels, lambda own, label: own == (label,) if own == ("spam",) else None
    )
    found = retune(model, named, costly)
    assert found.thresholds == retune(model, right_or_wrong, costly).thresholds
    assert found.thresholds["spam"].theta > model.thresholds_[1]
    assert found.thresholds["spam"].n_rejected == 0
    assert found.model.thresholds_[1] == found.thresholds["spam"].theta
    again = retune(found.model, named, costly)  # what it no longer accepts is about the model before
    assert again.model.thresholds_.tolist() == found.model.thresholds_.tolist()
    assert again.n_other > 0


def test_rejected_texts_that_were_judged_lower_it(spam):
    model, texts, labels = spam
    strict = retune(
        model, judged(model, texts, labels, lambda own, label: (label,)), Utility(tp=1, fp=-9)
    ).model
    everything = judged(strict, texts, labels, lambda own, label: (label,))
    found = retune(strict, everything, Utility(tp=9, fp=-1))
    assert found.model.thresholds_[1] < strict.thresholds_[1]


def test_the_same_text_judged_again_is_no_new_evidence(spam):
    model, texts, labels = spam
    (first, *_) = judged(model, texts, labels, named_if_spam)
    with pytest.raises(ScoreError, match="1 accepted texts were judged, and it takes 20"):
        retune(model, [first] * 40)


def test_labels_the_model_does_not_have_are_left_out(spam):
    model, texts, labels = spam
    feedback = list({one.text: one for one in judged(model, texts, labels, named_if_spam)}.values())
    found = retune(model, [replace(one, correct=("Spam",)) for one in feedback[:10]] + feedback[10:])
    assert (found.n_other, found.n_feedback) == (10, len(feedback) - 10)


def test_of_several_labels_those_with_enough_are_moved():
    """Texts accepted for another label alone tell nothing of this one."""
    texts = ["wheat corn", "oil barrel", "wheat oil", "bank rates"] * 10
    labels = [("grain",), ("oil",), ("grain", "oil"), ()] * 10
    model = TextClassifier(decision=ThresholdClassifier(utility=Utility(tp=2, fp=-1))).fit(texts, labels)
    new = [f"wheat corn {k}" for k in range(30)]
    found = retune(model, [Feedback(text, ("grain",), True) for text in new])
    assert (found.thresholds["grain"].n_accepted, found.thresholds["grain"].n_right) == (30, 30)
    assert "0 accepted texts were judged" in found.refused["oil"]
    assert found.model.decide(texts).labels == model.decide(texts).labels


def test_models_that_feedback_cannot_move_are_refused(spam):
    model, texts, labels = spam
    feedback = judged(model, texts, labels, named_if_spam)
    with pytest.raises(ScoreError, match="no feedback"):
        retune(model, [])
    with pytest.raises(ScoreError, match="a floor, min_precision"):
        retune(model.with_utility(min_precision=0.5), feedback)
    plain = TextClassifier().fit(*messages(50, np.random.default_rng(0)))
    with pytest.raises(ScoreError, match="trained without a utility"):
        retune(plain, feedback)
    three = TextClassifier(decision=ThresholdClassifier()).fit(texts[:90], ["a", "b", "c"] * 30)
    with pytest.raises(ScoreError, match="train again"):
        retune(three, feedback)


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_on_the_command_line(spam, tmp_path):
    model, texts, labels = spam
    model.save(tmp_path / "model.tmm")
    store, new = tmp_path / "judged.sqlite", tmp_path / "new.tmm"
    words = ("feedback", "add", store, "--text", "win cash", "--predicted", "spam")
    assert call(*words, "--correct", "spam", "--id", "1").stdout == "Stored: 1\n"
    assert call(*words, "--correct", "spam", "--id", "1").stdout == "Already there: 1\n"
    assert call(*words, "--was-wrong").exit_code == 0
    first, second = json.loads(call("feedback", "list", store, "--json").stdout)
    assert (first["correct"], second["correct"]) == (["spam"], False)
    assert "spam → wrong  'win cash'" in call("feedback", "list", store).stdout
    few = call("threshold", model_file := tmp_path / "model.tmm", "--from-feedback", store, "-o", new)
    assert few.exit_code == 2
    assert "'spam'" in few.stderr
    assert "it takes 20" in few.stderr
    assert not new.exists()
    with FeedbackStore(store) as stored:
        for one in judged(model, texts, labels, named_if_spam):
            stored.record(one)
    costs = ("--hit", 1, "--false-alarm", -3)
    done = call("threshold", model_file, "--from-feedback", store, "-o", new, "--json", *costs)
    assert done.exit_code == 0, done.output
    assert "0 rejected ones judged, 0 missed" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["after"]["spam"] > facts["before"]["spam"]
    assert facts["after"] == dict(zip(("other", "spam"), load(new).thresholds_, strict=True))
    for wrong in (("--min-recall", 0.5, "--from-feedback", store), ("--from-feedback", tmp_path / "none")):
        assert call("threshold", model_file, "-o", new, *wrong).exit_code == 2
    assert call("feedback", "list", tmp_path / "none").exit_code == 2
    assert call("feedback", "add", store, "--text", "x").exit_code == 2
