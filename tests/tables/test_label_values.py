"""Labels in several columns, or several in one."""

import pytest

from textmargin.errors import TableError
from textmargin.tables.label_values import obvious_separator
from textmargin.tables.reader import read_table


def labels_of(tmp_path, content, label, **options):
    (tmp_path / "a.csv").write_text(content)
    table = read_table(tmp_path / "a.csv", text="text", label=label, **options)
    return table.corpus.labels, table.unlabelled.texts


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("true", "False"), ("Yes", "no"), ("x", ""), ("1", "")])
def test_columns_of_yes_and_no_are_labels(tmp_path, yes, no):
    content = f"text,bug,praise\na,{yes},{no}\nb,{yes},{yes}\nc,{no},{no}\nd,{no},{yes}\n"
    assert labels_of(tmp_path, content, "bug, praise") == ([("bug",), ("bug", "praise"), (), ("praise",)], [])


def test_an_empty_cell_is_no_zero_where_there_are_zeros(tmp_path):
    assert labels_of(tmp_path, "text,a,b\none,1,0\ntwo,,1\nthree,n/a,0\n", "a,b") == (
        [("a",)],
        ["two", "three"],
    )


def test_columns_of_names_are_taken_together(tmp_path):
    content = "text,first,second\na,bug,praise\nb,bug,\nc,,\nd,n/a,n/a\ne,bug,bug\n"
    assert labels_of(tmp_path, content, "first,second") == (
        [("bug", "praise"), ("bug",), (), ("bug",)],
        ["d"],
    )


def test_a_column_whose_name_has_a_comma_is_one_column(tmp_path):
    assert labels_of(tmp_path, 'text,"a,b"\none,1\ntwo,0\n', "a,b") == (["1", "0"], [])


def test_one_of_several_columns_that_is_not_there_is_named(tmp_path):
    with pytest.raises(
        TableError, match=r"has no column 'c'. It has 'text', 'a', 'b'. Choose one with label="
    ):
        labels_of(tmp_path, "text,a,b\none,1,0\n", "a,c")


@pytest.mark.parametrize(
    ("labels", "separator"),
    [
        ({"a|b": 1, "a": 2, "b": 3}, "|"),
        ({"a, b": 1, "b, c": 2, "a, c": 3}, ","),
        ({"a|b": 1, "c": 2}, None),
        ({"I/O": 5, "disk": 5}, None),
        ({"a/b": 5, "a": 5}, None),
        ({"Rome, Italy": 2, "Paris, France": 2, "Italy": 1}, None),
        ({"a": 1, "b": 1}, None),
    ],
)
def test_a_separator_is_obvious_where_all_its_parts_recur(labels, separator):
    found = obvious_separator(labels)
    assert (found and found[0]) == separator
