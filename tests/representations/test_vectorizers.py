"""CountVectorizer, TfidfVectorizer and BagOfWords in compiled code are scikit-learn's and Python's, bit by
bit.
"""

import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import vectorizer_cases as cases
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from vectorizer_cases import PAIRS, PATTERNS, POOLS, difference, in_python, outcome

import textmargin
from textmargin import BagOfWords

any_character = st.characters(exclude_categories=())  # lone surrogates too
pieces = st.one_of(
    st.text(any_character, max_size=4),
    st.sampled_from(POOLS).flatmap(lambda pool: st.text(pool, max_size=9)),
    st.sampled_from(cases.WORDS),
    st.tuples(st.sampled_from([*"aΣé漢😀_1"]), st.sampled_from(cases.LENGTHS)).map(
        lambda pair: pair[0] * pair[1]
    ),
)
texts = st.lists(pieces | st.sampled_from([" ", "\n"]), max_size=12).map("".join)
corpora = st.lists(texts, min_size=1, max_size=6)
randoms = st.integers(0, 2**32).map(random.Random)

# A text for each thing that is special, and what it is.
SPECIAL = {
    "final sigma": "ΟΔΟΣ ΟΔΟΣ. Σ ΣΑΣ ΑΣ' ΑΣ'Α ΑΣ\u00ad ΑΣ\u00adΑ Α\u0345Σ 'Σ \u0301Σ Α\u0301Σ\u0301 "
    "ΑΣ\u0301Α AΣ1 AΣ_ 𐐀Σ𐐀 1Σ ΑΣ",
    "dotted i": "İstanbul İİ Iİ ıI aİb İ",
    "letters of two letters": "Ǆungla ǅungla ǆungla ᾈ ᾳ ῼ ǈuba",
    "signs that are letters": "\u212aelvin 5\u212a \u212bngstrom µm μm ſtraße STRASSE Straẞe",
    "ligatures": "ﬁne ﬀ ﬃx Ĳssel ĳ ŉ ǰ",
    "empty": "",
    "blanks": " \t\n\u3000\u2028",
    "nul": "a\0b \0 ab\0 \0ab a\0\0b ab",
    "lone surrogates": "ab\ud800cd \udfff \ud83d ab\udc00",
    "digits of other scripts": "١٢٣ 12٣ १२ ²³ ½ ⅷ Ⅷ 1987 ٠",
    "underscores": "_ __ a_b _a a_ _1_ ab__cd",
    "marks": "e\u0301te\u0301 हिन्दी שָׁלוֹם ไทย \u0301a a\u0301",
    "astral": "𝐀𝐁 𝟎𝟏 𐐀𐐁 𞤀𞤁 \U00020000\U00020001 \U0010ffff",
    "symbols with a lower case": "Ⓐ ⓐ Ⓐb Ⓩ",
    "emoji": "👍🏽 👩\u200d💻 🇩🇪🇫🇷 ☎\ufe0f €5 $5 £5",
    "no blanks": "我从早上 ログインが ログ イン ไม่ได้ ລາວ ភាសា မြန်မာ 漢abc字 〇一",
    "lengths": " ".join(letter * n for n in cases.LENGTHS for letter in ("a", "é", "漢", "Σ")),
}
CHANGED = [{}, {"lowercase": False}, {"ngram_range": (1, 3)}, {"analyzer": "char", "ngram_range": (1, 3)}]
CHANGED += [
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
]
CHANGED += [{"token_pattern": pattern} for pattern in PATTERNS[1:]]


@settings(max_examples=200)
@given(texts=corpora, new=corpora, rng=randoms)
def test_any_text_under_any_option(texts, new, rng):
    what, options = cases.random_difference(rng, texts, new)
    assert not what, options


def test_texts_of_all_scripts_under_many_options():
    rng = random.Random(1)
    for _ in range(150):
        texts, new = ([cases.random_text(rng) for _ in range(rng.choice([1, 10, 40]))] for _ in range(2))
        what, options = cases.random_difference(rng, texts, new + texts[:5])
        assert not what, (options, texts, new)


@pytest.mark.parametrize("what", SPECIAL)
@pytest.mark.parametrize("options", CHANGED, ids=str)
def test_special_texts(what, options):
    texts = [SPECIAL[what], "corn prices, corn"]
    for ours, theirs in PAIRS.values():
        assert not difference(ours(**options, n_jobs=2), theirs(**options), texts, texts)
    if "token_pattern" not in options:
        own = {**cases.WORDS_OPTIONS, **options}
        assert not difference(BagOfWords(**own), in_python(own), texts, texts, compare_messages=False)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("words", [*PATTERNS[:1], *PATTERNS[3:], "BagOfWords"])
def test_every_letter_in_every_place(words, lowercase):
    """Of blocks without letters, and of ideographs, some; the long run looks at all."""
    codes = [
        *range(0x3400),
        *range(0x3400, 0xA000, 31),
        *range(0xA000, 0xAC00),
        *range(0xAC00, 0xD7A4, 31),
        *range(0xD7A4, 0x1F000),
    ]
    codes += [*range(0x12000, sys.maxunicode, 13)]
    texts = list(cases.every_context(codes))
    if words == "BagOfWords":
        options = {**cases.WORDS_OPTIONS, "lowercase": lowercase}
        pair = BagOfWords(**options), in_python(options)
    else:
        pair = (kind(token_pattern=words, lowercase=lowercase) for kind in PAIRS["count"])
    assert not difference(*pair, texts, texts[:3], compare_messages=words != "BagOfWords")


@pytest.mark.parametrize(
    "options",
    [
        {"min_df": 3},
        {"min_df": 2, "max_df": 1},
        {"min_df": 0.9, "max_df": 0.1},
        {"max_df": 0.4, "max_features": 1},
        {"ngram_range": (2, 1)},
        {"ngram_range": (0, 1)},
        {"token_pattern": "(a)(b)"},
        {"stop_words": "klingon"},
        {"stop_words": ["corn", "prices", "oil", "and"]},
        {"vocabulary": ["corn", "corn"]},
        {"vocabulary": {"corn": 1}},
        {"vocabulary": {"corn": 0, "oil": 0}},
        {"vocabulary": []},
        {"vocabulary": ["Corn", "oil"]},
        {"vocabulary": {"oil", "corn", "gas"}},
        {"max_features": 0},
        {"lowercase": 3},
        {"analyzer": "words"},
        {"strip_accents": "latin"},
    ],
)
def test_what_goes_wrong_goes_wrong_alike(options):
    texts = ["corn prices", "oil and corn", ""]
    for ours, theirs in PAIRS.values():
        assert not difference(ours(**options), theirs(**options), texts, texts)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["", " "],
        "corn",
        ["corn", None],
        ["corn", 3],
        [b"corn \xff"],
        [b"corn", "oil"],
        [np.nan],
        None,
        ["corn", ["oil"]],
    ],
    ids=repr,
)
def test_what_is_no_text_is_refused_alike(texts):
    for ours, theirs in PAIRS.values():
        assert not difference(ours(), theirs(), texts, ["corn"])
        assert not difference(ours(), theirs(), ["corn", "oil"], texts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, bool])
def test_numbers_of_any_type(dtype):
    texts = ["corn corn corn oil", "oil " * 300, "corn", " ".join(f"w{n}" for n in range(500)) + " gas" * 256]
    for ours, theirs in PAIRS.values():
        for max_features in (None, 1, 20):
            options = {"dtype": dtype, "max_features": max_features}
            assert not difference(ours(**options), theirs(**options), texts, texts)


@pytest.mark.parametrize("container", [tuple, iter, np.array, partial(np.array, dtype=object), dict.fromkeys])
def test_texts_in_any_container(container):
    texts = ["corn prices", "oil and corn"]
    for ours, theirs in PAIRS.values():
        expected = outcome(theirs(), container(texts), container(texts))
        assert outcome(ours(), container(texts), container(texts)) == expected


def test_an_infinite_weight_is_refused_alike():
    options = {"vocabulary": ["corn", "oil"], "smooth_idf": False}  # no text has oil
    assert not difference(
        textmargin.TfidfVectorizer(**options), TfidfVectorizer(**options), ["corn"], ["corn oil"]
    )


def test_a_given_vocabulary_needs_no_fit():
    for ours, theirs in PAIRS.values():
        for options in ({"vocabulary": ["oil", "corn"]}, {}):
            assert outcome(ours(**options), [], ["corn oil corn"], fit=False) == outcome(
                theirs(**options), [], ["corn oil corn"], fit=False
            )


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7, None, -1])
def test_threads_change_nothing(n_jobs):
    rng = random.Random(2)
    texts = [cases.random_text(rng) for _ in range(300)]
    for options in ({}, {"ngram_range": (1, 2), "min_df": 2}, {"analyzer": "char_wb", "ngram_range": (2, 4)}):
        for ours, theirs in PAIRS.values():
            assert not difference(ours(**options, n_jobs=n_jobs), theirs(**options), texts, texts)
        assert outcome(BagOfWords(**options, n_jobs=n_jobs), texts, texts) == outcome(
            BagOfWords(**options, n_jobs=1), texts, texts
        )


def test_threads_of_ones_own_may_share_a_vectoriser():
    """As those of a service do: nothing of one call is left in another."""
    rng = random.Random(3)
    words = textmargin.TfidfVectorizer(n_jobs=1).fit([cases.random_text(rng) for _ in range(300)])
    portions = [[cases.random_text(rng) for _ in range(50)] for _ in range(40)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda texts: cases.bits(words.transform(texts)), portions))
    assert together == [cases.bits(words.transform(texts)) for texts in portions]


@pytest.mark.parametrize("analyzer", ["word", "char_wb", "char"])
def test_sequences_as_long_as_the_text_were_a_type_error(analyzer):
    options = {"analyzer": analyzer, "ngram_range": (1, sys.maxsize)}
    for ours, theirs in PAIRS.values():
        assert not difference(ours(**options), theirs(**options), ["corn and oil", "oil"], ["and oil"])


@pytest.mark.parametrize("make", [textmargin.CountVectorizer, textmargin.TfidfVectorizer, BagOfWords])
def test_a_copy_and_a_pickle_give_the_same(make):
    texts = ["corn prices, Σ", "oil and corn", "x11 账单"]
    ours = make().fit(texts)
    expected = outcome(ours, texts, texts)
    assert outcome(clone(ours), texts, texts) == expected
    loaded = pickle.loads(pickle.dumps(ours))
    assert loaded.vocabulary_ == ours.vocabulary_
    assert outcome(loaded, texts, texts, fit=False)["transform"] == expected["transform"]


@pytest.mark.parametrize("make", [textmargin.CountVectorizer, textmargin.TfidfVectorizer])
def test_a_second_fit_forgets_the_first(make):
    ours = make(ngram_range=(1, 2)).fit(["corn prices rose", "oil"])
    ours.set_params(ngram_range=(1, 1), lowercase=False)
    assert ours.fit(["Corn oil"]).vocabulary_ == {"Corn": 0, "oil": 1}


def test_terms_given_by_hand_are_used():
    """A vocabulary_ that somebody sets is the one that counts, as in scikit-learn."""
    for ours, theirs in PAIRS.values():
        pair = [make().fit(["corn prices", "oil prices"]) for make in (ours, theirs)]
        for one in pair:
            one.vocabulary_ = {"prices": 0, "oil": 1, "corn": 2}
        assert outcome(pair[0], [], ["corn oil"], fit=False) == outcome(pair[1], [], ["corn oil"], fit=False)


@pytest.mark.parametrize(
    "options",
    [{}, *CHANGED, {"stop_words": "english"}, {"vocabulary": ["corn"]}, {"dtype": np.float32}],
    ids=str,
)
def test_what_is_known_goes_through_compiled_code(options):
    for ours, _ in PAIRS.values():
        assert ours(**options).fallback_reason() is None


@pytest.mark.parametrize(
    "options",
    [
        {"tokenizer": str.split, "token_pattern": None},
        {"analyzer": str.split},
        {"token_pattern": r"\S+"},
        {"ngram_range": (0, 1)},
    ],
    ids=lambda options: next(iter(options)),
)
def test_ones_own_steps_go_through_python_and_say_so(options):
    texts = ["Corn prices, x11", "oil and corn"]
    for ours, theirs in PAIRS.values():
        assert next(iter(options)) in ours(**options).fallback_reason()
        assert not difference(ours(**options), theirs(**options), texts, texts)
    assert next(iter(options)) in BagOfWords(**options).fallback_reason()


def test_a_preprocessor_leaves_the_rest_to_compiled_code():
    texts = ["Corn prices, x11", "oil and corn"]
    for ours, theirs in PAIRS.values():
        assert ours(preprocessor=str.upper).fallback_reason() is None
        assert not difference(ours(preprocessor=str.upper), theirs(preprocessor=str.upper), texts, texts)


def test_default_words_leave_the_function_words_of_the_language_out():
    """BagOfWords() finds out the language; with its words named outright Python gives the same."""
    texts = [
        text * 3
        for text in (
            "Die Rechnung ist nicht bei mir angekommen, 25 Euro. ",
            "Wo ist der Toner für den Drucker? 😡 ",
        )
    ]
    ours = BagOfWords()
    options = {**cases.WORDS_OPTIONS, "stop_words": "german"}
    assert outcome(ours, texts, texts) == outcome(in_python(options), texts, texts)
    assert ours.language_ == "german"
