"""Texts and labels of a file of any format, and of rows as they arrive."""

import gzip
import json

import pytest
from tables.user_files import ROWS

from textmargin.errors import LabelError, TableError
from textmargin.tables.columns import ColumnNames
from textmargin.tables.formats import read_rows
from textmargin.tables.reader import read_table, stream_texts
from textmargin.tables.row_reader import RowReader, TextBatch
from textmargin.tables.rows import Blank, InvalidLine, Row


def as_tsv(tmp_path):
    path = tmp_path / "desk.tsv"
    path.write_text(
        "label\ttext\n" + "".join('{}\t"{}"\n'.format(label, text.replace('"', '""')) for text, label in ROWS)
    )
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
    pq.write_table(
        pa.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]}), path
    )
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


def test_several_labels(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("text,topics\na b c,x; y\nd e f,y\ng h i,\n")
    assert read_table(path, label_separator=";").corpus.labels == [("x", "y"), ("y",), ()]
    path = tmp_path / "some.jsonl"
    path.write_text('{"text": "a", "topics": ["x", "y"]}\n{"text": "b", "topics": []}\n')
    assert read_table(path).corpus.labels == [("x", "y"), ()]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv has no rows"),
        ("a.csv", "text,label\n", "a.csv has no rows"),
        ("a.csv", "text,label\nx,y,z\n", "Line 2 of .*: 3 values for 2 columns .*skip_invalid=True"),
        ("a.csv", "text,label\nhello,\n", "No text of .* has a label in column 'label'.*missing_labels="),
        ("a.csv", "a,b\n1,2\n", "which one holds the text. Choose it with text="),
        ("a.csv", "text\nhello\n", "which one holds the label. Choose it with label="),
        (
            "a.csv",
            b"text,label\n\xc3\xa9\xc3\xa9,x\ncaf\xe9,x\n",
            r"Line 3 of .*: byte 4 \(0xe9\) is not UTF-8; name the encoding with encoding=",
        ),
        ("a.csv", b"\x00\x01\x02PNG", "holds zero bytes, so it is not a text file"),
        ("a.jsonl", "{}\n[1]\n", "Line 2 of .*: not a JSON object but list"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n{', "Line 2 of .*: not JSON"),
        ("a.jsonl", '{"text": 3, "label": "b"}\n', "Line 1 of .*: 'text' is a number, not a text: 3"),
        ("a.xyz", "text", "does not tell its format; say it with file_format="),
        ("a.csv.gz", b"\x1f\x8b\x08\x00broken", "breaks off or is damaged"),
        ("a.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_what_cannot_be_read_is_explained(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((TableError, LabelError), match=message):
        read_table(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "nothing.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=r"holds no \.txt files"):
        read_table(tmp_path / "empty")
    with pytest.raises(TableError, match=r"s3://bucket/texts\.csv is an address, not a file; download"):
        read_table("s3://bucket/texts.csv")


def test_invalid_lines_can_be_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n\xc3\xa9,x\nb\ncaf\xe9,x\nc,\nd,y\n")
    table = read_table(path, skip_invalid=True)
    assert table.corpus.texts == ["é", "d"]
    assert table.corpus.labels == ["x", "y"]
    assert [line.number for line in table.invalid] == [3, 4]
    assert (table.unlabelled.texts, table.unlabelled.ids) == (["c"], ["5"])


def labels_of(tmp_path, *values):
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"text": "a", "label": value}) + "\n" for value in values))
    return read_table(path).corpus.labels


def test_one_label_however_it_is_written(tmp_path):
    assert labels_of(tmp_path, 1, 1.0, "1", " 1 ") == ["1"] * 4
    assert labels_of(tmp_path, True, False, "true", 1.5) == ["true", "false", "true", "1.5"]
    assert labels_of(tmp_path, [" x", None, ""], ["y", 1.0]) == [("x",), ("y", "1")]


@pytest.mark.parametrize(
    "value", [None, float("nan"), "", " ", "NaN", "n/a", " N/A", "NA", "null", "None", "-"]
)
def test_no_value_is_no_class(value, tmp_path):
    assert labels_of(tmp_path, value, "x") == ["x"]
    assert labels_of(tmp_path, ["y"], value, ["x"]) == [("y",), ("x",)]


def test_missing_labels_are_counted_and_said_and_a_class_may_be_called_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,None\nb,\nc,spam\nd,NaN\ne,NaN\n")
    table = read_table(path)
    assert (table.corpus.labels, table.unlabelled.texts) == (["spam"], ["a", "b", "d", "e"])
    assert table.notes[-1] == (
        "4 of 5 rows have no label ('NaN', 'None' in its place; missing_labels= says which values mean "
        "none); left out"
    )
    table = read_table(path, missing_labels=["NaN"])
    assert (table.corpus.labels, table.unlabelled.texts) == (["None", "spam"], ["b", "d", "e"])


def test_a_text_with_none_of_the_labels_is_not_one_without_labels(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,topics\na,x;y\nb,\nc,n/a\n")
    table = read_table(path, label_separator=";")
    assert (table.corpus.labels, table.unlabelled.texts) == ([("x", "y"), ()], ["c"])


def test_texts_without_labels_are_used_or_all_there_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,x\nb,\n")
    table = read_table(path, labels="optional")
    assert (table.corpus.texts, table.unlabelled.texts) == (["a"], ["b"])
    assert table.unlabelled_rows == [Row(3, {"text": "b", "label": ""})]
    assert table.notes[-1] == "1 of 2 rows has no label"
    table = read_table(path, labels="ignored")
    assert (len(table.corpus), table.unlabelled.texts, table.label_column) == (0, ["a", "b"], None)
    assert table.notes == ["text: column 'text'", "column 'label' is not looked at"]


UNKNOWN = "id,text,source\n1,a letter,web\n2,a mail,mail\n3,a letter,web\n4,a mail,mail\n"


@pytest.mark.parametrize(
    ("content", "label", "n_labelled", "note"),
    [
        ("text\na\nb\n", None, 0, "label: no column"),
        ("text,label\na,\nb,\n", None, 0, "no label in column 'label'"),
        (UNKNOWN, None, 0, "label: no column ('source': not the labels that are known; label= chooses)"),
        (UNKNOWN.replace("web", "Ham"), "source", 4, "label: column 'source'"),
        ("text,desk\n" + "a,\n" * 300 + "b,ham\n" + "a,\n" * 300, "desk", 1, "label: column 'desk'"),
    ],
)
def test_labels_that_are_known_make_texts_without_any_a_table(content, label, n_labelled, note, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(content)
    table = read_table(path, labels="optional", known_labels=["ham", "spam"])
    assert (table.label_column, len(table.corpus)) == (label, n_labelled)
    assert note in table.notes
    assert len(table.unlabelled) + n_labelled == content.count("\n") - 1
    if label is None and content != UNKNOWN:
        with pytest.raises(LabelError):
            read_table(path, labels="optional")


def test_of_several_columns_with_labels_that_are_known_one_must_be_chosen(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,first,second\na b c,ham,spam\nd e f,ham,ham\n")
    with pytest.raises(LabelError, match=r"which one holds the label\? Choose it with label="):
        read_table(path, labels="optional", known_labels=["ham", "spam"])


def test_empty_cells_mean_none_of_several_labels_unless_all_are_empty(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,topics\na,x;y\n" + "b,\n" * 3)
    options = {"label_separator": ";", "labels": "optional", "known_labels": ["x", "y"]}
    table = read_table(path, **options)
    assert table.corpus.labels == [("x", "y"), (), (), ()]
    assert (
        table.notes[-1]
        == "3 texts with an empty label have none of the labels; missing_labels='' takes them as unlabelled"
    )
    assert len(read_table(path, **options, missing_labels=[""]).unlabelled) == 3
    path.write_text("text,topics\n" + "b,\n" * 3)
    assert len(read_table(path, **options).unlabelled) == 3


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]]])
def test_an_object_is_no_class(value, tmp_path):
    with pytest.raises(TableError, match=r"Line 2 of .* is not a label"):
        labels_of(tmp_path, "x", value)


def test_nan_in_parquet_is_no_class(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", "b", "c"], "label": [1.0, float("nan"), None]}), path)
    table = read_table(path, skip_invalid=True)
    assert table.corpus.labels == ["1"]
    assert table.unlabelled.ids == ["2", "3"]


def test_an_empty_separator_is_refused(csv_file):
    with pytest.raises(TableError, match="label_separator= is empty"):
        read_table(csv_file, label_separator="")


def test_nothing_left_after_invalid_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nx\ny\n")
    with pytest.raises(TableError, match=r"No line of .*a.csv could be read; the first, line 2: "):
        read_table(path, skip_invalid=True)


def test_several_labels_a_text_and_not_one_in_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,topics\na b c,\nd e f,;\n")
    with pytest.raises(LabelError, match=r"No text of .*a.csv has a label in column 'topics'"):
        read_table(path, label_separator=";")


def test_invalid_lines_are_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "a", "label": "x"}\n{"text": 3, "label": "x"}\nc\n{"text": "d", "label": "y"}\n'
    )
    assert [line.number for line in read_table(path, skip_invalid=True).invalid] == [2, 3]
    with pytest.raises(TableError, match=r"Line 3 of .*: not JSON.*skip_invalid=True"):
        read_table(path)


def test_a_field_that_is_not_there_names_the_columns(csv_file):
    assert read_table(csv_file, fields=["label"]).corpus.fields == {"label": [label for _, label in ROWS]}
    with pytest.raises(TableError, match=r"desk.csv has no column 'marks'. It has 'text', 'label'\.$"):
        read_table(csv_file, fields=["marks"])


def test_a_row_is_a_text_and_its_label():
    reader = RowReader(ColumnNames("text", "label", []))
    assert reader.read(Row(1, {"text": "hello", "label": " x"})) == ("hello", "x")
    assert RowReader(ColumnNames("text", None, [])).read(Row(1, {"text": "hello"})) == ("hello", None)
    assert RowReader(reader.columns, ",").read(Row(1, {"text": "hello", "label": "x, y"})) == (
        "hello",
        ("x", "y"),
    )
    assert reader.read(Row(1, {"text": "hello"})) == ("hello", None)
    for values in ({"label": "x"}, {"text": 3, "label": "x"}):
        with pytest.raises(ValueError, match=r"no column 'text'|is a number, not a text: 3"):
            reader.read(Row(1, values))


def test_a_stream_keeps_invalid_and_blank_lines_in_their_places(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('\n{"body": "a"}\nnot json\n{"body": 3}\n{"other": "b"}\n\n{"body": "c"}\n')
    log = []
    (batch,) = stream_texts(read_rows(path), "x", log=log.append)
    assert batch.texts == ["a", "c"]
    assert [(type(row), row.number) for row in batch.rows] == [
        *((Blank, 1), (Row, 2), (InvalidLine, 3), (InvalidLine, 4)),
        *((InvalidLine, 5), (Blank, 6), (Row, 7)),
    ]
    assert [row.reason for row in batch.rows[3:5]] == [
        "'body' is a number, not a text: 3",
        "no column 'body'",
    ]
    assert log == ["text: column 'body'"]


def test_the_column_of_a_stream_is_settled_on_its_first_row():
    before, first, later = (
        [Blank(1)],
        [InvalidLine(2, "?"), Row(3, {"a": "x", "text": "y"})],
        [Row(4, {"text": "z", "a": "w"})],
    )
    log = []
    assert list(stream_texts([before, first, later], "s", usual="a", log=log.append)) == [
        TextBatch([], before),
        TextBatch(["x"], first),
        TextBatch(["w"], later),
    ]
    assert log == []
    assert [batch.texts for batch in stream_texts([first, later], "s")] == [["y"], ["z"]]
    with pytest.raises(TableError, match=r"s has no column 'b'. It has 'a', 'text'. Choose one with text="):
        list(stream_texts([before, first], "s", "b"))


def test_a_stream_reads_what_a_table_reads(csv_file):
    streamed = [text for batch in stream_texts(read_rows(csv_file), csv_file) for text in batch.texts]
    assert streamed == read_table(csv_file).corpus.texts
