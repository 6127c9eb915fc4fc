"""Passages as contrasts of texts, and knowledge learnt from the training texts, which other texts judge."""

import json

import numpy as np
import pytest
from sklearn.model_selection import FixedThresholdClassifier

from textmargin import BagOfWords, Contrasts, PriorSVC, RationaleContrasts, RationalePrior, TextClassifier
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


def test_a_text_that_is_there_twice_is_held_out_with_its_passages():
    texts, labels = reviews()
    twice = TextClassifier(knowledge=RationaleContrasts(marked(texts, labels))).fit(
        [*texts, texts[3]], [*labels, labels[3]]
    )
    assert len(twice.held_out_.scores) == len(texts)
    assert twice.verdict_[0].status == "supported"


def test_from_the_files_of_annotation_tools(tmp_path):
    path = tmp_path / "marks.jsonl"
    path.write_text(json.dumps({"text": "corn rose", "spans": [{"start": 0, "end": 4, "label": "grain"}]}))
    known = RationaleContrasts.from_prodigy(path, scale=1.0)
    assert known.differences(
        [], ["grain", "money"], BagOfWords("count").fit(["corn rose"]).transform
    ).classes == ["grain"]


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
