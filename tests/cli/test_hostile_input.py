"""What an attack on the command line found: each test is named after what happened then."""

import errno
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from typer.main import get_command

from textmargin._system import writing
from textmargin._system.toml import TomlError, read_toml
from textmargin._system.writing import put_whole, write_whole
from textmargin.cli import app
from textmargin.config import read_costs
from textmargin.errors import OutputError, PriorError, TableError
from textmargin.knowledge.keywords import KeywordPrior
from textmargin.tables.delimited import column_names
from textmargin.tables.dialect import Dialect
from textmargin.tables.reader import read_table

COMMAND = [sys.executable, "-m", "textmargin"]


def run(*words, **settings):
    return subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120, **settings
    )


def test_a_hundred_thousand_columns_hung_for_minutes(tmp_path):
    n = 100_000
    (tmp_path / "a.csv").write_text(
        ",".join(f"c{k}" for k in range(n)) + "\n" + (",".join(["x"] * n) + "\n") * 3
    )
    start = time.process_time()
    with pytest.raises(
        TableError, match="has 100,000 values, more than the 10,000 columns that a table may have"
    ):
        read_table(tmp_path / "a.csv")
    assert time.process_time() - start < 10


def test_columns_of_one_name_took_quadratic_time():
    told = []
    start = time.process_time()
    names = column_names(["text"] * 10_000, True, told.append)
    assert time.process_time() - start < 2
    assert names[:3] == ["text", "text 2", "text 3"]
    assert len(set(names)) == 10_000
    assert len(told) < 1_000
    assert column_names(["a", "a 2", "a", "a"], True, told.append) == ["a", "a 2", "a 3", "a 4"]


@pytest.mark.parametrize(
    "rest", ["a text of some words,label\n", '"another open one,b\n', "word " * 2000 + "\n", "word ", '"\n']
)
def test_an_open_quote_over_20_megabytes_hung(rest, tmp_path):
    (tmp_path / "a.csv").write_text(
        'text,label\nok text here,a\n"open text,b\n' + rest * (20_000_000 // len(rest))
    )
    start = time.process_time()
    with pytest.raises(TableError, match=r"Line 3 of .*the quote that opens a value is never closed"):
        read_table(tmp_path / "a.csv")
    assert time.process_time() - start < 10


def test_lines_that_cannot_be_read_are_counted_to_the_end_of_a_file_of_some(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n" + "some words,a\n" * 50_000 + 'no row "\n' * 20)
    with pytest.raises(TableError, match=r"Line 50,002 of .*\(20 lines in all cannot be read\.\)"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("text,label\nsome words,a\n" + "no row\n" * 200_000)
    with pytest.raises(TableError, match=r"Line 3 of .*lines, and perhaps more, cannot be read\.\)"):
        read_table(tmp_path / "b.csv")


DEEP = "a = " + "[" * 5000 + "]" * 5000 + "\n"


def test_toml_nested_deeply_ended_in_recursion_error(tmp_path):
    (tmp_path / "a.toml").write_text(DEEP)
    with pytest.raises(TomlError, match="nested too deep"):
        read_toml(tmp_path / "a.toml")
    with pytest.raises(TableError, match=r"a\.toml should hold .*nested too deep"):
        read_costs(tmp_path / "a.toml")
    with pytest.raises(PriorError, match="nested too deep"):
        KeywordPrior.from_file(tmp_path / "a.toml")


def test_json_nested_deeply_is_a_line_that_cannot_be_read(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": ' + "[" * 100_000 + "]" * 100_000 + ', "label": "a"}\n')
    with pytest.raises(TableError, match="nested too deep"):
        read_table(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("5", "'text' is a number, not a text: 5"),
        ("1.5", "'text' is a number, not a text: 1.5"),
        ("[1, 2]", r"'text' is a list, not a text: \[1, 2\]"),
        ('{"a": 1}', "'text' is an object, not a text"),
        ("true", "'text' is true or false, not a text"),
    ],
)
def test_a_value_that_is_no_text_was_called_something_else(value, message, tmp_path):
    rows = ['{"text": "some words here", "label": "a"}', f'{{"text": {value}, "label": "b"}}']
    (tmp_path / "a.jsonl").write_text("\n".join(rows) + "\n")
    with pytest.raises(TableError, match=f"Line 2 of .*{message}"):
        read_table(tmp_path / "a.jsonl", text="text", label="label")


def shell(line, **settings):
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=120, **settings)


def test_closed_standard_input_is_named(tmp_path):
    told = shell(f"{sys.executable} -m textmargin check - <&-")
    assert told.returncode == 2
    assert "Standard input is closed" in told.stderr


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_was_told_of_a_file_without_a_name(tmp_path, monkeypatch):
    path = tmp_path / "model.tmm"
    path.write_bytes(b"old")
    monkeypatch.setattr(writing.os, "fsync", full)
    message = (
        r"model\.tmm cannot be written: No space left on device\. What was there before is as it "
        r"was.*; free some space"
    )
    with pytest.raises(OutputError, match=message):
        write_whole({path: b"new"})
    with pytest.raises(OutputError, match=message), put_whole(path) as temporary:
        temporary.write_bytes(b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["model.tmm"]


@pytest.mark.parametrize("write", [lambda path: write_whole({path: b"new"}), lambda path: _put(path)])
def test_a_symbolic_link_was_replaced_instead_of_its_target(write, tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "model.tmm", tmp_path / "model.tmm"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert [one.name for one in (tmp_path / "there").iterdir()] == ["model.tmm"]


def _put(path):
    with put_whole(path) as temporary:
        temporary.write_bytes(b"new")


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_sigterm_during_train_was_silent(sign, code, tmp_path):
    (tmp_path / "a.csv").write_text(
        "text,label\n" + "".join(f"{'ab' * 200}{k},{k % 2}\n" for k in range(1500))
    )
    words = [*COMMAND, "train", "a.csv", "--features", "subsequence"]
    # where the tests run under nohup, SIGHUP would be ignored
    heeds = partial(signal.signal, sign, signal.SIG_DFL)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, cwd=tmp_path, preexec_fn=heeds)
    while b"learning from" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(sign)
    told = process.communicate(timeout=60)[1].decode()
    assert process.returncode == code
    assert f"textmargin: ended by {sign.name}; a file that it writes is whole or not there" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("words", [["reproduce"], ["--help"], ["train", "--help"]], ids=" ".join)
def test_help_on_a_full_disk_ended_in_a_traceback(words):
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "textmargin", *words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (found.returncode, found.stderr) == (
        2,
        "textmargin: standard output cannot be written: No space left on device.\n",
    )


def test_a_name_too_long_for_a_file_ended_in_a_traceback(tmp_path):
    for words in (["train", "9" * 400], ["check", "9" * 400], ["reproduce", "--results", "9" * 400]):
        told = run(*words)
        assert told.returncode == 2, told.stderr
        assert "too long" in told.stderr
        assert "Traceback" not in told.stderr


def test_an_encoding_that_is_no_utf8_ended_in_a_traceback(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\nsome words,a\n")
    with pytest.raises(TableError, match=r"The encoding '\\udcff' is not known"):
        read_table(tmp_path / "a.csv", dialect=Dialect(encoding="\udcff"))


def test_a_number_of_6000_digits_in_toml_ended_in_a_traceback(tmp_path):
    (tmp_path / "a.toml").write_text(f"a = {'7' * 6000}\n")
    with pytest.raises(TomlError, match="digits"):
        read_toml(tmp_path / "a.toml")


def test_standard_input_that_is_no_file_of_the_system_could_not_be_read():
    table = b"text,label\n" + b"wheat prices,grain\noil prices,oil\n" * 5
    told = CliRunner().invoke(get_command(app), ["check", "-"], input=table)
    assert told.exit_code == 0, told.output
