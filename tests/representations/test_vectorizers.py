"""CountVectorizer and TfidfVectorizer are scikit-learn's, BagOfWords its definition in Python, bit by bit."""

import pickle
import random
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import textmargin
from textmargin import BagOfWords
from textmargin.errors import SettingError
from textmargin.representations.linear_scores import TermWeights

PAIRS = {
    "count": (textmargin.CountVectorizer, CountVectorizer),
    "tfidf": (textmargin.TfidfVectorizer, TfidfVectorizer),
}
PATTERNS = [r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"[^\W\d_]{2,}", r"[^\W\d_]+"]
# Characters that something is special about: case, marks, digits of other scripts, what has no place in
# words, what is no text.
POOLS = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCXYZ_0123456789",
    " .,;'-_\t\n\r\v\f\0\x1c\x1d\x1e\x1f\x85\xa0\u2028\u3000\ufeff",
    "éÉßÀÿØøµªº²¼",
    "ΑΒΓΣΣΣσςαβγΆΌ",  # a sigma at the end of a word is another letter in lower case
    "AΣ'’.:\u00ad\u0345\u0301\u200dΣbΣ",  # and where a word ends, some characters do not say
    "İıIiK\u212aÅ\u212bſẞ\u0307ǅǆᾈᾳﬁŉ",
    "БГДЖабвгёй\u0483אבגד\u05b0ابتث٠١\u064b",
    "कखग\u093e\u094dक\u093c१२३ภาษาไทยກຂຄកខគကခဂ",
    "漢字かなカナー々〇一二\U00020000ｶﾅ한국어ㄱㄴ\u1100\u1161",
    "𐐀𐐨𝐀𝟎𞤀𞤢𐓐𐓸ꭰᎠⴀႠȺⱥẞꞍɥ",
    "\ud800\udbff\udc00\udfff\uffff\U0010ffff\ue000",
    "①²³½Ⅷⅷ৴〡Ⓐⓐ😀👍🏽👩\u200d💻🇩🇪☎\ufe0f€$£",
]
# around what compiled code may take at once
LENGTHS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200]
WORDS = [
    "the",
    "And",
    "corn",
    "CORN",
    "12",
    "1987",
    "x11",
    "don't",
    "wheat-prices",
    "ΟΔΟΣ",
    "Straße",
    "账单",
    "",
]


def a_text(rng):
    """Pieces of a few pools, in any order, with and without something between them."""
    pools = rng.sample(POOLS, rng.randint(1, 4)) + (["abcDEF  "] if rng.random() < 0.7 else [])
    pieces = []
    for _ in range(rng.randint(0, 25)):
        kind = rng.random()
        if kind < 0.08:
            pieces.append(chr(rng.randrange(sys.maxunicode + 1)))
        elif kind < 0.16:
            pieces.append("".join(rng.choices(rng.choice(pools), k=rng.choice(LENGTHS))))
        elif kind < 0.3:
            pieces.append(rng.choice(WORDS))
        else:
            pieces.append("".join(rng.choices(rng.choice(pools), k=rng.randint(0, 6))))
        pieces.append(rng.choice(["", " ", " ", "the ", "And", "."]))
    return "".join(pieces)


def some_options(rng, kind):
    pick = rng.choice
    options = {
        "lowercase": rng.random() < 0.8,
        "ngram_range": pick([(1, 1), (1, 1), (1, 2), (2, 2), (1, 3), (2, 4), (3, 3)]),
        "min_df": pick([1, 1, 1, 2, 0.05]),
        "max_df": pick([1.0, 1.0, 0.5]),
    }
    if kind == "words":
        return options | {
            "weight": pick(["log-tf-idf", "log-tf-idf", "tf-idf", "count"]),
            "norm": pick(["l2", "l2", None]),
            "stop_words": pick([None, "english", "german", ["the", "ab", "##", "账", "ας", "😀"]]),
            "numbers": pick(["shape", "shape", "exact"]),
            "analyzer": pick(["word", "word", "word", "letters", "char", "char_wb"]),
            "max_features": pick([None, None, 20]),
            "vocabulary": pick([None] * 6 + [["corn", "the", "12", "##", "账单"], ["b", "1987", "th"]]),
            "extra_terms": pick([(), (), ("zebra", "12", "1987", "the corn", "账单", "the")]),
        }
    options |= {
        "token_pattern": pick(PATTERNS),
        "analyzer": pick(["word", "word", "char", "char_wb"]),
        "stop_words": pick([None, None, "english", ["ab", "the", "ΑΣ", "ας", "abc de", "", "a\0"]]),
        "binary": rng.random() < 0.3,
    }
    if kind == "tfidf":
        options |= {name: rng.random() < 0.5 for name in ("sublinear_tf", "use_idf", "smooth_idf")}
        options["norm"] = pick(["l2", "l2", None])
    return options


def in_python(options):
    """BagOfWords whose terms a function in Python finds: its own `build_analyzer`."""
    names = ("weight", "norm", "min_df", "max_df", "max_features", "vocabulary", "extra_terms")
    analyze = BagOfWords(**options).build_analyzer()
    return BagOfWords(analyzer=analyze, **{name: options[name] for name in names})


def outcome(vectorizer, texts, new):
    """All that a vectoriser makes of texts, in a form that can be compared: matrices by their bits."""
    with warnings.catch_warnings(action="ignore"):
        try:
            X = vectorizer.fit_transform(texts)
        except ValueError:
            return "refused"
        facts = [bits(X), bits(vectorizer.transform(new)), vectorizer.get_feature_names_out().tolist()]
        if getattr(vectorizer, "use_idf", isinstance(vectorizer, BagOfWords)):
            facts.append(vectorizer.idf_.tobytes())
        return facts


def bits(X):
    return type(X), X.shape, *((part.dtype, part.tobytes()) for part in (X.indptr, X.indices, X.data))


@pytest.mark.parametrize("kind", ["count", "tfidf", "words"])
def test_texts_of_all_scripts_under_many_options(kind):
    rng = random.Random(kind)
    for _ in range(150):
        texts, new = ([a_text(rng) for _ in range(rng.choice([1, 10, 40]))] for _ in range(2))
        options = some_options(rng, kind)
        if kind == "words":
            ours, theirs = BagOfWords(**options, n_jobs=rng.choice([1, 2, 3])), in_python(options)
        else:
            ours, theirs = (make(**options) for make in PAIRS[kind])
        new += texts[:5]
        assert outcome(ours, texts, new) == outcome(theirs, texts, new), (options, texts, new)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("words", [PATTERNS[0], PATTERNS[3], "BagOfWords"])
def test_every_letter_in_every_place(words, lowercase):
    """Alone, twice, in words, and beside a sigma, whose lower case depends on it; of ideographs, some."""
    codes = [*range(0x3400), *range(0x3400, 0xA000, 31), *range(0xA000, 0xAC00), *range(0xAC00, 0xD7A4, 31)]
    codes += [*range(0xD7A4, 0x1F000), *range(0x12000, sys.maxunicode, 13)]
    texts = [
        " ".join(
            f"{c} {c}{c} x{c}y A{c}Σ A{c}Σ{c} Σ{c}b {c}Σ 1{c}2 漢{c}字"
            for c in map(chr, codes[start : start + 256])
        )
        for start in range(0, len(codes), 256)
    ]
    if words == "BagOfWords":
        ours = BagOfWords(stop_words=None, lowercase=lowercase)
        theirs = BagOfWords(analyzer=ours.build_analyzer())
    else:
        ours, theirs = (make(token_pattern=words, lowercase=lowercase) for make in PAIRS["count"])
    assert outcome(ours, texts, texts[:3]) == outcome(theirs, texts, texts[:3])


@pytest.mark.parametrize("make", [ours for ours, _ in PAIRS.values()])
def test_a_parameter_that_compiled_code_does_not_have_names_scikit_learns_class(make):
    with pytest.raises(
        SettingError, match=rf"tokenizer .* sklearn\.feature_extraction\.text\.{make.__name__}"
    ):
        make(tokenizer=str.split)


@pytest.mark.parametrize(
    "options",
    [
        {"min_df": 3},
        {"max_df": 0.4},
        {"ngram_range": (2, 1)},
        {"ngram_range": (0, 1)},
        {"token_pattern": r"\S+"},
        {"stop_words": "klingon"},
        {"stop_words": ["corn", "prices", "oil"]},
        {"max_features": 0},
        {"lowercase": "no"},
        {"analyzer": "words"},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(options):
    for ours, _ in PAIRS.values():
        with pytest.raises((ValueError, SettingError)):
            ours(**options).fit(["corn prices", "oil corn"])


def test_terms_may_be_those_of_a_function():
    """Such as a dictionary's words of a language without blanks."""
    words = BagOfWords("count", norm=None, analyzer=str.split, extra_terms=["zebra"])
    assert words.fit_transform(["Wheat, and", "and corn and"]).toarray().tolist() == [
        [1, 1, 0, 0],
        [0, 2, 1, 0],
    ]
    assert words.get_feature_names_out().tolist() == ["Wheat,", "and", "corn", "zebra"]
    assert words.transform(["corn oil zebra"]).toarray().tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize("make", [*(ours for ours, _ in PAIRS.values()), BagOfWords])
def test_threads_copies_and_pickles_change_nothing(make):
    rng = random.Random(2)
    texts = [a_text(rng) for _ in range(300)]
    for options in ({}, {"ngram_range": (1, 2), "min_df": 2}, {"analyzer": "char_wb", "ngram_range": (2, 4)}):
        one = make(**options, n_jobs=1)
        expected = outcome(one, texts, texts)
        assert outcome(make(**options, n_jobs=3), texts, texts) == expected
        assert outcome(clone(one), texts, texts) == expected
        assert bits(pickle.loads(pickle.dumps(one)).transform(texts)) == expected[1]


def test_threads_of_ones_own_may_share_a_vectoriser():
    """As those of a service do: nothing of one call is left in another."""
    rng = random.Random(3)
    words = textmargin.TfidfVectorizer(n_jobs=1).fit([a_text(rng) for _ in range(300)])
    portions = [[a_text(rng) for _ in range(50)] for _ in range(40)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda texts: bits(words.transform(texts)), portions))
    assert together == [bits(words.transform(texts)) for texts in portions]


def test_a_second_fit_forgets_the_first():
    ours = textmargin.CountVectorizer(ngram_range=(1, 2)).fit(["corn prices rose", "oil"])
    ours.set_params(ngram_range=(1, sys.maxsize), lowercase=False)
    assert ours.fit(["Corn oil"]).vocabulary_ == {"Corn": 0, "Corn oil": 1, "oil": 2}


STOP = """
from textmargin import TfidfVectorizer
text = " ".join(f"word{i}" for i in range(20_000))
words = TfidfVectorizer(ngram_range=(1, 2), n_jobs=2)
texts = [text] * 20_000  # minutes of work
words.fit(texts[:5])
print("ready", flush=True)
words.%s(texts)
"""


@pytest.mark.parametrize("method", ["fit", "transform"])
def test_stops_within_a_second_of_ctrl_c(method):
    process = subprocess.Popen(
        [sys.executable, "-c", STOP % method], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in error
    assert time.monotonic() - start < 5  # a second, and what it takes to leave Python on a busy machine


def test_all_texts_in_utf_8_were_copied():
    """Of texts that are not ASCII portions are encoded, which are let go of again; Python would have kept
    them with the texts.
    """
    script = """
import resource
from textmargin import CountVectorizer
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
CountVectorizer().fit(["Grüße und wheat"])
texts = ["Grüße " * 50_000 for _ in range(100)]  # each a string of its own: 30 MB, and 35 in UTF-8
before = peak()
CountVectorizer(n_jobs=1).fit_transform(texts)
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 15_000  # kilobytes


def test_a_text_had_no_row_where_two_threads_met_high_counts_at_once():
    weights = TermWeights(np.positive, np.ones(1), unit=False)

    def work(tf):
        weights.up_to(5000)  # as another thread does meanwhile
        return tf.size > 2000, 2000

    assert weights.apply(work)
