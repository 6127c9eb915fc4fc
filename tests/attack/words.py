"""Bags of words of hostile texts against a slow count: the compiled code beside the plain definition of a
word, term by term.

Weights by their formulas, tf-idf n·ln(N/df) and log-tf-idf ln(1 + n)·ln(N/df), rows of unit length.
"""

import math
import random
from collections import Counter

import numpy as np
from attack.hostile_texts import a_text

from textmargin import BagOfWords
from textmargin.errors import EmptyVocabularyError
from textmargin.representations.words import WordTokenizer


def case(seed):
    rng = random.Random(f"words/{seed}")
    texts = [a_text(rng) for _ in range(rng.randrange(1, 9))]
    texts += rng.sample(texts, rng.randrange(len(texts) + 1))
    new = [a_text(rng) for _ in range(3)] + texts[:2]
    low = rng.choice([1, 1, 2])
    settings = {
        "weight": rng.choice(["tf-idf", "log-tf-idf", "count"]),
        "norm": rng.choice(["l2", None]),
        "stop_words": rng.choice([None, None, ["ab", "abc", "x11", "账"]]),
        "numbers": rng.choice(["shape", "exact"]),
        "lowercase": rng.random() < 0.7,
        "ngram_range": (low, rng.choice([low, low, low + 1])),
        "min_df": rng.choice([1, 1, 2]),
        "max_df": rng.choice([1.0, 1.0, 0.6]),
        "max_features": rng.choice([None, None, 5]),
        "n_jobs": rng.choice([1, 2]),
    }
    analyse = slow_words(settings)
    counts = [Counter(analyse(text)) for text in texts]
    terms = kept_terms(counts, settings)
    words = BagOfWords(**settings)
    try:
        X = words.fit_transform(texts)
    except EmptyVocabularyError:
        assert not terms, f"no term is left, and a slow count has {terms[:5]}"
        return
    except ValueError as error:
        if "max_df corresponds" in str(error):  # scikit-learn's word for it
            if settings["max_df"] * len(texts) < settings["min_df"]:
                return
            raise
        if any("\ud800" <= c <= "\udfff" for text in texts for c in text):
            return  # which says so
        raise
    found = words.get_feature_names_out().tolist()
    assert found == terms, f"terms {sorted({*found} ^ {*terms})[:5]!r} are on one side only; {settings}"
    idf = [
        1.0 if settings["weight"] == "count" else math.log(len(texts) / sum(t in one for one in counts))
        for t in terms
    ]
    for what, given, matrix in (("fit_transform", texts, X), ("transform", new, words.transform(new))):
        for text, row in zip(given, matrix.toarray(), strict=True):
            slow = weigh(Counter(analyse(text)), terms, idf, settings)
            assert np.allclose(row, slow, rtol=1e-12, atol=1e-300), f"{what} of {text!r:.100}; {settings}"


def slow_words(settings):
    """Analyse as the definition does: words, in lower case, without stop words, in sequences."""
    tokenizer, stop = WordTokenizer(settings["numbers"]), settings["stop_words"] or ()
    low, high = settings["ngram_range"]

    def analyse(text):
        words = [one for one in tokenizer(text.lower() if settings["lowercase"] else text) if one not in stop]
        return [" ".join(words[i : i + n]) for n in range(low, high + 1) for i in range(len(words) - n + 1)]

    return analyse


def kept_terms(counts, settings):
    n_texts = len(counts)
    most = settings["max_df"] * n_texts if isinstance(settings["max_df"], float) else settings["max_df"]
    df = Counter(term for one in counts for term in one)
    total = sum(counts, Counter())
    terms = sorted(term for term, n in df.items() if settings["min_df"] <= n <= most)
    if settings["max_features"] is not None and len(terms) > settings["max_features"]:
        terms = sorted(sorted(terms, key=lambda t: -total[t])[: settings["max_features"]])
    return terms


def weigh(count, terms, idf, settings):
    tf = math.log1p if settings["weight"] == "log-tf-idf" else float
    row = [tf(count[t]) * own for t, own in zip(terms, idf, strict=True)]
    size = math.sqrt(math.fsum(x * x for x in row))
    return [x / size for x in row] if settings["norm"] == "l2" and size else row
