"""Scripts and languages are told as their definition by regular expressions tells them."""

import re
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from textmargin.representations.languages import (
    _SCRIPTS,
    FUNCTION_WORDS,
    WITHOUT_BLANKS,
    guess_language,
    main_language,
    sample_texts,
    script_of,
)

WORD = re.compile(r"[^\W\d_]+")
CLASSES = {script: re.compile(f"[{ranges}]") for script, ranges in _SCRIPTS.items()}
SPECIAL = [
    "İ",
    "Σ",
    "ΟΔΟΣ",
    "Ⅷ",
    "Ⓐ",
    "ª",
    "_",
    "٣",
    "x3y",
    "\ud800",
    "\0",
    "ǅ",
    "々",
    "\U00020000",
    "\U000323b0",
    "ｶﾅ",
    "ς",
    "\u0307",
]
words = st.sampled_from(sorted(set().union(*FUNCTION_WORDS.values())) + SPECIAL)
letters = st.sampled_from(list(_SCRIPTS)).flatmap(
    lambda script: st.from_regex(CLASSES[script], fullmatch=True)
)
texts = st.lists(words | letters | st.text(max_size=5), max_size=30).flatmap(
    lambda parts: st.sampled_from(["", " ", "\n", "A", "İ"]).map(lambda glue: glue.join(parts))
)


def script_by_definition(text):
    counts = {script: len(letter.findall(text)) for script, letter in CLASSES.items()}
    script = max(counts, key=lambda name: counts[name])
    return script if counts[script] else None


def function_words_by_definition(texts):
    words = Counter(word for text in texts for word in WORD.findall(text.lower()))
    return Counter(
        {language: sum(words[word] for word in known) for language, known in FUNCTION_WORDS.items()}
    )


def guess_by_definition(text):
    script = script_by_definition(text)
    if script in ("han", "kana", "thai"):
        return {"han": "chinese", "kana": "japanese", "thai": "thai"}[script]
    (language, most), (_, next_most) = function_words_by_definition([text]).most_common(2)
    return language if most >= max(3, 0.1 * len(WORD.findall(text)), 1.5 * next_most) else None


def main_by_definition(texts):
    sample = sample_texts(texts)
    scripts = Counter(map(script_by_definition, sample))
    script, n_texts = max(scripts.items(), key=lambda item: (item[1], str(item[0])))
    if script in WITHOUT_BLANKS and 2 * n_texts > len(sample):
        japanese = sum(CLASSES["kana"].search(text) is not None for text in sample)
        if script in ("han", "kana"):
            return "japanese" if 2 * japanese > len(sample) else "chinese"
        return "thai" if script == "thai" else None
    language, most = function_words_by_definition(sample).most_common(1)[0]
    n_words = sum(len(WORD.findall(text)) for text in sample)
    return language if most and most >= 0.1 * n_words else None


@given(text=texts)
@example(text="the İİİİİİİİİİİİİİİİİİİİİİİİİİİİİİİ and of")
@example(text="а б в a b c")  # as many of two scripts: the one that stands first
def test_of_one_text(text):
    assert script_of(text) == script_by_definition(text)
    assert guess_language(text) == guess_by_definition(text)


@given(texts=st.lists(texts, min_size=1, max_size=5))
@example(texts=["İx"] * 5 + ["the"])  # eleven words in lower case, six as they are written
@example(texts=["ΟΔΟΣ", "Σ"])  # a text ends where it ends, and so does the word
def test_of_many_texts(texts):
    assert main_language(texts) == main_by_definition(texts)


def test_every_character_is_of_the_script_of_its_definition():
    for code in [
        *range(0x3200),
        *range(0x3200, 0x110000, 53),
        *range(0xF000, 0x10000),
        *range(0x1FFF0, 0x20010),
        *range(0x323A0, 0x323C0),
    ]:
        if code != 0 and not chr(code).isascii():
            assert script_of(chr(code)) == script_by_definition(chr(code)), hex(code)
