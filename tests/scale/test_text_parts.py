"""`BagOfWords` on texts in parts is `BagOfWords` on all of them in one list, rounded to single precision."""

import csv
import json
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from textmargin import BagOfWords
from textmargin.datasets.loading import load_dataset
from textmargin.errors import EmptyTextWarning, EmptyVocabularyError, NotTextError, StoreError
from textmargin.representations.digests import text_digests
from textmargin.representations.drafts import TermCounts, merge_all_terms
from textmargin.representations.languages import N_SAMPLE, TextSample, sample_texts
from textmargin.scale import TextFiles, TextLists
from textmargin.tables.parts import open_parts
from textmargin.tables.reader import read_table

WORDS = ["corn", "wheat", "the", "and", "oil", "Oil", "3", "42", "über", "naïve", "中文", "\ud800x", "a"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
in_parts = st.lists(st.lists(texts, max_size=4), min_size=1, max_size=50)
SETTINGS = [
    {},
    {"weight": "tf-idf", "norm": None},
    {"weight": "count"},
    {"stop_words": ["corn"]},
    {"extra_terms": ["the", "zebra", "42"]},
    {"max_features": 3},
    {"min_df": 2, "max_df": 0.9},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2)},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "letters"},
    {"vocabulary": ["wheat", "corn", "zebra"]},
    {"tokenizer": str.split, "max_features": 4},
    {"analyzer": str.split, "extra_terms": ["zebra"]},
    {"preprocessor": str.swapcase},
    {"strip_accents": "unicode", "numbers": "exact"},
]


def split(texts, n):
    """In n parts of about the same size, some empty."""
    ends = np.linspace(0, len(texts), n + 1).astype(int)
    return [list(texts[a:b]) for a, b in pairwise(ends)]


def in_memory(parameters, texts):
    """What memory makes of them, or the kind of error; in single precision."""
    words = BagOfWords(**parameters)
    try:
        X = words.fit_transform(texts)
    except ValueError as error:
        return words, type(error)
    return words, X.astype(np.float32).astype(np.float64)


def assert_same(X, blocks):
    own = blocks.take(np.arange(blocks.shape[0]))
    assert blocks.shape == X.shape
    assert np.array_equal(own.indptr, X.indptr)
    assert np.array_equal(own.indices, X.indices)
    assert np.array_equal(own.data, X.data)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@settings(max_examples=15)
@given(parts=in_parts)
@example(parts=[[], ["corn oil", ""], [], ["the wheat"], ["3 oil oil"]])
@example(parts=[["", " "], ["?!"]])
@example(parts=[[]])
def test_equals_memory(parameters, parts):
    everything = [text for part in parts for text in part]
    known, X = in_memory(parameters, everything)
    words = BagOfWords(**parameters, n_jobs=2)
    if isinstance(X, type):
        with pytest.raises(X):
            words.fit_transform(TextLists(parts))
        return
    assert_same(X, words.fit_transform(TextLists(parts)))
    assert words.vocabulary_ == known.vocabulary_
    assert np.array_equal(words.idf_, known.idf_)
    assert (words.n_texts_, words.language_) == (known.n_texts_, known.language_)
    assert_same(X, words.transform(TextLists(parts)))
    assert np.array_equal(BagOfWords(**parameters).fit(TextLists(parts)).idf_, known.idf_)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_real_texts(n):
    desk = load_dataset("desk")
    known, X = in_memory({}, desk.texts)
    parts = TextLists(split(desk.texts, n), desk.labels)
    words = BagOfWords()
    assert_same(X, words.fit_transform(parts))
    assert words.vocabulary_ == known.vocabulary_
    assert words.language_ == "english"
    assert list(parts.labels) == list(desk.labels)
    assert parts.n_texts == len(desk.texts)


@pytest.mark.parametrize("folder", [None, "run"])
def test_first_part_in_another_language(tmp_path, folder):
    """Stop words are those of all texts, not of the part that happens to be the first."""
    german = ["Die Rechnung ist nicht bei mir angekommen und der Toner ist leer"] * 3
    english = ["The invoice is wrong and the toner is not in the box"] * 30
    words = BagOfWords()
    X = words.fit_transform(TextLists([german, english], folder=folder and tmp_path / folder))
    known, Y = in_memory({}, german + english)
    assert words.language_ == known.language_ == "english"
    assert_same(Y, X)
    assert "die" in words.vocabulary_
    assert "the" not in words.vocabulary_


def test_the_sample_is_the_same_however_texts_are_cut():
    everything = [f"text number {i}" for i in range(3 * N_SAMPLE)] + ["text number 1"] * 50
    for n in (1, 3, 50):
        assert TextSample.join(map(TextSample.draw, split(everything, n))).texts == sample_texts(everything)
    assert len({*sample_texts(everything)} & {*everything[N_SAMPLE:]}) > N_SAMPLE // 2  # from all over


@given(
    parts=st.lists(
        st.dictionaries(st.text(max_size=3), st.tuples(st.integers(1, 9), st.integers(1, 9))), max_size=8
    )
)
def test_terms_merge_by_their_definition(parts):
    def counted(part):
        names = sorted(name.encode("utf-8", "surrogatepass") for name in part)
        values = np.array(
            [part[name.decode("utf-8", "surrogatepass")] for name in names], dtype=np.int64
        ).reshape(-1, 2)
        ends = np.cumsum([len(name) for name in names], dtype=np.int64)
        return TermCounts(np.frombuffer(b"".join(names), np.uint8), ends, values[:, 0], values[:, 1], 1)

    everything = {}
    for part in parts:
        for name, (df, total) in part.items():
            before = everything.get(name, (0, 0))
            everything[name] = (before[0] + df, before[1] + total)
    merged, known = merge_all_terms(map(counted, parts)), counted(everything)
    assert merged.block.tobytes() == known.block.tobytes()
    assert np.array_equal(merged.ends, known.ends)
    assert np.array_equal(merged.df, known.df)
    assert np.array_equal(merged.total, known.total)
    assert merged.n_texts == len(parts)


def test_why_there_are_no_words():
    with pytest.raises(EmptyVocabularyError, match="the corpus is empty"):
        BagOfWords().fit(TextLists([[], []]))
    with pytest.raises(EmptyVocabularyError, match="All 3 texts are empty"):
        BagOfWords().fit(TextLists([["", " "], [""]]))
    with pytest.raises(
        EmptyVocabularyError, match=re.escape("min_df=2 and max_df=1.0 leave none of 2 terms in 2 texts")
    ):
        BagOfWords(min_df=2).fit(TextLists([["corn"], ["oil"]]))
    with pytest.raises(NotTextError, match=re.escape("('corn',)")):
        BagOfWords(analyzer=lambda text: [(word,) for word in text.split()]).fit(TextLists([["corn"]]))


def test_nothing_known_in_any_part():
    words = BagOfWords().fit(["corn oil", "wheat"])
    with pytest.warns(EmptyTextWarning, match="None of 2 texts"):
        words.transform(TextLists([["zebra"], ["lion"]]))
    words.transform(TextLists([["zebra"], ["corn"]]))


def test_a_function_without_a_name_needs_a_folder_without_one(tmp_path):
    words = BagOfWords(tokenizer=lambda text: text.split())
    words.fit(TextLists([["corn oil"], ["wheat"]]))
    with pytest.raises(StoreError, match="Another process cannot know"):
        words.fit(TextLists([["corn oil"]], folder=tmp_path))


LINES = [("corn and oil", "grain"), ("the oil price", "oil"), ('say "wheat", twice', "grain")]
LINES += [("über alles", ""), ("", "oil"), ("x", "oil")]  # one without a label, one without a text


def write_table(folder, kind):
    """The same rows in a format."""
    path = folder / f"texts.{kind}"
    if kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(
            pa.table({"text": [text for text, _ in LINES], "label": [own or None for _, own in LINES]}),
            path,
            row_group_size=2,
        )
    elif kind == "jsonl":
        path.write_text(
            "".join(json.dumps({"text": text, "label": own or None}) + "\n" for text, own in LINES),
            encoding="utf-8",
        )
    else:
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter="," if kind == "csv" else "\t").writerows(
                [("text", "label"), *LINES]
            )
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("folder", [None, "run"])
def test_files(tmp_path, kind, folder):
    """Words, labels, digests and what cannot be used come from one pass over a file, and from a folder again
    without one.
    """
    path = write_table(tmp_path, kind)
    whole = read_table(path)
    known, X = in_memory({}, whole.corpus.texts)
    for _ in range(2):
        parts = TextFiles(open_parts(path, part_bytes=40), folder=folder and tmp_path / folder)
        words = BagOfWords()
        assert len(parts) >= 3
        assert_same(X, words.fit_transform(parts))
        assert words.vocabulary_ == known.vocabulary_
        assert list(parts.labels) == whole.corpus.labels
        assert np.array_equal(parts.digests, text_digests(whole.corpus.texts))
        assert parts.facts.missing == whole.missing
        assert parts.facts.n_invalid == len(whole.empty.texts) == 1
    unlabelled = TextFiles(open_parts(path, part_bytes=40), unlabelled=True)
    assert [
        text for number in range(len(unlabelled)) for text in unlabelled.read(number)
    ] == whole.unlabelled.texts
    assert unlabelled.labels is None


def test_labels_are_told_without_the_words():
    parts = TextLists([["a"], [], ["b", "c"]], [("x", "y"), "x", ()])
    assert list(parts.labels) == [("x", "y"), "x", ()]
    assert parts.labels[1] == "x"
    assert list(parts.labels[1:]) == ["x", ()]
    assert parts.n_texts == 3
    with pytest.raises(ValueError, match="labels has 1 values, but parts have 2 texts"):
        TextLists([["a", "b"]], ["x"])


def test_progress_is_reported_for_each_part():
    reports = []
    BagOfWords().fit_transform(TextLists(split(["corn oil", "wheat"] * 5, 5), progress=reports.append))
    assert reports == [0.2, 0.4, 0.6, 0.8, 1.0] * 2
