"""Spreadsheets: what cells hold, and which sheet is read."""

import json
from datetime import date, datetime
from types import SimpleNamespace

import pytest
from tables.user_files import read_flat

from textmargin.errors import TableError
from textmargin.tables.reader import read_table
from textmargin.tables.writer import open_writer, row_columns

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

DAY, MOMENT = date(2026, 2, 1), datetime(2026, 2, 1, 14, 30)
NAMES = ("text", "n", "price", "open", "day", "moment", "code")
ROWS = [
    ("no toner", 7, 2.5, True, DAY, MOMENT, "A7"),
    ("wifi is down", 0, 10, False, DAY, datetime(2026, 2, 2), 12),
    ("vpn is slow", "", "", "", "", "", ""),
]


@pytest.fixture
def path(tmp_path):
    book = openpyxl.Workbook()
    for row in (NAMES, *ROWS):
        book.active.append([None if value == "" else value for value in row])
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_cells_have_their_types(path):
    found = [tuple(row.values.values()) for row in read_flat(path)]
    assert found == ROWS
    assert [[type(value) for value in row] for row in found] == [
        [type(value) for value in row] for row in ROWS
    ]


def test_excel_in_excel_out(path, tmp_path):
    with open_writer(tmp_path / "b.xlsx") as writer:
        writer.write(row_columns(read_flat(path)))
    assert [tuple(row.values.values()) for row in read_flat(tmp_path / "b.xlsx")] == ROWS


def test_numbers_and_dates_reach_the_other_formats(path, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    columns = row_columns(read_flat(path))
    for name in ("b.csv", "b.jsonl"):
        with open_writer(tmp_path / name) as writer:
            writer.write(columns)
    with open_writer(tmp_path / "b.parquet") as writer:
        writer.write({name: column for name, column in columns.items() if name != "code"})
    lines = (tmp_path / "b.csv").read_text().splitlines()
    assert lines[1:3] == [
        "no toner,7,2.5,true,2026-02-01,2026-02-01T14:30:00,A7",
        "wifi is down,0,10,false,2026-02-01,2026-02-02T00:00:00,12",
    ]
    assert json.loads((tmp_path / "b.jsonl").read_text().splitlines()[1])["n"] == 0
    table = pq.read_table(tmp_path / "b.parquet").to_pydict()
    assert (table["n"], table["price"], table["day"]) == ([7, 0, None], [2.5, 10, None], [DAY, DAY, None])


def test_a_number_may_be_a_text_and_a_label(path):
    table = read_table(path, text="code", label="n")
    assert (table.corpus.texts[:2], table.corpus.labels[:2]) == (["A7", "12"], ["7", "0"])


def test_a_spreadsheet_without_a_sheet_ended_in_index_error(tmp_path, monkeypatch):
    """As one is that holds charts alone."""
    empty = SimpleNamespace(from_filelike=lambda _: SimpleNamespace(sheet_names=[]))
    monkeypatch.setattr("python_calamine.CalamineWorkbook", empty)
    openpyxl.Workbook().save(tmp_path / "a.xlsx")
    with pytest.raises(TableError, match="holds no sheet of cells"):
        read_table(tmp_path / "a.xlsx")
