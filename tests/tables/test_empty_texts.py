"""Rows whose text is empty: nothing is learnt from them, nothing decided, and none vanishes."""

import csv
import json

import pytest
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.errors import TableError
from textmargin.tables.formats import read_rows
from textmargin.tables.parts import open_parts
from textmargin.tables.reader import read_table, stream_texts
from textmargin.tables.rows import EmptyText, Row

ROWS = [("wifi is down", "network"), ("", "network"), ("no toner", "printing"), ("  ", "")] * 5


@pytest.fixture(params=["csv", "jsonl"])
def path(request, tmp_path):
    path = tmp_path / f"a.{request.param}"
    if request.param == "csv":
        path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS))
    else:
        path.write_text(
            "".join(json.dumps({"text": text or None, "label": label}) + "\n" for text, label in ROWS)
        )
    return path


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_they_are_left_out_and_counted(path):
    table = read_table(path)
    assert (len(table.corpus), len(table.unlabelled), len(table.empty)) == (10, 0, 10)
    assert table.notes[-1] == "10 rows have no text; left out"
    assert set(table.empty.labels) == {"network", ""}


def test_in_a_stream_they_stand_in_their_place(path):
    (batch,) = stream_texts(read_rows(path), path)
    assert batch.texts == ["wifi is down", "no toner"] * 5
    assert [type(row) for row in batch.rows] == [Row, EmptyText] * 10


def test_in_parts_they_are_lines_that_are_left_out(path, tmp_path):
    table = open_parts(path, tmp_path / "parts.parquet")
    assert table.n_invalid == 10
    assert table.invalid[0].reason == f"the text, column 'text', is empty ({path.name})"


def test_a_column_without_a_single_text_is_the_wrong_one(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n,x\n ,y\n")
    with pytest.raises(
        TableError,
        match=r"All rows of .* are empty in column 'text'. Choose the column of the texts with text=",
    ):
        read_table(tmp_path / "a.csv")


def test_predict_gives_every_row_back(path, tmp_path):
    assert call("train", path, "-o", tmp_path / "m.tmm").exit_code == 0
    predicted = call("predict", tmp_path / "m.tmm", path, "-o", tmp_path / "b.csv")
    assert predicted.exit_code == 0, predicted.output
    assert "10 rows have no text, and no decision" in predicted.stderr
    with (tmp_path / "b.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [row["text"].strip() for row in rows] == [text.strip() for text, _ in ROWS]
    decided = [bool(row["score"]) for row in rows]
    assert decided == [True, False] * 10
    assert not any(row["predicted_label"] or row["guess"] or row["confidence"] for row in rows[1::2])


def test_where_no_row_has_a_text_there_is_no_file(path, tmp_path):
    call("train", path, "-o", tmp_path / "m.tmm")
    (tmp_path / "b.csv").write_text("text,label\n,x\n")
    predicted = call("predict", tmp_path / "m.tmm", tmp_path / "b.csv", "-o", tmp_path / "c.csv")
    assert (predicted.exit_code, (tmp_path / "c.csv").exists()) == (2, False)
    assert "none could be decided on" in predicted.stderr


def test_check_still_finds_them(path):
    found = call("check", path, "--no-doubts", "--json")
    assert sum(one["kind"] == "empty" for one in json.loads(found.stdout)["findings"]) == 10
