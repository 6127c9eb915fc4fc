"""Digests of texts, and the training texts that a model knows by them."""

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from samples import corpus

from textmargin import TextClassifier, load
from textmargin.errors import TextmarginError
from textmargin.representations.digests import text_digests

TEXTS, LABELS = corpus(60, 0)


def test_white_space_does_not_count_and_all_else_does():
    first, *others = text_digests(
        ["corn, wheat", " corn,\r\n\twheat ", "corn wheat", "Corn, wheat", "lone \ud800", ""]
    )
    assert first == others[0]
    assert len({first, *others}) == 5


@given(
    st.lists(st.text(st.characters(exclude_categories=())) | st.integers(0, 600).map(lambda n: "ab c" * n))
)
@example(["x" * n for n in (127, 128, 129, 255, 256, 257)])  # a block has 128 bytes
def test_digests_are_those_of_hashlib(texts):
    bare = [text.encode("utf-8", "surrogatepass").translate(None, b" \t\n\r\v\f") for text in texts]
    assert text_digests(texts).tolist() == [
        int.from_bytes(blake2b(one, digest_size=8).digest(), "little") for one in bare
    ]


def test_digests_are_the_same_everywhere():
    """They are in files: neither the machine nor the version of Python may change them."""
    assert text_digests(["corn", "café"]).tolist() == [11239515799565138334, 16417751708935026519]


def test_a_model_knows_its_training_texts_again(tmp_path):
    model = TextClassifier().fit(TEXTS[:40], LABELS[:40])
    np.testing.assert_array_equal(model.trained_on(TEXTS), np.isin(TEXTS, TEXTS[:40]))
    assert model.trained_on([f"  {TEXTS[0]}\n"]).tolist() == [True]
    assert model.trained_on([]).tolist() == []
    model.save(tmp_path / "model.tmm")
    np.testing.assert_array_equal(load(tmp_path / "model.tmm").trained_on(TEXTS), model.trained_on(TEXTS))


def test_a_model_that_forgot_its_texts_says_so(tmp_path):
    model = TextClassifier().fit(TEXTS, LABELS).forget_texts()
    model.save(tmp_path / "model.tmm")
    for same in (model, load(tmp_path / "model.tmm")):
        with pytest.raises(TextmarginError, match="no digests of its training texts"):
            same.trained_on(TEXTS)
