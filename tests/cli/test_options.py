"""Options that are wrong, do not apply, or leave something out are named; what is no user's mistake keeps its
traceback.
"""

import csv
import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from textmargin import load_dataset
from textmargin.cli import app
from textmargin.cli._console import with_options
from textmargin.cli._usage import COMMANDS
from textmargin.errors import SettingError, TableError, TextmarginWarning
from textmargin.persistence import load_classifier
from textmargin.tables.export import export_csv

ROWS = "text,label\n" + "wheat and corn,x\nbank rates,y\n" * 4


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(ROWS)
    return tmp_path


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Messages of eight topics as files, and a model without costs."""
    folder = tmp_path_factory.mktemp("desk")
    export_csv(load_dataset("desk"), folder)
    assert call("train", folder / "desk-train.csv", "-o", folder / "plain.tmm").exit_code == 0
    return folder


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "a.csv", "--lable", "x"], "there is no option --lable; did you mean --label?"),
        (["train", "a.csv", "--zzz"], "there is no option --zzz; see textmargin train --help."),
        (["train", "a.csv", "--label"], "Option '--label' requires an argument."),
        (["train"], "Missing argument 'data'. See textmargin train --help."),
        (["trian"], "No such command 'trian'. Did you mean 'train'?"),
        (
            ["train", "a.csv", "m.tmm"],
            "Got unexpected extra argument(s) (m.tmm). See textmargin train --help.",
        ),
    ],
)
def test_usage_errors_were_boxes(words, message, folder):
    result = CliRunner().invoke(app, words, prog_name="textmargin")
    assert result.exit_code == 2
    assert result.stderr == f"textmargin: {message}\n"
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


def test_without_a_command_there_is_help():
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 2
    assert "Usage" in result.output


def test_a_shell_completes_commands_and_options(folder):
    for words, expected in (("textmargin tr", "train"), ("textmargin train a.csv --hold", "--holdout")):
        asked = {
            "_TEXTMARGIN_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        command = [sys.executable, "-c", "from textmargin.cli import app; app(prog_name='textmargin')"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env={**os.environ, **asked}
        )
        assert done.stdout.split() == [expected]


def test_an_option_for_several_values_may_be_given_again(folder):
    words = (
        "feedback",
        "add",
        "f.sqlite",
        "--text",
        "wheat",
        "--predicted",
        "x",
        "--predicted",
        "y",
        "--correct",
        "x",
    )
    assert call(*words).exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--length", 3],
            "--length is for --features subsequence or 'ngrams'; these are 'words'. Leave it out.",
        ),
        (["--decay", 0.3], "--decay is for --features subsequence; these are 'words'. Leave it out."),
        (
            ["--features", "ngrams", "--decay", 0.3],
            "--decay is for --features subsequence; these are 'ngrams'. Leave it out.",
        ),
        (
            ["--trust", "fixed"],
            "--trust says how far --keywords, --rationales or --prior-model are trusted; none of them is "
            "given.",
        ),
        (
            ["--threshold-scores", "cv"],
            "--threshold-scores is for models with costs, a utility or floors; none of them is given.",
        ),
        (
            ["--features", "ngrams", "--keywords", "k.toml"],
            "--keywords is about words; --features ngrams has none. Leave one of them out.",
        ),
    ],
)
def test_options_that_do_not_apply_were_passed_over(options, message, folder):
    result = call("train", "a.csv", *options)
    assert result.exit_code == 2, result.output
    assert result.stderr == f"textmargin: {message}\n"
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (TableError("Choose it with text=."), "Choose it with --text."),
        (
            TableError("leave such lines out with\n skip_invalid=True."),
            "leave such lines out with --skip-invalid.",
        ),
        (TableError("say it with file_format=: csv"), "say it with --format: csv"),
        (TableError("use scores='cv'."), "use --threshold-scores cv."),
        (TableError("pos_label='a b' is for two classes"), "--positive 'a b' is for two classes"),
        (TableError("min_recall=0.5, which"), "--min-recall 0.5, which"),
        (TableError("predict(X, prior_scores=...)"), "predict(X, prior_scores=...)"),
        (TextmarginWarning("these flatter it and trust='auto' may"), "these flatter it and --trust auto may"),
        (SettingError("C", "must be more than 0"), "--C must be more than 0"),
        (
            SettingError("prior_model", "old/keywords.tmm knows no words"),
            "--prior-model old/keywords.tmm knows no words",
        ),
        (
            SettingError("prior_model", "keywords.tmm knows no words"),
            "--prior-model keywords.tmm knows no words",
        ),
    ],
)
def test_parameters_of_the_library_are_options_here(message, shown):
    assert with_options(message) == shown


def test_costs_that_leave_labels_out_were_filled_up_with_points(desk, tmp_path):
    """Seven of eight labels got 2 and -1 points, beside one in euros."""
    (tmp_path / "c.toml").write_text("[costs]\nbilling = { hit = 200, false_alarm = -5, miss = -100 }\n")
    words = ("train", desk / "desk-train.csv", "-o", tmp_path / "m.tmm", "--costs", tmp_path / "c.toml")
    result = call(*words)
    assert result.exit_code == 2
    told = result.stderr.splitlines()[-1]
    assert (
        "says nothing of 'accessibility', 'account', 'hardware' and 4 more; add a line for each, or '*'"
        in told
    )
    assert not (tmp_path / "m.tmm").exists()
    result = call(*words, "--hit", 3, "--false-alarm", -2)
    assert result.exit_code == 0, result.output
    (utility, others) = (
        load_classifier(tmp_path / "m.tmm").model_.utility[name] for name in ("billing", "*")
    )
    assert (utility.tp, utility.fp, utility.fn) == (200, -5, -100)
    assert (others.tp, others.fp, others.fn) == (3, -2, 0)
    summary = json.loads(call("evaluate", tmp_path / "m.tmm", desk / "desk-test.csv", "--json").stdout)
    for one in summary["classes"]:
        hit, alarm, miss = (200, -5, -100) if one["label"] == "billing" else (3, -2, 0)
        assert one["utility"] == hit * one["tp"] + alarm * one["fp"] + miss * one["fn"]


def test_costs_of_all_other_labels_are_said_once(desk, tmp_path):
    (tmp_path / "c.toml").write_text('[costs]\nbilling = { hit = 200 }\n"*" = { hit = 1 }\n')
    words = ("train", desk / "desk-train.csv", "-o", tmp_path / "m.tmm", "--costs", tmp_path / "c.toml")
    assert call(*words).exit_code == 0
    result = call(*words, "--hit", 3)
    assert result.exit_code == 2
    assert "has costs for all other labels, '*', and the options give others; choose." in result.stderr


def test_utility_was_shown_of_a_model_without_costs(desk):
    words = ("evaluate", desk / "plain.tmm", desk / "desk-test.csv")
    shown = call(*words)
    assert shown.exit_code == 0
    assert "alarms" in " ".join(shown.stdout.split())
    assert "utility" not in shown.stdout
    summary = json.loads(call(*words, "--json").stdout)
    assert summary["utility"] is None
    assert all(one["utility"] is None for one in summary["classes"])
    assert "utility" in call(*words, "--hit", 2).stdout


@pytest.mark.parametrize("debug", ["1", "0", ""])
def test_debug_shows_the_traceback_of_a_mistake(folder, debug):
    command = [sys.executable, "-m", "textmargin", "train", "nothing.csv"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
        env={**os.environ, "TEXTMARGIN_DEBUG": debug},
    )
    if debug == "1":
        assert "Traceback (most recent call last)" in done.stderr
        assert re.search(r"textmargin\.errors\.\w+Error: .*nothing\.csv", done.stderr)
        assert done.returncode == 1
    else:
        assert done.returncode == 2
        assert done.stderr.startswith("textmargin: ")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("kind", [ZeroDivisionError, ValueError, OSError, KeyError])
def test_a_fault_of_ours_was_told_as_a_mistake_of_the_user(kind, folder, monkeypatch):
    """One line without a traceback hid where it came from."""

    def fail(*_, **__):
        raise kind("inside")

    monkeypatch.setattr("textmargin.learners.primal.PriorSVC.fit", fail)
    result = call("train", "a.csv")
    assert result.exit_code == 1
    assert type(result.exception) is kind
    last = result.exc_info[2]
    while last.tb_next is not None:
        last = last.tb_next
    assert last.tb_frame.f_code is fail.__code__
    assert "inside" not in result.stderr
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("width", ["60", "80"])
def test_brackets_in_help_were_taken_for_markup(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    assert "[[start, end]" in " ".join(re.sub(r"[│╭╮╰╯─]", "", call("train", "--help").stdout).split())


@pytest.mark.parametrize("width", ["80", "120"])
def test_help_names_every_option_in_full(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    for name in COMMANDS:
        shown = call(name, "--help").stdout
        assert "--help" in shown
        assert not re.search(r"-\w+…", shown), name


def test_paragraphs_of_help_are_as_wide_as_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("predict", "--help").stdout.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith(" A line of CSV per text"))
    last = next(k for k, line in enumerate(lines) if k > first and not line.strip())
    for line, following in pairwise(lines[first:last]):
        assert len(line.rstrip()) + 1 + len(following.split()[0]) > 78  # the next word had no room


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "x = { hit = 1, false_alarm = 1 }",
            "hit = 1, false_alarm = 1 and miss = 0 of 'x' make no sense together",
        ),
        ("x = { ask = 1 }", "ask of 'x' is 1; a person's look costs something"),
        ("x = { hit = true }", "hit of 'x' is True, which is not a number."),
        ("x = { hits = 1 }", "'x' has 'hits', which is none of hit, false_alarm, miss, ask."),
        ("Größe = { hit = 1 }", 'stand in quotes: "Größe" = ….'),
        ("a.b = { hit = 1 }", 'stand in quotes: "a.b" = ….'),
    ],
)
def test_a_file_of_costs_is_criticised_in_its_own_words(folder, content, message):
    (folder / "costs.toml").write_text(content, encoding="utf-8")
    result = call("train", "a.csv", "--costs", "costs.toml")
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Utility" not in result.stderr
    assert ".." not in result.stderr


def test_a_prior_that_nobody_can_judge_says_so(folder):
    (folder / "words.toml").write_text('x = ["xylophone"]\n')
    shown = call("train", "a.csv", "--keywords", "words.toml").stdout
    assert "prior for y: used, though no training text can say whether it helps\n" in shown
    assert "-0%" not in shown


def test_thresholds_that_a_floor_holds_say_so(folder):
    desk = load_dataset("desk").part("train")
    rows = [
        [text, label if label == "account" else "other"]
        for text, label in zip(desk.texts, desk.labels, strict=True)
    ]
    with (folder / "two.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["text", "label"], *rows])
    assert call("train", "two.csv", "--min-recall", 0.9).exit_code == 0
    moved = call("threshold", "model.tmm", "--false-alarm", -3, "-o", "b.tmm")
    assert "no threshold moves; a floor of the model may hold them, which --min-recall 0" in moved.stderr
    lifted = call("threshold", "model.tmm", "--false-alarm", -3, "--min-recall", 0, "-o", "b.tmm")
    assert "no threshold moves" not in lifted.stderr


def test_a_text_that_is_the_name_of_a_file_is_remarked_on(folder):
    assert call("train", "a.csv").exit_code == 0
    assert "'a.csv' is taken for the text itself" in call("explain", "model.tmm", "a.csv").stderr
    assert call("explain", "model.tmm", "corn " * 2000).stderr == ""


def test_labels_that_differ_by_case_say_where_the_rows_are_listed(folder):
    (folder / "a.csv").write_text(ROWS + "wheat,X\n" * 5)
    assert "spell it alike in all rows: textmargin check lists them." in call("train", "a.csv").stderr


def test_help_of_one_command_imports_no_other():
    code = (
        "import sys; sys.argv = ['textmargin', 'predict', '--help']\nfrom textmargin.cli import "
        "app\ntry:\n    app()\n"
        "except SystemExit:\n    assert 'textmargin.cli.predict' in sys.modules and "
        "'textmargin.cli.train' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
