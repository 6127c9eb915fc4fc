"""Columns of records, as the core reads them, and rows one by one make the same tables, notes and errors of
any file.
"""

import csv
import io
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textmargin.errors import TextmarginError
from textmargin.tables import chunks, streams
from textmargin.tables.chunks import FileRows, RecordChunk, RowChunk, read_chunks
from textmargin.tables.dialect import Dialect
from textmargin.tables.reader import read_table

WIDE = ["id", "text", "label", "more"]
HEADERS = [WIDE, WIDE, WIDE, ["text", "label"], ["label", "text", "text"], ["a", "b", "c"]]
cells = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "ham",
            "spam",
            "Ham ",
            "ham;spam",
            "0",
            "1",
            "x",
            "yes",
            "-",
            "NA",
            "a longer text",
            "\u3000",
        ]
    ),
    st.text(st.sampled_from(list("ab ,;\t\"'\r\nü😀\u00a0\u2028")), max_size=6),
)
odd_lines = st.lists(
    st.sampled_from(
        [b"a", b",", b'"', b"\r", b"\r\n", b"\n", b"\0", b"\xff", b"ham", b"\t", "ü".encode(), b"sep=;\n"]
    ),
    max_size=6,
).map(b"".join)


@st.composite
def files(draw):
    """Lines as csv writes them, odd ones between them."""
    delimiter, end = draw(st.sampled_from(",;\t")), draw(st.sampled_from(["\n", "\r\n"]))
    names = draw(st.sampled_from(HEADERS))
    lines = []
    for values in [
        names,
        *draw(st.lists(st.lists(cells, min_size=len(names), max_size=len(names)), max_size=12)),
    ]:
        line = io.StringIO(newline="")
        csv.writer(line, delimiter=delimiter, lineterminator=end).writerow(values)
        lines.append(line.getvalue().encode())
    for place, odd in draw(st.lists(st.tuples(st.integers(0, 12), odd_lines), max_size=2)):
        lines.insert(place, odd + end.encode())
    return b"".join(lines)


options = st.fixed_dictionaries(
    {
        "skip_invalid": st.sampled_from([True, True, False]),
        "labels": st.sampled_from(["required", "optional", "ignored"]),
    },
    optional={
        "text": st.just("text"),
        "label": st.sampled_from(["label", "label", "label,more", "id,more,label"]),
        "label_separator": st.just(";"),
        "missing_labels": st.sampled_from([[], ["", "NA"]]),
        "known_labels": st.just(["ham", "spam"]),
        "fields": st.sampled_from([["label"], ["id", "more"]]),
        "dialect": st.sampled_from(
            [
                Dialect(),
                Dialect(header=True),
                Dialect(header=False),
                Dialect(delimiter=","),
                Dialect(encoding="cp1252"),
            ]
        ),
    },
)


@contextmanager
def in_pieces():
    """A chunk for every few bytes."""
    with patch.multiple(streams, FIRST_BLOCK=40, AT_ONCE=15), patch.object(chunks, "_BLOCK", 1):
        yield


def outcome(path, given_options):
    try:
        return read_table(path, **given_options)
    except TextmarginError as error:
        return type(error), str(error)


@settings(deadline=None, max_examples=300)
@given(content=files(), given_options=options, pieces=st.booleans())
def test_columns_make_the_table_that_rows_make(tmp_path_factory, content, given_options, pieces):
    path = tmp_path_factory.getbasetemp() / "chunks.csv"
    path.write_bytes(content)
    with in_pieces() if pieces else nullcontext():
        found = outcome(path, given_options)
        with patch.object(chunks, "suits_core", lambda dialect: False):
            assert found == outcome(path, given_options)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'text,label\n"a ""b""\nc",x\n\nd,y\n', (RecordChunk, 2, 0)),
        # a line that cannot be read leaves the others what they are
        (b"text,label\na,x\nb\n", (RecordChunk, 1, 1)),
        (b"text,label\na,x\r\r\n", (RowChunk, 1, 0)),  # to csv a row
        ("text,label\nü,x\n".encode("cp1252"), (RowChunk, 1, 0)),
    ],
)
def test_plain_records_stay_bytes(tmp_path, content, kind):
    (tmp_path / "a.csv").write_bytes(content)
    (chunk,) = read_chunks(tmp_path / "a.csv", None, print)
    assert (type(chunk), len(chunk), len(chunk.invalid)) == kind


def test_rows_of_chunks_by_their_places(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "".join(f"text {k},{k % 2}\n\n" for k in range(40)))
    with in_pieces():
        rows = FileRows(read_chunks(path, None, print))
    assert len(rows.chunks) > 9
    assert [rows[k] for k in range(40)] == [
        (2 * k + 2, {"text": f"text {k}", "label": str(k % 2)}) for k in range(40)
    ]


def test_small_pieces_become_one_chunk(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "a,b\n" * 100)
    with patch.multiple(streams, FIRST_BLOCK=40, AT_ONCE=15):
        assert [len(chunk) for chunk in read_chunks(path, None, print)] == [100]
