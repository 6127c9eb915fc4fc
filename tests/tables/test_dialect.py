"""How a file is written is found out from its first bytes, and said."""

import os
import threading

import pytest
from tables.user_files import read_flat

from textmargin.errors import TableError
from textmargin.tables import streams
from textmargin.tables.dialect import Dialect, describe, find_dialect
from textmargin.tables.formats import read_rows
from textmargin.tables.parts import open_parts
from textmargin.tables.reader import read_table
from textmargin.tables.rows import InvalidLine, Row


def piped(monkeypatch, content, dialect=None, names=()):
    """Rows of standard input, to which lines come one by one, and what is said of them."""
    read, write = os.pipe()
    monkeypatch.setattr("sys.stdin", os.fdopen(read, "r"))

    def feed():
        for line in content.splitlines(keepends=True):
            os.write(write, line)
        os.close(write)

    feeder = threading.Thread(target=feed)
    feeder.start()
    log = []
    rows = [row for batch in read_rows("-", dialect, log.append, names) for row in batch]
    feeder.join()
    return rows, log


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("text,label\na;b;c,x\nd;e;f,y\n", ","),
        ("text;label\na, b;x\nc, d;y\n", ";"),
        ("a, b;x;1\nc, d;y;2\n", ";"),
        ("1,5;x;2,5\n2,5;y;3,5\n", ";"),
        ("text\tlabel\na;b,c\tx\n", "\t"),
        ('"a;b"|"c;d"\n"e;f"|"g;h"\n', "|"),
        ("text\nhello, you\nthere\n", ","),
        ("sep=|\na;b\n", "|"),
    ],
)
def test_the_delimiter_is_the_one_that_cuts_all_lines_alike(content, delimiter):
    assert find_dialect(content.encode(), Dialect("csv"), "a.csv").delimiter == delimiter


def test_nothing_is_said_of_the_usual_nor_of_what_was_given():
    usual = find_dialect(b"text,label\na,b\n", Dialect("csv"), "a.csv")
    assert usual == Dialect("csv", "utf-8", ",", True)
    assert describe(usual, Dialect("csv")) == ""
    given = Dialect("csv", "cp1252", ";", False)
    assert describe(find_dialect(b"a;b\n", given, "a.csv"), given, ["1", "2"]) == ""


def test_a_header_that_no_value_below_resembles_is_one(tmp_path):
    rows = [f"some words that make a text {k},{'ab'[k % 2]}" for k in range(8)]
    assert find_dialect(
        "\n".join(["what the customer wrote,kind", *rows]).encode(), Dialect("csv"), "a"
    ).header
    assert not find_dialect("\n".join(rows).encode(), Dialect("csv"), "a").header
    assert find_dialect("\n".join(rows[:5]).encode(), Dialect("csv"), "a").header  # too few to tell
    # it is expected as a name
    assert find_dialect("\n".join(rows).encode(), Dialect("csv"), "a", ["A"]).header


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_a_byte_that_comes_after_the_first_block_is_a_line_that_cannot_be_read(
    tmp_path, encoding, monkeypatch
):
    monkeypatch.setattr(streams, "FIRST_BLOCK", 1000)
    monkeypatch.setattr(streams, "AT_ONCE", 1000)
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"hello,x\n" * 200 + "café,y\n".encode(encoding))
    *_, last = read_flat(path)
    reason = "byte 4 (0xe9) is not UTF-8; name the encoding with encoding="
    assert last == (
        InvalidLine(202, reason) if encoding == "latin-1" else Row(202, {"text": "café", "label": "y"})
    )


def test_a_few_faulty_bytes_do_not_make_another_encoding_of_a_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text\ncafé\nGrüße\n".encode() + b"caf\xe9\n")
    assert [type(row) for row in read_flat(path)] == [Row, Row, InvalidLine]


@pytest.mark.parametrize(
    ("content", "texts", "note"),
    [
        (b"hello, world\nno toner\n", ["hello, world", "no toner"], ["plain lines, a text each"]),
        (b"hello\nyou\n", ["hello", "you"], ["plain lines, a text each"]),
        (b"text\nhello, you\n", [], []),
        (b"text\nhello\n", ["hello"], []),
        (b"Body;id\nhello;1\n", ["hello"], ["semicolons"]),
        (b"\n\nBody;id\nhello;1\n", ["hello"], ["semicolons"]),
        (b"sep=;\nBody;id\nhello;1\n", ["hello"], ["semicolons"]),
        (b"\n \n", [], []),
        (b'{"text": "hello"}\n', ["hello"], ["JSON lines"]),
        (b'{\n "rows": [{"text": "hello"}]\n}\n', ["hello"], ["JSON"]),
        (b'[{"text": "hello"},\n {"text": "you"}]', ["hello", "you"], ["JSON"]),
    ],
)
def test_a_pipe_loses_no_first_line(content, texts, note, monkeypatch):
    rows, log = piped(monkeypatch, content)
    assert [next(iter(row.values.values())) for row in rows if isinstance(row, Row)] == texts
    assert log == note


def test_a_name_that_is_expected_is_a_header_in_a_pipe(monkeypatch):
    rows, log = piped(monkeypatch, b"words\nhello\n", names=["words"])
    assert (rows, log) == ([Row(2, {"words": "hello"})], [])
    rows, log = piped(monkeypatch, b"text\nhello\n", Dialect("txt"))
    assert (rows, log) == ([Row(1, {"text": "text"}), Row(2, {"text": "hello"})], [])


@pytest.mark.parametrize(
    ("content", "dialect", "n_columns"),
    [
        ("no toner\tx\nno paper\ty\n", Dialect(), 2),
        ("no toner\tx\nno paper\n", Dialect(), 1),
        ("no toner; please\n" * 4, Dialect(), 1),
        ("no toner; please\n" * 5, Dialect(), 2),
        ("text;label\nno toner;x\n", Dialect(), 2),
        ("text;label\nno toner;x\n", Dialect("txt"), 1),
        ("text,label\nno toner,x\n" * 9, Dialect(), 1),
        ("text\tlabel\nсеть не работает\tсеть\n", Dialect(encoding="cp1251"), 2),
    ],
)
def test_a_table_called_txt(content, dialect, n_columns, tmp_path):
    (tmp_path / "a.txt").write_bytes(content.encode(dialect.encoding or "utf-8"))
    log = []
    (rows,) = read_rows(tmp_path / "a.txt", dialect, log.append)
    assert len(rows[0].values) == n_columns
    assert (log != []) == (n_columns > 1)


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "é"])
def test_a_delimiter_is_one_character(delimiter, tmp_path):
    (tmp_path / "a.csv").write_text("text\n")
    with pytest.raises(TableError, match=r"delimiter=.* give one ASCII character"):
        read_rows(tmp_path / "a.csv", Dialect(delimiter=delimiter))


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffsep=;\n" + "text;label\n" + 'é, "b";x\nc;y\n'.replace('"b"', "b") * 4,
        "".join(f"some words of a text {k};{'xy'[k % 2]}\n" for k in range(8)),
        "\n\ntext|label\n" + "a b c|x\nd e f|y\n" * 3,
    ],
)
def test_parts_are_read_as_the_whole_is(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    whole, table = read_table(path), open_parts(path, tmp_path / "parts.parquet", part_bytes=20)
    corpus = table.corpus(table.is_labelled)
    assert (corpus.texts, corpus.ids) == (whole.corpus.texts, whole.corpus.ids)
    assert table.columns.notes == whole.notes
