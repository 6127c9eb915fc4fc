"""Every dataset has the counts its description promises."""

from collections import Counter

import numpy as np
import pytest
from samples import needs_corpora

from textmargin import load_dataset
from textmargin.datasets.files import catalogue, is_ready
from textmargin.datasets.loading import dataset_names
from textmargin.datasets.reuters import modapte_topics
from textmargin.errors import TextmarginError

LARGEST = {
    **{
        "earn": (2877, 1087),
        "acq": (1650, 719),
        "money-fx": (538, 179),
        "grain": (433, 149),
        "crude": (389, 189),
    },
    **{"trade": (369, 117), "interest": (347, 131), "wheat": (212, 71), "ship": (197, 89), "corn": (181, 56)},
}


@pytest.fixture(scope="module")
def reuters():
    return load_dataset("reuters21578")


@needs_corpora
@pytest.mark.parametrize("name", sorted(set(dataset_names()) - {"desk"}))
def test_counts_are_those_of_the_catalogue(name):
    corpus, entry = load_dataset(name), catalogue()[name]
    found = {"texts": len(corpus), **corpus.splits}
    found |= {table: len(next(iter(columns.values()))) for table, columns in corpus.tables.items()}
    found |= Counter(corpus.labels) if name == "sms_spam" else {}
    assert {count: found[count] for count in entry.counts} == entry.counts
    assert (corpus.name, corpus.licence, corpus.source, corpus.about) == (
        name,
        entry.licence,
        entry.source,
        entry.about,
    )
    assert len(set(corpus.ids)) == len(corpus)


@needs_corpora
def test_reuters_in_the_modapte_split(reuters):
    train, test, topics = reuters.part("train"), reuters.part("test"), modapte_topics(reuters)
    assert len(topics) == 90
    assert len(train.classes) == 115
    Y, Y_test = (part.indicator(topics)[0] for part in (train, test))
    assert (Y.any(axis=1).sum(), Y_test.any(axis=1).sum()) == (7770, 3019)
    assert (sum(map(bool, train.labels)), sum(map(bool, test.labels))) == (7775, 3019)
    assert sum(train.fields["apte90"]) == 7770
    sizes = zip(Y.sum(axis=0), Y_test.sum(axis=0), strict=True)
    assert {topic: size for topic, size in zip(topics, sizes, strict=True) if topic in LARGEST} == LARGEST


@needs_corpora
def test_a_text_of_reuters_is_its_title_and_body(reuters):
    types = Counter(
        kind
        for kind, split in zip(reuters.fields["text_type"], reuters.split, strict=True)
        if split != "unused"
    )
    assert types == {"NORM": 11_771, "BRIEF": 1_063, "UNPROC": 68}
    assert reuters.texts[0].startswith(
        "BAHIA COCOA REVIEW Showers continued throughout the week in\nthe Bahia"
    )
    assert all(
        text == f"{title} {body}"
        for text, title, body in zip(
            reuters.texts, reuters.fields["title"], reuters.fields["body"], strict=True
        )
    )


@needs_corpora
def test_medline_has_one_query_or_none_per_text():
    corpus = load_dataset("medline")
    assert Counter(map(len, corpus.labels)) == {1: 696, 0: 337}
    Y, _ = corpus.indicator(list(corpus.tables["queries"]["id"]))
    np.testing.assert_array_equal(Y.sum(axis=0), corpus.tables["queries"]["n_relevant"])
    assert Y.sum(axis=0)[[19, 22]].tolist() == [39, 39]


@needs_corpora
def test_webqamgaze_trains_where_somebody_read():
    corpus = load_dataset("webqamgaze")
    words, train = corpus.tables["words"], corpus.part("train")
    assert set(train.ids) <= set(words["doc_id"])
    assert not set(corpus.part("test").ids) & set(words["doc_id"])
    assert set(words["reader"]) == set(corpus.tables["readers"]["reader"])
    assert (words["fixcount"] > 0).sum() == 83_089
    assert (words["word"] == "").sum() == 865
    assert len({*zip(words["doc_id"], words["reader"], words["task"], strict=True)}) == 2_055
    assert corpus.part("unused").labels == [""] * 4
    assert Counter(train.labels)["Geography and places"] == 24
    assert Counter(corpus.tables["readers"]["recruited"]) == {"mturk": 179, "volunteer": 19, "lab": 10}


@needs_corpora
def test_zuco_in_four_sets():
    corpus = load_dataset("zuco")
    gaze = {name: sum(corpus.part(name).fields["has_gaze"]) for name in corpus.splits}
    assert gaze == {"Z1NR": 286, "Z1SR": 386, "Z2NR": 341, "Z2TSR": 0}
    assert Counter(corpus.part("Z1SR").labels) == {("positive",): 140, ("neutral",): 137, ("negative",): 123}
    assert sum(corpus.part("Z2TSR").fields["also_in_gaze_set"]) == 99
    assert len(corpus.part("Z1NR").classes) == 11
    assert "None" in corpus.tables["words"]["word"], "a word, not a missing value"


@needs_corpora
def test_eye_movements_are_words_without_texts():
    words = load_dataset("eye_movements").tables["words"]
    assert len(words) == 28
    assert np.bincount(words["label"]).tolist() == [3804, 4262, 2870]
    assert len(set(words["assgNo"])) == 336


@needs_corpora
def test_wikipedia_has_keywords_for_every_category():
    corpus = load_dataset("wikipedia25")
    assert sorted(corpus.keywords) == corpus.classes
    assert len(corpus.classes) == 25
    assert (
        sum(not seed for seed in dict(zip(corpus.labels, corpus.fields["in_seed"], strict=True)).values())
        == 6
    )


@needs_corpora
def test_every_file_is_ready():
    assert all(map(is_ready, catalogue().values()))


def test_desk_comes_with_the_package(monkeypatch):
    monkeypatch.delenv("TEXTMARGIN_DATA", raising=False)
    corpus = load_dataset("desk")
    assert set(corpus.keywords) == set(corpus.classes) == set(corpus.tables["costs"]["topic"])
    assert {"train", "test"} <= set(corpus.splits)
    for text, marks in zip(corpus.texts, corpus.fields["marks"], strict=True):
        assert all(0 <= start < end <= len(text) for start, end in marks or [])


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        TextmarginError,
        match=r"There is no dataset 'reuter'. Nearest: 'reuters21578'. Names: 'desk', 'eye_movements'",
    ):
        load_dataset("reuter")
    with pytest.raises(TextmarginError, match=r"There is no dataset 'zzz'. Names:"):
        load_dataset("zzz")


def test_catalogue_and_readers_agree():
    assert sorted(catalogue()) == dataset_names()
    assert all(len(file.sha256) == 64 for entry in catalogue().values() for file in entry.files)
