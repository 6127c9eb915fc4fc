"""Near-duplicates are those that the definition says, and all of them but one in a thousand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import jaccard_by_definition

from textmargin import load_dataset
from textmargin.check._sketch import jaccard, plain_form
from textmargin.check.near_duplicates import near_duplicates
from textmargin.errors import SettingError

LONG = (
    "The screen of my laptop stays dark since the update of this morning, and the fan is running all "
    "the time."
)


@pytest.fixture(scope="module")
def edited():
    """Messages, each followed by a copy in which a few letters are another."""
    rng = np.random.default_rng(0)
    texts = []
    for text in load_dataset("desk").texts[:300]:
        letters = list(text)
        for place in rng.integers(0, len(letters), rng.integers(0, 4)):
            letters[place] = "x"
        texts += [text, "".join(letters)]
    return texts


@given(st.text(max_size=30), st.text(max_size=30))
def test_similarity_is_its_definition(a, b):
    plain = [plain_form(a), plain_form(b)]
    found = jaccard(plain, np.array([0]), np.array([1]))[0]
    assert found == pytest.approx(jaccard_by_definition(*plain))


def test_pairs_are_those_that_comparing_all_with_all_finds(edited):
    found = near_duplicates(edited)
    first = np.unique(found.same)
    wanted = {
        (a, b)
        for i, a in enumerate(first.tolist())
        for b in first[i + 1 : i + 4].tolist()  # what is near stands beside it, by the making of these texts
        if jaccard_by_definition(edited[a], edited[b]) >= 0.8
    }
    assert len(wanted) > 100
    assert {tuple(pair) for pair in found.pairs.tolist()} == wanted
    for (a, b), similarity in zip(found.pairs.tolist(), found.similarity, strict=True):
        assert similarity == pytest.approx(jaccard_by_definition(edited[a], edited[b]))


def test_many_texts_of_one_kind_are_one_group_in_linear_time():
    texts = [f"{LONG} Ticket {number}" for number in range(3000)]
    assert set(near_duplicates(texts).group.tolist()) == {0}


def test_copies_of_copies_are_in_one_group_with_the_first_text_for_all():
    texts = [
        "nothing of the kind",
        LONG,
        LONG.replace("dark", "black"),
        "  " + LONG.upper(),
        LONG.replace(" ", "\n"),
    ]
    found = near_duplicates(texts)
    assert found.group.tolist() == [0, 1, 1, 1, 1]
    assert found.same.tolist() == [0, 1, 2, 3, 1]
    assert [rows.tolist() for rows in found.groups()] == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    "texts", [[], [""], ["", "  "], ["a"], ["我的屏幕是黑的,无法启动", "我的屏幕是黑的,无法启动了!"]]
)
def test_few_empty_and_short_texts(texts):
    assert len(near_duplicates(texts, similarity=0.6).group) == len(texts)


@pytest.mark.parametrize("similarity", [0.5, 1.2, float("nan")])
def test_a_similarity_that_is_none_is_refused(similarity):
    with pytest.raises(SettingError, match=r"similarity must be more than 0\.5 and at most 1"):
        near_duplicates(["a", "b"], similarity=similarity)
