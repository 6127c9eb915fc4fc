"""Columns of earlier files."""

import pytest

from textmargin.errors import TableError
from textmargin.tables.reader import read_table


@pytest.fixture
def path(tmp_path):
    """Two columns each that could be the text and the label; guesses take the first of each."""
    rows = [f"first {k},second {k},{'ab'[k % 2]},{'cd'[k % 2]}" for k in range(6)]
    (tmp_path / "a.csv").write_text("\n".join(["text,body,label,topic", *rows]))
    return tmp_path / "a.csv"


@pytest.mark.parametrize(
    ("given", "usual", "columns", "notes"),
    [
        ({}, (None, None), ("text", "label"), ["text: column 'text'", "label: column 'label'"]),
        ({}, ("body", "topic"), ("body", "topic"), []),
        ({}, ("body", "gone"), ("body", "label"), ["label: column 'label'"]),
        ({"text": "text"}, ("body", "topic"), ("text", "topic"), []),
        ({"label": "body"}, ("body", "topic"), ("text", "body"), ["text: column 'text'"]),
        ({"text": "topic"}, ("body", "topic"), ("topic", "label"), ["label: column 'label'"]),
    ],
)
def test_usual_columns_come_after_those_given_and_before_guesses(path, given, usual, columns, notes):
    table = read_table(path, **given, usual=usual)
    assert ((table.text_column, table.label_column), table.notes) == (columns, notes)


def test_a_usual_label_may_differ_from_text_to_text(tmp_path):
    """It is no guess, so that many labels that occur once are what they are."""
    (tmp_path / "a.csv").write_text("text,topic\n" + "".join(f"text {k},label {k}\n" for k in range(30)))
    assert len(read_table(tmp_path / "a.csv", usual=("text", "topic")).corpus.classes) == 30
    with pytest.raises(TableError, match="are they labels"):
        read_table(tmp_path / "a.csv")
