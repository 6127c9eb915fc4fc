"""Files in parts: the same texts, labels and line numbers as of the whole file."""

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables.user_files import ROWS

from textmargin.errors import TableError
from textmargin.tables.dialect import Dialect
from textmargin.tables.parts import open_parts
from textmargin.tables.reader import read_table


@pytest.mark.parametrize("part_bytes", [1, 30, 10_000])
def test_parts_read_what_the_whole_reads(csv_file, part_bytes):
    whole, table = read_table(csv_file).corpus, open_parts(csv_file, part_bytes=part_bytes)
    parts = [table.read(part).corpus for part in table.parts]
    assert [text for part in parts for text in part.texts] == whole.texts == [text for text, _ in ROWS]
    assert [label for part in parts for label in part.labels] == whole.labels
    assert [number for part in parts for number in part.ids] == whole.ids


def test_an_invalid_line_names_its_file_and_is_left_out_if_asked(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,x\nb,NaN\nc\nd,y\n")
    table = open_parts(path)
    with pytest.raises(TableError, match=r"Line 4 of .*a\.csv: 1 values for 2 columns.*skip_invalid=True"):
        table.read(table.parts[0])
    table = open_parts(path, skip_invalid=True)
    read = table.read(table.parts[0])
    assert read.corpus.texts == ["a", "d"]
    assert [(line.number, line.reason.endswith("(a.csv)")) for line in read.invalid] == [(4, True)]
    assert (read.unlabelled.ids, read.missing) == (["3"], {"NaN": 1})


def test_several_labels_in_parts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,topics\na,x; y\nb,\n")
    table = open_parts(path, label_separator=";")
    assert table.read(table.parts[0]).corpus.labels == [("x", "y"), ()]
    with pytest.raises(TableError, match="label_separator= is empty"):
        open_parts(path, label_separator="")


def test_how_to_read_goes_to_workers(csv_file):
    table = pickle.loads(pickle.dumps(open_parts(csv_file)))
    assert table.columns.notes == ["text: column 'text'", "label: column 'label'"]
    assert len(table.read(table.parts[0]).corpus) == len(ROWS)


def test_a_column_that_one_file_lacks(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "b.csv").write_text("text,topic\na,x\n")
    with pytest.raises(
        TableError, match=r"b.csv has no column 'label'. It has 'text', 'topic'. Choose one with label="
    ):
        open_parts(tmp_path)


ends = st.sampled_from(["", "\n", "\r\n"])
cells = st.sampled_from(
    ["corn", "a b", '"x"', '"a,b"', '"two\nlines"', '"" "', "", '"', 'b"c', "ü", "NaN", "y,"]
)


@given(
    rows=st.lists(st.tuples(cells, cells), max_size=12),
    part_bytes=st.integers(1, 60),
    end=st.sampled_from(["", "\n", "\r\n"]),
)
@example(rows=[('"open', "x"), ("a", "b"), ("c", "d")], part_bytes=1, end="")
@example(rows=[("a", "b"), ('"open', "x")], part_bytes=60, end="\n")
def test_any_csv_reads_as_the_whole_does(rows, part_bytes, end):
    """Stray quotes, values on several lines, wrong numbers of values: all is as in the whole, by the same
    numbers of lines.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(("\n".join(["text,label", "first,x", *map(",".join, rows)]) + end).encode())
        whole = read_table(path, text="text", label="label", skip_invalid=True)
        table = open_parts(path, text="text", label="label", skip_invalid=True, part_bytes=part_bytes)
        parts = [table.read(part) for part in table.parts]
    for kind in ("corpus", "unlabelled", "empty"):
        for name in ("texts", "labels", "ids"):
            known = getattr(getattr(whole, kind), name)
            assert [value for part in parts for value in getattr(getattr(part, kind), name)] == known
    numbers = {*(line.number for line in whole.invalid), *map(int, whole.empty.ids)}
    assert {line.number for part in parts for line in part.invalid} == numbers


def test_columns_of_parquet(tmp_path):
    """Nulls, numbers and lists among labels, and a text that is null, read as from the whole file."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {
        "text": ["a", "b", None, "d", "e"],
        "label": [["x"], ["x", "y"], ["y"], [], None],
        "number": [1, 2, 3, None, 1],
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=2)
    for label in ("label", "number"):
        whole = read_table(tmp_path / "a.parquet", text="text", label=label)
        table = open_parts(tmp_path / "a.parquet", text="text", label=label, part_bytes=1)
        parts = [table.read(part) for part in table.parts]
        assert len(parts) == 3
        assert [text for part in parts for text in part.corpus.texts] == whole.corpus.texts
        assert [own for part in parts for own in part.corpus.labels] == whole.corpus.labels
        assert [number for part in parts for number in part.corpus.ids] == whole.corpus.ids
        assert [number for part in parts for number in part.unlabelled.ids] == whole.unlabelled.ids


OBJECTS = [
    '{"text": "a", "label": "x"}',
    ' {"text": "b", "label": "y"}\t',
    '{"text": "ü", "label": 1}',
    '{"text": "c", "label": true}',
]
OBJECTS += [
    '{"text": "d", "label": "x"},{}',
    "",
    "[1]",
    '{"text": [{}',
    "{}]}",
    '{"label": "x"}',
    '{"text": null}',
    "\0",
    "\xa0{}",
    "NaN",
]


@given(lines=st.lists(st.sampled_from(OBJECTS), max_size=8), part_bytes=st.integers(1, 120), end=ends)
def test_any_json_lines_read_as_the_whole_does(lines, part_bytes, end):
    dialect = Dialect(encoding="utf-8")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_text(
            "\n".join(['{"text": "first", "label": "x"}', *lines]) + end, encoding="utf-8", newline=""
        )
        whole = read_table(path, text="text", label="label", dialect=dialect, skip_invalid=True)
        table = open_parts(
            path, text="text", label="label", dialect=dialect, skip_invalid=True, part_bytes=part_bytes
        )
        parts = [table.read(part) for part in table.parts]
    for kind in ("corpus", "unlabelled", "empty"):
        for name in ("texts", "labels", "ids"):
            known = getattr(getattr(whole, kind), name)
            assert [value for part in parts for value in getattr(getattr(part, kind), name)] == known
    reasons = {line.number: line.reason for line in whole.invalid}
    invalid = {line.number: line.reason.removesuffix(" (a.jsonl)") for part in parts for line in part.invalid}
    assert {number: reason for number, reason in invalid.items() if "is empty" not in reason} == reasons
