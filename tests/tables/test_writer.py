"""What is written can be read again, in every format; and a file is whole, or not there."""

import csv
import datetime
import io
import sys

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textmargin.errors import OutputError, TableError
from textmargin.tables import _excel_writer
from textmargin.tables.decision_columns import free_names
from textmargin.tables.formats import Row, read_rows
from textmargin.tables.reader import read_table
from textmargin.tables.writer import open_writer, output_format, row_columns

TEXT = [
    "no toner,\nagain",
    'the "vpn"',
    "tab\there",
    " blank ",
    "carriage\rreturn\r\n",
    "ümläut 🖨",
    "=1+1",
    "-5",
    "x",
]
LABEL = ["a", "b", "a", "b", "a", "b", "a", "b", "b"]
# a file with zero bytes is no text file
CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def write(path, *batches, **settings):
    with open_writer(path, **settings) as writer:
        for batch in batches:
            if not isinstance(batch, dict):
                raise batch
            writer.write(batch)
    return writer.notes


def read(path):
    return [row.values for batch in read_rows(path) for row in batch]


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.tab", "t.jsonl", "t.ndjson", "t.parquet", "t.csv.gz", "t.tsv.gz"]
)
def test_texts_and_labels_come_back(tmp_path, name):
    parts = ({"text": TEXT[part], "label": LABEL[part]} for part in (slice(4), slice(4, None)))
    notes = write(tmp_path / name, *parts, keep_formulas=True)
    corpus = read_table(tmp_path / name).corpus
    assert (corpus.texts, corpus.labels, notes) == (TEXT, LABEL, [])


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1), st.sampled_from(["csv", "tsv"]))
def test_any_cells_come_back(tmp_path_factory, rows, suffix):
    path = tmp_path_factory.mktemp("cells") / f"t.{suffix}"
    columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows], "n": list(range(len(rows)))}
    write(path, columns, keep_formulas=True)
    assert [(row["a"], row["b"]) for row in read(path)] == rows


@given(st.lists(CELLS))
def test_no_cell_is_a_formula_and_the_others_are_as_they_were(cells):
    stream = io.StringIO(newline="")
    with open_writer(stream) as writer:
        writer.write({"a": cells, "b": cells}, trusted=["b"])
    stream.seek(0)
    rows = list(csv.reader(stream))[1:]
    assert [row[1] for row in rows] == cells
    for (ours, _), own in zip(rows, cells, strict=True):
        assert ours in (own, f"'{own}")
        harmless = not ours.startswith(("=", "+", "-", "@", "\t", "\r"))
        assert harmless or not any(
            letter.isalpha() for letter in ours.rstrip("0123456789").removesuffix("e").removesuffix("E")
        )
        assert ours == own or own.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("cell", ["-5", "+49 (170) 12-34", "-1.5e-3", "-", "--", "-5,3 %", "a=b", "", "'=x"])
def test_numbers_and_telephones_are_no_formulas(cell, tmp_path):
    assert write(tmp_path / "t.csv", {"a": [cell]}) == []
    assert read(tmp_path / "t.csv") == ([{"a": cell}] if cell else [{"a": ""}])


def test_a_column_may_be_called_like_a_formula(tmp_path):
    notes = write(tmp_path / "t.tsv", {"=x": ["y"]})
    assert (tmp_path / "t.tsv").read_text() == "'=x\ny\n"
    assert notes[0].startswith("an apostrophe stands before 1 cell that a spreadsheet would run")


def test_values_that_are_no_text(tmp_path):
    moment = datetime.datetime(2026, 5, 4, 3, 2, 1)
    values = [None, float("nan"), float("inf"), True, 2.5, ["a", "b"], {"x": [1]}, moment, b"\0"]
    write(tmp_path / "t.csv", {"v": values, "n": [0] * 9})
    assert [row["v"] for row in read(tmp_path / "t.csv")] == [
        *("", "", "inf", "true", "2.5", "a;b", '{"x": [1]}', "2026-05-04T03:02:01", "AA==")
    ]
    write(tmp_path / "t.jsonl", {"v": values})
    assert [row["v"] for row in read(tmp_path / "t.jsonl")] == [
        *(None, None, float("inf"), True, 2.5, ["a", "b"], {"x": [1]}, "2026-05-04T03:02:01", "AA==")
    ]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_half_a_character_does_not_stop_a_run(tmp_path, name):
    r"""JSON may say \ud800, which no encoding has bytes for."""
    write(tmp_path / name, {"text": ["\ud800x"], "n": [1]})
    assert read(tmp_path / name)[0]["text"] == ("\ud800x" if name == "t.jsonl" else r"\ud800x")


def test_rows_with_other_columns():
    rows = [Row(1, {"a": 1, "b": 2}), Row(2, {"a": 3, "c": 4})]
    streams = {kind: io.StringIO() for kind in ("csv", "jsonl")}
    for kind, stream in streams.items():
        with open_writer(stream, kind) as writer:
            writer.write(row_columns(rows))
            writer.write(row_columns([Row(3, {"b": 5, "d": 6})]))
    assert streams["csv"].getvalue() == "a,b,c\n1,2,\n3,,4\n,5,\n"
    assert streams["jsonl"].getvalue() == '{"a": 1, "b": 2}\n{"a": 3, "c": 4}\n{"b": 5, "d": 6}\n'


def test_a_table_without_rows(tmp_path):
    for name in ("t.csv", "t.parquet", "t.xlsx"):
        write(tmp_path / name, {"a": [], "b": []})
    assert (tmp_path / "t.csv").read_text() == "a,b\n"
    assert pq.read_table(tmp_path / "t.parquet").column_names == ["a", "b"]
    assert [cell.value for cell in openpyxl.load_workbook(tmp_path / "t.xlsx").active[1]] == ["a", "b"]


def test_excel_holds_text_and_numbers_but_no_formulas(tmp_path):
    day = datetime.datetime(2026, 5, 4)
    texts = ["=1+1", "#N/A", "-5", "a\nb", "", None, "x\x07", "y" * 40_000]
    numbers = [1, 2.5, True, day, float("nan"), 10**17, ["a", "b"], day.replace(tzinfo=datetime.UTC)]
    notes = write(tmp_path / "t.xlsx", {"text": texts, "=n": numbers})
    rows = list(openpyxl.load_workbook(tmp_path / "t.xlsx").active.rows)
    assert all(cell.data_type != "f" for row in rows for cell in row)
    assert [row[0].value for row in rows[1:]] == [
        "=1+1",
        "#N/A",
        "-5",
        "a\nb",
        None,
        None,
        "x\ufffd",
        "y" * 32_767,
    ]
    assert [row[1].value for row in rows] == [
        *("=n", 1, 2.5, True, day, None, "100000000000000000", "a;b", "2026-05-04T00:00:00+00:00")
    ]
    assert notes == [
        "cells cut to 32,767 characters, the most that Excel takes: 1",
        "cells with characters that Excel cannot hold, written as \ufffd: 1",
    ]


def test_more_rows_than_a_sheet_has(tmp_path, monkeypatch):
    monkeypatch.setattr(_excel_writer, "_MOST_ROWS", 3)
    write(tmp_path / "t.xlsx", {"a": [1, 2]})
    with pytest.raises(TableError, match=r"room for 2 rows; write \.csv or \.parquet"):
        write(tmp_path / "u.xlsx", {"a": [1, 2, 3]})
    assert [path.name for path in tmp_path.iterdir()] == ["t.xlsx"]


def test_a_column_of_parquet_has_one_type(tmp_path):
    with pytest.raises(
        TableError, match=r"column 'a' has values of several types, from row 1 on; .* write JSON lines"
    ):
        write(tmp_path / "t.parquet", {"a": [1, "x"]})
    with pytest.raises(TableError, match="from row 10,001 on"):
        write(tmp_path / "t.parquet", {"a": [1] * 10_000}, {"a": ["x"]})
    assert list(tmp_path.iterdir()) == []


def test_nothing_but_null_is_text_in_parquet(tmp_path):
    write(tmp_path / "t.parquet", {"a": [None] * 10_000, "b": [[]] * 10_000}, {"a": ["x"], "b": [["y"]]})
    table = pq.read_table(tmp_path / "t.parquet")
    assert table.schema.types == [pa.string(), pa.list_(pa.string())]
    assert table.to_pylist()[-1] == {"a": "x", "b": ["y"]}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.parquet", "t.xlsx"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_half_a_file_is_none(tmp_path, name, error):
    with pytest.raises(error):
        write(tmp_path / name, {"a": list(range(30_000))}, error)
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / name, {"a": [1]})
    whole = (tmp_path / name).read_bytes()
    with pytest.raises(error):
        write(tmp_path / name, {"a": [2]}, error)
    assert (tmp_path / name).read_bytes() == whole


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.xlsx"])
def test_a_full_disk_is_told(tmp_path, name, monkeypatch):
    monkeypatch.setattr("textmargin._system.writing.os.fsync", fail)
    with pytest.raises(OutputError, match=r"cannot be written: No space left on device.*; free some space"):
        write(tmp_path / name, {"a": [1]})
    assert list(tmp_path.iterdir()) == []


def test_what_goes_wrong_elsewhere_is_not_said_of_the_file(tmp_path):
    with pytest.raises(OSError, match="Input/output error") as error:
        write(tmp_path / "t.csv", {"a": [1]}, OSError(5, "Input/output error"))
    assert type(error.value) is OSError
    assert list(tmp_path.iterdir()) == []


def fail(*_):
    raise OSError(28, "No space left on device")


def test_packed_files_of_the_same_rows_are_the_same(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write(tmp_path / name, {"a": [1]})
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


@pytest.mark.parametrize("name", ["t", "t.json", "t.gz", "t.parquet.gz", "t.csv.xz", "t.doc"])
def test_names_that_tell_no_format(name):
    with pytest.raises(TableError, match=r"end its name with \.csv, \.tsv, \.jsonl, \.parquet or \.xlsx"):
        output_format(name)


@pytest.mark.parametrize(
    ("name", "module", "extra"), [("t.xlsx", "openpyxl", "excel"), ("t.parquet", "pyarrow", "parquet")]
)
def test_a_package_that_is_not_there(tmp_path, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TableError, match=rf"not installed: pip install 'textmargin\[{extra}\]'"):
        write(tmp_path / name, {"a": [1]})
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_free():
    assert free_names(["label", "score"], ["label", "predicted_label"]) == {
        "label": "predicted_predicted_label",
        "score": "score",
    }
