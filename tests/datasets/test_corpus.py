import numpy as np
import pytest

from textmargin import Corpus


def corpus(**changed):
    return Corpus(
        **{
            "name": "farm",
            "texts": ["corn", "wheat and corn", "yen"],
            "labels": [("corn",), ("wheat", "corn"), ()],
            "split": ["train", "test", "train"],
            "ids": ["a", "b", "c"],
            "fields": {"year": [1, 2, 3]},
            "tables": {"words": {"word": np.array(["corn", "yen"]), "count": np.array([2, 1])}},
            **changed,
        }
    )


def test_a_part_has_its_rows_of_everything_and_whole_tables():
    part = corpus().part("train")
    assert (part.texts, part.labels, part.ids) == (["corn", "yen"], [("corn",), ()], ["a", "c"])
    assert part.fields == {"year": [1, 3]}
    assert len(part) == 2
    assert len(part.tables["words"]["word"]) == 2


def test_a_part_that_is_not_there_names_those_that_are():
    with pytest.raises(ValueError, match=r"farm has no part 'dev'. It has 'train', 'test'."):
        corpus().part("dev")


def test_without_parts_all_texts_are_one():
    whole = Corpus("notes", ["a", "b"], ["x", "y"])
    assert whole.split == ["all", "all"]
    assert whole.ids == ["0", "1"]
    assert whole.part("all").texts == whole.texts


def test_indicator_of_many_labels():
    Y, classes = corpus().indicator()
    assert classes == ["corn", "wheat"]
    assert Y.tolist() == [[1, 0], [1, 1], [0, 0]]


def test_indicator_of_chosen_labels_in_their_order():
    Y, classes = corpus().indicator(["wheat", "oats"])
    assert classes == ["wheat", "oats"]
    assert Y.tolist() == [[0, 0], [1, 0], [0, 0]]


def test_indicator_of_single_labels_leaves_out_the_empty_one():
    Y, classes = corpus(labels=["corn", "", "money"]).indicator()
    assert classes == ["corn", "money"]
    assert Y.tolist() == [[1, 0], [0, 0], [0, 1]]


def test_a_string_is_not_a_list_of_classes():
    with pytest.raises(ValueError, match=r"For one column write \['corn'\]"):
        corpus().indicator("corn")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"labels": [()]}, "farm has 3 texts but labels has 1 values"),
        ({"split": ["train"]}, "farm has 3 texts but split has 1 values"),
        ({"ids": []}, "farm has 3 texts but ids has 0 values"),
        ({"fields": {"year": [1]}}, r"farm has 3 texts but fields\['year'\] has 1 values"),
        (
            {"tables": {"words": {"word": np.zeros(2), "count": np.zeros(3)}}},
            r"columns of tables\['words'\] of farm differ",
        ),
    ],
)
def test_lengths_must_agree(changed, message):
    with pytest.raises(ValueError, match=message):
        corpus(**changed)


def test_a_corpus_shows_itself_in_one_line():
    assert repr(corpus()) == "Corpus('farm': 3 texts, 2 labels, train 2, test 1, table of 2 words)"
