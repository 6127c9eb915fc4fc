r"""Regular expressions whose time doubles with each character, and files that hold them."""

import contextlib
import time

import pytest
from model_files import forge
from samples import corpus

from textmargin import BagOfWords, TextClassifier, load, save
from textmargin.errors import ModelFileError
from textmargin.representations._backtracking import TooComplexError, is_exponential

EXPONENTIAL = [
    r"(?:\w+)+!",
    r"(?:a|ab|b)+!",
    r"(?:a*)*b",
    r"(?:[a-z]+[0-9]*)+!",
    r"(?:a|aa)+$",
    r"(?:\w+\s?)*!",
    r"(?:(?:ab?)+c?)+!",
    r"(?:x{1,9})+!",
    r"(?=(?:\w+)+!)a",
    r"(?:.*){5,}!",
    r"(?:(?:a+b?){2})*",
    r"(a+)+\1",
    r"(?i)(?:a+A?)*!",
    r"(?s)(?:.b?|\n)*!",
]
OTHERS = [
    r"(?u)\b\w\w+\b",
    r"[^\W\d_]{2,}",
    r"\w+(?:[-']\w+)*",
    r"[a-z]{1,40}",
    r"(?:https?://\S+)|\w+|[^\w\s]",
    r"(?:\d+[.,])*\d+",
    r"(?:[A-Z]\.)+|\w+",
    r"(?:ab|cd|ce)+",
    r"\w+-?\w+",
    r"(?<=x)\w+(?=\s)",
    r"[\w.+-]+@[\w-]+\.[\w.-]+",
    r"\d{1,3}(?:,\d{3})*(?:\.\d+)?",
    r"(?:.|\n)*!",
    r"(?:a|a)*!",  # which Python makes [aa]*
    r"(?:a+A)*!",
    "",
]


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_loops_that_go_around_the_same_characters_in_two_ways(pattern):
    assert is_exponential(pattern)


@pytest.mark.parametrize("pattern", OTHERS)
def test_patterns_that_people_write_are_not(pattern):
    assert not is_exponential(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 40 + "a{3}" + "){3}" * 40,
        r"(?:\w\w\w?)*" * 50,
        r"\w*" * 200,
        "(?:" * 30 + "a?" * 100 + ")*" * 30,
        "a?" * 5000,
    ],
)
def test_to_look_takes_no_time_itself(pattern):
    start = time.perf_counter()
    with contextlib.suppress(TooComplexError):
        is_exponential(pattern)
    assert time.perf_counter() - start < 5


def test_a_pattern_in_a_file_hung_on_a_text_of_forty_letters(tmp_path):
    model = TextClassifier(BagOfWords(token_pattern=r"\w+(?:-\w+)*")).fit(*corpus(20))
    save(model, tmp_path / "model.tmm")
    load(tmp_path / "model.tmm")
    for part in (model.representation, model.representation_):
        part.token_pattern = r"(?:\w+)+!"
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(
        ModelFileError, match=r"whose token_pattern is .* time doubles with each character of some texts"
    ):
        load(tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=r"is not written: .* time doubles with each character"):
        save(model, tmp_path / "other.tmm")
