"""Which words `suggest` adds, strikes and splits, on texts whose words are known to belong to a class."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from textmargin import BagOfWords, SubsequenceKernel, TextClassifier, load_dataset, suggest
from textmargin.errors import (
    EmptyTextWarning,
    EmptyVocabularyError,
    PriorError,
    SettingError,
    TextmarginError,
)

WORDS = {
    "grain": ["wheat", "corn", "harvest", "tonnes", "barley", "crop"],
    "money": ["bank", "rates", "dollar", "yen", "currency", "central"],
    "ship": ["vessel", "port", "cargo", "dock", "crew", "harbour"],
}
COMMON = ["said", "week", "market", "new", "today", "report"]
KEYWORDS = {"grain": ["wheat", "corn"], "money": ["bank", "rates"], "ship": ["vessel", "port"]}


def planted(n=40, words=WORDS):
    """So many texts of each class: three words of it and three that all have."""
    rng = np.random.default_rng(0)
    labels = [name for name in words for _ in range(n)]
    texts = [" ".join([*rng.permutation(words[name])[:3], *rng.permutation(COMMON)[:3]]) for name in labels]
    return texts, labels


def learn(keywords, texts, labels, n_labelled=5):
    """A model of a few labelled texts of each class."""
    rows = [
        row
        for name in sorted({*labels})
        for row in [k for k, own in enumerate(labels) if own == name][:n_labelled]
    ]
    return TextClassifier(knowledge=keywords).fit([texts[row] for row in rows], [labels[row] for row in rows])


def words_of(some):
    return [one.word for one in some]


def test_what_was_left_out_comes_back():
    texts, labels = planted()
    found = suggest(learn(KEYWORDS, texts, labels), texts, n=4)
    for name, words in WORDS.items():
        assert {*words_of(found.add[name])} == {*words} - {*KEYWORDS[name]}
    assert not any(found.strike.values())
    assert not found.split


def test_a_new_word_of_two_classes_goes_to_the_one_that_claims_it_most():
    """All texts of ships have it, and half of those of money."""
    texts, labels = planted(
        words={**WORDS, "law": ["court", "judge", "jury"], "art": ["painter", "museum", "canvas"]}
    )
    has = [name == "ship" or (name == "money" and k % 2 == 0) for k, name in enumerate(labels)]
    texts = [f"{text} boat" if own else text for text, own in zip(texts, has, strict=True)]
    found = suggest(learn(KEYWORDS, texts, labels), texts, n=20)
    others = {name: one.other for name, some in found.add.items() for one in some if one.word == "boat"}
    assert others == {"ship": "", "money": "ship"}
    assert "boat" in found.to_keywords()["ship"]
    assert "boat" not in found.to_keywords()["money"]


def test_the_evidence_is_counted():
    texts, labels = planted()
    model = learn(KEYWORDS, texts, labels)
    one = next(one for one in suggest(model, texts).add["ship"] if one.word == "cargo")
    given = model.predict(texts) == "ship"
    has = np.array(["cargo" in text for text in texts])
    assert (one.n_texts, one.n_class) == (has.sum(), (has & given).sum())
    inside, outside = ((has & rows).sum() + 0.5 for rows in (given, ~given))
    assert one.ratio == pytest.approx((inside / (given.sum() + 1)) / (outside / ((~given).sum() + 1)))
    assert all("cargo" in line for line in one.lines)


def test_a_word_in_wrong_company_is_struck_and_goes_where_it_belongs():
    texts, labels = planted()
    keywords = {**KEYWORDS, "ship": ["vessel", "port", "harvest"]}
    found = suggest(learn(keywords, texts, labels), texts)
    assert [one.entry for one in found.strike["ship"]] == ["harvest"]
    assert "grain" in found.strike["ship"][0].reason
    assert "harvest" in words_of(found.add["grain"])
    mended = found.to_keywords()
    assert mended["ship"]["harvest"] == 0
    assert mended["grain"]["harvest"] == 1
    assert {*KEYWORDS["grain"]} < {*mended["grain"]}


def test_a_word_that_training_texts_contradict_is_struck():
    """A word that all classes have keeps no company that would tell; but the model has a disagreement."""
    texts, labels = planted()
    texts = [f"{text} pier" if own != "ship" else text for text, own in zip(texts, labels, strict=True)]
    model = TextClassifier(knowledge={**KEYWORDS, "ship": ["pier", "port"]}).fit(texts, labels)
    assert ("ship", "pier") in {(one.target, one.term) for one in model.disagreements()}
    found = suggest(model, texts)
    assert [one.entry for one in found.strike["ship"]] == ["pier"]
    assert "opposite" in found.strike["ship"][0].reason


def test_a_struck_word_is_neither_struck_nor_added_again():
    texts, labels = planted()
    keywords = {**KEYWORDS, "ship": {"vessel": 1.0, "port": 1.0, "harvest": 0.0, "cargo": 0.0}}
    found = suggest(learn(keywords, texts, labels), texts)
    assert not found.strike["ship"]
    assert "cargo" not in words_of(found.add["ship"])
    assert found.to_keywords()["ship"]["cargo"] == 0


def test_a_word_that_keywords_spread_to_is_struck_where_its_texts_are_of_another_class():
    train = load_dataset("desk").part("train")
    model = TextClassifier(knowledge=load_dataset("desk").keywords).fit(train.texts)
    assert "paid" in model.spread_["printing"]
    found = suggest(model, train.texts)
    (strike,) = found.strike["printing"]
    assert (strike.entry, strike.reason) == (
        "paid",
        "near its keywords, but without it 4 of its 4 texts are given billing",
    )
    mended = found.to_keywords()
    assert mended["printing"]["paid"] == 0
    again = TextClassifier(knowledge=mended).fit(train.texts)
    assert "paid" not in again.spread_["printing"]
    assert "paid" not in [one.entry for one in suggest(again, train.texts).strike["printing"]]


def test_a_word_of_two_classes_is_to_be_split():
    """Bank: of a river for ships, and of money; the words beside it tell which."""
    shared = {**WORDS, "ship": [*WORDS["ship"][:5], "bank"]}
    texts, labels = planted(80, shared)
    found = suggest(learn({**KEYWORDS, "ship": ["vessel", "bank"]}, texts, labels), texts)
    assert [one.word for one in found.split] == ["bank"]
    (bank,) = found.split
    assert {*bank.claims} == {"money", "ship"}
    assert {*bank.beside["ship"]} <= {*WORDS["ship"]}
    assert {*bank.beside["money"]} <= {*WORDS["money"]}
    assert bank.beside["ship"]
    assert found.to_keywords()["ship"]["bank"] == 1


def test_other_keywords_than_the_models():
    texts, labels = planted()
    model = learn(KEYWORDS, texts, labels)
    found = suggest(model, texts, keywords={"grain": ["barley", "yen"]})
    assert [one.entry for one in found.strike["grain"]] == ["yen"]
    assert "wheat" in words_of(found.add["grain"])
    assert found.keywords["money"] == {}


@pytest.mark.parametrize("learner", [None, LogisticRegression()])
def test_without_knowledge_there_are_words_to_add(learner):
    texts, labels = planted()
    found = suggest(TextClassifier(learner=learner).fit(texts, labels), texts)
    assert {*words_of(found.add["ship"])} == {*WORDS["ship"]}
    assert not any(found.strike.values())


def test_two_classes():
    texts, labels = planted(words={name: WORDS[name] for name in ("grain", "money")})
    keywords = {"grain": ["wheat", "yen"], "money": ["bank", "rates"]}
    found = suggest(learn(keywords, texts, labels), texts)
    assert [one.entry for one in found.strike["grain"]] == ["yen"]
    assert "barley" in words_of(found.add["grain"])
    assert {"currency", "yen"} <= {*words_of(found.add["money"])}


def test_several_labels_a_text():
    """A word of two classes that go together is the word of both."""
    texts, labels = planted()
    sets = [(name, "goods") if name != "money" else (name,) for name in labels]
    keywords = {**KEYWORDS, "goods": ["wheat", "port", "rates"]}
    found = suggest(TextClassifier(knowledge=keywords).fit(texts, sets), texts, n=20)
    assert [one.entry for one in found.strike["goods"]] == ["rates"]
    assert "barley" in words_of(found.add["goods"])
    assert "barley" in words_of(found.add["grain"])


def test_it_prints_and_goes_into_json():
    texts, labels = planted()
    found = suggest(learn({**KEYWORDS, "ship": ["vessel", "harvest"]}, texts, labels), texts)
    assert "  add barley (in " in repr(found)
    assert "  strike harvest (in " in repr(found)
    assert found.to_dict()["strike"]["ship"][0]["entry"] == "harvest"


def test_what_cannot_be_told_is_refused():
    texts, labels = planted(5)
    model = TextClassifier().fit(texts, labels)
    with pytest.raises(EmptyVocabularyError, match="no texts"):
        suggest(model, [])
    with (
        pytest.warns(EmptyTextWarning),
        pytest.raises(EmptyVocabularyError, match="None of the 2 texts has a word"),
    ):
        suggest(model, ["…", "!"])
    with pytest.raises(SettingError, match="n must be at least 1; got 0"):
        suggest(model, texts, n=0)
    with pytest.raises(PriorError, match="'shop' is not among the classes"):
        suggest(model, texts, keywords={"shop": ["vessel"]})
    with pytest.raises(TextmarginError, match="needs a model of words; this one has SubsequenceKernel"):
        suggest(TextClassifier(SubsequenceKernel(length=2)).fit(texts, labels), texts)
    with pytest.raises(TextmarginError, match="weights of words; MultinomialNB has none"):
        suggest(TextClassifier(BagOfWords(), learner=MultinomialNB()).fit(texts, labels), texts)
