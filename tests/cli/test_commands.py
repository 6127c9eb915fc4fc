"""The command line."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import textmargin
from textmargin.cli import app


def call(*words):
    return CliRunner().invoke(app, words)


def test_version():
    assert call("--version").stdout.strip() == textmargin.__version__


def test_demo_shows_what_knowledge_and_costs_change():
    shown = call("demo")
    assert shown.exit_code == 0
    assert "words + keywords + costs" in shown.stdout
    assert "Try next" in shown.stdout
    assert shown.stderr == ""


@pytest.mark.parametrize("words", [["nonsense"], ["demo", "--nonsense"]])
def test_a_mistake_is_exit_code_2(words):
    done = call(*words)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_tables_are_listed_computed_and_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = call("reproduce")
    assert listed.exit_code == 0
    assert "strings-2" in listed.output
    for said in ("Stored in", "no number differs"):
        result = call("reproduce", "strings-2", "--quick", "--kernels", "kernels")
        if "TEXTMARGIN_DATA" in os.environ:
            assert result.exit_code == 0, result.output
            assert said in result.stderr
            assert "| earn, 5 S-K | " in result.stdout
        else:
            assert result.exit_code == 2
            assert "needs reuters21578.jsonl.gz" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "strings-9"], "There is no table 'strings-9'. Nearest: strings-3."),
        (["reproduce", "--page", "page.md"], "There are no stored results in results"),
        (["data", "show", "reuter"], "There is no dataset 'reuter'; there are"),
        (["data", "export", "reuter"], "There is no dataset 'reuter'. Nearest: 'reuters21578'."),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("textmargin: ")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_corpus_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTMARGIN_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "no" in call("data").output
    result = call("data", "show", "medline")
    assert "medline.jsonl.gz, 343,505 bytes: missing" in result.output
    assert "Glasgow" in result.output


INTERRUPT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from textmargin.cli import app
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
app(["predict", "m.tmm"])
"""


@pytest.mark.parametrize("name", ["typer", "textmargin.cli.predict", "textmargin.decider"])
def test_an_early_interruption_printed_a_traceback(name):
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPT.format(name=name)], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (130, "")
    assert (
        "interrupted; a file that it writes" in ended.stderr
        if name == "textmargin.decider"
        else ended.stderr == ""
    )
