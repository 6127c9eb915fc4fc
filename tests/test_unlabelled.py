"""Texts without labels: keywords and unlabelled texts make a classifier, and none that hurts is used."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline

from textmargin import (
    BagOfWords,
    KeywordPrior,
    ModelPrior,
    PriorSVC,
    RationaleContrasts,
    RationalePrior,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load,
    load_dataset,
)
from textmargin._label_forms import describe_partly
from textmargin.errors import (
    EmptyVocabularyError,
    LabelError,
    PriorError,
    ScoreError,
    TextmarginError,
    TextmarginWarning,
)
from textmargin.knowledge import spread
from textmargin.knowledge.spread import WordVectors

TOPICS = {
    "grain": [
        "wheat",
        "corn",
        "harvest",
        "crop",
        "farm",
        "barley",
        "tonnes",
        "silo",
        "acre",
        "plough",
        "seed",
        "flour",
    ],
    "money": [
        "bank",
        "dollar",
        "rates",
        "yen",
        "currency",
        "loan",
        "credit",
        "bond",
        "lender",
        "interest",
        "deposit",
        "cash",
    ],
    "ships": [
        "port",
        "vessel",
        "cargo",
        "harbour",
        "crew",
        "tanker",
        "freight",
        "dock",
        "sail",
        "anchor",
        "deck",
        "strait",
    ],
}
COMMON = [
    "report",
    "said",
    "year",
    "week",
    "company",
    "market",
    "news",
    "people",
    "country",
    "plan",
    "today",
    "place",
]
KEYWORDS = {name: words[:2] for name, words in TOPICS.items()}
FOREIGN = [
    "sonnet",
    "quartet",
    "canvas",
    "opera",
    "fresco",
    "violin",
    "novel",
    "verse",
    "ballad",
    "choir",
    "sculptor",
    "easel",
]


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


def test_no_share_that_is_given_is_none():
    none, empty = (TextClassifier(knowledge=KEYWORDS, shares=shares).fit(TEXTS) for shares in (None, {}))
    assert empty.shares_ == none.shares_


def test_other_shares_than_given_are_told():
    desk = load_dataset("desk").part("train")
    shares = {"account": 0.6, "hardware": 0.3}
    with pytest.warns(
        TextmarginWarning, match=r"further from them: learnt with account \d+%, hardware \d+%\."
    ):
        model = TextClassifier(knowledge=desk.keywords, shares=shares).fit(desk.texts)
    assert model.shares_["account"] < 0.6


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


def test_no_label_and_no_knowledge_says_what_to_give():
    with pytest.raises(LabelError, match=r"None of 300 texts has a label.*knowledge="):
        TextClassifier().fit(TEXTS, [None] * 300)


@pytest.mark.parametrize("kind", [RationalePrior, RationaleContrasts])
def test_marked_passages_alone_say_that_they_need_labels(kind):
    with pytest.raises(
        LabelError, match=f"{kind.__name__} names no class: marked passages, .* need labelled texts"
    ):
        TextClassifier(knowledge=kind([(TEXTS[0], [(0, 5, "grain")])])).fit(TEXTS)


@pytest.mark.parametrize("labels", [None, "given"])
def test_the_path_of_an_earlier_model_is_not_the_model(labels):
    with pytest.raises(
        PriorError, match=r"model is a path, 'old.tmm'; load it first: ModelPrior\(load\('old.tmm'\)\)"
    ):
        TextClassifier(knowledge=ModelPrior("old.tmm")).fit(TEXTS, labels and LABELS)


def test_decisions_print_in_one_line(zero):
    counts = ", ".join(f"{name} {list(zero.unlabelled_.labels).count((name,))}" for name in zero.classes_)
    assert repr(zero.unlabelled_) == f"Decisions on {len(TEXTS)} texts: {counts}"


def test_keywords_that_no_text_has_tell_nothing():
    nowhere = {"grain": ["zzz"], "money": ["yyy"], "ships": ["xxx"]}
    with (
        pytest.warns(TextmarginWarning),
        pytest.raises(PriorError, match="Nothing tells 'grain', 'money', 'ships' from other texts"),
    ):
        TextClassifier(knowledge=nowhere).fit(TEXTS)


def test_two_classes_of_which_nothing_is_known_cannot_be_told_apart():
    with pytest.raises(PriorError, match="Nothing tells 'money', 'ships'"):
        TextClassifier(knowledge={"grain": ["wheat"]}, classes=list(TOPICS)).fit(TEXTS)


def test_one_class_alone_is_no_problem_to_learn():
    with pytest.raises(LabelError, match="only one class, 'grain', is known; name two at least"):
        TextClassifier(knowledge={"grain": ["wheat"]}).fit(TEXTS)


def test_unlabelled_texts_that_are_none_are_refused():
    with pytest.raises(EmptyVocabularyError, match="unlabelled has no texts"):
        TextClassifier(knowledge=KEYWORDS).fit(TEXTS, LABELS, unlabelled=[])


def test_a_kernel_on_texts_takes_no_unlabelled_ones():
    with pytest.raises(TextmarginError, match="leave them out"):
        TextClassifier(SubsequenceKernel(3)).fit(TEXTS[:20], some_labels(3)[:20])


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
    with pytest.raises(TextmarginError, match="no unlabelled texts"):
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


def test_copies_of_unlabelled_texts_count_once(zero):
    twice = TextClassifier(knowledge=KEYWORDS).fit([*TEXTS, *TEXTS[:100]])
    np.testing.assert_array_equal(twice.learner_.coef_, zero.learner_.coef_)
    assert len(twice.unlabelled_) == 400


def test_a_class_named_by_keywords_alone_is_learnt_beside_labelled_ones():
    y = [None if label == "ships" else label for label in some_labels(5)]
    model = TextClassifier(knowledge=KEYWORDS).fit(TEXTS, y)
    assert model.classes_.tolist() == ["grain", "money", "ships"]
    assert model.score(NEW, TRUTH) > 0.95


def test_a_slip_of_the_pen_in_the_keywords_is_no_class():
    labels = ["harvests" if label == "grain" else label for label in LABELS]
    model = TextClassifier(knowledge=KeywordPrior({"harvest": ["wheat"], "money": ["bank"]}))
    with pytest.raises(PriorError, match="Did you mean 'harvests'"):
        model.fit(TEXTS, labels, unlabelled=NEW)


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


def test_minus_one_is_a_class_where_all_have_labels_or_classes_names_it():
    y = [{"grain": -1, "money": 0, "ships": 1}[label] for label in LABELS]
    assert TextClassifier().fit(TEXTS, y).classes_.tolist() == [-1, 0, 1]
    assert TextClassifier(classes=np.array([-1, 0, 1])).fit(TEXTS, y, unlabelled=NEW).classes_.tolist() == [
        -1,
        0,
        1,
    ]


TWO = {name: TOPICS[name] for name in ("grain", "money")}
TWO_KEYWORDS = {name: words[:2] for name, words in TWO.items()}
TWO_TEXTS, TWO_LABELS = corpus(80, seed=4, topics=TWO)


def test_of_two_classes_the_frequent_one_is_positive_where_it_is_the_one_known():
    rows = [row for row, label in enumerate(TWO_LABELS) if label == "money" or row % 4 == 0]
    texts = [TWO_TEXTS[row] for row in rows]
    knowledge = {"money": TWO["money"]}
    model = TextClassifier(knowledge=knowledge, classes=["grain", "money"]).fit(texts)
    assert model.shares_["money"] > 0.5
    assert model.labels_.names[model.labels_.positive] == "money"
    decision = ThresholdClassifier(pos_label="grain")
    with pytest.warns(TextmarginWarning, match="rest on guesses"):
        model = TextClassifier(knowledge=knowledge, classes=["grain", "money"], decision=decision).fit(texts)
    assert model.labels_.names[model.labels_.positive] == "grain"


def test_an_array_that_is_the_learners_own_prior_is_used():
    terms = BagOfWords().fit(TEXTS).get_feature_names_out().tolist()
    prior = np.array([[float(term in words[:2]) for term in terms] for words in TOPICS.values()])
    own = TextClassifier(
        BagOfWords(vocabulary=terms), learner=PriorSVC(prior=prior), classes=list(TOPICS)
    ).fit(TEXTS, [None if label == "ships" else label for label in some_labels(3)])
    assert own.knowledge_ == ["prior"]
    assert own.learner_.prior_[2, 0, terms.index("port")] > 0


def test_shares_of_all_classes_add_up_to_1():
    with pytest.raises(LabelError, match=r"add up to 0\.3"):
        TextClassifier(knowledge=TWO_KEYWORDS, shares={"grain": 0.2, "money": 0.1}).fit(TWO_TEXTS)


def test_weights_are_one_number_for_all_texts_or_one_for_each():
    y = some_labels(5)
    one, each = (
        TextClassifier(knowledge=KEYWORDS).fit(TEXTS, y, weight) for weight in (2.0, np.full(len(TEXTS), 2.0))
    )
    np.testing.assert_array_equal(one.learner_.coef_, each.learner_.coef_)
    for n in (5, 310):
        with pytest.raises(LabelError, match=f"each of 300 texts; it has shape .{n},"):
            TextClassifier(knowledge=KEYWORDS).fit(TEXTS, y, np.ones(n))


@pytest.mark.parametrize("vectorizer", [CountVectorizer, TfidfVectorizer])
def test_keywords_with_scikit_learns_vectorizers(vectorizer):
    assert (
        TextClassifier(vectorizer(), knowledge=TWO_KEYWORDS).fit(TWO_TEXTS).score(TWO_TEXTS, TWO_LABELS) > 0.9
    )


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


@pytest.mark.parametrize("labelled", ["grain", "money"])
def test_one_of_two_classes_has_labels_and_all_words_are_its(labelled):
    texts = [" ".join(TWO[labelled][j : j + 3]) for j in range(0, 8, 2)]
    model = TextClassifier(knowledge=TWO_KEYWORDS).fit(texts, [labelled, None, None, None])
    assert model.predict(texts[:1]).tolist() == [labelled]


def test_as_many_texts_as_classes_and_fewer():
    knowledge = {"a": ["wheat"], "b": ["corn"], "c": ["bank"], "d": ["dollar"], "e": ["port"]}
    model = TextClassifier(knowledge=knowledge).fit(
        ["wheat corn bank", "wheat yen", "wheat dollar", "port", "port wheat"]
    )
    assert model.classes_.tolist() == [*"abcde"]
    with pytest.raises(LabelError, match="5 classes but 3 different texts"):
        TextClassifier(knowledge=knowledge).fit(["wheat corn bank", "dollar port", "port", "port"])
    with pytest.raises(LabelError, match="4 classes without a label but 2 different texts without a label"):
        TextClassifier(knowledge=knowledge).fit(["wheat corn bank", "dollar port", "port"], [None, None, "e"])


def test_a_decision_that_takes_no_weights_is_refused():
    decision = FixedThresholdClassifier(PriorSVC(), response_method="decision_function")
    with pytest.raises(TextmarginError, match=r"FixedThresholdClassifier\.fit takes no sample_weight"):
        TextClassifier(knowledge=TWO_KEYWORDS, decision=decision).fit(TWO_TEXTS)


def test_other_costs_leave_the_unlabelled_texts_there(zero):
    with pytest.warns(TextmarginWarning, match="rest on guesses"):
        assert len(zero.with_utility(always_answer=True).unlabelled_) == 300


def test_a_representation_that_is_learnt_from_labels_is_refused():
    best = make_pipeline(TfidfVectorizer(), SelectKBest(chi2, k=10))
    with pytest.raises(TextmarginError, match="Pipeline, cannot be fitted without labels"):
        TextClassifier(best).fit(TWO_TEXTS, TWO_LABELS, unlabelled=TWO_TEXTS)


def test_whole_numbers_in_a_column_with_gaps_are_whole_numbers():
    y = pd.Series(
        [None if label is None else 1.0 + (label == "grain") for label in some_labels(9, TWO_LABELS)]
    )
    for knowledge in ({1: ["bank"], 2: ["wheat"]}, {"1": ["bank"], "2": ["wheat"]}):
        model = TextClassifier(knowledge=knowledge).fit(TWO_TEXTS, y)
        assert model.classes_.dtype.kind == "i"
        assert model.metadata_["label_counts"] == {"1": 9, "2": 9}
    assert TextClassifier(knowledge={"1": ["bank"], "2": ["wheat"]}, classes=[1, 2]).fit(
        TWO_TEXTS
    ).classes_.tolist() == [1, 2]


def test_labels_that_are_counted_stay_counted_where_knowledge_names_them():
    labels = describe_partly([2.0] * 9 + [1.0] * 2, [2, 1])
    assert labels.names[labels.positive] == 1  # the rarer


def test_names_alike_are_no_slip_where_both_are_named():
    numbers = dict(zip(TOPICS, ("department 1", "department 2", "department 3"), strict=True))
    knowledge = {numbers[name]: words for name, words in KEYWORDS.items()}
    y = [None if label in (None, "ships") else numbers[label] for label in some_labels(5)]
    assert TextClassifier(knowledge=knowledge).fit(TEXTS, y).classes_.tolist() == sorted(numbers.values())


def test_letters_that_changed_places_are_a_slip_unless_classes_has_the_name():
    y = some_labels(5)
    knowledge = {"grian": ["wheat"], "money": ["bank"], "ships": ["port"]}
    with pytest.raises(
        PriorError, match=r"Did you mean 'grain'\? If it is a class of its own, name it in classes="
    ):
        TextClassifier(knowledge=knowledge).fit(TEXTS, y)
    assert "grian" in TextClassifier(knowledge=knowledge, classes=["grian", *TOPICS]).fit(TEXTS, y).classes_


def test_words_that_cancel_out():
    with pytest.raises(PriorError, match="'grain' and of 'money' cancels out"):
        TextClassifier(knowledge={"grain": ["wheat"], "money": ["wheat"]}).fit(TWO_TEXTS)


def test_an_empty_list_names_a_class_without_words():
    with pytest.warns(TextmarginWarning, match="no words for 'other'"):
        model = TextClassifier(knowledge={"grain": TOPICS["grain"][:4], "other": []}).fit(TWO_TEXTS)
    assert model.classes_.tolist() == ["grain", "other"]


def test_many_keywords_spread_in_little_memory(monkeypatch):
    vectors = WordVectors(np.linalg.qr(np.random.default_rng(0).normal(size=(200, 5)))[0])
    weights = np.zeros((1, 200))
    weights[0, :50] = np.arange(1, 51)
    whole, sizes = spread.spread(weights, vectors), []
    monkeypatch.setattr(spread, "_CELLS", 1500)
    cosines = WordVectors.cosines
    monkeypatch.setattr(
        WordVectors, "cosines", lambda self, words: sizes.append(len(words)) or cosines(self, words)
    )
    np.testing.assert_allclose(spread.spread(weights, vectors), whole)
    assert max(sizes) == 7


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


def test_of_two_classes_a_share_that_is_given_is_kept():
    two = [text for text, label in zip(TEXTS, LABELS, strict=True) if label != "ships"]
    shares = {"grain": 0.3, "other": 0.7}
    model = TextClassifier(
        knowledge={"grain": TOPICS["grain"][:2]}, classes=["grain", "other"], shares=shares
    ).fit(two)
    decided = np.mean([own == ("grain",) for own in model.unlabelled_.labels])
    assert decided == pytest.approx(0.3, abs=0.12)
