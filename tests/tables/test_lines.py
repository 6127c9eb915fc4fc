"""Lines as they arrive: from files, pipes and terminals, whole, once, and no later than they are there."""

import os
import threading
import time
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables.user_files import read_flat

from textmargin import core
from textmargin.errors import TableError
from textmargin.tables import lines, streams
from textmargin.tables.chunks import FileRows, read_chunks
from textmargin.tables.dialect import Dialect
from textmargin.tables.formats import read_rows
from textmargin.tables.lines import RecordJoiner, batches
from textmargin.tables.reader import read_table
from textmargin.tables.rows import InvalidLine, Row


def records(path, *args, **bounds):
    with ExitStack() as stack:
        yield from batches(streams.open_stream(path, stack), *args, **bounds)


def test_a_record_of_many_lines_is_whole_up_to_a_bound(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text\n"' + "x\n" * 9 + '"\nafter\n')
    for bound in ({"most_lines": 9}, {"most_bytes": 19}):
        assert [line.number for batch in records(path, b",", **bound) for line in batch] == [1, 2, 12]
    for bound in ({"most_lines": 8}, {"most_bytes": 18}):
        assert [line.number for batch in records(path, b",", **bound) for line in batch] == list(range(1, 13))


@given(
    st.lists(
        st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), min_size=1),
        min_size=1,
    )
)
def test_lines_come_out_as_they_went_in(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("\n".join(texts).encode())
    found = [line.content.decode() for batch in records(path) for line in batch]
    assert found == texts


def test_a_long_line_in_small_pieces_takes_linear_time(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "AT_ONCE", 100)
    path = tmp_path / "a.txt"
    path.write_text("x" * 3_000_000)
    start = time.process_time()
    assert len(read_flat(path)[0].values["text"]) == 3_000_000
    assert time.process_time() - start < 5


def test_stray_quotes_take_no_longer_than_other_lines(tmp_path):
    path = tmp_path / "a.csv"
    # open a value if none is open, and leave one open if one is
    for line in ('a"b,"c\n', 'a","b\n', 'a,"b" c,"\n'):
        path.write_text("text,label\n" + line * 40_000)
        start = time.process_time()
        assert sum(isinstance(row, InvalidLine) for row in read_flat(path)) == 40_000
        assert time.process_time() - start < 5


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text('text,label\n"never closed,x\n' + "more,x\n" * 50)
    for most in (10, 1000):
        monkeypatch.setattr(lines.batches, "__defaults__", (None, most, 10**6))
        bad, *good = read_flat(path)
        assert bad == InvalidLine(2, bad.reason)
        assert "never closed" in bad.reason
        assert good == [Row(3 + k, {"text": "more", "label": "x"}) for k in range(50)]


STRAY = [
    (b'id,text\n1,a\n2,"stray\n3,c\n4,"quoted, d"\n5,e\n', [2, 4, 5, 6], [3]),
    (b'id\ttext\n2\t"vpn\n3\t"netz"\n', [3], [2]),
    # the quote of line 4 opens a value after all
    (b'id,text\n2,"stray\n3,c\n4,"d\nd"\n5,"e\ne"\n', [3, 4, 6], [2]),
    (b'id,text\n2,"stray\n3,c\n4,", d"\n', [3, 4], [2]),  # three values for two columns
    (b'id,text\n2,"stray\n3,"stray\n4,d', [4], [2, 3]),
    (b'sep=,\n"id","the\ntext"\n"2","stray\n"3","c"\r\n"4","d\nd"\r\n', [5, 6], [4]),
]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])  # by the core, and row by row
@pytest.mark.parametrize(("content", "rows", "invalid"), STRAY)
def test_a_stray_quote_swallowed_all_rows_up_to_the_next_quoted_cell(
    tmp_path, content, rows, invalid, encoding
):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    chunks = FileRows(read_chunks(path, Dialect(encoding=encoding), print))
    assert [[row.number for row in chunks], [line.number for line in chunks.invalid]] == [rows, invalid]
    flat = read_flat(path, encoding=encoding)
    assert flat == sorted([*chunks, *chunks.invalid])


soup = st.lists(
    st.sampled_from([b"a", b'"', b'""', b",", b'",', b',"', b'"\n', b"\n", b"\r", b"\r\n", b"sep=", b" "]),
    max_size=30,
)


@given(soup.map(b"".join), st.sampled_from([(10_000, 10**6), (2, 10**6), (10_000, 12)]), st.integers(1, 40))
def test_the_core_finds_the_records_of_the_joiner(content, bounds, n):
    splitter = core.RecordSplitter(ord(","), *bounds)
    batches = [splitter.add(content[start : start + n]) for start in range(0, len(content), n)]
    found = [batch.line(place) for batch in [*batches, splitter.finish()] for place in range(len(batch))]
    joiner = RecordJoiner(b",", *bounds)
    parts = content.split(b"\n")
    whole = parts if parts[-1] else parts[:-1]
    expected = [*joiner.add(whole), *joiner.flush()]
    assert found == expected
    assert b"\n".join(line.content for line in expected).replace(b"\r", b"") == b"\n".join(whole).replace(
        b"\r", b""
    )
    assert splitter.number == joiner.number == len(whole)


def test_a_line_without_end_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1000)
    monkeypatch.setattr(streams, "AT_ONCE", 100)
    path = tmp_path / "a.txt"
    path.write_text("short\n" + "x" * 2000)
    with pytest.raises(TableError, match=r"Line 2 of .* is longer than 1,000 bytes"):
        read_table(path)


def test_a_named_pipe_keeps_its_first_bytes(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    feeder = threading.Thread(
        target=path.write_text, args=("text,label\n" + "no toner,x\n" * 1000,), daemon=True
    )
    feeder.start()
    rows = read_flat(path)
    feeder.join()
    assert [row.number for row in rows] == list(range(2, 1002))


@pytest.mark.parametrize("at_once", [1, 2, 3, 7, 1000])
def test_however_the_bytes_arrive(csv_file, at_once, monkeypatch):
    whole = read_flat(csv_file)
    monkeypatch.setattr(streams, "AT_ONCE", at_once)
    assert read_flat(csv_file) == whole
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
    start = time.process_time()
    for batch in read_rows("-", Dialect("jsonl")):
        arrived += batch
        answered.set()
    feeder.join()
    assert time.process_time() - start < 10
    assert [row.values["text"] for row in arrived[:2]] == ["one", "two"]
    assert arrived[2] == InvalidLine(3, arrived[2].reason)
