"""Rows of every format, and what is said of lines that cannot be read."""

import csv
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables.user_files import read_flat

from textmargin.errors import TableError
from textmargin.tables import streams
from textmargin.tables.dialect import Dialect
from textmargin.tables.formats import read_rows
from textmargin.tables.reader import read_table
from textmargin.tables.record_stream import RecordUse, stream_records
from textmargin.tables.rows import Blank, InvalidLine, Row


@given(
    st.lists(st.tuples(*[st.text(st.sampled_from('a",\n '), max_size=6)] * 2), min_size=1),
    st.sampled_from([1, 2, 5, 1000]),
)
def test_what_csv_writes_is_read_again(tmp_path_factory, rows, at_once):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([("one", "two"), *rows])
    path.write_bytes(written.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "AT_ONCE", at_once)
        assert [tuple(row.values.values()) for row in read_flat(path)] == rows


@pytest.mark.parametrize("encoding", ["UTF-8", "utf8", "U8", "utf-8-sig"])
def test_a_mark_at_the_start_however_utf_8_is_spelt(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"text","label"\nhello,x\n')
    assert read_flat(path, encoding=encoding) == [Row(2, {"text": "hello", "label": "x"})]


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("nonsense", "The encoding 'nonsense' is not known"),
        ("hex", "The encoding 'hex' is not known"),
        ("gkb", r"'gkb' is not known; did you mean 'gbk'\? .* gb18030 \(Chinese\)"),
        ("utf-16", r"a.csv is not utf-16; name another with encoding="),
    ],
)
def test_an_encoding_that_cannot_be_read_is_named(encoding, message, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nhello,x\n")
    with pytest.raises(TableError, match=message):
        read_table(path, dialect=Dialect(encoding=encoding))


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "shift_jis", "gb18030", "koi8-r", "cp037", "iso-2022-jp", "utf-32-be"]
)
def test_encodings_whether_they_keep_ascii_or_not(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,label\nhello,x\n".encode(encoding))
    assert read_table(path, dialect=Dialect(encoding=encoding)).corpus.texts == ["hello"]


def test_another_encoding_and_a_mark_at_the_start(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,label\ncafé,x\n".encode("latin-1"))
    assert read_table(path, dialect=Dialect(encoding="latin-1")).corpus.texts == ["café"]
    path.write_bytes(b"\xef\xbb\xbftext,label\r\nhello,x\r\n")
    assert read_table(path).corpus.texts == ["hello"]


@pytest.mark.parametrize(("name", "start"), [("a.csv", "The first line of"), ("a.txt", "Line 1 of")])
def test_line_ends_of_old_macs_are_explained(name, start, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"text,label\rhello,x\r")
    with pytest.raises(
        TableError, match=rf"{start} .*a carriage return stands inside the line.* tr '\\r' '\\n'"
    ):
        read_table(path)


def test_text_after_a_closing_quote_is_explained(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,label\n"wifi" is down,x\nno toner,y\n')
    bad, good = read_flat(path)
    assert bad == InvalidLine(
        2, "a value goes on after its closing quote; inside a quoted value, quotes are doubled"
    )
    assert good.number == 3


def test_an_inch_mark_does_not_swallow_the_lines_after_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,label\nmy 5" screen is dark,x\nno toner,y\na 3" gap,x\n"a 2"" gap, again",y\n')
    corpus = read_table(path).corpus
    assert corpus.texts == ['my 5" screen is dark', "no toner", 'a 3" gap', 'a 2" gap, again']
    assert corpus.labels == ["x", "y", "x", "y"]


def test_a_text_longer_than_the_csv_module_likes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "x" * 200_000 + ",y\n")
    assert len(read_table(path).corpus.texts[0]) == 200_000


def test_a_hundred_thousand_brackets_are_an_invalid_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("[" * 100_000 + '\n{"text": "a"}\n')
    bad, good = read_flat(path)
    assert bad == InvalidLine(1, "not JSON: its brackets are nested too deep")
    assert good == Row(2, {"text": "a"})


def test_a_closed_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(TableError, match="Standard input is closed"):
        read_rows("-")


@pytest.mark.parametrize("file_format", ["parquet", "folder"])
def test_standard_input_is_no_parquet_and_no_folder(file_format):
    with pytest.raises(TableError, match=f"Standard input cannot be read as {file_format}"):
        read_rows("-", Dialect(file_format))


def test_parquet_whose_text_is_no_utf8_ended_in_a_traceback(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    damaged = pa.array([b"printer", b"\xe0\xb7"]).view(pa.string())  # which nothing checks
    pq.write_table(pa.table({"text": damaged}), tmp_path / "a.parquet")
    with pytest.raises(TableError, match=r"a.parquet cannot be read as Parquet: 'utf-8' codec can't decode"):
        read_flat(tmp_path / "a.parquet")


def test_blank_lines_are_not_lost_in_silence(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nhello\n\nyou\n  \n")
    assert sorted(read_flat(path)) == [Row(2, {"text": "hello"}), Blank(3), Row(4, {"text": "you"}), Blank(5)]
    path = tmp_path / "a.txt"
    path.write_text("hello\n\nyou\n")
    assert read_flat(path) == [Row(1, {"text": "hello"}), Blank(2), Row(3, {"text": "you"})]


@pytest.mark.parametrize(
    ("name", "content", "number"),
    [
        ("a.csv", b"id,text\n1,a\n2,b\0\n3,c\n", 3),
        ("a.tsv", b"id\ttext\n1\ta\n2\t\0b\n3\tc\n", 3),
        ("a.jsonl", b'{"text": "a"}\n{"text": "b\0"}\n{"text": "c"}\n', 2),
        ("a.txt", b"a\nb\0\nc\n", 2),
    ],
)
def test_one_zero_byte_refused_a_whole_file_of_a_known_encoding(tmp_path, name, content, number):
    path = tmp_path / name
    path.write_bytes(content)
    for encoding in ("utf-8", "cp1252"):
        table = read_table(
            path, dialect=Dialect(encoding=encoding), text="text", labels="ignored", skip_invalid=True
        )
        assert table.unlabelled.texts == ["a", "c"]
        assert table.invalid == [InvalidLine(number, "it holds zero bytes")]
        streamed = [
            row
            for batch in stream_records(path, RecordUse(), Dialect(encoding=encoding))
            for row in batch.invalid
        ]
        assert streamed == table.invalid
    with pytest.raises(TableError, match="encoding='utf-8', with which such lines alone"):
        read_table(path, text="text", labels="ignored", skip_invalid=True)


def test_a_folder_that_went_away_while_its_files_were_looked_for_ended_in_a_traceback(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_text("wheat")
    (tmp_path / "gone").mkdir()
    scan = os.scandir

    def without(path="."):
        if Path(path).name == "gone":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", without)
    (row,) = (row for rows in read_rows(tmp_path) for row in rows)
    assert row.values["label"] == "a"
