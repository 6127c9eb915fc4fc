"""A table written in parts: the same texts, labels and line numbers as of the whole file."""

import gzip
import json

import numpy as np
import pytest
from tables.user_files import ROWS

from textmargin.errors import TableError
from textmargin.representations.digests import text_digests
from textmargin.tables.dialect import Dialect
from textmargin.tables.parts import LabelCodes, open_parts
from textmargin.tables.reader import read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
LINES = [(f"text {i} of ü", "xyz"[i % 3] if i % 5 else None) for i in range(40)]


@pytest.fixture
def target(tmp_path):
    return tmp_path / "parts" / "texts.parquet"


def write(folder, kind):
    """The same rows in a format."""
    path = folder / f"texts.{kind}"
    csv = "text,label\n" + "".join(f"{text},{label or ''}\n" for text, label in LINES)
    objects = [json.dumps({"text": text, "label": label}) for text, label in LINES]
    contents = {
        "csv": csv.encode(),
        "tsv": csv.replace(",", "\t").encode("utf-16"),
        "jsonl": "\n".join([*objects[:5], "", *objects[5:]]).encode(),
        "csv.gz": gzip.compress(csv.encode()),
    }
    if kind == "parquet":
        texts, labels = zip(*LINES, strict=True)
        pq.write_table(pa.table({"text": texts, "label": labels}), path, row_group_size=7)
    else:
        path.write_bytes(contents[kind])
    return path


@pytest.mark.parametrize("part_bytes", [1, 100, 10_000])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "csv.gz", "parquet"])
def test_parts_are_the_whole(tmp_path, target, kind, part_bytes):
    whole = read_table(write(tmp_path, kind))
    table = open_parts(tmp_path / f"texts.{kind}", target, part_bytes=part_bytes)
    corpus, others = table.corpus(table.is_labelled), table.corpus(~table.is_labelled)
    assert (corpus.texts, corpus.labels, corpus.ids) == (
        whole.corpus.texts,
        whole.corpus.labels,
        whole.corpus.ids,
    )
    assert (others.texts, others.ids) == (whole.unlabelled.texts, whole.unlabelled.ids)
    assert [*table.columns.notes, "8 of 40 rows have no label; left out"] == whole.notes
    assert table.missing == whole.missing
    assert np.array_equal(table.digests[table.is_labelled], text_digests(whole.corpus.texts))
    assert sum(table.sizes) == len(LINES)
    assert len(table.sizes) >= {1: 40, 100: 5, 10_000: 1}[part_bytes]


def test_texts_of_parquet_stay_where_they_are(tmp_path, target):
    table = open_parts(write(tmp_path, "parquet"), target)
    assert "text" not in pq.read_schema(target).names
    assert table.sizes == [7, 7, 7, 7, 7, 5]
    pq.write_table(pa.table({"text": ["other"], "label": ["x"]}), tmp_path / "texts.parquet")
    with pytest.raises(TableError, match="has changed since it was looked at"):
        table.corpus(table.is_labelled)


def test_some_rows_with_further_columns(tmp_path, target):
    rows = [{"text": f"text {i}", "label": "x", "day": i, "marks": [[0, i]]} for i in range(9)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = open_parts(tmp_path / "a.jsonl", target, fields=["day", "marks"], part_bytes=20)
    corpus = table.corpus(np.arange(9) % 4 == 0, ["day", "marks"])
    assert corpus.texts == ["text 0", "text 4", "text 8"]
    assert corpus.fields == {"day": [0, 4, 8], "marks": [[[0, 0]], [[0, 4]], [[0, 8]]]}
    with pytest.raises(TableError, match="no column 'nope'"):
        open_parts(write(tmp_path, "csv"), target, fields=["nope"])


def test_a_file_that_is_there_is_written_anew_only_for_other_sources(csv_file, target):
    open_parts(csv_file, target)
    written = target.stat().st_mtime_ns
    assert len(open_parts(csv_file, target).digests) == len(ROWS)
    assert target.stat().st_mtime_ns == written
    open_parts(csv_file, target, text="label", label="text")
    assert target.stat().st_mtime_ns != written
    target.write_bytes(b"PAR1 and no more")
    with pytest.raises(TableError, match=r"texts.parquet is damaged .*; delete it, and start again"):
        open_parts(csv_file, target)


def test_an_invalid_line_names_its_file_and_is_left_out_if_asked(tmp_path, target):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,x\nb,NaN\nc\nd,y\n ,x\n")
    with pytest.raises(TableError, match=r"Line 4 of .*a\.csv: 1 values for 2 columns.*skip_invalid=True"):
        open_parts(path, target)
    assert not target.exists()
    table = open_parts(path, target, skip_invalid=True)
    assert table.corpus(table.is_labelled).texts == ["a", "d"]
    assert [(line.number, line.reason.endswith("(a.csv)")) for line in table.invalid] == [
        (4, True),
        (6, True),
    ]
    assert (table.n_invalid, table.missing) == (2, {"NaN": 1})


def test_several_labels(tmp_path, target):
    path = tmp_path / "a.csv"
    path.write_text("text,topics\na,x; y\nb,\n")
    assert list(open_parts(path, target, label_separator=";").labels) == [("x", "y"), ()]
    with pytest.raises(TableError, match="label_separator= is empty"):
        open_parts(path, target, label_separator="")
    labels = LabelCodes.of([("x", "y"), "x", ()])
    assert labels[1] == "x"
    assert list(labels[1:]) == ["x", ()]


def test_a_column_that_one_file_lacks(tmp_path, target):
    (tmp_path / "a.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "b.csv").write_text("text,topic\na,x\n")
    with pytest.raises(
        TableError, match=r"b.csv has no column 'label'. It has 'text', 'topic'. Choose one with label="
    ):
        open_parts(tmp_path, target)
    assert not target.exists()


def test_columns_are_guessed_from_the_whole_file(tmp_path, target):
    """Which may be sorted by its labels."""
    path = tmp_path / "a.csv"
    lines = [f"some words of a text {k},{'xyz'[k // 300]}\n" for k in range(900)]
    path.write_text("note,kind\n" + "".join(lines))
    assert open_parts(path, target).columns.label == "kind"


def test_nulls_numbers_and_lists_of_parquet_are_read_as_from_the_whole_file(tmp_path, target):
    columns = {
        "text": ["a", "b", None, "d", "e"],
        "label": [["x"], ["x", "y"], ["y"], [], None],
        "number": [1, 2, 3, None, 1],
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=2)
    for label in ("label", "number"):
        whole = read_table(tmp_path / "a.parquet", text="text", label=label)
        table = open_parts(tmp_path / "a.parquet", target, text="text", label=label)
        found = table.corpus(table.is_labelled)
        assert (found.texts, found.labels, found.ids) == (
            whole.corpus.texts,
            whole.corpus.labels,
            whole.corpus.ids,
        )


def test_a_lone_surrogate_is_replaced(tmp_path, target):
    (tmp_path / "a.jsonl").write_text('{"text": "a \\ud800 b", "label": "x"}\n{"text": "c", "label": "y"}\n')
    table = open_parts(tmp_path / "a.jsonl", target, dialect=Dialect(encoding="utf-8"))
    assert table.corpus(table.is_labelled).texts == ["a ? b", "c"]


def test_standard_input_is_refused(target):
    with pytest.raises(TableError, match="Standard input is not read in parts"):
        open_parts("-", target)


def test_an_address_is_not_read(target):
    with pytest.raises(TableError, match="is an address, not a file; download the file first"):
        open_parts("s3://bucket/texts", target)
