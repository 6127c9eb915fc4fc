"""What the desk learns: keywords alone, quick steps after labels, and slowly with held-out evidence."""

from __future__ import annotations

import numpy as np
import pytest

from textmargin.desk.corpus import TextColumns
from textmargin.desk.deciding import Deciding, utilities_of, worth_of_each
from textmargin.desk.keywords import KeywordPriors
from textmargin.desk.learning import learn
from textmargin.desk.model import OUT_OF_QUESTION, quick_step, start
from textmargin.desk.state import Mark

from .tickets import CLASSES, COSTS, KEYWORDS, TRAIN, answers

NOBODY = np.arange(0)


@pytest.fixture(scope="module")
def texts():
    return TextColumns(TRAIN.texts, n_jobs=1)


@pytest.fixture(scope="module")
def everybody():
    return np.random.default_rng(1).permutation(len(TRAIN.texts))


def right(texts, model):
    """The share of all texts that get their own class."""
    decided = model.labels.decide(model.scores(texts.X))
    return float(np.mean(decided == np.array(TRAIN.labels)))


def known(texts, given, vectors=None):
    return KeywordPriors.of(texts, given.keywords, given.labels, vectors)


def test_keywords_alone_decide(texts):
    given = answers(0, keywords=KEYWORDS)
    model = start(texts, given, known(texts, given))
    assert right(texts, model) > 0.5
    assert np.allclose(model.coef, model.prior.toarray())  # all of it is knowledge


def test_a_class_without_texts_and_words_is_out_of_the_question(texts):
    given = answers(40, keywords={"printing": {"toner": 1.0}})
    some = given.take(~given.member[:, CLASSES.index("billing")])
    model = learn(texts, some, known(texts, some), NOBODY, n_jobs=1).model
    assert not model.known[CLASSES.index("billing")]
    assert (model.scores(texts.X)[:, CLASSES.index("billing")] == OUT_OF_QUESTION).all()


def test_a_struck_word_says_nothing_and_nothing_spreads_to_it(texts):
    words = {"printing": {"printer": 1.0, "toner": 0.0}}
    given = answers(0, keywords=words)
    found = KeywordPriors.of(texts, words, given.labels, texts.vectors)
    assert (found.priors[:, :, texts.place["toner"]] == 0).all()
    assert found.priors[CLASSES.index("printing"), 0, texts.place["printer"]] == 1


def test_a_quick_step_learns_the_new_label(texts):
    before = answers(60)
    learnt = learn(texts, before, known(texts, before), NOBODY, n_jobs=1)
    after = answers(80)
    model = quick_step(texts, after, known(texts, after), learnt.model)
    new = np.setdiff1d(after.rows, before.rows)
    truth = np.array(TRAIN.labels)[new]
    own = model.labels.decide(model.scores(texts.X[new])) == truth
    assert own.mean() > (learnt.model.labels.decide(learnt.model.scores(texts.X[new])) == truth).mean()
    assert own.mean() > 0.8


def test_unlabelled_texts_and_keywords_are_better_than_labels_alone(texts, everybody):
    plain = answers(40)
    with_words = answers(40, keywords=KEYWORDS)
    alone = learn(texts, plain, known(texts, plain), NOBODY, n_jobs=1)
    both = learn(texts, with_words, known(texts, with_words, texts.vectors), everybody, n_jobs=1)
    assert both.semi_supervised
    assert right(texts, both.model) > right(texts, alone.model) + 0.1


def test_wrong_keywords_are_not_used(texts):
    names = list(KEYWORDS)
    wrong = {name: KEYWORDS[names[(k + 3) % len(names)]] for k, name in enumerate(names)}
    given = answers(150, keywords=wrong)
    learnt = learn(texts, given, known(texts, given), NOBODY, n_jobs=1)
    plain = answers(150)
    alone = learn(texts, plain, known(texts, plain), NOBODY, n_jobs=1)
    assert sum(one.status in ("dropped", "contradicted") for one in learnt.verdicts) >= 6
    assert right(texts, learnt.model) >= right(texts, alone.model) - 0.02


def test_held_out_scores_do_not_know_the_label(texts):
    given = answers(120)
    learnt = learn(texts, given, known(texts, given), NOBODY, n_jobs=1)
    labels = given.labels.names[given.member.argmax(axis=1)]
    trained = given.labels.decide(learnt.model.scores(texts.X[given.rows])) == labels
    held_out = given.labels.decide(np.nan_to_num(learnt.held_out, nan=-3.0)) == labels
    assert trained.mean() > 0.95
    assert held_out.mean() < 0.9


def test_marked_passages_are_weighed(texts):
    given = answers(100)
    rows = [row for row in given.rows.tolist() if len(TRAIN.texts[row].split()) > 4]
    marks = {row: (Mark(0, len(TRAIN.texts[row]) // 2, TRAIN.labels[row]),) for row in rows}
    marked = type(given)(**{**vars(given), "marks": marks})
    learnt = learn(texts, marked, known(texts, marked), NOBODY, n_jobs=1)
    assert {one.target for one in learnt.verdicts if one.prior is None} == {*CLASSES}


def test_costs_move_thresholds_without_training(texts):
    given = answers(150)
    learnt = learn(texts, given, known(texts, given), NOBODY, n_jobs=1)
    plain = Deciding.of(given, learnt.held_out, {})
    dear = {"*": {"hit": 1.0, "false_alarm": -50.0, "miss": 0.0}}
    careful = Deciding.of(given, learnt.held_out, dear)
    columns = learnt.model.scores(texts.X)
    assert plain.thresholds == [None] * len(CLASSES)
    assert careful.decide(columns).accepted.sum() < plain.decide(columns).accepted.sum()
    assert careful.quality.utility is not None
    assert plain.quality.utility is None


def test_quality_is_of_the_random_sample_alone(texts):
    given = answers(150, sample=0.3)
    learnt = learn(texts, given, known(texts, given), NOBODY, n_jobs=1)
    found = Deciding.of(given, learnt.held_out, {})
    assert found.quality.n_texts == given.sample.sum()
    few = answers(60, sample=0.05)
    nothing = Deciding.of(few, learn(texts, few, known(texts, few), NOBODY, n_jobs=1).held_out, {})
    assert nothing.quality is None
    assert "more are needed" in nothing.note


def test_costs_that_leave_a_class_out_are_told():
    labels = answers(0).labels
    utilities, note = utilities_of({"billing": COSTS["*"]}, labels)
    assert utilities is None
    assert "'accessibility'" in note


def test_what_a_decision_is_worth_is_what_the_costs_say():
    labels = answers(0).labels
    utilities, _ = utilities_of({"*": {"hit": 5.0, "false_alarm": -2.0, "miss": -1.0, "ask": -0.5}}, labels)
    member = np.eye(len(CLASSES), dtype=bool)[[0, 0, 0]]
    accepted, unsure = member.copy(), np.zeros_like(member)
    accepted[1] = np.eye(len(CLASSES), dtype=bool)[1]  # wrong: a miss and a false alarm
    accepted[2], unsure[2] = False, member[0]  # asked: a hit, less the price
    decided = type("Decided", (), {"accepted": accepted, "unsure": unsure})
    assert worth_of_each(labels, utilities, member, decided).tolist() == [5.0, -3.0, 4.5]
