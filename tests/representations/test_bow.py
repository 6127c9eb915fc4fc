"""BagOfWords: the papers' weights and analyser, and what it accepts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from textmargin import BagOfWords
from textmargin.errors import EmptyTextWarning, EmptyVocabularyError, NotTextError

TEXTS = ["Wheat, wheat and CORN: 12% up!", "corn and oil", "oil-price talks", ""]


def test_weights_are_those_of_the_papers():
    """n·ln(N/df) and ln(1+n)·ln(N/df), N = 4 texts, the empty one included."""
    N = 4
    words = BagOfWords("tf-idf", norm=None).fit(TEXTS)
    wheat = list(words.get_feature_names_out()).index("wheat")
    assert words.transform(TEXTS)[0, wheat] == pytest.approx(2 * np.log(N / 1))
    assert BagOfWords("log-tf-idf", norm=None).fit_transform(TEXTS)[0, wheat] == pytest.approx(
        np.log(3) * np.log(N)
    )
    assert BagOfWords("count", norm=None).fit_transform(TEXTS)[0, wheat] == 2


def test_rows_have_unit_length_and_an_empty_text_stays_zero():
    lengths = np.sqrt(BagOfWords().fit_transform(TEXTS).power(2).sum(axis=1)).A1
    np.testing.assert_allclose(lengths, [1, 1, 1, 0])


def test_the_papers_analyser():
    """Digits and punctuation become spaces, lower case, stop words out."""
    words = BagOfWords(analyzer="letters")
    assert list(words.fit(TEXTS).get_feature_names_out()) == ["corn", "oil", "price", "talks", "wheat"]
    analyze = words.build_analyzer()
    assert analyze("The e-mail of user42host: 3.50€, naïve Straße 東京") == [
        "mail",
        "user",
        "host",
        "naïve",
        "straße",
        "東京",
    ]


def test_overridable_like_scikit_learns():
    assert "the" in BagOfWords(stop_words=None).fit(["the cat"]).vocabulary_
    assert list(BagOfWords(ngram_range=(2, 2)).fit(["cold winter night"]).vocabulary_) == [
        "cold winter",
        "winter night",
    ]
    assert set(BagOfWords(analyzer="char", ngram_range=(2, 2)).fit(["abc", "abd"]).vocabulary_) == {
        "ab",
        "bc",
        "bd",
    }
    assert BagOfWords(max_features=1).fit(TEXTS).get_feature_names_out().size == 1


def test_differs_from_scikit_learn_only_by_smoothing():
    """TfidfVectorizer without smoothing adds 1 to the idf; on terms of equal df the directions agree."""
    texts = ["wheat wheat corn", "oil price"]
    ours = BagOfWords("tf-idf", stop_words=None).fit_transform(texts)
    theirs = TfidfVectorizer(smooth_idf=False).fit_transform(texts)
    np.testing.assert_allclose(ours.toarray(), theirs.toarray())


def test_unseen_words_are_ignored():
    words = BagOfWords().fit(TEXTS)
    np.testing.assert_allclose(
        words.transform(["wheat zebra"]).toarray(), words.transform(["wheat"]).toarray()
    )


def test_a_given_vocabulary_may_hold_terms_that_no_text_contains():
    words = BagOfWords("tf-idf", vocabulary=["corn", "zebra"], norm=None).fit(TEXTS)
    assert words.transform(["zebra"])[0, 1] == pytest.approx(np.log(4)), "as if one text had it"


def polars_series(texts):
    return pytest.importorskip("polars").Series(texts)


@pytest.mark.parametrize(
    "wrap",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        polars_series,
        iter,
        lambda t: pd.DataFrame({"t": t}),
        lambda t: np.array(t)[:, None],
    ],
)
def test_takes_texts_however_they_come(wrap):
    expected = BagOfWords().fit_transform(TEXTS).toarray()
    np.testing.assert_array_equal(BagOfWords().fit_transform(wrap(TEXTS)).toarray(), expected)


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_any_text_with_a_word_in_it_is_taken(texts):
    X = BagOfWords("count").fit_transform([*texts, "wheat"])
    assert X.shape[0] == len(texts) + 1
    assert np.isfinite(X.data).all()


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "corpus is empty"),
        (["", "  "], {}, "All 2 texts are empty"),
        (["a . b", "c!"], {}, "No words were found .* 'a . b'; by default a word is two or more letters"),
        (["the and of"], {}, "All words are stop words .*stop_words=None"),
        (["cat"], {"vocabulary": []}, "given vocabulary is empty"),
        (["cat", "dog"], {"min_df": 2}, "min_df=2 and max_df=1.0 leave none of 2 terms in 2 texts"),
    ],
)
def test_an_empty_vocabulary_says_why(texts, options, message):
    with pytest.raises(EmptyVocabularyError, match=message):
        BagOfWords(**options).fit(texts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"single string; put it in a list"),
        (["a", None], r"Text number 1 is missing \(None\)"),
        (["a", float("nan")], r"Text number 1 is missing \(nan\)"),
        (pd.Series(["a", None], dtype="string"), r"Text number 1 is missing \(<NA>|nan\)"),
        ([np.arange(2)], r"not a string but ndarray"),
        ([b"bytes"], r"Text number 0 is bytes"),
        ([3], r"not a string but int: 3"),
        (7, r"got int"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), r"table with 2 columns: \['a', 'b'\]; choose one"),
    ],
)
def test_what_is_not_text_is_refused(texts, message):
    with pytest.raises(NotTextError, match=message):
        BagOfWords().fit(texts)


def test_texts_without_a_known_word_warn():
    words = BagOfWords().fit(TEXTS)
    with pytest.warns(EmptyTextWarning, match="None of 2 texts contains a single known term"):
        words.transform(["zebra", "4"])


def test_terms_that_every_text_has_warn_that_nothing_is_left():
    with pytest.warns(EmptyTextWarning, match=r"tf-idf is 0 throughout; use weight='count'"):
        BagOfWords().fit(["corn", "corn corn"])


def test_terms_as_frequent_as_the_last_were_left_to_the_processors_sort():
    """max_features: numpy sorts ties otherwise with AVX2 than with AVX-512, and the vocabulary was another
    one.
    """
    names = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    often = [name for i, name in enumerate(names) if i % 7 == 0]
    texts = [" ".join(np.random.default_rng(0).permutation(names)), " ".join(often)]
    found = BagOfWords(max_features=100, weight="count", stop_words=None).fit(texts)
    expected = sorted([*often, *[name for name in names if name not in often][: 100 - len(often)]])
    assert found.get_feature_names_out().tolist() == expected
    assert found.transform([names[0]]).toarray()[0, 0] == 1


def test_stop_words_are_those_of_the_language_that_is_found():
    german = [
        "Die Rechnung ist nicht bei mir angekommen",
        "Wo ist der Toner für den Drucker",
        "Ich kann mich nicht anmelden",
    ]
    words = BagOfWords().fit(german)
    assert words.language_ == "german"
    assert {"rechnung", "toner"} <= words.vocabulary_.keys()
    assert not {"die", "ist", "nicht"} & words.vocabulary_.keys()
    assert "nicht" in BagOfWords(stop_words=None).fit(german).vocabulary_
    assert "nicht" in BagOfWords(stop_words="english").fit(german).vocabulary_


def test_call_back_and_now_were_stop_words():
    words = BagOfWords().fit(["call me back now about the system", "what is it that you are on about"])
    assert words.language_ == "english"
    assert {"call", "back", "now", "system"} <= words.vocabulary_.keys()
    assert "call" not in BagOfWords(stop_words="english").fit(["call the desk", "the toner"]).vocabulary_


def test_extra_terms_are_there_whatever_the_texts_have():
    """Also where they are stop words, or numbers, which are otherwise how many digits they have."""
    texts = ["we are on about the 404 page", "what is it about you and the toner 505"]
    words = BagOfWords(extra_terms=["404", "about", "zebra"]).fit(texts)
    assert {"404", "about", "zebra", "###"} <= words.vocabulary_.keys()
    assert list(words.get_feature_names_out()) == sorted(words.vocabulary_)
    assert words.transform(["zebra"]).nnz == 1
    assert words.idf_[words.vocabulary_["zebra"]] == np.log(2)
    plain = BagOfWords().fit(texts)
    shared = [term for term in plain.vocabulary_ if term != "###"]
    np.testing.assert_array_equal(
        BagOfWords("count", norm=None, extra_terms=["zebra"]).fit_transform(texts)[:, :-1].toarray(),
        BagOfWords("count", norm=None).fit_transform(texts).toarray(),
    )
    np.testing.assert_allclose(
        [words.idf_[words.vocabulary_[term]] for term in shared],
        [plain.idf_[plain.vocabulary_[term]] for term in shared],
    )


def test_numbers_can_be_exact():
    assert {"404", "12"} <= BagOfWords(numbers="exact").fit(["error 404", "line 12"]).vocabulary_.keys()
    assert {"###", "##"} <= BagOfWords().fit(["error 404", "line 12"]).vocabulary_.keys()
    assert "404" in BagOfWords(vocabulary=["404", "error"]).fit(["error 404", "error 505"]).vocabulary_


def test_keywords_are_split_as_texts_are():
    analyze = BagOfWords().build_keyword_analyzer()
    assert analyze("Out of Stock") == ["stock"]
    assert analyze("E-Mail") == ["mail"]
    assert analyze("now") == ["now"]
    assert analyze("about") == ["about"]
    assert analyze("404") == ["404"]
    assert analyze("账单") == ["账", "单", "账单"]
