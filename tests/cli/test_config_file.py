"""Options of `train` in a file."""

import json

import pytest
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.persistence import load_classifier

ROWS = "note,desk\n" + "the wheat and the corn were sold,x\nthe bank has raised its rates,y\n" * 6


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(ROWS)
    return tmp_path


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('lable = "x"\n', "c.toml: there is no setting 'lable'. Did you mean label?"),
        ("zzz = 1\n", "c.toml: there is no setting 'zzz'. textmargin train --help lists them."),
        ("[model]\nC = 3\n", "c.toml: there is no setting 'model'. "),
        ("C = 3 4\n", "--config c.toml is not TOML"),
        ("skip-invalid = 3\n", "Invalid value for '--skip-invalid'"),
        ("C = [3]\n", "Invalid value for '--C'"),
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


def test_json_of_a_file_is_that_of_options(folder):
    (folder / "c.toml").write_text('data = "a.csv"\nmin_recall = 0.5\n')
    by_file = json.loads(call("train", "--config", "c.toml", "--json").stdout)
    assert by_file == json.loads(call("train", "a.csv", "--min-recall", 0.5, "--json").stdout)
