"""Columns of texts and labels: given, guessed, or settled on the first row that arrives."""

from functools import partial

import pytest

from textmargin.errors import LabelError, TableError
from textmargin.tables.columns import column_on_arrival
from textmargin.tables.parts import open_parts
from textmargin.tables.reader import read_table
from textmargin.tables.rows import Row


def test_guesses_are_noted(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("id,Body,Topic\n1,the wifi is down,network\n2,no toner left at all,printing\n")
    table = read_table(path)
    assert table.notes == ["text: column 'Body'", "label: column 'Topic'"]
    assert read_table(path, text="Body", label="Topic").notes == []


def test_decisions_of_a_model_were_taken_for_labels_without_a_word(tmp_path):
    path = tmp_path / "decided.csv"
    path.write_text(
        "text,label,guess,score\nthe wifi is down,network,,0.5\nno toner left at all,printing,,0.25\n"
    )
    assert "a model agrees with itself" in read_table(path).notes[-1]
    assert read_table(path, label="label", text="text").notes == []


def test_columns_are_guessed_by_what_is_in_them(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(
        "nr,what,where\n"
        + "".join(f"{n},something is wrong with number {n},{'ab'[n % 2]}\n" for n in range(20))
    )
    table = read_table(path)
    assert table.notes == ["text: column 'what'", "label: column 'where'"]


def test_a_wrong_column_names_those_that_are_there(csv_file):
    with pytest.raises(
        TableError, match=r"desk.csv has no column 'topic'. It has 'text', 'label'. Choose one with label="
    ):
        read_table(csv_file, label="topic")


def test_a_column_that_must_be_chosen_comes_with_the_likeliest(tmp_path):
    path = tmp_path / "a.csv"
    rows = [
        f"{n % 2},printer {n} is out of toner,monday {n} at noon,{'ab'[n % 2]},{'xyz'[n % 3]}\n"
        for n in range(20)
    ]
    path.write_text("open,what,when,type,place\n" + "".join(rows))
    with pytest.raises(
        TableError, match=r"which one holds the text\? Choose it with text=, perhaps text='what'\."
    ):
        read_table(path)
    with pytest.raises(
        LabelError, match=r"which one holds the label\? Choose it with label=, perhaps label='type'\."
    ):
        read_table(path, text="what")


def test_what_was_found_out_is_not_lost_with_a_wrong_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("Größe;Ort\n1;a\n2;b\n".encode("cp1252"))
    for read in (read_table, partial(open_parts, target=tmp_path / "parts.parquet")):
        with pytest.raises(TableError, match=r"no column 'nope'.* \(Read so: semicolons, Windows-1252\.\)$"):
            read(path, text="nope")


def test_usual_names_in_german(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Betreff,Nachricht,Kategorie,Ort\nHilfe,kein Toner,Druck,a\nHilfe,kein Netz,Netz,b\n")
    assert read_table(path).notes == ["text: column 'Nachricht'", "label: column 'Kategorie'"]
    with pytest.raises(TableError, match=r"no column 'kategori'; did you mean 'Kategorie'\? It has"):
        read_table(path, label="kategori")


def test_a_guessed_label_that_differs_from_text_to_text_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "".join(f"hello,{n}\n" for n in range(20)))
    with pytest.raises(
        TableError, match=r"20 values in column 'label' for 20 texts.* Choose the column with label="
    ):
        read_table(path)
    assert len(read_table(path, label="label").corpus.classes) == 20
    assert len(read_table(path, labels="ignored").unlabelled) == 20


def test_the_column_of_a_stream_does_not_hang_on_what_comes_first():
    row = Row(1, {"id": "a long text of many words", "Message": "b", "note": "c"})
    assert column_on_arrival(row, "x").text == "Message"
    assert column_on_arrival(row, "x").notes == ["text: column 'Message'"]
    assert column_on_arrival(row, "x", usual="note").text == "note"
    assert column_on_arrival(row, "x", usual="note").notes == []
    assert column_on_arrival(row, "x", "id", usual="note").text == "id"
    assert column_on_arrival(Row(1, {"words": "a"}), "x", usual="note").notes == ["text: column 'words'"]
    with pytest.raises(
        TableError,
        match=r"x has no column 'nope'; did you mean 'note'\? It has 'id', .*. Choose one with text=",
    ):
        column_on_arrival(row, "x", "nope")
    with pytest.raises(
        TableError, match=r"which one holds the text\? Choose it with text=, perhaps text='id'\.$"
    ):
        column_on_arrival(Row(1, {"id": "a long text of many words", "note": "c"}), "x")
