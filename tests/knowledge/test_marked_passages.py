"""Passages as contrasts of texts, and knowledge learnt from the training texts, which other texts judge."""

import json

import numpy as np
import pytest
from sklearn.model_selection import FixedThresholdClassifier

from textmargin import (
    BagOfWords,
    Contrasts,
    ModelPrior,
    PriorSVC,
    RationaleContrasts,
    RationalePrior,
    TextClassifier,
    load,
)
from textmargin.errors import PriorError, TextmarginWarning
from textmargin.knowledge.vocabulary import KnowledgeBase

TEXTS = ["corn prices rose", "bank rates rose", "corn and wheat fell", "the yen fell"]
LABELS = ["grain", "money", "grain", "money"]


def marked(texts=TEXTS, labels=LABELS):
    """The first word of every text, for its label."""
    return [(text, [(0, len(text.split()[0]), label)]) for text, label in zip(texts, labels, strict=True)]


def reviews(n=40, seed=0):
    """Each text has one of six words of its class, marked, and ten of chance."""
    rng = np.random.default_rng(seed)
    labels = ["bad", "good"] * (n // 2)
    words = [f"{label}{rng.integers(6)}" for label in labels]
    texts = [f"{word} " + " ".join(f"w{i}" for i in rng.integers(300, size=10)) for word in words]
    return texts, labels


def test_a_text_with_the_passage_less_the_text_without():
    words = BagOfWords().fit(TEXTS)
    rows = RationaleContrasts(marked(), scale=0.5).differences(TEXTS, ["grain", "money"], words.transform)
    rest = [" ".join(text.split()[1:]) for text in TEXTS]
    expected = 2 * (words.transform(TEXTS) - words.transform(rest)).toarray()
    assert rows.text.tolist() == [0, 1, 2]  # "the" is no term: the fourth passage says nothing
    np.testing.assert_allclose(rows.X.toarray(), expected[:3])
    assert rows.classes == ["grain", "money", "grain"]


@pytest.mark.parametrize("n_words", [1, 40])
def test_differences_are_half_as_long_as_texts_whatever_share_of_these_is_marked(n_words):
    """Divided by .1 in any text, the passages of short messages asked for nothing."""
    texts = [
        f"{word} " + " ".join(f"w{(7 * i + j) % 90}" for j in range(n_words))
        for i, word in enumerate("abcdefgh" * 3)
    ]
    words = BagOfWords("count", token_pattern=r"\w+").fit(texts)
    rows = RationaleContrasts(marked(texts, ["x", "y"] * 12)).differences(texts, ["x", "y"], words.transform)
    assert np.median(np.linalg.norm(rows.X.toarray(), axis=1)) == pytest.approx(0.5)


def test_a_classifier_with_contrasts_is_the_learner_with_these_rows():
    texts, labels = reviews()
    known = RationaleContrasts(marked(texts, labels), cost=0.7)
    model = TextClassifier(knowledge=known, learner=PriorSVC(trust="fixed")).fit(texts, labels)
    words = BagOfWords().fit(texts)
    rows = known.differences(texts, ["bad", "good"], words.transform)
    # of two classes the problem is the second's
    sign = np.where(np.array(rows.classes) == "good", 1, -1)[:, None]
    by_hand = PriorSVC(trust="fixed").fit(
        words.transform(texts), labels, contrasts=Contrasts(rows.X, sign, rows.text, 0.7)
    )
    np.testing.assert_allclose(model.learner_.coef_, by_hand.coef_, atol=1e-9)


def test_held_out_texts_decide_on_contrasts_and_the_verdict_tells():
    texts, labels = reviews()
    model = TextClassifier(knowledge=RationaleContrasts(marked(texts, labels))).fit(texts, labels)
    assert [(verdict.knowledge, verdict.status) for verdict in model.verdict_] == [
        ("contrasts of marked passages", "supported")
    ]
    wrong = TextClassifier(knowledge=RationaleContrasts(marked(texts, labels[1:] + labels[:1]))).fit(
        texts, labels
    )
    assert wrong.verdict_[0].status == "contradicted"
    np.testing.assert_array_equal(wrong.learner_.coef_, TextClassifier().fit(texts, labels).learner_.coef_)


def test_with_several_labels_a_passage_is_of_its_own():
    sets = [("grain", "trade"), ("money",), ("grain",), ("money", "trade")]
    known = RationaleContrasts([(TEXTS[0], [(0, 4, "grain"), (5, 11, "trade")])], scale=3.0)
    model = TextClassifier(knowledge=known, learner=PriorSVC(trust="fixed")).fit(TEXTS, sets)
    terms, plain = model.representation_.get_feature_names_out().tolist(), TextClassifier().fit(TEXTS, sets)
    more = (model.learner_.coef_ - plain.learner_.coef_)[
        :, [terms.index("corn"), terms.index("prices")]
    ] > 1e-3
    assert model.classes_.tolist() == ["grain", "money", "trade"]
    assert more.tolist() == [[True, False], [False, False], [False, True]]


def test_a_text_that_is_there_twice_is_held_out_with_its_passages():
    texts, labels = reviews()
    twice = TextClassifier(knowledge=RationaleContrasts(marked(texts, labels))).fit(
        [*texts, texts[3]], [*labels, labels[3]]
    )
    assert len(twice.held_out_.scores) == len(texts)
    assert twice.verdict_[0].status == "supported"


def test_passages_of_other_texts_count_as_well():
    texts, labels = reviews()
    rows = RationaleContrasts(marked(texts, labels)).differences(
        texts[:5], ["bad", "good"], BagOfWords().fit(texts).transform
    )
    assert rows.text.tolist() == [*range(5), *[-1] * 35]


def test_from_the_files_of_annotation_tools(tmp_path):
    path = tmp_path / "marks.jsonl"
    path.write_text(json.dumps({"text": "corn rose", "spans": [{"start": 0, "end": 4, "label": "grain"}]}))
    known = RationaleContrasts.from_prodigy(path, scale=1.0)
    assert known.differences(
        [], ["grain", "money"], BagOfWords("count").fit(["corn rose"]).transform
    ).classes == ["grain"]


def test_a_model_with_contrasts_in_a_file(tmp_path):
    texts, labels = reviews()
    model = TextClassifier(knowledge=RationaleContrasts(marked(texts, labels))).fit(texts, labels)
    model.save(tmp_path / "model.tmm")
    again = load(tmp_path / "model.tmm")
    assert again.verdict_ == model.verdict_
    np.testing.assert_array_equal(again.decision_function(texts), model.decision_function(texts))


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            RationaleContrasts([(TEXTS[0], [(0, 4, "grian")])]),
            "'grian' is not among the classes.*Did you mean 'grain'",
        ),
        (RationaleContrasts([(TEXTS[0], [])]), "No passage is marked"),
        (RationaleContrasts(marked(), scale=0.0), "scale must be a positive number; got 0.0"),
        (RationaleContrasts(marked(), cost=-1), "cost must be a positive number; got -1"),
        (RationaleContrasts([(TEXTS[0], [(3, 99, "grain")])]), "16 characters, but a passage"),
    ],
)
def test_passages_that_cannot_be_used(known, message):
    with pytest.raises(PriorError, match=message):
        TextClassifier(knowledge=known).fit(TEXTS, LABELS)


def test_contrasts_need_a_learner_that_takes_them():
    decision = FixedThresholdClassifier(PriorSVC())
    with pytest.raises(PriorError, match="needs PriorSVC, alone or in a ThresholdClassifier"):
        TextClassifier(knowledge=RationaleContrasts(marked()), decision=decision).fit(TEXTS, LABELS)
    with pytest.warns(
        TextmarginWarning, match="RationalePrior was learnt from 4 of the 4 training texts: these flatter it"
    ):
        TextClassifier(knowledge=RationalePrior(marked()), decision=decision).fit(TEXTS, LABELS)


def test_a_prior_without_some_texts_is_that_of_the_others():
    whole, rest = RationalePrior(marked(), min_count=1), RationalePrior(marked(TEXTS[1:], LABELS[1:]))
    words = ["bank", "corn", "yen"]
    without = whole.without([TEXTS[0]])
    assert without.sources() == rest.sources() == {*TEXTS[1:]}
    np.testing.assert_array_equal(
        without.coef(words, ["grain", "money"])["grain"], rest.coef(words, ["grain", "money"])["grain"]
    )


class Memory(KnowledgeBase):
    """The words of each text for its own label."""

    def __init__(self, texts, labels):
        self.texts = texts
        self.labels = labels

    def sources(self):
        return {*self.texts}

    def without(self, texts):
        rest = [i for i, text in enumerate(self.texts) if text not in texts]
        return type(self)([self.texts[i] for i in rest], [self.labels[i] for i in rest])

    def _entries(self):
        return {
            label: {
                word: 1.0
                for text, own in zip(self.texts, self.labels, strict=True)
                if own == label
                for word in text.split()
            }
            for label in dict.fromkeys(self.labels)
        }

    def _warn(self, *found):
        pass


class Stubborn(Memory):
    """The same, which cannot be learnt again."""

    def without(self, texts):
        return self


def test_knowledge_that_memorises_its_texts_is_refused():
    """Labels by chance, every text with words of its own: on these very texts, memory looks like
    knowledge.
    """
    rng = np.random.default_rng(0)
    texts = [
        " ".join([*(f"w{j}" for j in rng.integers(400, size=8)), *(f"own{i}x{j}" for j in range(8))])
        for i in range(60)
    ]
    labels = ["bad", "good"] * 30
    model = TextClassifier(knowledge=Memory(texts, labels)).fit(texts, labels)
    assert {verdict.status for verdict in model.verdict_} <= {"dropped", "contradicted"}
    with pytest.warns(
        TextmarginWarning, match="Stubborn was learnt from 60 of the 60 training texts: none is left"
    ):
        model = TextClassifier(knowledge=Stubborn(texts, labels)).fit(texts, labels)
    assert {(verdict.status, verdict.evidence) for verdict in model.verdict_} == {("dropped", 0.0)}


def test_of_an_earlier_model_texts_that_it_did_not_know_are_asked():
    texts, labels = reviews(120)
    earlier = TextClassifier().fit(texts[:60], labels[:60])
    prior = ModelPrior(earlier)
    assert prior.learnt_from(texts).tolist() == [True] * 60 + [False] * 60
    assert TextClassifier(knowledge=prior).fit(texts[40:80], labels[40:80]).verdict_[0].status == "supported"
    with pytest.warns(
        TextmarginWarning, match="ModelPrior was learnt from 60 of the 60 training texts: none is left"
    ):
        TextClassifier(knowledge=prior).fit(texts[:60], labels[:60])
    assert not ModelPrior(earlier.forget_texts()).learnt_from(texts).any()
