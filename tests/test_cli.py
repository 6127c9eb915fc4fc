"""The command line."""

import json

import pytest
from typer.testing import CliRunner

import textmargin
from textmargin.cli import app


def call(*words):
    return CliRunner().invoke(app, words)


def test_version():
    assert call("--version").stdout.strip() == textmargin.__version__


def test_demo_shows_what_keywords_change():
    shown = call("demo")
    assert shown.exit_code == 0
    assert "right with keywords" in shown.stdout


def test_demo_as_json_has_the_same_numbers():
    result = json.loads(call("demo", "--json").stdout)
    messages = result["messages"]
    assert result["informed_right"] == sum(m["informed"] == m["truth"] for m in messages)
    assert result["informed_right"] > result["plain_right"]
    assert len(messages) == result["n_test"]


@pytest.mark.parametrize("words", [["nonsense"], ["demo", "--nonsense"]])
def test_a_mistake_is_exit_code_2(words):
    done = call(*words)
    assert done.exit_code == 2
    assert "Traceback" not in done.output
