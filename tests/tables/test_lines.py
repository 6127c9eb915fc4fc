"""Lines as they arrive: from files, pipes and terminals, whole, once, and no later than they are there."""

import os
import threading
import time
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables.user_files import read_flat

from textmargin.errors import TableError
from textmargin.tables import lines, streams
from textmargin.tables.dialect import Dialect
from textmargin.tables.formats import read_rows
from textmargin.tables.lines import batches
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


@given(st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), min_size=1), min_size=1))
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
    path.write_text("text,label\n" + 'a"b,"c\n' * 40_000)  # opens a value if none is open, and leaves one open if one is
    start = time.process_time()
    assert len(read_flat(path)) == 40_000
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
    feeder = threading.Thread(target=path.write_text, args=("text,label\n" + "no toner,x\n" * 1000,), daemon=True)
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
