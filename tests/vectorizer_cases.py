"""What vectorisers are compared on: texts of all scripts, options, and what is to be the same."""

import pickle
import sys
import warnings

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import textmargin
from textmargin import BagOfWords
from textmargin.representations.words import WordTokenizer

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
    "éÉßÀÿøØµªº²¼",
    "ΑΒΓΣΣΣσςαβγΆΌ",  # a sigma at the end of a word is another letter in lower case
    "AΣ'’.:\u00ad\u0345\u0301\u200dΣbΣ",  # and where a word ends, some characters do not say
    "İıIiK\u212aÅ\u212bſẞ\u0307",
    "ǅǆǄǈᾈᾳῼ",
    "ﬁﬀﬃŉǰΐ",
    "БГДЖабвгёй\u0483",
    "אבגד\u05b0\u05bc",
    "ابتث٠١٢٣\u064b\u0640",
    "कखग\u093e\u094dक\u093c१२३",
    "漢字かなカナー々〇一二\U00020000ｶﾅ",
    "ภาษาไทยກຂຄកខគကခဂ",
    "한국어ㄱㄴ\u1100\u1161",
    "ꭰᎠᏰꮿᲐაⴀႠ",
    "𐐀𐐨𝐀𝟎𞤀𞤢𐓐𐓸",
    "ȺⱥȾⱦⱯɐẞꞍɥ",
    "\ud800\udbff\udc00\udfff\uffff\U0010ffff\ue000",
    "①²³½Ⅷⅷ৴〡Ⓐⓐ",
    "___a1_",
    "😀👍🏽👩\u200d💻🇩🇪☎\ufe0f€$£",
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
    "ας",
    "Straße",
    "İstanbul",
    "账单",
    "",
]


def random_text(rng):
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


def random_options(rng, tfidf):
    """Parameters of scikit-learn's vectorisers, those that go together badly too."""
    pick = rng.choice
    options = {
        "lowercase": rng.random() < 0.8,
        "strip_accents": pick([None, None, None, "ascii", "unicode"]),
        "token_pattern": pick(PATTERNS),
        "analyzer": pick(["word", "word", "word", "char", "char_wb"]),
        "stop_words": pick([None, None, "english", ["ab", "the", "ΑΣ", "ας", "abc de", "", "a\0", "x" * 20]]),
        "ngram_range": pick([(1, 1), (1, 1), (1, 2), (2, 2), (1, 3), (2, 4), (3, 3)]),
        "min_df": pick([1, 1, 1, 2, 0.05, 0.3]),
        "max_df": pick([1.0, 1.0, 0.5, 3]),
        "max_features": pick([None, None, 20, 1]),
        "binary": rng.random() < 0.3,
        "vocabulary": pick([None] * 8 + [*VOCABULARIES]),
    }
    if not tfidf:
        return {**options, "dtype": pick([np.int64, np.int64, np.int32, np.float64, np.float32, np.uint8])}
    options |= {name: rng.random() < 0.5 for name in ("sublinear_tf", "use_idf", "smooth_idf")}
    return {
        **options,
        "norm": pick(["l2", "l2", "l1", None]),
        "dtype": pick([np.float64, np.float64, np.float32]),
    }


VOCABULARIES = (
    ["corn", "the", "a", "ab", "the corn", "##", "ας", "漢", " a", "e ", "th"],
    {"corn": 1, "the": 0, "a": 2, "Σ": 3},
    {"b", "ab", "abc", "the", "t", "th"},
    {"corn": 0, "the": 2},  # a column is missing
    ["corn", "corn"],
    [],
)


WORDS_OPTIONS = {
    "stop_words": None,
    "numbers": "shape",
    "lowercase": True,
    "strip_accents": None,
    "ngram_range": (1, 1),
}
WORDS_OPTIONS |= {
    "analyzer": "word",
    "weight": "log-tf-idf",
    "norm": "l2",
    "min_df": 1,
    "max_df": 1.0,
    "max_features": None,
}
WORDS_OPTIONS |= {"vocabulary": None, "extra_terms": ()}


def random_words_options(rng):
    """Parameters of BagOfWords."""
    pick = rng.choice
    return {
        "weight": pick(["log-tf-idf", "log-tf-idf", "tf-idf", "count"]),
        "norm": pick(["l2", "l2", None]),
        "stop_words": pick([None, "english", "german", "russian", ["the", "ab", "##", "账", "ας", "😀"]]),
        "numbers": pick(["shape", "shape", "exact"]),
        "lowercase": rng.random() < 0.8,
        "strip_accents": pick([None, None, None, "ascii", "unicode"]),
        "ngram_range": pick([(1, 1), (1, 1), (1, 2), (2, 2), (1, 3), (2, 4)]),
        "analyzer": pick(["word", "word", "word", "word", "letters", "char", "char_wb"]),
        "min_df": pick([1, 1, 2, 0.05]),
        "max_df": pick([1.0, 1.0, 0.5]),
        "max_features": pick([None, None, 20]),
        "vocabulary": pick([None] * 6 + [["corn", "the", "12", "##", "账单"], ["b", "1987", "th"]]),
        "extra_terms": pick([(), (), ("zebra", "12", "1987", "the corn", "账单", "the")]),
    }


def in_python(options):
    """BagOfWords whose terms are found by scikit-learn's analyser, which calls a tokeniser in Python."""
    kind = options["analyzer"]
    named = [*options["extra_terms"], *(options["vocabulary"] or ())]
    words = {
        "tokenizer": WordTokenizer(options["numbers"], [term for term in named if term.isdecimal()]),
        "token_pattern": None,
    }
    steps = {"letters": {"token_pattern": PATTERNS[2]}, "word": words}.get(kind, {})
    stop_words = BagOfWords(**options).get_stop_words()
    # that accents are stripped of texts, not of stop words
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        analyze = CountVectorizer(
            analyzer="word" if kind == "letters" else kind,
            stop_words=stop_words and sorted(stop_words),
            **{name: options[name] for name in ("lowercase", "strip_accents", "ngram_range")},
            **steps,
        ).build_analyzer()
    names = ("weight", "norm", "min_df", "max_df", "max_features", "vocabulary", "extra_terms")
    return BagOfWords(analyzer=analyze, **{name: options[name] for name in names})


def outcome(vectorizer, texts, new, fit=True):
    """All that a vectoriser says of texts, in a form that can be compared: matrices by their bits, errors by
    what they say.
    """
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            facts = {"fit_transform": bits(vectorizer.fit_transform(texts))} if fit else {}
            facts["transform"] = bits(vectorizer.transform(new))
            facts["vocabulary_"] = vectorizer.vocabulary_
            facts["names"] = vectorizer.get_feature_names_out().tolist()
            if getattr(vectorizer, "use_idf", hasattr(vectorizer, "idf_")):
                facts["idf_"] = vectorizer.idf_.tobytes(), vectorizer.idf_.dtype
        except Exception as error:
            facts = {"error": (type(error), str(error))}
    return facts | {"warnings": sorted({(note.category.__name__, str(note.message)) for note in notes})}


def bits(X):
    """A sparse matrix, so that two are equal where nothing at all differs."""
    parts = X.indptr, X.indices, X.data
    return type(X), X.shape, *((part.dtype, part.tobytes()) for part in parts)


def difference(ours, theirs, texts, new, compare_messages=True):
    """What two vectorisers differ in; "" if it is nothing. Ours also after a pickle."""
    left, right = outcome(ours, texts, new), outcome(theirs, texts, new)
    if not compare_messages and "error" in left and "error" in right:
        left["error"], right["error"] = left["error"][0], right["error"][0]
    for name in {**left, **right}:
        if left.get(name) != right.get(name) and (compare_messages or name != "warnings"):
            return f"{name}: {_shown(left.get(name))}, not {_shown(right.get(name))}"
    if (
        "transform" in left
        and outcome(pickle.loads(pickle.dumps(ours)), texts, new, fit=False)["transform"] != left["transform"]
    ):
        return "transform after a pickle"
    return ""


def _shown(fact):
    return f"{fact!r:.600}"


def every_context(codes):
    """Texts that hold each character alone, twice, in words, and beside a sigma, whose lower case depends on
    it.
    """
    for start in range(0, len(codes), 256):
        yield " ".join(
            f"{c} {c}{c} x{c}y A{c}Σ A{c}Σ{c} Σ{c}b {c}Σ 1{c}2 漢{c}字"
            for c in map(chr, codes[start : start + 256])
        )


def random_difference(rng, texts, new):
    """What differs between one of our vectorisers and what it stands for, with random options; and which they
    were.
    """
    kind, n_jobs = rng.choice(["count", "tfidf", "words", "words"]), rng.choice([1, 2, 3])
    if kind == "words":
        options = random_words_options(rng)
        pair = BagOfWords(**options, n_jobs=n_jobs), in_python(options)
    else:
        options = random_options(rng, kind == "tfidf")
        ours, theirs = PAIRS[kind]
        pair = ours(**options, n_jobs=n_jobs), theirs(**options)
    return difference(
        *pair, texts, new, compare_messages=kind != "words"
    ), f"{kind} {options}, n_jobs={n_jobs}"
