"""A user's own files: every format, columns that are guessed, lines that cannot be read, and lines as they arrive."""

import csv
import gzip
import io
import json
import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textmargin.errors import TableError
from textmargin.tables import lines
from textmargin.tables.columns import column_on_arrival, read_table
from textmargin.tables.formats import BadLine, Blank, Row, read_rows
from textmargin.tables.lines import batches

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


def test_an_inch_mark_does_not_swallow_the_lines_after_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,label\nmy 5" screen is dark,x\nno toner,y\na 3" gap,x\n"a 2"" gap, again",y\n')
    corpus = read_table(path).corpus
    assert corpus.texts == ['my 5" screen is dark', "no toner", 'a 3" gap', 'a 2" gap, again']
    assert corpus.labels == ["x", "y", "x", "y"]


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text('text,label\n"never closed,x\n' + "more,x\n" * 50)
    for most in (10, 1000):
        monkeypatch.setattr(lines.batches, "__defaults__", (None, most, 10**6))
        bad, *good = flat(path)
        assert bad == BadLine(2, bad.reason)
        assert "never closed" in bad.reason
        assert good == [Row(3 + k, {"text": "more", "label": "x"}) for k in range(50)]


def test_a_record_of_many_lines_is_whole_up_to_a_bound(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text\n"' + "x\n" * 9 + '"\nafter\n')
    for bound in ({"most_lines": 9}, {"most_bytes": 19}):
        assert [line.number for batch in batches(path, b",", **bound) for line in batch] == [1, 2, 12]
    for bound in ({"most_lines": 8}, {"most_bytes": 18}):
        assert [line.number for batch in batches(path, b",", **bound) for line in batch] == list(range(1, 13))


def test_stray_quotes_take_no_longer_than_other_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + 'a"b,"c\n' * 40_000)  # opens a value if none is open, and leaves one open if one is
    start = time.monotonic()
    assert len(flat(path)) == 40_000
    assert time.monotonic() - start < 5


def test_a_long_line_in_small_pieces_takes_linear_time(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_AT_ONCE", 100)
    path = tmp_path / "a.txt"
    path.write_text("x" * 3_000_000)
    start = time.monotonic()
    assert len(flat(path)[0].values["text"]) == 3_000_000
    assert time.monotonic() - start < 5


@given(st.lists(st.tuples(*[st.text(st.sampled_from('a",\n '), max_size=6)] * 2), min_size=1), st.sampled_from([1, 2, 5, 1000]))
def test_what_csv_writes_is_read_again(tmp_path_factory, rows, at_once):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([("one", "two"), *rows])
    path.write_bytes(written.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_AT_ONCE", at_once)
        assert [tuple(row.values.values()) for row in flat(path)] == rows


def test_a_line_without_end_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1000)
    monkeypatch.setattr(lines, "_AT_ONCE", 100)
    path = tmp_path / "a.txt"
    path.write_text("short\n" + "x" * 2000)
    with pytest.raises(TableError, match=r"Line 2 of .* is longer than 1,000 bytes"):
        read_table(path)


def test_a_named_pipe_keeps_its_first_bytes(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    feeder = threading.Thread(target=path.write_text, args=("text,label\n" + "no toner,x\n" * 1000,), daemon=True)
    feeder.start()
    rows = flat(path)
    feeder.join()
    assert [row.number for row in rows] == list(range(2, 1002))


def test_a_text_longer_than_the_csv_module_likes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "x" * 200_000 + ",y\n")
    assert len(read_table(path).corpus.texts[0]) == 200_000


@pytest.mark.parametrize("encoding", ["UTF-8", "utf8", "U8", "utf-8-sig"])
def test_a_mark_at_the_start_however_utf_8_is_spelt(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"text","label"\nhello,x\n')
    assert flat(path, encoding=encoding) == [Row(2, {"text": "hello", "label": "x"})]


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("nonsense", "--encoding nonsense is not known"),
        ("hex", "--encoding hex is not known"),
        ("utf-16", "only encodings that keep ASCII bytes; convert the file to UTF-8: iconv -f utf-16 -t utf-8"),
        ("cp037", "only encodings that keep ASCII bytes"),
        ("iso-2022-jp", "only encodings that keep ASCII bytes"),
    ],
)
def test_an_encoding_that_cannot_be_read_is_named(encoding, message, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nhello,x\n")
    with pytest.raises(TableError, match=message):
        read_table(path, encoding=encoding)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "gb18030", "euc-kr", "koi8-r", "mac-roman"])
def test_encodings_that_keep_ascii(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nhello,x\n")
    assert read_table(path, encoding=encoding).corpus.texts == ["hello"]


@pytest.mark.parametrize(("name", "start"), [("a.csv", "The first line of"), ("a.txt", "Line 1 of")])
def test_line_ends_of_old_macs_are_explained(name, start, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"text,label\rhello,x\r")
    with pytest.raises(TableError, match=rf"{start} .*a carriage return stands inside the line.* tr '\\r' '\\n'"):
        read_table(path)


def test_text_after_a_closing_quote_is_explained(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,label\n"wifi" is down,x\nno toner,y\n')
    bad, good = flat(path)
    assert bad == BadLine(2, "a value goes on after its closing quote; inside a quoted value, quotes are doubled")
    assert good.number == 3


def test_a_hundred_thousand_brackets_are_a_bad_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("[" * 100_000 + '\n{"text": "a"}\n')
    bad, good = flat(path)
    assert bad == BadLine(1, "not JSON that can be read: its brackets are nested too deep")
    assert good == Row(2, {"text": "a"})


def test_a_closed_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(TableError, match="Standard input is closed"):
        read_rows("-")


@pytest.mark.parametrize("kind", ["parquet", "folder"])
def test_standard_input_is_no_parquet_and_no_folder(kind):
    with pytest.raises(TableError, match=f"Standard input cannot be read as {kind}"):
        read_rows("-", kind)


def test_blank_lines_are_not_lost_in_silence(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nhello\n\nyou\n  \n")
    assert sorted(flat(path)) == [Row(2, {"text": "hello"}), Blank(3), Row(4, {"text": "you"}), Blank(5)]
    path = tmp_path / "a.txt"
    path.write_text("hello\n\nyou\n")
    assert flat(path) == [Row(1, {"text": "hello"}), Blank(2), Row(3, {"text": "you"})]


def labels_of(tmp_path, *values):
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"text": "a", "label": value}) + "\n" for value in values))
    return read_table(path).corpus.labels


def test_one_label_however_it_is_written(tmp_path):
    assert labels_of(tmp_path, 1, 1.0, "1", " 1 ") == ["1"] * 4
    assert labels_of(tmp_path, True, False, "true", 1.5) == ["true", "false", "true", "1.5"]
    assert labels_of(tmp_path, [" x", None, ""], ["y", 1.0]) == [("x",), ("y", "1")]


@pytest.mark.parametrize("value", [None, float("nan"), "", " "])
def test_no_value_is_no_class(value, tmp_path):
    with pytest.raises(TableError, match=r"Line 1 of .*: the label, column 'label', is empty"):
        labels_of(tmp_path, value, "x")


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]]])
def test_an_object_is_no_class(value, tmp_path):
    with pytest.raises(TableError, match=r"Line 2 of .* is not a label"):
        labels_of(tmp_path, "x", value)


def test_nan_in_parquet_is_no_class(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", "b", "c"], "label": [1.0, float("nan"), None]}), path)
    table = read_table(path, skip_bad=True)
    assert table.corpus.labels == ["1"]
    assert [bad.number for bad in table.bad] == [2, 3]


def test_a_guessed_label_that_differs_from_text_to_text_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "".join(f"hello,{n}\n" for n in range(20)))
    with pytest.raises(TableError, match=r"20 values in column 'label' for 20 texts.* Choose the column with --label"):
        read_table(path)
    assert len(read_table(path, label="label").corpus.classes) == 20
    assert len(read_table(path, labelled=False).corpus) == 20


def test_an_empty_separator_is_refused(csv_file):
    with pytest.raises(TableError, match="--separator '' is empty"):
        read_table(csv_file, separator="")


def test_nothing_left_after_bad_lines(tmp_path):
    path = tmp_path / "a.csv"
    for content in ("text,label\nx\ny\n", "text,label\nx,\ny,\n"):
        path.write_text(content)
        with pytest.raises(TableError, match=r"No line of .*a.csv could be read; the first, line 2: "):
            read_table(path, skip_bad=True)


def test_several_labels_a_text_and_not_one_in_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,topics\na b c,\nd e f,;\n")
    with pytest.raises(TableError, match=r"No text of .*a.csv has a label in column 'topics'"):
        read_table(path, separator=";")


def test_the_column_of_a_stream_does_not_hang_on_what_comes_first():
    row = Row(1, {"id": "a long text of many words", "Message": "b", "note": "c"})
    assert column_on_arrival(row, "x").text == "Message"
    assert column_on_arrival(row, "x").said == ["text: column 'Message'"]
    assert column_on_arrival(row, "x", usual="note").text == "note"
    assert column_on_arrival(row, "x", usual="note").said == []
    assert column_on_arrival(row, "x", "id", usual="note").text == "id"
    assert column_on_arrival(Row(1, {"words": "a"}), "x", usual="note").said == ["text: column 'words'"]
    with pytest.raises(TableError, match=r"x has no column 'nope'. It has 'id', 'Message', 'note'. Choose one with --text"):
        column_on_arrival(row, "x", "nope")
    with pytest.raises(TableError, match="which one holds the text"):
        column_on_arrival(Row(1, {"id": "a long text of many words", "note": "c"}), "x")


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
