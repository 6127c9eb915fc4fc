"""What `train` says, in which order it ends, and how long work shows that it lives."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from textmargin import load_dataset
from textmargin._system import progress, stages
from textmargin._system.stages import StageDisplay, stage
from textmargin.cli import app
from textmargin.cli._talk import describe_counts
from textmargin.errors import nearest
from textmargin.tables.export import export_csv

ENGLISH = "text,label\n" + "the wheat and the corn were sold,x\nthe bank has raised its rates,y\n" * 6
CHINESE = "text,label\n" + "账单不对请退款,x\n网络很慢无法登录,y\n" * 6
NO_LANGUAGE = "text,label\n" + "zork frotz,x\nplugh xyzzy,y\n" * 6


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(folder, content, *options):
    (folder / "a.csv").write_text(content, encoding="utf-8")
    result = call("train", "a.csv", *options)
    assert result.exit_code == 0, result.output
    return result


def test_texts_and_labels_are_told_before_and_counts_after(folder):
    result = train(folder, ENGLISH)
    assert result.stderr.splitlines() == [
        "textmargin: text: column 'text'; label: column 'label'",
        "textmargin: learning from 12 texts, 2 labels, one a text",
    ]
    assert result.stdout.splitlines()[0] == "Trained on 12 texts (x: 6, y: 6)"


@pytest.mark.parametrize(
    ("content", "options", "line"),
    [
        (ENGLISH, (), "English: its function words are left out; --stop-words none keeps them"),
        (CHINESE, (), "Chinese, which has no blanks: characters and pairs of characters are its words"),
        (NO_LANGUAGE, (), "No language that is known was found, so that all words count"),
        (ENGLISH, ("--stop-words", "none"), None),
        (ENGLISH, ("--tokens", "letters"), None),
        (ENGLISH, ("--features", "ngrams"), None),
    ],
)
def test_the_language_and_what_it_means(content, options, line, folder):
    told = json.loads(train(folder, content, "--json", *options).stdout)["words"]
    assert told is None if line is None else told.startswith(line)


def test_labels_with_few_texts_and_texts_with_two_labels_are_told(folder):
    result = train(folder, ENGLISH + "a rare text,rare\nthe bank  has raised its rates,x\n")
    assert "few texts to learn from, fewer than 5: rare: 1." in result.stderr
    assert result.stderr.splitlines()[-1] == (
        "textmargin: 1 text occurs more than once, with different labels; to see which: textmargin check "
        "a.csv"
    )


def test_the_command_that_is_shown_reads_the_file_as_it_was_read(folder):
    (folder / "my tickets.txt").write_text(
        "".join(f"the corn was sold;{k % 2}\n" for k in range(12)), encoding="utf-16"
    )
    options = ["--format", "csv", "--delimiter", ";", "--encoding", "utf-16", "--no-header", "--skip-invalid"]
    result = call("train", "my tickets.txt", "--text", "1", "--label", "2", "--missing-labels", "", *options)
    assert result.exit_code == 0, result.output
    shown = next(line for line in result.stderr.splitlines() if "to see which: " in line).partition(
        "to see which: "
    )[2]
    words = shlex.split(shown)
    assert words[:3] == ["textmargin", "check", "my tickets.txt"]
    assert set(words[3:]) == {*options, "--missing-labels", "", "--text", "1", "--label", "2"}
    checked = call(*words[1:], "--no-doubts")
    assert checked.exit_code == 0, checked.output
    assert "different labels: 1" in checked.stdout


def test_texts_that_are_merely_repeated_are_no_contradiction(folder):
    assert "check" not in train(folder, ENGLISH).output


def test_many_labels_fit_on_a_line():
    counts = {f"t{k}": k + 1 for k in range(30)}
    assert describe_counts(counts).endswith("t10: 11, and 10 more with 1 to 10 texts each")
    assert describe_counts({"1": 2, "2": 3}) == "1: 2, 2: 3"
    assert describe_counts({str(k): 1 for k in range(21)}).endswith("19: 1, and 1 more with 1 text each")


def test_verbose_tells_sizes_steps_and_times(folder):
    told = train(folder, ENGLISH, "-v", "--json").stderr
    for part in (
        "reading a.csv: 0.",
        "turning 12 texts into columns: ",
        " columns, ",
        " solver steps, ",
        "training 2 labels: ",
    ):
        assert part in told
    assert "columns," not in train(folder, ENGLISH).stderr


def test_tuned_settings_are_told_and_used(folder):
    export_csv(load_dataset("desk"), folder)
    result = call("train", "desk-train.csv", "--tune", "--stop-words", "english", "--json")
    assert result.exit_code == 0, result.output
    assert "textmargin: tuned: " in result.stderr
    tuning = json.loads(result.stdout)["tuning"]
    assert tuning["chosen"] in tuning["candidates"]
    assert max(one["score"] for one in tuning["candidates"]) >= tuning["chosen"]["score"]
    chosen = tuning["chosen"]
    options = ["--C", chosen["C"], *(["--ngrams", chosen["ngrams"]] if chosen["ngrams"] else [])]
    assert (
        call("train", "desk-train.csv", "--stop-words", "english", "-o", "same.tmm", *options).exit_code == 0
    )
    assert (folder / "same.tmm").read_bytes() == (folder / "model.tmm").read_bytes()


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_has_the_exit_code_of_its_signal(sign, code, folder):
    (folder / "a.csv").write_text("text,label\n" + "".join(f"{'ab' * 200}{k},{k % 2}\n" for k in range(1500)))
    command = [sys.executable, "-m", "textmargin", "train", "a.csv", "--features", "subsequence"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    while b"learning from" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(1)
    process.send_signal(sign)
    told = process.communicate(timeout=30)[1].decode()
    assert process.returncode == code
    assert "go on" not in told
    assert "Traceback" not in told
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


def test_a_log_gets_a_line_of_the_stage_a_minute(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "INTERVAL", 0.05)
    with StageDisplay(), stage("training 90 labels"), stage("held-out scores"):
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 8
    assert set(lines) == {"training 90 labels … 0 s", "held-out scores … 0 s"}


def test_nobody_who_does_not_ask_is_told(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "INTERVAL", 0.05)
    with stage("training 90 labels"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_failed_stage_leaves_no_line(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with pytest.raises(ZeroDivisionError), StageDisplay() as shown, stage("training"):
        raise ZeroDivisionError
    assert shown.open == progress._SCREEN.lines == []
    assert not stages.log.handlers


SHOWN = """
import sys, time
from textmargin._system import progress, stages
progress.PATIENCE = 0.05
with stages.StageDisplay(), stages.stage("training 90 labels"):
    with progress.progress_of("Comparing", True) as report:
        for k in range(6):
            time.sleep(0.1)
            report(k / 6)
    print("textmargin: a remark", file=sys.stderr)
"""


def test_a_terminal_shows_stage_and_bar_and_keeps_neither():
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", SHOWN], stderr=terminal, env=environment)
    os.close(terminal)
    written = b""
    try:
        while chunk := os.read(controller, 4096):
            written += chunk
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    assert process.wait(timeout=20) == 0
    screen = written.decode()
    assert "training 90 labels … " in screen
    assert "Comparing" in screen
    assert "textmargin: a remark" in screen
    # the last thing is that lines are cleared, and the cursor is back
    assert screen.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("sci.spce", ["sci.med", "sci.space"], "sci.space"),
        (" Account", ["account"], "account"),
        ("12", [1, 12, 3], 12),
        ("wheat", ["sci.med"], None),
    ],
)
def test_the_nearest_name(name, known, near):
    assert nearest(name, known) == near
