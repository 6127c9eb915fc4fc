"""Keywords, marked passages and earlier models as priors."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from samples import TOPICS, corpus
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from textmargin import KeywordPrior, ModelPrior, PriorSVC, RationalePrior, TextClassifier
from textmargin.errors import PriorError, TextmarginWarning, UnknownTermWarning

TERMS = [
    "bank",
    "barley",
    "corn",
    "cornfield",
    "interest",
    "interest rate",
    "maize",
    "rate",
    "wheat",
    "wheats",
]
CLASSES = ["grain", "money"]


def weights(prior, terms=TERMS, classes=CLASSES):
    found = prior.coef(terms, classes)
    return {
        name: {term: w for term, w in zip(terms, row.tolist(), strict=True) if w}
        for name, row in found.items()
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["wheat", "Corn"], {"wheat": 1, "corn": 1}),
        ({"wheat": 2.5, "bank": -1}, {"wheat": 2.5, "bank": -1}),
        (["corn*"], {"corn": 1, "cornfield": 1}),
        (["/wheats?/"], {"wheat": 1, "wheats": 1}),
        (["interest rate"], {"interest rate": 1}),
        (["bank rate"], {"bank": 0.5, "rate": 0.5}),
        ({"corn*": 1, "cornfield": -3}, {"corn": 1, "cornfield": -3}),
        ({"corn*": 1, "/cornf.*/": 2}, {"corn": 1, "cornfield": 2}),
    ],
)
def test_entries_find_their_terms(words, expected):
    assert weights(KeywordPrior({"grain": words})) == {"grain": expected}


def test_unknown_words_are_listed_with_the_nearest_known_ones():
    prior = KeywordPrior({"grain": ["barly", "maiz", "wheat"], "money": ["bank"]})
    with pytest.warns(
        UnknownTermWarning,
        match=r"keywords: 2 of 4 terms are not in the vocabulary: 'barly', 'maiz'. Nearest: 'barley', "
        r"'maize'",
    ):
        prior.coef(TERMS, CLASSES)
    grain, money = prior.match_vocabulary(TERMS, CLASSES)
    assert grain.unknown == ("barly", "maiz")
    assert grain.nearest == {"barly": "barley", "maiz": "maize"}
    assert grain.share == pytest.approx(1 / 3)
    assert (money.terms, money.share) == ({"bank": 1.0}, 1.0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("words.toml", '[keywords]\n"grain" = ["wheat", "corn"]\nmoney = {bank = 2.0}\n'),
        ("words.csv", "class,word,weight\ngrain,wheat,\ngrain,corn,1\nmoney,bank,2\n"),
        ("words.csv", "label;keyword;weight\ngrain;wheat;\ngrain;corn;1\nmoney;bank;2\n"),
        ("words.json", '{"grain": ["wheat", "corn"], "money": {"bank": 2}}'),
    ],
)
def test_files(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    found = weights(KeywordPrior.from_file(tmp_path / name))
    assert found["grain"] == {"wheat": 1, "corn": 1}
    assert found["money"] == {"bank": 2}


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "at least one class"),
        ({"grain": []}, "no words for any class"),
        ({"grain": "wheat"}, "put them in a list"),
        ({"grain": ["wheat", 3]}, "not a word"),
        ({"grain": ["wheat", " "]}, "not a word"),
        ({"grain": {"wheat": float("nan")}}, "must be a number"),
        ({"grain": {"wheat": "much"}}, "must be a number"),
        ({"grain": {"wheat": 1, "Wheat": 2}}, "two weights"),
        ({"grain": ["/whea(t/"]}, "not a regular expression"),
        ({"grain": {"corn*": 1, "/cornf.*/": -1}}, "one for and one against it"),
        ({"grian": ["wheat"]}, "keywords: 'grian' is not among the classes.*Did you mean 'grain'"),
        ({"grain": 7}, "list of words"),
    ],
)
def test_bad_keywords_say_what_is_wrong(keywords, message):
    with pytest.raises(PriorError, match=message):
        KeywordPrior(keywords).coef(TERMS, CLASSES)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", "keywords = [", "not TOML"),
        ("a.toml", 'grain = ["corn"]\nStörung = ["bank"]\n', 'not TOML.*stand in quotes: "Störung" ='),
        ("a.toml", 'two words = ["bank"]\n', 'stand in quotes: "two words" ='),
        ("a.toml", 'sci.space = ["orbit"]\n', 'stand in quotes: "sci.space" ='),
        ("a.json", "[1", "not JSON"),
        ("a.json", "[1]", "should be an object"),
        ("a.csv", "topic,word\n", "no column 'class' or 'label'"),
        ("a.csv", "class,word,weight\ngrain,corn,much\n", "Line 2.*not a number"),
        ("a.csv", "class,word,weight\ngrain,corn,1\ngrain,corn,2\n", "Line 3.*two weights"),
        ("a.txt", "grain: wheat\n", "should end in .toml, .json or .csv"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(PriorError, match=message):
        KeywordPrior.from_file(tmp_path / name)


def test_a_label_that_is_not_there_is_told_with_the_file(tmp_path):
    (tmp_path / "words.toml").write_text('grian = ["wheat"]\n')
    known = clone(KeywordPrior.from_file(tmp_path / "words.toml"))  # a fit clones it
    with pytest.raises(
        PriorError,
        match=r"^keywords in words.toml: 'grian' is not among the classes: .* Did you mean 'grain'\?",
    ):
        known.coef(TERMS, CLASSES)
    (tmp_path / "words.toml").write_text('grain = ["wheat"]\nzoo = ["lion"]\nbees = ["hive"]\n')
    with pytest.warns(
        TextmarginWarning, match="keywords in words.toml: 'zoo', 'bees' are not among the classes here"
    ):
        KeywordPrior.from_file(tmp_path / "words.toml").coef(TERMS, CLASSES)


def test_in_the_classifier_of_texts():
    texts, topics = corpus(200)
    known = KeywordPrior(TOPICS)
    plain = TextClassifier().fit(texts[:6], topics[:6])
    informed = TextClassifier(knowledge=known).fit(texts[:6], topics[:6])
    assert informed.score(texts[6:], topics[6:]) > plain.score(texts[6:], topics[6:])
    assert {verdict.status for verdict in informed.learner_.verdict_} <= {"supported", "adopted"}
    assert clone(informed).knowledge.keywords == TOPICS


MARKED = [
    ("corn prices rose on poor harvest", [(0, 4, "grain"), (25, 32, "grain")]),
    ("the bank raised the rate", [(4, 8, "money"), (20, 24, "money")]),
    ("corn and the bank", [(0, 4, "grain")]),
    ("prices rose", []),
]


def test_marked_words_that_stand_elsewhere_too_count_less():
    terms = ["bank", "corn", "harvest", "prices", "rate", "the"]
    found = weights(RationalePrior(MARKED), terms)
    assert set(found["grain"]) == {"corn", "harvest"}
    assert found["grain"]["corn"] > found["grain"]["harvest"]
    assert found["money"]["rate"] > found["money"]["bank"]
    assert set(weights(RationalePrior(MARKED, min_count=2), terms)["grain"]) == {"corn"}


def test_rationales_from_annotation_tools(tmp_path):
    prodigy = tmp_path / "a.jsonl"
    lines = [
        {"text": t, "spans": [{"start": a, "end": b, "label": c} for a, b, c in spans]} for t, spans in MARKED
    ]
    lines.append({"text": "yen", "spans": [{"start": 0, "end": 3, "label": "money"}], "answer": "reject"})
    prodigy.write_text("\n".join(map(json.dumps, lines)) + "\n")
    studio = tmp_path / "b.json"
    tasks = [
        {
            "data": {"body": t},
            "annotations": [
                {
                    "result": [
                        {"value": {"start": a, "end": b, "labels": [c]}, "type": "labels"}
                        for a, b, c in spans
                    ]
                }
            ],
        }
        for t, spans in MARKED
    ]
    studio.write_text(json.dumps(tasks))
    terms = ["bank", "corn", "harvest", "rate", "yen"]
    expected = weights(RationalePrior(MARKED), terms)
    assert weights(RationalePrior.from_prodigy(prodigy), terms) == expected
    assert weights(RationalePrior.from_label_studio(studio, text="body"), terms) == expected
    with pytest.raises(PriorError, match="no field 'text'"):
        RationalePrior.from_label_studio(studio)
    prodigy.write_text("{")
    with pytest.raises(PriorError, match=r"Line 1 .* is not JSON"):
        RationalePrior.from_prodigy(prodigy)
    with pytest.raises(PriorError, match="cannot be read"):
        RationalePrior.from_prodigy(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    "span", [(0, 99, "grain"), (-1, 3, "grain"), (3, 3, "grain"), (5, 2, "grain"), (np.int64(0), 99, "grain")]
)
def test_passages_outside_the_text_say_so(span):
    with pytest.raises(
        PriorError, match="Text number 1 has 11 characters, but a passage for 'grain' goes from"
    ):
        RationalePrior([*MARKED[:1], ("corn prices", [span])]).coef(TERMS, CLASSES)
    with pytest.raises(PriorError, match="No passage is marked"):
        RationalePrior(MARKED[-1:]).coef(TERMS, CLASSES)


def test_an_earlier_model_speaks_for_the_terms_it_knows():
    texts, topics = corpus(80)
    old = TextClassifier().fit(texts, topics)
    terms = ["bank", "corn", "zebra"]
    found = ModelPrior(old).coef(terms, old.classes_)
    columns = list(old.representation_.get_feature_names_out())
    for k, name in enumerate(old.classes_):
        np.testing.assert_allclose(
            found[name],
            [old.learner_.coef_[k, columns.index("bank")], old.learner_.coef_[k, columns.index("corn")], 0],
        )
    pipeline = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(texts, topics)
    assert ModelPrior(pipeline).coef(terms, old.classes_)["grain"][1] > 0
    X = pd.DataFrame(old.representation_.transform(texts).toarray(), columns=columns)
    two = PriorSVC().fit(X, topics == "grain")
    found = ModelPrior(two).coef(terms, [False, True])
    assert list(found) == [True]
    assert found[True][1] > 0


@pytest.mark.parametrize("name", ["keywords", "rationales", "model", "mapping"])
def test_inside_cross_validation_and_a_grid_search(name):
    """Clones keep what the knowledge is about; a class that a fold lacks is no reason to stop."""
    texts, topics = corpus(60)
    rare = [*topics[:59], "law"]
    known = {
        "keywords": KeywordPrior({**TOPICS, "law": ["court"]}),
        "rationales": RationalePrior([("wheat and bank", [(0, 5, "grain"), (10, 14, "money")])]),
        "model": ModelPrior(TextClassifier().fit(*corpus(80, seed=1))),
        "mapping": {"grain": {"wheat": 1.0}, "law": {"court": 1.0}},
    }[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(
            TextClassifier(knowledge=known), texts, rare, cv=KFold(3), error_score="raise"
        )
        assert scores.mean() > 0.5
        search = GridSearchCV(
            TextClassifier(knowledge=known, learner=PriorSVC()), {"learner__C": [0.1, 1]}, error_score="raise"
        )
        assert (
            search.fit(texts, topics if name != "mapping" else [*rare[:58], "law", "law"]).best_score_ > 0.5
        )


def test_what_two_annotators_mark_counts_once_and_words_stay_whole():
    once = RationalePrior([("corn and corn", [(0, 4, "grain")])])
    twice = RationalePrior([("corn and corn", [(0, 4, "grain"), (1, 3, "grain")])])
    assert weights(once, ["corn"]) == weights(twice, ["corn"])
    assert weights(RationalePrior([("corn prices", [(1, 4, "grain")])]), ["corn", "orn"])["grain"].keys() == {
        "corn"
    }
