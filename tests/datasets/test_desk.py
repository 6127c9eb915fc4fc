"""The corpus inside the package is what its card says: skewed, without repeats, neither trivial nor
hopeless.
"""

import hashlib
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from textmargin import KeywordPrior, RationalePrior, load_dataset
from textmargin.config import ModelConfig, read_rationales
from textmargin.errors import UnknownTermWarning
from textmargin.report.summary import summarise

DESK = load_dataset("desk")


def test_a_change_of_code_changed_no_message():
    """A search and replace over the package once cut words out of two of them."""
    content = files("textmargin.datasets").joinpath("desk.jsonl").read_bytes()
    assert (
        hashlib.sha256(content).hexdigest()
        == "c2dce402efd1edf72ac21686be2b50a4ee9d588ab4fd45524c31f7c85908b201"
    )


def test_topics_are_as_skewed_as_the_card_says():
    sizes = {
        "account": 150,
        "hardware": 110,
        "network": 80,
        "software": 55,
        "printing": 40,
        "billing": 20,
        "phishing": 15,
    }
    assert Counter(DESK.labels) == {**sizes, "accessibility": 10}
    assert DESK.splits == {"train": 313, "test": 167}
    assert {*DESK.part("test").labels} == {*DESK.classes}


def test_no_two_messages_are_alike():
    X = TfidfVectorizer(analyzer="char", ngram_range=(3, 3)).fit_transform(DESK.texts)
    similarity = (X @ X.T).toarray()
    np.fill_diagonal(similarity, 0)
    assert similarity.max() < 0.45
    openings = Counter(" ".join(text.lower().split()[:3]) for text in DESK.texts)
    assert openings.most_common(1)[0][1] <= 4


def test_a_third_has_rationales_and_they_are_whole_words():
    marks = [(text, spans) for text, spans in zip(DESK.texts, DESK.fields["marks"], strict=True) if spans]
    assert 0.3 < len(marks) / len(DESK) < 0.4
    for text, spans in marks:
        for start, end in spans:
            assert 0 <= start < end <= len(text)
            assert text[start:end].strip() == text[start:end]
    with pytest.warns(UnknownTermWarning):
        assert RationalePrior(read_rationales(DESK, "marks")).coef(["wifi"], DESK.classes)["network"][0] > 0


def test_every_topic_has_keywords_and_costs():
    assert {*DESK.keywords} == {*DESK.tables["costs"]["topic"]} == {*DESK.classes}
    assert KeywordPrior(DESK.keywords)
    assert (DESK.tables["costs"]["hit"] > 0).all()
    assert (DESK.tables["costs"]["false_alarm"] < 0).all()


def test_a_plain_svm_is_neither_perfect_nor_lost():
    summary = summarise(ModelConfig().fit(DESK.part("train")), DESK.part("test"))
    assert 0.7 < summary.accuracy < 0.9
    assert 0.45 < summary.macro_f1 < 0.8
