"""Word vectors that somebody brings in a file."""

import gzip

import numpy as np
import pytest

from textmargin.errors import PriorError
from textmargin.knowledge.spread import WordVectors, spread

LINES = "wheat 1 0.1\nunknown 7 x\ncorn 2 0\nbank 0 1\nrates 0.1 2\n"
TERMS = ["bank", "corn", "rare", "rates", "wheat"]


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(LINES)
    return WordVectors.from_file(path, TERMS)


def test_words_that_keep_company_in_the_file_take_a_weight(vectors):
    taken = spread(np.array([[0, 0, 0, 0, 1.0]]), vectors)
    assert taken[0, 1] > 0.2
    assert taken[0].nonzero()[0].tolist() == [1]


def test_the_word_that_the_file_lacks_is_near_nothing(vectors):
    assert not vectors.cosines([2]).any()


def test_word2vec_and_gz_say_the_same(vectors, tmp_path):
    path = tmp_path / "vectors.vec.gz"
    path.write_bytes(gzip.compress(f"5 2\n{LINES}".encode()))
    assert np.array_equal(WordVectors.from_file(path, TERMS).vectors, vectors.vectors)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"wheat 1 2\ncorn 1\n", "line 2 of .* has 1 numbers, where the first has 2"),
        (b"wheat 1 2\ncorn 1 x\n", "line 2 of .*could not convert"),
        (b"wheat 1 nan\n", "line 1 of .*not finite"),
        (b"Weizen 1 2\n", "have none of the 5 words"),
        (b"", "have none of the 5 words"),
        (b"wheat \xff\xfe\x00", "not UTF-8"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, content, message):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(PriorError, match=message):
        WordVectors.from_file(path, TERMS)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(PriorError, match="cannot be read"):
        WordVectors.from_file(tmp_path / "none.txt", TERMS)
