"""`textmargin predict` on input that is not as it should be: what is decided, what is said, and the exit
code.
"""

import csv
import gc
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textmargin import Corpus
from textmargin.cli import app
from textmargin.config import ModelConfig
from textmargin.tables.formats import read_rows
from textmargin.tables.reader import read_table

OURS = "label,guess,score,confidence"
HEADER = f"line,{OURS}"
LINES = "no toner left,printing\nthe vpn is down,network\npaper jam again,printing\nwifi is slow,network\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model that was trained on texts in a column "note", and one that may give several labels."""
    folder = tmp_path_factory.mktemp("predict")
    (folder / "train.csv").write_text("note words,label\n" + LINES * 3)
    table = read_table(folder / "train.csv")
    model = ModelConfig().fit(table.corpus)
    model.metadata_["text_column"] = table.text_column
    model.save(folder / "m.tmm")
    several = Corpus("several", ["toner", "vpn", "toner and vpn"] * 3, [("a;b",), ("c",), ("a;b", "c")] * 3)
    ModelConfig().fit(several).save(folder / "several.tmm")
    return folder


def predict(folder, *words, given=b"", model="m.tmm"):
    """In this process, which has loaded everything already, with a pipe for its standard input."""
    reading, writing = os.pipe()
    feeder = threading.Thread(target=feed, args=(writing, given))
    own, place, thresholds = os.dup(0), Path.cwd(), gc.get_threshold()
    out, err = io.StringIO(), io.StringIO()
    os.dup2(reading, 0)
    os.chdir(folder)
    feeder.start()
    try:
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            (folder / os.devnull).open() as stream,
            patch("sys.stdin", stream),
        ):
            os.dup2(reading, stream.fileno())
            code = app(["predict", str(folder / model), *map(str, words)], standalone_mode=False) or 0
    finally:
        os.dup2(own, 0)
        os.chdir(place)
        gc.set_threshold(*thresholds)
        for handle in (own, reading):
            os.close(handle)
        feeder.join()
    assert "Traceback" not in err.getvalue()
    return code, out.getvalue().splitlines(), err.getvalue().splitlines()


def labels_of(out):
    """Lines and labels, after the names of the columns."""
    assert out[0] == HEADER
    rows = [line.split(",") for line in out[1:]]
    assert all(
        guess == "" and float(score) > 0 and 0 < float(confidence) < 1
        for _, _, guess, score, confidence in rows
    )
    return [f"{number},{label}" for number, label, *_ in rows]


def feed(handle, content):
    with suppress(BrokenPipeError), os.fdopen(handle, "wb") as stream:
        stream.write(content)


def test_an_inch_mark_in_a_stream_does_not_silence_the_rest(folder):
    code, out, err = predict(
        folder,
        "--only-decisions",
        given=b'text\nmy 5" printer has no toner\nvpn down\n"paper, never closed\nwifi slow\n',
    )
    assert code == 0
    assert labels_of(out) == ["2,printing", "3,network", "5,network"]
    assert err[0].startswith("textmargin: line 4 skipped: the quote that opens a value is never closed")


@pytest.mark.parametrize("source", ["/dev/stdin", "-"])
def test_the_first_bytes_of_a_pipe_are_decided_on(folder, source):
    code, out, _ = predict(folder, source, "--format", "txt", given=b"no toner\n" * 1000)
    assert code == 0
    assert len(out) == 1001


def test_a_column_that_is_not_there_is_a_mistake(folder):
    (folder / "new.csv").write_text("id,text\n1,no toner\n")
    code, out, err = predict(folder, "new.csv", "--text", "nope")
    assert (code, out) == (2, [])
    assert err == ["textmargin: new.csv has no column 'nope'. It has 'id', 'text'. Choose one with --text."]
    code, _, err = predict(folder, "--text", "nope", given=b"id,text\n1,no toner\n")
    assert code == 2
    assert err == [
        "textmargin: standard input has no column 'nope'. It has 'id', 'text'. Choose one with --text."
    ]


def test_only_bad_lines_are_exit_code_2(folder):
    code, out, err = predict(folder, given=b"text,id\nno toner\nvpn\n")
    assert (code, out) == (2, [f"text,id,{OURS}"])
    assert err[-1] == "textmargin: standard input has 2 lines, and none could be decided on."


@pytest.mark.parametrize(("given", "names"), [(b"", OURS), (b"text\n", f"text,{OURS}"), (b"\n\n", OURS)])
def test_an_empty_stream_is_told_and_no_mistake(folder, given, names):
    code, out, err = predict(folder, given=given)
    assert (code, out) == (0, [names])
    assert err[-1] == "textmargin: standard input has no rows; there was nothing to decide on"


def test_json_of_texts_alone_lost_them_on_standard_input(folder):
    content = b'{"text": "no toner"}\n{"text": " "}\n'
    (folder / "texts.jsonl").write_bytes(content)
    code, out, _ = predict(folder, given=content)
    assert (code, out[0]) == (0, f"text,{OURS}")
    assert predict(folder, "texts.jsonl")[1] == out
    # plain lines
    assert predict(folder, given=b"\nno toner\n")[1][:2] == [HEADER, out[1].replace("no toner", "2")]


@pytest.mark.parametrize("model", ["m.tmm", "several.tmm"])
def test_a_table_without_rows_lost_its_columns(folder, model):
    (folder / "none.csv").write_text("id,text,label\n")
    (folder / "one.csv").write_text("id,text,label\n1,no toner,x\n")
    names = "id,text,label,predicted_label,guess,score,confidence"
    assert predict(folder, "none.csv", model=model)[1] == [names]
    assert predict(folder, "none.csv", "--json", model=model)[1] == []
    for name in ("none", "one"):
        for suffix in ("csv", "parquet", "xlsx"):
            assert predict(folder, f"{name}.csv", "-o", f"{name}-out.{suffix}", model=model)[0] == 0
    assert (folder / "none-out.csv").read_text().splitlines() == [names]
    schemas = [pq.read_schema(folder / f"{name}-out.parquet") for name in ("none", "one")]
    assert schemas[0] == schemas[1]
    for suffix in ("parquet", "xlsx"):
        again = predict(folder, f"none-out.{suffix}", "--text", "text", model=model)[1]
        assert again[0].startswith(f"{names},predicted_")


def test_the_column_of_training_comes_first(folder):
    row = {"text": "no toner", "note words": "the vpn is down"}
    code, out, err = predict(folder, "--format", "jsonl", "--only-decisions", given=json.dumps(row).encode())
    assert (code, labels_of(out), err) == (0, ["1,network"], [])


def test_a_guessed_column_is_said_once(folder):
    code, out, err = predict(folder, "--only-decisions", given=b"id,Message\n1,no toner\n2,vpn down\n")
    assert (code, labels_of(out)) == (0, ["2,printing", "3,network"])
    assert err == ["textmargin: text: column 'Message'"]


def test_a_column_is_not_guessed_by_what_comes_first(folder):
    code, _, err = predict(folder, given=b"a,b\nthere is no toner left,x\n")
    assert code == 2
    asked = (
        "standard input has the columns 'a', 'b'; which one holds the text? Choose it with --text, "
        "perhaps --text a."
    )
    assert err == [f"textmargin: {asked}"]


def test_a_closed_standard_input_is_one_line(folder):
    command = f"{sys.executable} -m textmargin predict {folder / 'm.tmm'} <&-"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"textmargin: Standard input is closed; name a file, or pipe lines in.\n"


@pytest.mark.parametrize(
    "words", [["nothing.csv"], ["train.csv", "--encoding", "nonsense"], ["m.tmm", "--format", "csv"]]
)
def test_nothing_is_printed_before_a_file_is_found_wanting(folder, words):
    code, out, err = predict(folder, *words)
    assert (code, out, len(err)) == (2, [], 1)


@pytest.mark.parametrize(("kind", "head"), [("txt", b""), ("csv", b"text\n")])
def test_blank_lines_are_counted(folder, kind, head):
    code, out, err = predict(folder, "--format", kind, given=head + b"no toner\n\nvpn down\n \n\n")
    assert (code, len(out)) == (0, 3)
    assert err == ["textmargin: 3 blank lines skipped"]


def test_labels_with_a_semicolon_are_exact_in_json(folder):
    given = b"toner and vpn\n"
    assert predict(folder, "--format", "txt", given=given, model="several.tmm")[1][1].startswith(
        "1,a;b;c,,0."
    )
    (line,) = predict(folder, "--format", "txt", "--json", given=given, model="several.tmm")[1]
    assert json.loads(line)["label"] == ["a;b", "c"]


def test_a_named_pipe_with_a_header(folder):
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    feeder = threading.Thread(target=pipe.write_text, args=("text\n" + "no toner\n" * 2000,), daemon=True)
    feeder.start()
    code, out, _ = predict(folder, pipe, "--only-decisions")
    feeder.join(10)
    assert code == 0
    assert labels_of(out) == [f"{number},printing" for number in range(2, 2002)]


def test_rows_come_back_with_all_their_columns(folder):
    given = 'id,note words,phone\nA-7,"no toner,\nagain",+49 170 12\nB-8,"vpn ""down""",\n'
    code, out, err = predict(folder, given=given.encode())
    assert (code, err) == (0, [])
    rows = list(csv.reader(io.StringIO("\n".join(out))))
    assert rows[0] == ["id", "note words", "phone", *OURS.split(",")]
    assert [row[:5] for row in rows[1:]] == [
        ["A-7", "no toner,\nagain", "+49 170 12", "printing", ""],
        ["B-8", 'vpn "down"', "", "network", ""],
    ]


def test_columns_of_the_table_keep_their_names(folder):
    code, out, err = predict(folder, given=b"label,text,score,predicted_score\nold,no toner,9,8\n")
    assert code == 0
    assert (
        out[0]
        == "label,text,score,predicted_score,predicted_label,guess,predicted_predicted_score,confidence"
    )
    assert out[1].startswith("old,no toner,9,8,printing,,")
    assert err[1:] == [
        "textmargin: the table has label, score of its own; the decisions are in predicted_label, "
        "predicted_predicted_score"
    ]


def test_objects_keep_their_own_keys(folder):
    given = [{"text": "no toner", "n": 1, "tags": ["a"]}, {"text": "vpn", "to": {"x": None}}]
    code, out, _ = predict(
        folder, "--format", "jsonl", "--json", given="\n".join(map(json.dumps, given)).encode()
    )
    assert code == 0
    rows = [json.loads(line) for line in out]
    assert [list(row) for row in rows] == [[*one, *OURS.split(",")] for one in given]
    assert [{name: row[name] for name in one} for row, one in zip(rows, given, strict=True)] == given
    assert [(row["label"], row["guess"]) for row in rows] == [("printing", None), ("network", None)]


def test_a_key_that_comes_late_is_told(folder):
    """Columns of CSV are those of the first lines; a later object may have others, or ours."""
    given = [{"text": "no toner"}] * 20_000 + [{"text": "vpn", "late": 1, "label": "x"}]
    lines = "\n".join(map(json.dumps, given)).encode()
    code, out, err = predict(folder, "--format", "jsonl", given=lines)
    assert (code, out[0], len(out)) == (0, f"text,{OURS}", 20_002)
    assert out[-1].startswith("vpn,network,,")
    assert err[0].endswith("there are columns 'label'; decisions replace them")
    assert err[1].startswith(
        "textmargin: columns that the first rows did not have are left out: 'late'; JSON lines"
    )
    last = json.loads(predict(folder, "--format", "jsonl", "--json", given=lines)[1][-1])
    assert (last["late"], last["label"]) == (1, "network")


def test_formulas_are_defused_and_told_unless_they_are_to_stay(folder):
    given = b"note words,x\nno toner,=HYPERLINK(1)\nvpn,-5\n- wifi,@x\n"
    code, out, err = predict(folder, given=given)
    assert (code, [line.split(",")[:2] for line in out[1:]]) == (
        0,
        [["no toner", "'=HYPERLINK(1)"], ["vpn", "-5"], ["'- wifi", "'@x"]],
    )
    assert err == [
        "textmargin: an apostrophe stands before 3 cells that a spreadsheet would run as a formula; "
        "--keep-formulas writes them "
        "as they are"
    ]
    code, out, err = predict(folder, "--keep-formulas", given=given)
    assert (code, out[1].split(",")[1], err) == (0, "=HYPERLINK(1)", [])
    assert predict(folder, "--keep-formulas", "--json", given=given)[0] == 2


def test_a_label_is_written_as_it_is(folder, tmp_path):
    """Whoever reads the table again finds the labels of the model, also those that begin like a formula."""
    texts, labels = ["toner", "vpn"] * 3, ["=x()", "-y"] * 3
    ModelConfig().fit(Corpus("odd", texts, labels)).save(tmp_path / "odd.tmm")
    code, out, err = predict(folder, given=b"text\ntoner\nvpn\n", model=tmp_path / "odd.tmm")
    assert (code, [line.split(",")[1] for line in out[1:]], err) == (0, ["=x()", "-y"], [])


@pytest.mark.parametrize(
    "name", ["out.csv", "out.tsv", "out.jsonl", "out.parquet", "out.csv.gz", "out.jsonl.gz"]
)
def test_a_file_by_its_name_holds_what_is_printed(folder, tmp_path, name):
    (folder / "new.csv").write_text('id,text\n7,"no toner\nat all"\n8,vpn\n9,=toner\n')
    printed = list(csv.DictReader(io.StringIO("\n".join(predict(folder, "new.csv", "--keep-formulas")[1]))))
    code, out, _ = predict(folder, "new.csv", "-o", tmp_path / name)
    assert (code, out) == (0, [f"Decided on 3 texts; written to {tmp_path / name}"])
    rows = [row.values for batch in read_rows(tmp_path / name) for row in batch]
    texts = "'=toner" if ".csv" in name or ".tsv" in name else "=toner"
    assert [row["text"] for row in rows] == ["no toner\nat all", "vpn", texts]
    for row, one in zip(rows, printed, strict=True):
        assert list(row) == list(one)
        assert {key: "" if value is None else str(value) for key, value in row.items() if key != "text"} == {
            key: value for key, value in one.items() if key != "text"
        }
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["-o", "out.doc"],
            "out.doc does not tell a format to write: end its name with .csv, .tsv, .jsonl, .parquet or "
            ".xlsx.",
        ),
        (["-o", "out.xlsx.gz"], "out.xlsx.gz does not tell a format to write"),
        (["-o", "train.csv"], "train.csv would replace train.csv, which is needed; choose another name."),
        (["-o", "m.csv"], "m.csv cannot be written: it is a folder."),
        (["-o", "no/out.csv"], "no/out.csv cannot be written: its folder is not there"),
        (["-o", "out.csv", "--json"], "--json and -o out.csv say two formats"),
        (["-o", "out.jsonl", "--keep-formulas"], "--keep-formulas is for CSV and TSV"),
        (["-o", "out.csv", "--text", "nope"], "train.csv has no column 'nope'"),
    ],
)
def test_outputs_that_cannot_be(folder, words, message):
    (folder / "m.csv").mkdir(exist_ok=True)
    before = sorted(path.name for path in folder.iterdir())
    code, out, err = predict(folder, "train.csv", *words)
    assert (code, out) == (2, [])
    assert message in err[-1]
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.xlsx"])
def test_an_error_on_the_way_leaves_what_was_there(folder, tmp_path, name):
    (tmp_path / name).write_text("of yesterday")
    given = b"text,x\n" + b"no toner,1\n" * 30_000 + b"vpn\n"
    code, out, err = predict(folder, "--strict", "-o", tmp_path / name, given=given)
    assert (code, out) == (2, [])
    assert err[-1].startswith("textmargin: line 30,002: 1 values")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "of yesterday")]


def test_an_interrupted_run_leaves_nothing(folder, tmp_path):
    command = [
        sys.executable,
        "-m",
        "textmargin",
        "predict",
        str(folder / "m.tmm"),
        "-o",
        str(tmp_path / "out.csv"),
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"text\n" + b"no toner\n" * 1000)
    process.stdin.flush()
    wait_for(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode != 0
    assert b"interrupted" in told
    assert list(tmp_path.iterdir()) == []


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_types_of_parquet_stay(folder, tmp_path):
    types = {
        "id": pa.int32(),
        "text": pa.string(),
        "at": pa.timestamp("ms"),
        "kind": pa.dictionary(pa.int8(), pa.string()),
    }
    values = {"id": [1, None], "text": ["no toner", "vpn"], "at": [0, 1], "kind": ["a", "b"]}
    table = pa.table({name: pa.array(own, types[name]) for name, own in values.items()})
    pq.write_table(table, tmp_path / "in.parquet")
    assert predict(folder, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")[0] == 0
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.select(table.column_names) == table
    assert written.column_names == [*table.column_names, *OURS.split(",")]
    assert written["label"].to_pylist() == ["printing", "network"]


def test_types_of_a_table_that_is_left_out_do_not_matter(folder, tmp_path):
    pq.write_table(pa.table({"text": ["no toner"], "label": [7], "score": ["x"]}), tmp_path / "in.parquet")
    assert (
        predict(folder, tmp_path / "in.parquet", "--only-decisions", "-o", tmp_path / "out.parquet")[0] == 0
    )
    (row,) = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert (row["line"], row["label"]) == (1, "printing")
    assert row["score"] > 0


def test_a_pipe_of_plain_lines_has_numbers_and_keeps_its_first_text(folder):
    _, out, err = predict(folder, "-", given=b"no toner\nthe vpn\n")
    assert labels_of(out) == ["1,printing", "2,network"]
    assert any("plain lines" in line for line in err)


def test_texts_of_which_nothing_is_known_are_counted(folder):
    _, out, err = predict(folder, "-", given=b"no toner\nzebra giraffe\n\nxyzzy\n")
    assert len(out) == 4
    assert any("the model knows no word of 2 of the 3 texts" in line for line in err)
