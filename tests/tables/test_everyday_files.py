"""Files as people have them: each trains, predicts and is evaluated, or is refused with what would do."""

import bz2
import csv
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import zipfile

import pytest
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.tables.reader import read_table

NETWORK = ["wifi is down", "vpn drops often", "no signal here", "router blinks red", "cable is broken"]
PRINTING = [
    "toner is empty",
    "paper jam inside",
    "printer prints pale",
    "scanner is stuck",
    "tray holds nothing",
]
PLACES = ["in room 12", "since monday, again", "at my desk", "on the first floor"]
ROWS = [
    (f"{what} {where}", label)
    for where in PLACES
    for pair in zip(NETWORK, PRINTING, strict=True)
    for what, label in zip(pair, ("network", "printing"), strict=True)
]


def table(rows=ROWS, delimiter=",", names=("text", "label"), end="\n", **settings):
    """Rows as a CSV file has them."""
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator=end, **settings).writerows(
        ([names] if names else []) + list(rows)
    )
    return written.getvalue()


def translated(texts, labels):
    """Forty rows in another language, of sentences and labels that take turns."""
    return [(f"{texts[k % len(texts)]} {k}", labels[k % len(labels)]) for k in range(40)]


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def zstandard(content):
    pa = pytest.importorskip("pyarrow")
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(content)
    return packed.getvalue().to_pybytes()


def workbook(sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def objects(rows=ROWS):
    return [{"text": text, "label": label} for text, label in rows]


PLAIN = table()
GERMAN = translated(
    [
        "Das Netz fällt für Stunden aus",
        "Der Drucker zieht schräg ein",
        "Kein Empfang übers Wochenende",
        "Größe des Papiers ist falsch",
    ],
    ["Störung", "Gerät"],
)
FRENCH = translated(["réseau coupé depuis hier", "l'imprimante à l'étage est bloquée"], ["réseau", "papier"])
CHINESE = translated(
    ["网络又断了怎么办", "打印机没有纸了吧", "无线信号太弱了啊", "打印出来颜色太浅"], ["网络", "打印"]
)
ARABIC = translated(["الشبكة لا تعمل اليوم", "الطابعة بلا ورق منذ أمس"], ["شبكة", "طباعة"])
EMOJI = [(f"{text} {'😡' if label == 'network' else '🖨️'}", label) for text, label in ROWS]
NEWLINES = [(f'{text},\n"quoted"\n\nand more', label) for text, label in ROWS]
MISSING = [(text, ("", "NaN", "n/a")[k % 3] if k % 5 == 0 else label) for k, (text, label) in enumerate(ROWS)]
FLAGS = [
    (text, int(label == "network"), int(label == "printing"), int("monday" in text)) for text, label in ROWS
]
MARKS = [(text, "x" * (label == "network"), "x" * (label == "printing")) for text, label in ROWS]
JOINED = [(text, f"{label}|urgent" if "monday" in text else label) for text, label in ROWS]
OTHERS = [("the floor is wet today", "urgent"), ("the lamp is dark today", "urgent")]
PRICES = [(text, label, f"{k},50") for k, (text, label) in enumerate(ROWS)]

# name of the file, its content, options, and what is said of it
READ = {
    "usual": ("a.csv", PLAIN, [], ""),
    "semicolons": ("a.csv", table(delimiter=";"), [], "semicolons"),
    "semicolons and Windows-1252": (
        "a.csv",
        table(GERMAN, ";").encode("cp1252"),
        [],
        "semicolons, Windows-1252",
    ),
    "Latin-1": ("a.csv", table(FRENCH).encode("latin-1"), [], "Windows-1252"),
    "Latin-1 that is named": ("a.csv", table(FRENCH).encode("latin-1"), ["--encoding", "latin-1"], ""),
    "UTF-16, little end first": (
        "a.csv",
        b"\xff\xfe" + table(GERMAN, "\t").encode("utf-16-le"),
        [],
        "tabs, UTF-16",
    ),
    "UTF-16, big end first": ("a.csv", b"\xfe\xff" + table(CHINESE).encode("utf-16-be"), [], "UTF-16"),
    "UTF-16 without a mark": ("a.csv", table().encode("utf-16-le"), [], "UTF-16-LE"),
    "UTF-32": ("a.csv", table(GERMAN).encode("utf-32"), [], "UTF-32"),
    "a mark before UTF-8": ("a.csv", ("\ufeff" + table(GERMAN)).encode(), [], ""),
    "a mark and quotes": ("a.csv", ("\ufeff" + table(quoting=csv.QUOTE_ALL)).encode(), [], ""),
    "CRLF": ("a.csv", table(end="\r\n"), [], ""),
    "quotes with newlines": ("a.csv", table(NEWLINES), [], ""),
    "quotes with newlines, semicolons, CRLF": ("a.csv", table(NEWLINES, ";", end="\r\n"), [], "semicolons"),
    "tabs": ("a.tsv", table(delimiter="\t"), [], ""),
    "tabs in .csv": ("a.csv", table(delimiter="\t"), [], "tabs"),
    "tabs in .txt": (
        "a.txt",
        table(delimiter="\t"),
        [],
        "a table with tabs; --format txt reads a text per line",
    ),
    "semicolons in .txt": (
        "a.txt",
        table(GERMAN, ";").encode("cp1252"),
        [],
        "a table with semicolons; --format txt",
    ),
    "bars": ("a.csv", table(delimiter="|"), [], "|"),
    "another delimiter": ("a.csv", table(delimiter="~"), ["--delimiter", "~"], ""),
    "Excel": ("a.xlsx", lambda: workbook({"tickets": [("text", "label"), *ROWS]}), [], ""),
    "Excel, second sheet": (
        "a.xlsx",
        lambda: workbook({"read me": [["made on monday"]], "tickets": [("text", "label"), *ROWS]}),
        ["--sheet", "tickets"],
        "",
    ),
    "Excel, first sheet empty": (
        "a.xlsx",
        lambda: workbook({"empty": [], "tickets": [("text", "label"), *ROWS]}),
        [],
        "sheet 'tickets' of 'empty', 'tickets'",
    ),
    "Excel, a cover sheet first": (
        "a.xlsx",
        lambda: workbook(
            {"Info": [["Tickets"], ["made on monday"]], "all": [("text", "label"), *ROWS], "codes": [(1, 2)]}
        ),
        [],
        "sheet 'all' of 'Info', 'all', 'codes'; the others are left out, and --sheet chooses another",
    ),
    "Excel with numbers": (
        "a.xlsx",
        lambda: workbook(
            {"a": [("text", "label"), *((text, float(label == "network")) for text, label in ROWS)]}
        ),
        [],
        "",
    ),
    "JSON array": ("a.json", json.dumps(objects(), indent=2), [], ""),
    "JSON array inside an object": (
        "a.json",
        json.dumps({"n": 40, "tags": [1, 2], "rows": objects()}),
        [],
        "",
    ),
    "JSON lines": ("a.jsonl", "\n".join(map(json.dumps, objects())), [], ""),
    "JSON lines called .json": ("a.json", "\n".join(map(json.dumps, objects())), [], ""),
    "JSON array called .jsonl": ("a.jsonl", json.dumps(objects()), [], ""),
    "JSON with null": (
        "a.json",
        json.dumps([*objects(), {"text": "what is this", "label": None}]),
        [],
        "1 of 41 rows has no label",
    ),
    "gz": ("a.csv.gz", gzip.compress(PLAIN.encode()), [], ""),
    "gz without saying so": ("a.csv", gzip.compress(table(delimiter=";").encode()), [], "semicolons"),
    "xz": ("a.csv.xz", lzma.compress(PLAIN.encode()), [], ""),
    "bz2": ("a.jsonl.bz2", bz2.compress("\n".join(map(json.dumps, objects())).encode()), [], ""),
    "zst": ("a.csv.zst", lambda: zstandard(PLAIN.encode()), [], ""),
    "sorted by label": (
        "a.csv",
        table(sorted(ROWS, key=lambda row: row[1]) * 10, names=("note", "kind")),
        [],
        "column 'kind'",
    ),
    "columns of 0 and 1": (
        "a.csv",
        table(FLAGS, names=("text", "network", "printing", "monday")),
        ["--label", "network,printing,monday"],
        "",
    ),
    "columns with an x": (
        "a.csv",
        table(MARKS, names=("text", "network", "printing")),
        ["--label", "network,printing"],
        "",
    ),
    "several labels in one": ("a.csv", table(JOINED + OTHERS), ["--label-separator", "|"], ""),
    "missing labels": ("a.csv", table(MISSING), [], "8 of 40 rows have no label ('n/a', 'NaN' in its place"),
    "German": ("a.csv", table(GERMAN), [], ""),
    "Chinese": (
        "a.csv",
        table(CHINESE, names=("内容", "类别")),
        [],
        "text: column '内容'; label: column '类别'",
    ),
    "Arabic": ("a.csv", table(ARABIC), [], ""),
    "emoji": ("a.csv", table(EMOJI), [], ""),
    "no header": ("a.csv", table(names=None), [], "no header: columns 1, 2"),
    "no header, as an option says": (
        "a.csv",
        table(ROWS[:20], names=None),
        ["--no-header", "--text", "1", "--label", "2"],
        "",
    ),
    "Excel's first line": ("a.csv", "sep=;\r\n" + table(delimiter=";", end="\r\n"), [], "semicolons"),
    "decimal commas": ("a.csv", table(PRICES, ";", ("text", "label", "price")), [], "semicolons"),
    "decimal commas and no header": (
        "a.csv",
        table(PRICES, ";", None),
        ["--text", "1", "--label", "2"],
        "no header: columns 1, 2, 3",
    ),
    "a delimiter at the end": (
        "a.csv",
        table([(*row, "") for row in ROWS], names=("text", "label", "")),
        [],
        "",
    ),
    "two columns of a name": (
        "a.csv",
        table([(text, label, label) for text, label in ROWS], names=("text", "label", "label")),
        [],
        "column 3 is another 'label', here called 'label 2'",
    ),
    "blank lines first": ("a.csv", "\n\n" + PLAIN, [], ""),
}

REFUSED = {
    "old Mac": ("a.csv", PLAIN.replace("\n", "\r").encode(), r"tr '\r' '\n'"),
    "a title above the names": (
        "a.csv",
        "Tickets of March\n\n" + PLAIN,
        "Remove what stands above their names (tail -n +3)",
    ),
    "comments above the names": ("a.csv", "# export\n# by me\n" + table(delimiter=";"), "(tail -n +3)"),
    "a title in Excel": (
        "a.xlsx",
        lambda: workbook({"a": [["Tickets"], ["text", "label"], *ROWS]}),
        "remove what stands above",
    ),
    "no such sheet": (
        "a.xlsx",
        lambda: workbook({"a": [["text", "label"], *ROWS]}),
        "has no sheet 'b'. It has 'a'; choose one with --sheet",
    ),
    "Cyrillic": (
        "a.csv",
        table(translated(["сеть снова не работает", "в принтере нет бумаги"], ["сеть", "печать"])).encode(
            "cp1251"
        ),
        "name its encoding with --encoding, as cp1251",
    ),
    "plain lines": (
        "a.txt",
        "\n".join(text for text, _ in ROWS),
        "which one holds the label? Choose it with --label",
    ),
    "columns of 0 and 1 that nobody named": (
        "a.csv",
        table(FLAGS, names=("text", "network", "printing", "monday")),
        "--label 'network,printing,monday' takes them for several labels",
    ),
    "all labels missing": ("a.csv", table([(text, "NaN") for text, _ in ROWS]), "--missing-labels"),
    "zip": (
        "a.zip",
        zipped({"one.csv": PLAIN}),
        "is a zip archive: unpack it, as with unzip -p, and name the table in it",
    ),
    "PDF": ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\n", "is a PDF document: save it as plain text"),
    "PDF called .csv": ("a.csv", b"%PDF-1.7\n%\xe2\xe3\n", "is a PDF document"),
    "Word": (
        "a.docx",
        zipped({"[Content_Types].xml": "<x/>", "word/document.xml": "<x/>"}),
        "is a Word document",
    ),
    "Excel called .csv": (
        "a.csv",
        lambda: workbook({"a": ROWS}),
        "is an Excel file: say so with --format xlsx",
    ),
    "a picture": ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0", "is an image (PNG)"),
    "a pickle": ("a.pkl", pickle.dumps(ROWS), "is a Python pickle"),
    "a web page": (
        "a.xls",
        "<html><table><tr><td>text</td></tr></table></html>",
        "is a web page (HTML): export a table from it as CSV",
    ),
    "zero bytes": ("a.csv", b"\x01\x02\x00\x00\x00\xff\x00\x17" * 20, "holds zero bytes"),
    "no known name": ("a.dat", PLAIN, "say it with --format: csv"),
    "broken off": ("a.csv.xz", lzma.compress(PLAIN.encode())[:-20], "breaks off or is damaged"),
    "JSON that breaks off": ("a.json", json.dumps(objects())[:-20], "cannot be read as JSON after 39 rows"),
    "JSON without rows": (
        "a.json",
        json.dumps({"a": {"b": 1}, "c": [1]}, indent=1),
        "no list of objects is in it",
    ),
}


def write(tmp_path, name, content):
    path = tmp_path / name
    content = content() if callable(content) else content
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def call(*words, **settings):
    return CliRunner().invoke(app, [str(word) for word in words], **settings)


@pytest.mark.parametrize("case", READ)
def test_it_trains_predicts_and_is_evaluated(case, tmp_path):
    name, content, options, note = READ[case]
    path, model = write(tmp_path, name, content), tmp_path / "m.tmm"
    features = ["--features", "ngrams", "--length", "2"]  # of characters, so that every script has some
    trained = call("train", path, "-o", model, *features, *options)
    assert trained.exit_code == 0, trained.output
    assert note in trained.stderr
    if not note:
        assert not any(word in trained.stderr for word in ("commas", "UTF", "header", "sheet"))
    labels = {
        k
        for name in ("--label", "--label-separator")
        if name in options
        for k in (options.index(name), options.index(name) + 1)
    }
    predicted = call("predict", model, path, *(word for k, word in enumerate(options) if k not in labels))
    assert predicted.exit_code == 0, predicted.output
    assert len(list(csv.reader(io.StringIO(predicted.stdout)))) - 1 >= 20
    evaluated = call("evaluate", model, path, *options, "--json")
    assert evaluated.exit_code == 0, evaluated.output
    assert json.loads(evaluated.stdout)["micro_f1"] > 0.9


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_what_would_do(case, tmp_path):
    name, content, message = REFUSED[case]
    path = write(tmp_path, name, content)
    refused = call(
        "train", path, "-o", tmp_path / "m.tmm", *(["--sheet", "b"] if case == "no such sheet" else [])
    )
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_database_and_a_folder_say_what_they_are(tmp_path):
    sqlite3.connect(tmp_path / "a.db").execute("create table a (b)").connection.close()
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder", "b.csv", PLAIN)
    for name, message in {
        "a.db": "is an SQLite database",
        "folder": "holds no .txt files. It holds b.csv; name one file.",
    }.items():
        assert message in call("train", tmp_path / name, "-o", tmp_path / "n.tmm").stderr


def test_several_labels_in_one_are_proposed_and_not_taken_in_silence(tmp_path):
    path = write(tmp_path, "a.csv", table(JOINED + OTHERS))
    trained = call("train", path, "-o", tmp_path / "m.tmm")
    assert "labels such as 'printing|urgent' look like several with | between them" in trained.stderr
    assert "--label-separator '|' takes them as several" in trained.stderr
    assert set(read_table(path).corpus.classes) == {
        "network",
        "printing",
        "network|urgent",
        "printing|urgent",
        "urgent",
    }


def test_every_row_is_read_whole_and_once(tmp_path):
    expected = sorted(ROWS)
    for case in (
        "usual",
        "semicolons",
        "UTF-16 without a mark",
        "bars",
        "Excel",
        "JSON array",
        "zst",
        "no header",
    ):
        corpus = read_table(write(tmp_path, *READ[case][:2])).corpus
        assert sorted(zip(corpus.texts, corpus.labels, strict=True)) == expected, case


@pytest.mark.parametrize(
    ("name", "content", "written", "start", "note"),
    [
        (
            "a.csv",
            table(GERMAN, ";").encode("cp1252"),
            "b.csv",
            b"\xef\xbb\xbftext;label;",
            "semicolons, UTF-8 with a byte-order mark",
        ),
        (
            "a.csv",
            ("\ufeff" + table(GERMAN)).encode(),
            "b.csv",
            b"\xef\xbb\xbftext,label,",
            "UTF-8 with a byte-order mark",
        ),
        (
            "a.csv",
            table(GERMAN).encode("utf-16"),
            "b.tsv",
            b"\xef\xbb\xbftext\tlabel\t",
            "UTF-8 with a byte-order mark",
        ),
        ("a.csv", table(GERMAN, ";").encode(), "b.csv", b"text;label;", "semicolons"),
        ("a.csv", table(GERMAN, ";").encode("cp1252"), "b.jsonl", b'{"text"', None),
        ("a.tsv", table(GERMAN, "\t").encode(), "b.csv", b"text,label,", None),
        ("a.csv", table(GERMAN).encode(), "b.csv", b"text,label,", None),
    ],
)
def test_csv_is_written_as_it_was_read(name, content, written, start, note, tmp_path):
    path, model = write(tmp_path, name, content), tmp_path / "m.tmm"
    assert call("train", path, "-o", model).exit_code == 0
    predicted = call("predict", model, path, "-o", tmp_path / written)
    assert predicted.exit_code == 0, predicted.output
    assert (tmp_path / written).read_bytes().startswith(start)
    assert (
        (f"textmargin: written with {note}\n" in predicted.stderr)
        if note
        else ("written with" not in predicted.stderr)
    )
    assert read_table(tmp_path / written, label="label").corpus.texts == [text for text, _ in GERMAN]
    assert call("predict", model, path).stdout.startswith("text,label,")
