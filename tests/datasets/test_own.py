"""A user's own files: every format, columns that are guessed, lines that cannot be read, and lines as they arrive."""

import gzip
import json
import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textmargin.datasets import lines
from textmargin.datasets.lines import batches
from textmargin.datasets.own import read_table
from textmargin.datasets.rows import BadLine, Row, read_rows
from textmargin.errors import TableError

ROWS = [
    ("wifi is down", "network"),
    ("no toner, again", "printing"),
    ('says "no paper"\nsince monday', "printing"),
    ("vpn slow", "network"),
]


def flat(source, **options):
    return [row for batch in read_rows(source, **options) for row in batch]


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "desk.csv"
    body = "".join('"{}",{}\n'.format(text.replace('"', '""'), label) for text, label in ROWS)
    path.write_text("text,label\n" + body)
    return path


def as_tsv(tmp_path):
    path = tmp_path / "desk.tsv"
    path.write_text("label\ttext\n" + "".join('{}\t"{}"\n'.format(label, text.replace('"', '""')) for text, label in ROWS))
    return path


def as_jsonl(tmp_path):
    path = tmp_path / "desk.jsonl"
    path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in ROWS))
    return path


def as_gzip(tmp_path):
    path = tmp_path / "desk.jsonl.gz"
    path.write_bytes(gzip.compress(as_jsonl(tmp_path).read_bytes()))
    return path


def as_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "desk.parquet"
    pq.write_table(pa.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]}), path)
    return path


def as_folder(tmp_path):
    for number, (text, label) in enumerate(ROWS):
        (tmp_path / "desk" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "desk" / label / f"{number}.txt").write_text(text)
    return tmp_path / "desk"


@pytest.mark.parametrize("write", [as_tsv, as_jsonl, as_gzip, as_parquet, as_folder])
def test_every_format_gives_the_same_texts(write, tmp_path, csv_file):
    expected = read_table(csv_file).corpus
    found = read_table(write(tmp_path)).corpus
    assert (
        sorted(zip(found.texts, found.labels, strict=True))
        == sorted(ROWS)
        == sorted(zip(expected.texts, expected.labels, strict=True))
    )


def test_line_numbers_are_those_of_an_editor(csv_file):
    assert read_table(csv_file).corpus.ids == ["2", "3", "4", "6"]


def test_guesses_are_said_aloud(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("id,Body,Topic\n1,the wifi is down,network\n2,no toner left at all,printing\n")
    table = read_table(path)
    assert table.said == ["text: column 'Body'", "label: column 'Topic'"]
    assert read_table(path, text="Body", label="Topic").said == []


def test_columns_are_guessed_by_what_is_in_them(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("nr,what,where\n" + "".join(f"{n},something is wrong with number {n},{'ab'[n % 2]}\n" for n in range(20)))
    table = read_table(path)
    assert table.said == ["text: column 'what'", "label: column 'where'"]


def test_several_labels(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("text,topics\na b c,x; y\nd e f,y\ng h i,\n")
    assert read_table(path, separator=";").corpus.labels == [("x", "y"), ("y",), ()]
    path = tmp_path / "some.jsonl"
    path.write_text('{"text": "a", "topics": ["x", "y"]}\n{"text": "b", "topics": []}\n')
    assert read_table(path).corpus.labels == [("x", "y"), ()]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv has no rows"),
        ("a.csv", "text,label\n", "a.csv has no rows"),
        ("a.csv", "text,label\nx,y,z\n", "Line 2 of .*: 3 values for 2 columns .*--skip-bad"),
        ("a.csv", "text,text\nx,y\n", "two columns 'text'"),
        ("a.csv", "text,label\nhello,\n", "Line 2 of .*: the label, column 'label', is empty"),
        ("a.csv", "a,b\n1,2\n", "which one holds the text. Choose it with --text"),
        ("a.csv", "text\nhello\n", "which one holds the label. Choose it with --label"),
        ("a.csv", b"text,label\ncaf\xe9,x\n", r"Line 2 of .*: byte 4 \(0xe9\) is not utf-8; name the encoding with --encoding"),
        ("a.csv", b"\x00\x01\x02PNG", "holds zero bytes, so it is not a text file"),
        ("a.jsonl", "{}\n[1]\n", "Line 2 of .*: not a JSON object but list"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n{', "Line 2 of .*: not JSON"),
        ("a.jsonl", '{"text": 3, "label": "b"}\n', "Line 1 of .*: 'text' is 3, not a text"),
        ("a.xyz", "text", "does not tell its format; say it with --format"),
        ("a.csv.gz", b"\x1f\x8b\x08\x00broken", "breaks off or is damaged"),
        ("a.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_what_cannot_be_read_is_explained(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TableError, match=message):
        read_table(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "nothing.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=r"holds no \.txt files"):
        read_table(tmp_path / "empty")


def test_a_wrong_column_names_those_that_are_there(csv_file):
    with pytest.raises(TableError, match=r"desk.csv has no column 'topic'. It has 'text', 'label'. Choose one with --label"):
        read_table(csv_file, label="topic")


def test_bad_lines_can_be_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\na,x\nb\ncaf\xe9,x\nc,\nd,y\n")
    table = read_table(path, skip_bad=True)
    assert table.corpus.texts == ["a", "d"]
    assert table.corpus.labels == ["x", "y"]
    assert [bad.number for bad in table.bad] == [3, 4, 5]


def test_another_encoding_and_a_mark_at_the_start(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,label\ncafé,x\n".encode("latin-1"))
    assert read_table(path, encoding="latin-1").corpus.texts == ["café"]
    path.write_bytes(b"\xef\xbb\xbftext,label\r\nhello,x\r\n")
    assert read_table(path).corpus.texts == ["hello"]


def test_a_quote_that_is_never_closed_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1000)
    path = tmp_path / "a.csv"
    path.write_text('text,label\n"never closed,x\n' + "more,x\n" * 1000)
    with pytest.raises(TableError, match=r"The record at line 2 .* a quote that is never closed"):
        read_table(path)


@given(st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), min_size=1), min_size=1))
def test_lines_come_out_as_they_went_in(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("\n".join(texts).encode())
    found = [line.content.decode() for batch in batches(path) for line in batch]
    assert found == texts


@pytest.mark.parametrize("at_once", [1, 2, 3, 7, 1000])
def test_however_the_bytes_arrive(csv_file, at_once, monkeypatch):
    whole = flat(csv_file)
    monkeypatch.setattr(lines, "_AT_ONCE", at_once)
    assert flat(csv_file) == whole
    assert all(isinstance(row, Row) for row in whole)


def test_a_line_is_there_before_the_next_one_comes(monkeypatch):
    read, write = os.pipe()
    monkeypatch.setattr("sys.stdin", os.fdopen(read, "r"))
    arrived = []
    answered = threading.Event()

    def feed():
        os.write(write, b'{"text": "one"}\n')
        assert answered.wait(10)
        os.write(write, b'{"text": "two"}\nnot json')
        os.close(write)

    feeder = threading.Thread(target=feed)
    feeder.start()
    start = time.monotonic()
    for batch in read_rows("-", "jsonl"):
        arrived += batch
        answered.set()
    feeder.join()
    assert time.monotonic() - start < 10
    assert [row.values["text"] for row in arrived[:2]] == ["one", "two"]
    assert arrived[2] == BadLine(3, arrived[2].reason)
