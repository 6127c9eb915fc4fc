"""Texts without labels: keywords and unlabelled texts make a classifier, and none that hurts is used."""

import numpy as np
import pandas as pd
import pytest

from textmargin import (
    KeywordPrior,
    RationalePrior,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load,
    load_dataset,
)
from textmargin.errors import LabelError, PriorError, ScoreError, TextmarginError, TextmarginWarning

TOPICS = {
    name: words.split()
    for name, words in {
        "grain": "wheat corn harvest crop farm barley tonnes silo acre plough seed flour",
        "money": "bank dollar rates yen currency loan credit bond lender interest deposit cash",
        "ships": "port vessel cargo harbour crew tanker freight dock sail anchor deck strait",
    }.items()
}
COMMON = ["report", "said", "year", "week", "company", "market", "news", "people", "country", "plan", "today"]
KEYWORDS = {name: words[:2] for name, words in TOPICS.items()}
FOREIGN = ["sonnet", "quartet", "canvas", "opera", "fresco", "violin", "novel", "verse", "ballad", "choir"]


def corpus(n, seed, topics=TOPICS, several=False):
    rng = np.random.default_rng(seed)
    names = list(topics)
    texts, labels = [], []
    for _ in range(n):
        own = [names[j] for j in rng.permutation(len(names))[: 1 + (several and rng.random() < 0.3)]]
        words = [*rng.choice(COMMON, 5), *(word for name in own for word in rng.choice(topics[name], 5))]
        texts.append(" ".join(rng.permutation(words)))
        labels.append(tuple(sorted(own)) if several else own[0])
    return texts, labels


TEXTS, LABELS = corpus(300, seed=0)
NEW, TRUTH = corpus(200, seed=1)
FOREIGN_TEXTS = corpus(200, seed=2, topics={"art": FOREIGN})[0]


def some_labels(per_class, labels=LABELS):
    seen = dict.fromkeys(labels, 0)
    given = []
    for label in labels:
        seen[label] += 1
        given.append(label if seen[label] <= per_class else None)
    return given


@pytest.fixture(scope="module")
def zero():
    return TextClassifier(knowledge=KEYWORDS).fit(TEXTS, [None] * len(TEXTS))


def test_two_words_a_class_and_no_label_make_a_classifier(zero):
    with_keyword = np.mean(
        [any(word in text.split() for word in KEYWORDS[name]) for text, name in zip(NEW, TRUTH, strict=True)]
    )
    assert with_keyword < 0.7  # many texts have no keyword at all
    assert zero.score(NEW, TRUTH) > 0.97
    assert zero.classes_.tolist() == ["grain", "money", "ships"]
    assert zero.verdict_ == []  # nothing could be weighed
    assert zero.metadata_["n_texts"] == 0
    assert zero.metadata_["n_unlabelled"] == 300


def test_every_unlabelled_text_has_a_label_and_how_sure_it_is(zero):
    found = zero.unlabelled_
    assert np.mean([own == (truth,) for own, truth in zip(found.labels, LABELS, strict=True)]) > 0.97
    assert ((found.confidence > 0) & (found.confidence <= 1)).all()


def test_texts_of_x_without_a_label_come_before_the_others():
    y = some_labels(5)
    model = TextClassifier(knowledge=KEYWORDS).fit(TEXTS, y, unlabelled=NEW)
    open_texts = [text for text, label in zip(TEXTS, y, strict=True) if label is None]
    assert model.metadata_["n_unlabelled"] == len(open_texts) + len(NEW)
    np.testing.assert_allclose(model.unlabelled_.scores, model.decide([*open_texts, *NEW]).scores)


def test_keywords_spread_to_words_that_keep_their_company_and_a_word_is_struck_out_by_weight_0(zero):
    for name, words in TOPICS.items():
        near = list(zero.spread_[name])[:5]
        assert sum(word in words for word in near) >= 4, (name, near)
    first = next(iter(zero.spread_["grain"]))
    struck = {**KEYWORDS, "grain": {"wheat": 1.0, "corn": 1.0, first: 0.0}}
    model = TextClassifier(knowledge=struck).fit(TEXTS, [None] * len(TEXTS))
    assert first not in model.spread_["grain"]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, np.nan])
def test_a_label_that_is_missing_is_a_text_without_one(missing):
    y = [missing if label is None else label for label in some_labels(5)]
    model = TextClassifier(knowledge=KEYWORDS).fit(TEXTS, y)
    assert model.metadata_["n_unlabelled"] == 285
    assert model.score(NEW, TRUTH) > 0.97


def test_minus_one_beside_other_numbers_is_a_text_without_a_label_but_a_class_beside_1():
    codes = {"grain": 0, "money": 1, "ships": 2}
    y = np.array([-1 if label is None else codes[label] for label in some_labels(5)])
    model = TextClassifier(knowledge={codes[name]: words for name, words in KEYWORDS.items()}).fit(TEXTS, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert TextClassifier().fit(TEXTS, [None, *y[1:].tolist()]).classes_.tolist() == [0, 1, 2]
    assert TextClassifier().fit(TEXTS, y, unlabelled=NEW).classes_.tolist() == [0, 1, 2]
    signs = [1 if label == "grain" else -1 for label in LABELS]
    assert TextClassifier().fit(TEXTS, signs).classes_.tolist() == [-1, 1]


def test_labels_without_knowledge_gain_by_unlabelled_texts_of_the_same_classes():
    rows = [row for row, label in enumerate(some_labels(3)) if label is not None]
    texts, labels = [TEXTS[row] for row in rows], [LABELS[row] for row in rows]
    rest = [text for row, text in enumerate(TEXTS) if row not in rows]
    plain, more = TextClassifier().fit(texts, labels), TextClassifier().fit(texts, labels, unlabelled=rest)
    verdict = more.verdict_[-1]
    assert (verdict.target, verdict.knowledge) == (None, "unlabelled texts")
    assert more.score(NEW, TRUTH) >= plain.score(NEW, TRUTH)


def test_unlabelled_texts_of_other_topics_are_left_aside_and_the_model_is_that_without_them():
    rows = [row for row, label in enumerate(some_labels(6)) if label is not None]
    texts, labels = [TEXTS[row] for row in rows], [LABELS[row] for row in rows]
    with_foreign = TextClassifier(knowledge=KEYWORDS).fit(texts, labels, unlabelled=FOREIGN_TEXTS)
    without = TextClassifier(knowledge=KEYWORDS).fit(texts, labels)
    assert with_foreign.verdict_[-1].status in ("dropped", "contradicted")
    np.testing.assert_array_equal(with_foreign.learner_.coef_, without.learner_.coef_)
    assert with_foreign.shares_ == {}
    assert len(with_foreign.unlabelled_) == len(FOREIGN_TEXTS)


def test_wrong_keywords_are_not_used_with_unlabelled_texts_either():
    names = list(KEYWORDS)
    wrong = {name: KEYWORDS[other] for name, other in zip(names, [*names[1:], names[0]], strict=True)}
    y = some_labels(6)
    labelled = [row for row, label in enumerate(y) if label is not None]
    plain = TextClassifier().fit([TEXTS[row] for row in labelled], [LABELS[row] for row in labelled])
    model = TextClassifier(knowledge=wrong).fit(TEXTS, y)
    assert model.score(NEW, TRUTH) >= plain.score(NEW, TRUTH) - 0.01
    assert {one.status for one in model.verdict_ if one.target is not None} <= {"dropped", "contradicted"}


def test_two_classes_of_which_one_has_words():
    two = [text for text, label in zip(TEXTS, LABELS, strict=True) if label != "ships"]
    truth = [label for label in LABELS if label != "ships"]
    model = TextClassifier(knowledge={"grain": TOPICS["grain"][:4]}, classes=["grain", "other"]).fit(two)
    assert model.labels_.names[model.labels_.positive] == "grain"
    assert model.score(two, ["grain" if label == "grain" else "other" for label in truth]) > 0.9
    assert model.shares_["grain"] == pytest.approx(0.5, abs=0.15)


def test_a_class_without_words_is_what_the_others_are_not():
    with pytest.warns(TextmarginWarning, match="Nothing is known of 'ships'"):
        model = TextClassifier(
            knowledge={name: TOPICS[name][:4] for name in ("grain", "money")}, classes=list(TOPICS)
        ).fit(TEXTS)
    assert model.score(NEW, TRUTH) > 0.9


def test_several_labels_a_text_without_any_label():
    texts, labels = corpus(400, seed=3, several=True)
    knowledge = {name: words[:4] for name, words in TOPICS.items()}
    model = TextClassifier(knowledge=knowledge, multilabel=True).fit(texts)
    assert model.labels_.kind == "multilabel"
    assert isinstance(model.predict(texts[:1])[0], tuple)
    share = {name: np.mean([name in own for own in labels]) for name in TOPICS}
    for name, guess in model.shares_.items():
        assert guess == pytest.approx(share[name], abs=0.2)
    decided = model.predict(texts)
    assert np.mean([set(own) == set(truth) for own, truth in zip(decided, labels, strict=True)]) > 0.7


def test_shares_that_are_given_are_kept():
    shares = {"grain": 0.5, "money": 0.3}
    model = TextClassifier(knowledge=KEYWORDS, shares=shares).fit(TEXTS)
    assert model.shares_ == pytest.approx({"grain": 0.5, "money": 0.3, "ships": 0.2})


@pytest.mark.parametrize("known", ["all", "one"])
@pytest.mark.parametrize("skewed", [False, True])
def test_true_shares_lost_to_guessed_ones(known, skewed):
    """On the service desk: a frequent class won most texts of the others, or the others were taken for
    equally frequent.
    """
    desk = load_dataset("desk").part("train")
    truth = np.array(desk.labels)
    names, counts = np.unique(truth, return_counts=True)
    rows = np.arange(truth.size)
    if skewed:  # every text of the most frequent class, half of those of the others
        rows = rows[(truth == names[counts.argmax()]) | (rows % 2 == 0)]
    texts, truth = [desk.texts[row] for row in rows], truth[rows]
    shares = {name: float(np.mean(truth == name)) for name in names.tolist()}
    if known == "one":
        name = min(shares, key=shares.get)
        shares = {name: shares[name]}
    guessed, given = (
        TextClassifier(knowledge=desk.keywords, shares=one).fit(texts).predict(texts)
        for one in (None, shares)
    )
    assert np.mean(given == truth) >= np.mean(guessed == truth) - 0.01


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"grian": 0.2}, "shares names 'grian'.*Did you mean 'grain'"),
        ({"grain": 1.5}, "must be between 0 and 1; got 1.5"),
        ({"grain": 0.7, "money": 0.7}, "add up to 1.4"),
    ],
)
def test_shares_that_cannot_be_are_refused(shares, message):
    with pytest.raises(LabelError, match=message):
        TextClassifier(knowledge=KEYWORDS, shares=shares).fit(TEXTS)


def test_passages_marked_in_the_labelled_texts_leave_unlabelled_ones_aside():
    passages = [(text, [(0, 5, label)]) for text, label in zip(TEXTS[:30], LABELS[:30], strict=True)]
    with pytest.warns(TextmarginWarning, match="left aside"):
        model = TextClassifier(knowledge=RationalePrior(passages)).fit(
            TEXTS[:30], LABELS[:30], unlabelled=TEXTS[30:]
        )
    assert model.verdict_[-1].status == "dropped"


def test_without_labels_there_is_no_estimate(zero):
    with pytest.raises(ScoreError, match="nothing tells how often it is right"):
        zero.estimate()


def test_with_labels_the_estimate_rests_on_these():
    model = TextClassifier(knowledge=KEYWORDS).fit(TEXTS, some_labels(8))
    assert len(model.held_out_) == 24
    found = model.estimate().accuracy
    assert found.low <= model.score(NEW, TRUTH) <= 1.0


def test_a_saved_model_decides_alike_and_knows_no_unlabelled_texts(zero, tmp_path):
    zero.save(tmp_path / "m.tmm")
    again = load(tmp_path / "m.tmm")
    np.testing.assert_array_equal(again.predict(NEW), zero.predict(NEW))
    assert again.spread_ == zero.spread_
    assert again.shares_ == zero.shares_
    with pytest.raises(AttributeError, match="no unlabelled texts"):
        _ = again.unlabelled_


def test_costs_without_labels_come_with_a_warning(zero):
    costs = {name: Utility(1, -50, 0) for name in TOPICS}
    with pytest.warns(TextmarginWarning, match="rest on guesses"):
        dear = zero.with_utility(costs)
    assert dear.score(NEW, TRUTH) > 0.9
    with pytest.warns(TextmarginWarning, match="rest on guesses"):
        TextClassifier(knowledge=KEYWORDS, decision=ThresholdClassifier(utility=costs)).fit(TEXTS)


def test_explanations_name_keywords_and_the_words_near_them(zero):
    found = zero.explain("wheat harvest tonnes silo", "grain")
    assert found.knowledge == ("keywords", "words near keywords")


def test_the_same_texts_in_another_order_make_the_same_decisions(zero):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    other = TextClassifier(knowledge=KEYWORDS).fit([TEXTS[row] for row in order])
    assert (other.predict(NEW) == zero.predict(NEW)).mean() > 0.99


def test_a_class_named_by_keywords_alone_is_learnt_beside_labelled_ones():
    y = [None if label == "ships" else label for label in some_labels(5)]
    model = TextClassifier(knowledge=KEYWORDS).fit(TEXTS, y)
    assert model.classes_.tolist() == ["grain", "money", "ships"]
    assert model.score(NEW, TRUTH) > 0.95


def test_keywords_spread_by_word_vectors_that_somebody_brings(tmp_path):
    lines = [
        f"{word} {' '.join(str(float(name == own)) for name in TOPICS)}"
        for own in TOPICS
        for word in TOPICS[own][:6]
    ]
    (tmp_path / "vectors.txt").write_text("\n".join(lines))
    model = TextClassifier(knowledge=KeywordPrior(KEYWORDS, word_vectors=str(tmp_path / "vectors.txt"))).fit(
        TEXTS
    )
    assert {name: set(words) for name, words in model.spread_.items()} == {
        name: {*own[2:6]} for name, own in TOPICS.items()
    }
    with pytest.raises(PriorError, match=r"none\.txt cannot be read"):
        TextClassifier(knowledge=KeywordPrior(KEYWORDS, word_vectors=str(tmp_path / "none.txt"))).fit(TEXTS)


TWO = {name: TOPICS[name] for name in ("grain", "money")}
TWO_KEYWORDS = {name: words[:2] for name, words in TWO.items()}
TWO_TEXTS, TWO_LABELS = corpus(80, seed=4, topics=TWO)


@pytest.mark.parametrize("knowledge", [None, TWO_KEYWORDS])
def test_one_unlabelled_text_beside_labelled_ones(knowledge):
    model = TextClassifier(knowledge=knowledge).fit(TWO_TEXTS, TWO_LABELS, unlabelled=["wheat bank"] * 3)
    assert len(model.unlabelled_) == 3
    several = [(label,) for label in TWO_LABELS]
    assert (
        len(
            TextClassifier(knowledge=knowledge).fit(TWO_TEXTS, several, unlabelled=["wheat bank"]).unlabelled_
        )
        == 1
    )


def test_copies_of_labelled_texts_do_not_flatter_unlabelled_ones():
    y = some_labels(6)
    rows = [row for row, label in enumerate(y) if label is not None]
    texts, labels = [TEXTS[row] for row in rows], [LABELS[row] for row in rows]
    once = TextClassifier(knowledge=KEYWORDS).fit(texts, labels, unlabelled=TEXTS[60:])
    twice = TextClassifier(knowledge=KEYWORDS).fit(texts * 2, labels * 2, unlabelled=[*TEXTS[60:], *texts])
    assert len(twice.held_out_) == len(once.held_out_) == len(rows)
    assert len(twice.unlabelled_) == 240 + len(rows)


def test_labels_of_some_classes_do_not_draw_the_texts_of_the_others_to_these():
    y = [label if label == "grain" and row < 100 else None for row, label in enumerate(LABELS)]
    assert TextClassifier(knowledge=KEYWORDS).fit(TEXTS, y).score(NEW, TRUTH) > 0.95


@pytest.mark.parametrize(
    ("settings", "labels", "error", "message"),
    [
        ({}, [None] * 300, LabelError, r"None of 300 texts has a label.*knowledge="),
        ({"knowledge": {"grain": ["wheat"]}}, None, LabelError, "only one class, 'grain', is known"),
        (
            {"knowledge": {"grain": ["wheat"]}, "classes": list(TOPICS)},
            None,
            PriorError,
            "Nothing tells 'money', 'ships'",
        ),
        (
            {"knowledge": {"grain": ["wheat"], "money": ["wheat"]}},
            None,
            PriorError,
            "'grain' and of 'money' cancels out",
        ),
        ({"representation": SubsequenceKernel(3)}, some_labels(3), TextmarginError, "leave them out"),
    ],
)
def test_what_cannot_be_learnt_without_labels_says_what_to_give(settings, labels, error, message):
    with pytest.raises(error, match=message):
        TextClassifier(**settings).fit(TEXTS, labels)
