"""`BagOfWords` on texts in parts is `BagOfWords` on all of them, and a run that is killed goes on."""

import errno
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textmargin import BagOfWords, load_dataset
from textmargin.errors import EmptyTextWarning, EmptyVocabularyError, NotTextError, StoreError, TableError
from textmargin.representations.digests import text_digests
from textmargin.representations.languages import N_SAMPLE, TextSample, sample_texts
from textmargin.representations.term_counts import TermCounts, merge_all_terms
from textmargin.scale import Blocks, TextFiles
from textmargin.tables.reader import read_table

DESK = load_dataset("desk")
SETTINGS = [
    {},
    {"weight": "count"},
    {"stop_words": ["screen"]},
    {"extra_terms": ["the", "zebra", "42"]},
    {"max_features": 50},
    {"min_df": 2, "max_df": 0.5},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2)},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "letters"},
    {"vocabulary": ["printer", "password", "zebra"]},
    {"analyzer": str.split, "max_features": 40},
]


def assert_same(X, blocks):
    """The same rows, in single precision."""
    assert blocks.shape == X.shape
    np.testing.assert_allclose(blocks[:].toarray(), X.toarray(), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_vocabulary_and_rows_are_those_of_memory(parameters, in_parts, cut):
    known, words = BagOfWords(**parameters), BagOfWords(**parameters)
    X = known.fit_transform(DESK.texts)
    parts = in_parts(cut(DESK.texts, [1, 40, 40, 200]))
    assert_same(X, words.fit_transform(parts))
    assert words.vocabulary_ == known.vocabulary_
    np.testing.assert_allclose(words.idf_, known.idf_)
    assert (words.n_texts_, words.language_) == (known.n_texts_, known.language_)
    assert_same(X, words.transform(parts))


def test_stop_words_are_those_of_all_texts_not_of_the_first_part(in_parts):
    german = ["Die Rechnung ist nicht bei mir angekommen und der Toner ist leer"] * 3
    english = ["The invoice is wrong and the toner is not in the box"] * 30
    words = BagOfWords()
    X = words.fit_transform(in_parts([german, english]))
    assert words.language_ == "english"
    assert_same(BagOfWords().fit_transform(german + english), X)
    assert "die" in words.vocabulary_
    assert "the" not in words.vocabulary_


def test_the_sample_is_the_same_however_texts_are_cut(cut):
    everything = [f"text number {i}" for i in range(3 * N_SAMPLE)] + ["text number 1"] * 50
    for places in ([], [7, 900], range(0, 3000, 60)):
        assert TextSample.join(map(TextSample.draw, cut(everything, places))).texts == sample_texts(
            everything
        )


@given(
    parts=st.lists(
        st.dictionaries(st.text(max_size=3), st.tuples(st.integers(1, 9), st.integers(1, 9))), max_size=8
    )
)
def test_terms_merge_by_their_definition(parts):
    def counted(part):
        names = sorted(name.encode("utf-8", "surrogatepass") for name in part)
        values = [part[name.decode("utf-8", "surrogatepass")] for name in names]
        df, total = np.array(values, dtype=np.int64).reshape(-1, 2).T
        ends = np.cumsum([len(name) for name in names], dtype=np.int64)
        return TermCounts(np.frombuffer(b"".join(names), np.uint8), ends, df, total, 1)

    everything = {}
    for part in parts:
        for name, own in part.items():
            everything[name] = tuple(np.add(everything.get(name, (0, 0)), own).tolist())
    merged, known = merge_all_terms(map(counted, parts)), counted(everything)
    assert merged.block.tobytes() == known.block.tobytes()
    assert merged.df.tolist() == known.df.tolist()
    assert merged.total.tolist() == known.total.tolist()


def test_why_there_are_no_words(in_parts):
    with pytest.raises(
        EmptyVocabularyError, match=re.escape("min_df=2 and max_df=1.0 leave none of 2 terms")
    ):
        BagOfWords(min_df=2).fit(in_parts([["corn"], ["oil"]]))
    with pytest.raises(NotTextError, match=re.escape("('corn',)")):
        BagOfWords(analyzer=lambda text: [(word,) for word in text.split()]).fit(in_parts([["corn"]]))
    with pytest.raises(TableError, match="has no rows"):
        in_parts([[]])
    with pytest.raises(TableError, match="There is no file"):
        TextFiles("nowhere.csv")


def test_nothing_known_in_any_part_is_warned_of(in_parts):
    words = BagOfWords().fit(["corn oil", "wheat"])
    with pytest.warns(EmptyTextWarning, match="None of 2 texts"):
        words.transform(in_parts([["zebra"], ["lion"]]))


def test_what_is_known_of_the_texts_is_what_the_whole_file_says(tmp_path):
    lines = [("corn and oil", "grain"), ("the oil price", "oil"), ("wheat", None), ("", "oil"), ("x", "n/a")]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text, "label": own}) + "\n" for text, own in lines))
    whole, parts = read_table(path), TextFiles(path, part_bytes=10)
    assert len(parts) >= 3
    assert list(parts.labels) == whole.corpus.labels
    assert np.array_equal(parts.digests, text_digests(whole.corpus.texts))
    assert parts.table.missing == whole.missing
    assert parts.table.n_invalid == len(whole.empty.texts) == 1
    others = parts.unlabelled
    assert [text for number in range(len(others)) for text in others.read(number)] == whole.unlabelled.texts
    assert others.labels is None


def test_progress_is_reported(in_parts):
    reports = []
    BagOfWords().fit_transform(in_parts([["corn oil"], ["wheat"]] * 3, progress=reports.append))
    assert reports.count(1.0) == 3  # reading, words, matrix
    assert len(reports) > 6


# A run that is interrupted


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def fit(source, folder, **settings):
    return BagOfWords(**settings).fit_transform(TextFiles(source, folder=folder, part_bytes=2000))


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "desk.jsonl"
    rows = [{"text": text, "label": own} for text, own in zip(DESK.texts, DESK.labels, strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_second_run_takes_what_is_there(tmp_path, source):
    known = fit(source, tmp_path / "run")[:].toarray()
    before = files(tmp_path / "run")
    assert np.array_equal(fit(source, tmp_path / "run")[:].toarray(), known)
    assert files(tmp_path / "run") == before
    assert fit(source, tmp_path / "run", min_df=2).shape[1] < known.shape[1]
    after = files(tmp_path / "run")
    assert after["texts.parquet"] == before["texts.parquet"]
    assert len(after) == len(before)  # nothing of other settings stays
    source.write_text(source.read_text().replace("printer", "plotter"))
    X = fit(source, tmp_path / "run")
    assert_same(BagOfWords().fit_transform(read_table(source).corpus.texts), X)


@pytest.mark.parametrize("after", range(3))
def test_a_full_disk_names_the_folder_and_the_next_run_goes_on(tmp_path, monkeypatch, source, after):
    calls, sync = iter(range(10**6)), os.fsync

    def fsync(handle):
        if next(calls) >= after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(StoreError, match=r"run: No space left.*Free some space") as error:
            fit(source, tmp_path / "run")
    assert str(tmp_path / "run") in str(error.value)
    assert not list(tmp_path.glob("run/.*.part"))
    assert_same(BagOfWords().fit_transform(DESK.texts), fit(source, tmp_path / "run"))


def test_killed_at_any_moment(tmp_path, source):
    """kill -9 as soon as there is some file, then again with the same folder: the matrix of memory."""
    run = (
        "import sys; from textmargin import BagOfWords; from textmargin.scale import TextFiles;"
        "BagOfWords().fit_transform(TextFiles(sys.argv[1], folder=sys.argv[2], part_bytes=2000))"
    )
    for number, pattern in enumerate((".*.part", "*.starts")):
        folder = tmp_path / str(number)
        process = subprocess.Popen([sys.executable, "-c", run, str(source), str(folder)])
        while process.poll() is None and not any(folder.glob(pattern)):
            pass
        process.kill()
        process.wait()
        assert_same(BagOfWords().fit_transform(DESK.texts), fit(source, folder))
        assert not list(folder.glob(".*.part"))


def test_a_folder_is_one_run_s_and_goes_if_nothing_else_is_in_it(tmp_path, source):
    X = fit(source, tmp_path / "run")
    with pytest.raises(StoreError, match="in use by another run"):
        fit(source, tmp_path / "run")
    (tmp_path / "run" / "thesis.tex").write_text("…")
    X.delete()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.tex"]
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be written to .*file"):
        fit(source, tmp_path / "file")


def test_a_temporary_folder_goes_with_the_matrix():
    X = Blocks([np.eye(2)], 2)
    folder = X.store.folder
    assert folder.exists()
    del X
    assert not folder.exists()
