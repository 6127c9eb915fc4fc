"""`textmargin predict` on input that is not as it should be: what is decided, what is said, and the exit code."""

import gc
import io
import json
import os
import subprocess
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from textmargin import Corpus
from textmargin.cli import app
from textmargin.config import ModelConfig
from textmargin.tables.reader import read_table

HEADER = "line,label,guess,confidence"
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
        with redirect_stdout(out), redirect_stderr(err), (folder / os.devnull).open() as stream, patch("sys.stdin", stream):
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
    assert all(guess == "" and 0.5 < float(confidence) < 1 for _, _, guess, confidence in rows)
    return [f"{number},{label}" for number, label, _, _ in rows]


def feed(handle, content):
    with suppress(BrokenPipeError), os.fdopen(handle, "wb") as stream:
        stream.write(content)


def test_an_inch_mark_in_a_stream_does_not_silence_the_rest(folder):
    code, out, err = predict(folder, given=b'text\nmy 5" printer has no toner\nvpn down\n"paper, never closed\nwifi slow\n')
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
    assert err == ["textmargin: standard input has no column 'nope'. It has 'id', 'text'. Choose one with --text."]


def test_only_bad_lines_are_exit_code_2(folder):
    code, out, err = predict(folder, given=b"text,id\nno toner\nvpn\n")
    assert (code, out) == (2, [HEADER])
    assert err[-1] == "textmargin: none of the 2 lines of standard input could be decided on."


@pytest.mark.parametrize("given", [b"", b"text\n", b"\n\n"])
def test_an_empty_stream_is_told_and_no_mistake(folder, given):
    code, out, err = predict(folder, given=given)
    assert (code, out) == (0, [HEADER])
    assert err[-1] == "textmargin: standard input has no rows; there was nothing to decide on"


def test_the_column_of_training_comes_first(folder):
    row = {"text": "no toner", "note words": "the vpn is down"}
    code, out, err = predict(folder, "--format", "jsonl", given=json.dumps(row).encode())
    assert (code, labels_of(out), err) == (0, ["1,network"], [])


def test_a_guessed_column_is_said_once(folder):
    code, out, err = predict(folder, given=b"id,Message\n1,no toner\n2,vpn down\n")
    assert (code, labels_of(out)) == (0, ["2,printing", "3,network"])
    assert err == ["textmargin: text: column 'Message'"]


def test_a_column_is_not_guessed_by_what_comes_first(folder):
    code, _, err = predict(folder, given=b"a,b\nthere is no toner left,x\n")
    assert code == 2
    assert err == ["textmargin: standard input has the columns 'a', 'b'; which one holds the text? Choose it with --text."]


def test_a_closed_standard_input_is_one_line(folder):
    command = f"{sys.executable} -m textmargin predict {folder / 'm.tmm'} <&-"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"textmargin: Standard input is closed; name a file, or pipe lines in.\n"


@pytest.mark.parametrize("words", [["nothing.csv"], ["train.csv", "--encoding", "nonsense"], ["m.tmm", "--format", "csv"]])
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
    assert predict(folder, "--format", "txt", given=given, model="several.tmm")[1][1].startswith("1,a;b;c,,0.")
    (line,) = predict(folder, "--format", "txt", "--json", given=given, model="several.tmm")[1]
    assert json.loads(line)["labels"] == ["a;b", "c"]


def test_a_named_pipe_with_a_header(folder):
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    feeder = threading.Thread(target=pipe.write_text, args=("text\n" + "no toner\n" * 2000,), daemon=True)
    feeder.start()
    code, out, _ = predict(folder, pipe)
    feeder.join(10)
    assert code == 0
    assert labels_of(out) == [f"{number},printing" for number in range(2, 2002)]
