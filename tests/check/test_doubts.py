"""Labels that were flipped on purpose come first, with a reason."""

import numpy as np
import pytest
from samples import needs_corpora

from textmargin import BagOfWords, load_dataset
from textmargin.check.doubts import doubtful_labels
from textmargin.check.near_duplicates import near_duplicates


@pytest.fixture(scope="module")
def flipped():
    """Of 1,500 SMS one in ten has the other label."""
    sms = load_dataset("sms_spam")
    rows = near_duplicates(sms.texts[:2000])
    chosen = np.unique(rows.group)[:1500].tolist()
    wrong = np.random.default_rng(0).random(len(chosen)) < 0.1
    labels = [{"ham": "spam", "spam": "ham"}[sms.labels[row]] if bad else sms.labels[row]
              for row, bad in zip(chosen, wrong, strict=True)]  # fmt: skip
    return [sms.texts[row] for row in chosen], labels, wrong


@needs_corpora
def test_flipped_labels_are_listed_and_counted(flipped):
    texts, labels, wrong = flipped
    found = doubtful_labels(texts, labels)
    listed = np.zeros(len(texts), dtype=bool)
    listed[[one.rows[0] for one in found.findings]] = True
    assert found.noise == pytest.approx(wrong.mean(), abs=0.03)
    assert (listed & wrong).sum() > 0.75 * wrong.sum()
    assert (listed & wrong).sum() > 0.75 * listed.sum()
    assert wrong[[one.rows[0] for one in found.findings[:20]]].mean() > 0.9


@needs_corpora
def test_the_suggestion_and_its_reason_are_of_the_other_label(flipped):
    texts, labels, _ = flipped
    for one in doubtful_labels(texts, labels).findings[:20]:
        assert one.label == labels[one.rows[0]]
        assert one.suggestion == {"ham": "spam", "spam": "ham"}[one.label]
        words = one.reason.split(f"for {one.suggestion}: ")[1:]
        own = BagOfWords().build_analyzer()(texts[one.rows[0]])
        assert {word for part in words for word in part.split(", ")} <= {*own}
        assert 0.5 < one.score <= 1


@needs_corpora
def test_copies_do_not_vouch_for_one_another(flipped):
    """A wrong label that ten copies of a text have was as good as right: each copy was scored by a model that
    knew the others.
    """
    texts, labels, wrong = flipped
    row = next(one.rows[0] for one in doubtful_labels(texts, labels).findings if wrong[one.rows[0]])
    many, given = [*texts, *[f"{texts[row]}{'!' * n}" for n in range(1, 11)]], [*labels, *[labels[row]] * 10]
    group = np.append(np.arange(len(texts)), [row] * 10)

    def doubted(found):
        return {one.rows[0] for one in found.findings} & {row, *range(len(texts), len(many))}

    assert len(doubted(doubtful_labels(many, given, group))) == 11
    assert len(doubted(doubtful_labels(many, given))) < 11


@needs_corpora
def test_labels_that_are_missing_or_too_many():
    corpus = load_dataset("reuters21578").part("train").take(range(2000))
    names = ("earn", "acq", "crude", "trade")
    labels = [tuple(name for name in own if name in names) for own in corpus.labels]
    rng = np.random.default_rng(0)
    earn = rng.permutation([row for row, own in enumerate(labels) if own == ("earn",)])[:20].tolist()
    other = rng.permutation([row for row, own in enumerate(labels) if own == ("crude",)])[:5].tolist()
    for row in earn:
        labels[row] = ()
    for row in other:
        labels[row] = ("crude", "earn")
    found = {(one.rows[0], one.suggestion) for one in doubtful_labels(corpus.texts, labels).findings}
    assert len(found & {(row, "add earn") for row in earn}) >= 13
    assert len(found & {(row, "remove earn") for row in other}) >= 3
    assert len(found) < 80


@pytest.mark.parametrize("labels", [["a"] * 12, ["a"] * 9 + ["b"] * 3, [""] * 12])
def test_where_nothing_can_be_judged_a_note_says_so(labels):
    found = doubtful_labels([f"text of number {number}" for number in range(12)], labels)
    assert found.findings == []
    assert found.noise is None
    assert "not judged" in found.notes[0]
