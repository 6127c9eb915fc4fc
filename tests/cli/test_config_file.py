"""Options of `train` in a file, and the command that writes one."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.cli._config_file import PATHS, settings
from textmargin.cli.train import train
from textmargin.persistence import load_classifier

ROWS = "note,desk\n" + "the wheat and the corn were sold,x\nthe bank has raised its rates,y\n" * 6


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(ROWS)
    return tmp_path


def test_settings_that_were_written_train_the_same_model(folder):
    assert call("train", "a.csv", "-o", "plain.tmm").exit_code == 0
    written = call("init", "a.csv")
    assert written.exit_code == 0, written.output
    assert tomllib.loads((folder / "model.toml").read_text()) == {
        "data": "a.csv",
        "text": "note",
        "label": "desk",
    }
    result = call("train", "--config", "model.toml")
    assert result.exit_code == 0, result.output
    assert (folder / "model.tmm").read_bytes() == (folder / "plain.tmm").read_bytes()


def test_every_setting_is_there_with_its_default_and_explained(folder):
    assert call("init", "-o", "all.toml").exit_code == 0
    lines = (folder / "all.toml").read_text().splitlines()
    assert tomllib.loads("\n".join(lines)) == {}
    names = settings(get_command(app).commands["train"].params)
    for name in names:
        place = next(n for n, line in enumerate(lines) if re.match(rf"# {re.escape(name)} =", line))
        assert re.match("# +[A-Za-z0-9-]", lines[place - 1]), name
    assert '# features = "words"' in lines
    assert "# C = 1.0" in lines
    assert {"data", "min-recall", "label-separator", "always-answer"} <= set(names)
    assert not {"config", "json", "verbose"} & set(names)


def test_defaults_that_are_uncommented_change_nothing(folder):
    assert call("train", "a.csv", "-o", "plain.tmm").exit_code == 0
    assert call("init", "a.csv").exit_code == 0
    text = (folder / "model.toml").read_text()
    (folder / "model.toml").write_text(re.sub(r"(?m)^# ([\w-]+ = (?!\{).+)$", r"\1", text))
    assert len(tomllib.loads((folder / "model.toml").read_text())) > 5
    result = call("train", "--config", "model.toml")
    assert result.exit_code == 0, result.output
    assert (folder / "model.tmm").read_bytes() == (folder / "plain.tmm").read_bytes()


def test_the_command_line_wins(folder):
    (folder / "c.toml").write_text(
        'data = "a.csv"\nC = 3\nstop_words = "none"\nhit = 5\nalways-answer = true\n'
    )
    assert call("train", "--config", "c.toml", "--C", "7", "--may-be-unsure").exit_code == 0
    model = load_classifier(folder / "model.tmm")
    assert model.learner.C == 7
    assert model.representation.stop_words is None
    assert model.decision.utility.tp == 5
    assert model.decision.always_answer is False


def test_paths_are_relative_to_the_file(folder, monkeypatch):
    inside = folder / "project"
    inside.mkdir()
    (inside / "b.csv").write_text(ROWS)
    (inside / "words").write_text("wheat\n")
    (inside / "c.toml").write_text('data = "b.csv"\noutput = "b.tmm"\nstop-words = "words"\n')
    result = call("train", "--config", "project/c.toml")
    assert result.exit_code == 0, result.output
    assert "wheat" not in load_classifier(inside / "b.tmm").representation_.vocabulary_


def test_settings_elsewhere_find_the_data(folder):
    (folder / "settings").mkdir()
    assert call("init", "a.csv", "-o", "settings/c.toml").exit_code == 0
    assert tomllib.loads((folder / "settings/c.toml").read_text())["data"] == "../a.csv"
    assert call("train", "--config", "settings/c.toml").exit_code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('lable = "x"\n', "c.toml: there is no setting 'lable'. Did you mean label?"),
        ("zzz = 1\n", "c.toml: there is no setting 'zzz'. textmargin init writes a file with all of them."),
        ("[model]\nC = 3\n", "c.toml: there is no setting 'model'. "),
        ("C = 3 4\n", "--config c.toml is not TOML"),
        ("skip-invalid = 3\n", "c.toml: skip-invalid is true or false; got 3."),
        ("C = [3]\n", "c.toml: C is a number, or text in quotes; got [3]."),
        ('C = "many"\n', "Invalid value for '--C'"),
        ("min-recall = 3\n", "--min-recall must be a number of at least 0 and at most 1; got 3.0."),
    ],
)
def test_mistakes_in_a_file_are_named(content, message, folder):
    (folder / "c.toml").write_text(content)
    result = call("train", "a.csv", "--config", "c.toml")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"textmargin: {message}")
    assert result.stderr.count("\n") == 1
    assert not (folder / "model.tmm").exists()


def test_a_file_that_is_not_there(folder):
    result = call("train", "a.csv", "--config", "no.toml")
    assert (result.exit_code, result.stderr) == (
        2,
        "textmargin: --config no.toml cannot be read: No such file or directory.\n",
    )


def test_settings_are_not_overwritten_by_accident(folder):
    (folder / "model.toml").write_text("C = 3\n")
    result = call("init", "a.csv")
    assert result.exit_code == 2
    assert "model.toml is there already" in result.stderr
    assert (folder / "model.toml").read_text() == "C = 3\n"
    assert call("init", "a.csv", "--overwrite").exit_code == 0
    assert "C = 3" not in (folder / "model.toml").read_text()


def test_all_options_that_are_paths_are_known_as_such():
    hints = get_type_hints(train, include_extras=False)
    paths = {name for name, hint in hints.items() if Path in (hint, *get_args(hint))}
    assert paths - {"config"} <= set(PATHS)


def test_json_of_a_file_is_that_of_options(folder):
    (folder / "c.toml").write_text('data = "a.csv"\nmin_recall = 0.5\n')
    by_file = json.loads(call("train", "--config", "c.toml", "--json").stdout)
    assert by_file == json.loads(call("train", "a.csv", "--min-recall", 0.5, "--json").stdout)


def test_init_in_a_process_of_its_own_did_not_know_train(folder):
    """Commands are imported when they are asked for; tests in one process had asked for `train` before."""
    done = subprocess.run(
        [sys.executable, "-m", "textmargin", "init", "a.csv"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert tomllib.loads((folder / "model.toml").read_text()) == {
        "data": "a.csv",
        "text": "note",
        "label": "desk",
    }


def test_a_setting_that_is_no_utf8_ended_in_a_traceback(folder):
    result = call("init", "--sheet", "\ud800")
    assert result.exit_code == 2
    assert "--sheet '\\ud800' is no text in UTF-8" in " ".join(result.output.split())
    assert not (folder / "model.toml").exists()
