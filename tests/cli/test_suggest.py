"""The command `textmargin suggest`."""

import csv
import json

import pytest
from typer.testing import CliRunner

from textmargin import KeywordPrior, SubsequenceKernel, TextClassifier, load_dataset
from textmargin.cli import app

KEYWORDS = """\
[keywords]
# who may come in
account = ["password", "login"]
network = ["wifi", "vpn", "invoice"]  # invoice is wrong
billing = ["payment"]
"""


def call(*words):
    return CliRunner(env={"COLUMNS": "300"}).invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A model with one wrong keyword, its keywords and texts."""
    folder = tmp_path_factory.mktemp("desk")
    train = load_dataset("desk").part("train")
    (folder / "words.toml").write_text(KEYWORDS)
    TextClassifier(knowledge=KeywordPrior.from_file(folder / "words.toml")).fit(
        train.texts, train.labels
    ).save(folder / "model.tmm")
    with (folder / "texts.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("id", "text"), *((k, text) for k, text in enumerate(train.texts))])
    (folder / "empty.csv").write_text("text\n")
    (folder / "other.toml").write_text("bug = ['crash']")
    return folder


def test_says_what_to_add_and_to_strike_with_lines(desk):
    result = call("suggest", desk / "model.tmm", desk / "texts.csv", "-n", "3")
    assert result.exit_code == 0, result.output
    (strike,) = (line for line in result.stdout.splitlines() if " strike " in line)
    assert strike.split()[:3] == ["network", "strike", "invoice"]
    assert "are given billing" in strike
    assert any(line.split()[:3] == ["billing", "add", "invoice"] for line in result.stdout.splitlines())
    assert (
        max(
            sum(f" {name} " in line and " add " in line for line in result.stdout.splitlines())
            for name in ("account",)
        )
        == 3
    )


def test_json_has_it_all(desk):
    result = call("suggest", desk / "model.tmm", desk / "texts.csv", "--json")
    found = json.loads(result.stdout)
    assert found["strike"]["network"][0]["entry"] == "invoice"
    assert found["n_texts"] == sum(found["counts"].values())
    one = found["add"]["billing"][0]
    assert one["word"].lower() in one["lines"][0].lower()


def test_write_the_keywords_of_the_model_to_a_new_file(desk, tmp_path):
    result = call("suggest", desk / "model.tmm", desk / "texts.csv", "--write", tmp_path / "new.toml")
    assert result.exit_code == 0, result.output
    written = KeywordPrior.from_file(tmp_path / "new.toml").entries()
    assert (written["network"]["wifi"], written["network"]["invoice"]) == (1, 0)
    assert {"password", "login"} < {*written["account"]}
    assert "hardware" in written  # that nobody had named words for


def test_keywords_and_texts_alone_will_do(desk, tmp_path):
    """No label and no model: it learns from the texts and the keywords."""
    (tmp_path / "few.toml").write_text(
        'account = ["password"]\nnetwork = ["wifi", "network"]\nprinting = ["printer"]\n'
    )
    result = call("suggest", desk / "texts.csv", "--keywords", tmp_path / "few.toml", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {*found["add"]} == {"account", "network", "printing"}
    assert "paper" in [one["word"] for one in found["add"]["printing"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["model.tmm", "empty.csv"], "empty.csv has no rows"),
        (["model.tmm", "texts.csv", "-n", "0"], "-n 0: at least one"),
        (["model.tmm", "texts.csv", "--write", "words.csv"], "ends in .toml"),
        (["model.tmm", "texts.csv", "--write", "texts.csv"], "would replace"),
        (["texts.csv", "--keywords", "words.toml", "--write", "other.toml"], "is there already"),
        (["texts.csv", "model.tmm"], "the model comes first: textmargin suggest model.tmm texts.csv"),
        (["texts.csv"], "give a model and a file of texts, or --keywords"),
        (["strings.tmm", "texts.csv"], "needs a model of words; this one has SubsequenceKernel"),
    ],
)
def test_mistakes_are_told_in_one_line(desk, monkeypatch, words, message):
    monkeypatch.chdir(desk)
    texts = ["wheat harvest", "corn harvest", "bank rates", "bank yen"]
    TextClassifier(SubsequenceKernel(length=2)).fit(texts, ["grain", "grain", "money", "money"]).save(
        "strings.tmm"
    )
    result = call("suggest", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert (desk / "words.toml").read_text() == KEYWORDS
