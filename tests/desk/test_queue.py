"""Which text comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from textmargin.desk.answers import class_labels, random_sample
from textmargin.desk.corpus import TextColumns
from textmargin.desk.keywords import KeywordPriors
from textmargin.desk.model import start
from textmargin.desk.queue import POOL, SOURCES, TextQueue, source_of, tie_leads

from .tickets import CLASSES, KEYWORDS, TRAIN, answers


@pytest.fixture(scope="module")
def texts():
    return TextColumns(TRAIN.texts, n_jobs=1)


@pytest.fixture(scope="module")
def model(texts):
    given = answers(0, keywords=KEYWORDS)
    return start(texts, given, KeywordPriors.of(texts, KEYWORDS, given.labels))


def test_each_source_has_a_third_soon_after_300_texts_and_from_then_on():
    turns = [source_of(n) for n in range(900)]
    for n in (330, 600, 900):
        assert max(Counter(turns[:n]).values()) - min(Counter(turns[:n]).values()) <= 2
    assert Counter(turns[:30])["random"] >= 3
    assert set(turns) == {*SOURCES}


def test_a_tie_is_among_the_smallest_leads(texts, model):
    queue, given = TextQueue(texts), answers(20)
    pool = queue.pool(np.ones(len(texts), dtype=bool))
    scores = model.scores(texts.X[pool])
    chosen = queue.tie(pool, scores, model, given, None)
    leads = tie_leads(model.labels, scores, model.known)
    assert leads[pool == chosen][0] <= np.sort(leads)[9]


def test_balanced_asks_for_the_class_with_the_fewest_labels(texts, model):
    queue, given = TextQueue(texts), answers(80)
    rare = CLASSES.index("printing")
    some = given.take(~given.member[:, rare])
    free = np.ones(len(texts), dtype=bool)
    free[some.rows] = False
    pool = queue.pool(free)
    chosen = queue.balanced(pool, model.scores(texts.X[pool]), model, some)
    assert model.labels.decide(model.scores(texts.X[[chosen]]))[0] == "printing"


def test_a_class_that_was_never_met_is_looked_for_every_second_text(texts, model):
    queue, free = TextQueue(texts), np.ones(len(texts), dtype=bool)
    pool = queue.pool(free)
    scores = model.scores(texts.X[pool])
    known = np.ones(len(CLASSES), dtype=bool)
    known[3] = False
    one_unmet = replace(model, known=known)
    even, odd = answers(20), answers(21)
    chosen, source = queue.choose("balanced", free, pool, scores, one_unmet, odd)
    assert (chosen, source) == (queue.central(pool, odd.rows), "balanced")
    chosen, source = queue.choose("balanced", free, pool, scores, one_unmet, even)
    assert (chosen, source) == (queue.balanced(pool, scores, one_unmet, even), "balanced")
    several = replace(one_unmet, labels=class_labels(CLASSES, multilabel=True))
    assert queue.choose("tie", free, pool, scores, several, odd) == (queue.order[0], "random")


def test_the_pool_is_free_texts_and_the_nearest_ties(texts):
    queue = TextQueue(texts)
    free = np.arange(len(texts)) % 2 == 0
    pool = queue.pool(free, np.array([2, 3, 4]))
    assert free[pool].all()
    assert {2, 4} <= {*pool.tolist()}
    assert len({*pool.tolist()}) == pool.size <= POOL + 3


def test_the_sample_has_texts_that_were_labelled_before_chance_reached_them():
    order = np.array([4, 2, 0, 3, 1])
    rows = np.array([0, 1, 2, 4])  # 2 was asked for as a tie
    assert random_sample(rows, frozenset({0, 4}), order).tolist() == [True, False, True, True]
    assert not random_sample(rows, frozenset(), order).any()
