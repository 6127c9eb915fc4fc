"""Texts without labels on the command line: what is learnt from them, what is said of it, and what is
refused.
"""

import csv
import json

import pytest
from samples import needs_corpora
from typer.testing import CliRunner

from textmargin import Corpus, ModelConfig, load, load_dataset
from textmargin.cli import app
from textmargin.cli._talk import unlabelled_lines
from textmargin.errors import SettingError

WORDS = (
    'screen = ["screen", "monitor", "display"]\nprinter = ["printer", "paper", "toner"]\nnetwork = '
    '["network", "wifi", "vpn"]\n'
)
SENTENCES = {
    "screen": [
        "the screen is black and flickers",
        "my monitor flickers again",
        "a display with stripes that flickers",
    ],
    "printer": [
        "the printer jams on every page",
        "no paper in tray two, page lost",
        "toner is empty and the page pale",
    ],
    "network": [
        "the network is slow, router down",
        "wifi drops when the router reboots",
        "no vpn, the router hangs",
    ],
}
TEXTS = [
    (f"{text} {place}", label)
    for place in ("today", "in room two", "since noon")
    for label, own in SENTENCES.items()
    for text in own
]


def call(*words, **settings):
    return CliRunner().invoke(app, [str(word) for word in words], **settings)


def train(*words):
    result = call("train", *words)
    assert result.exit_code == 0, result.output
    return result


def table(path, texts, names=("text", "label")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *texts])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.toml").write_text(WORDS)
    table(tmp_path / "texts.csv", [(n, text) for n, (text, _) in enumerate(TEXTS)], ("id", "text"))
    table(tmp_path / "some.csv", [(text, label if n < 18 else "") for n, (text, label) in enumerate(TEXTS)])
    return tmp_path


def read(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_keywords_and_texts_without_labels_make_a_classifier(folder):
    result = train("texts.csv", "--keywords", "words.toml")
    lines = result.stdout.splitlines()
    assert lines[0] == "Trained on 27 texts without a label, and what is known of network, printer, screen"
    assert "unlabelled texts: used, though no label says whether they help" in lines
    assert any(
        line.startswith("shares guessed: ") and "if you know better: --share " in line for line in lines
    )
    assert "words near those of network: " in result.stdout
    assert "On new texts: no estimate. Not every label has a text" in result.stdout
    suggest, predict = (f"textmargin {name} model.tmm texts.csv" for name in ("suggest", "predict"))
    assert lines[-1] == f"Next: {suggest} (words to add or to strike), {predict}"
    assert "learning from 27 texts without a label, and what is known of 3 labels" in result.stderr
    assert list(load("model.tmm").predict(["the router is down", "every page is pale"])) == [
        "network",
        "printer",
    ]


def test_rows_without_a_label_and_further_files_are_the_unlabelled_texts(folder):
    table(folder / "more.csv", [("T-1", "my monitor flickers", "other")], ("id", "body", "topic"))
    (folder / "lines.txt").write_text("the router again\n\nno toner\n")
    files = ["--unlabelled", "more.csv", "--unlabelled", "lines.txt"]
    result = train("some.csv", "--keywords", "words.toml", *files, "--json")
    facts = json.loads(result.stdout)
    assert (facts["n_texts"], facts["unlabelled"]["n_texts"]) == (18, 9 + 1 + 2)
    assert facts["unlabelled"]["status"] in ("supported", "adopted", "dropped", "contradicted")
    assert "9 of 27 rows have no label" in result.stderr
    assert "left out" not in result.stderr
    assert "more.csv: text: column 'body'; column 'topic' is not looked at" in result.stderr


@needs_corpora
def test_whether_unlabelled_texts_are_used_is_told_with_what_held_out_texts_say(folder):
    sms = load_dataset("sms_spam")
    table(
        folder / "sms.csv",
        [
            (text, label if n < 100 else "")
            for n, (text, label) in enumerate(zip(sms.texts, sms.labels, strict=True))
            if n < 400
        ],
    )
    (folder / "spam.toml").write_text('spam = ["free", "win", "prize", "claim"]\n')
    result = train("sms.csv", "--keywords", "spam.toml")
    told = next(line for line in result.stdout.splitlines() if line.startswith("unlabelled texts: "))
    status = told.partition(", ")[2].split()[0]
    assert told.startswith(
        "unlabelled texts: used, " if status in ("supported", "adopted") else "unlabelled texts: left aside, "
    )
    assert "held-out texts" in told
    assert "prior for None" not in result.stdout


FACTS = {"n_texts": 9, "used": True, "status": "supported", "gain": 0.06, "multilabel": False}
FACTS |= {"shares": {"ham": 0.84, "spam": 0.16}, "shares_given": False, "spread": {}}


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, "used, supported (6.0% more of the held-out texts decided rightly)"),
        ({"multilabel": True}, "used, supported (F1 of the held-out texts +0.060)"),
        (
            {"used": False, "status": "dropped"},
            "left aside, dropped (6.0% more of the held-out texts decided rightly, not clearly for their "
            "sake)",
        ),
        (
            {"used": False, "status": "contradicted", "gain": -0.02},
            "left aside, contradicted (2.0% fewer of the held-out texts decided rightly)",
        ),
        ({"used": False, "status": "dropped", "gain": 0.0}, "left aside, dropped"),
        ({"status": None, "gain": None}, "used, though no label says whether they help"),
    ],
)
def test_what_became_of_unlabelled_texts_in_a_line(facts, line):
    assert unlabelled_lines(FACTS | facts)[0] == f"unlabelled texts: {line}"


def test_guessed_shares_in_a_line_that_says_how_to_give_ones_own():
    guessed = "shares guessed: ham 84%, spam 16%; if you know better: --share spam=0.16"
    assert unlabelled_lines(FACTS)[1:] == [guessed]
    assert unlabelled_lines(FACTS | {"shares_given": True})[1:] == ["shares: ham 84%, spam 16%"]


def test_shares_are_those_given_and_a_text_may_have_several_labels(folder):
    options = ["texts.csv", "--keywords", "words.toml", "--json"]
    given = json.loads(train(*options, "--share", "screen=0.5", "--share", "network=0.25").stdout)[
        "unlabelled"
    ]
    assert given["shares"] == pytest.approx({"screen": 0.5, "network": 0.25, "printer": 0.25})
    assert given["shares_given"]
    for more in (["--multilabel"], ["--label-separator", ";"]):
        assert json.loads(train(*options, *more).stdout)["unlabelled"]["multilabel"]


def test_nothing_is_estimated_where_a_label_has_no_text(folder):
    table(folder / "one.csv", [(text, label if label == "screen" else "") for text, label in TEXTS])
    result = train("one.csv", "--keywords", "words.toml")
    assert "On new texts: no estimate. Not every label has a text" in result.stdout


def test_a_class_without_words_is_named_by_an_empty_line(folder):
    (folder / "spam.toml").write_text('screen = ["screen", "monitor"]\n')
    result = call("train", "texts.csv", "--keywords", "spam.toml")
    assert result.exit_code == 2
    assert "only one class, 'screen', is known" in result.stderr
    assert "a line without words in the keyword file, as in ham = []" in result.stderr
    (folder / "spam.toml").write_text('screen = ["screen", "monitor"]\nother = []\n')
    result = train("texts.csv", "--keywords", "spam.toml")
    assert result.stderr.count("no words for 'other'") == 1
    assert list(load("model.tmm").classes_) == ["other", "screen"]


def test_a_config_is_fitted_to_texts_without_labels(folder):
    unlabelled = [text for text, _ in TEXTS]
    config = ModelConfig(keywords="words.toml", shares={"screen": 0.4})
    model = config.fit(Corpus("none", [], []), unlabelled)
    assert (model.metadata_["n_texts"], model.metadata_["n_unlabelled"]) == (0, len(unlabelled))
    assert model.shares_["screen"] == pytest.approx(0.4)
    assert config.known_labels() == ["screen", "printer", "network"]
    with pytest.raises(SettingError, match="shares must be numbers between 0 and 1; that of 'screen' is 1"):
        ModelConfig(shares={"screen": 1}).check()


def test_subsequences_leave_texts_without_a_label_out(folder):
    result = train("some.csv", "--features", "ngrams")
    assert "9 texts without a label left out: --features words learns from such" in result.stderr
    assert "learning from 18 texts, 3 labels, one a text\n" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["texts.csv"],
            "which one holds the label? Choose it with --label. Without labels, name words of each: "
            "--keywords FILE.",
        ),
        (["empty-labels.csv"], "No text of empty-labels.csv has a label in column 'label'."),
        (["texts.csv", "--keywords", "no-words.toml"], "none has a word that is known of them"),
        (["one.csv"], "only one class, 'screen', is known"),
        (["texts.csv", "--keywords", "words.toml", "--unlabelled", "empty.csv"], "empty.csv has no rows"),
        (
            ["texts.csv", "--keywords", "words.toml", "--unlabelled", "texts.csv"],
            "--unlabelled texts.csv is read already",
        ),
        (
            ["texts.csv", "--keywords", "words.toml", "--share", "screen=2"],
            "--share must be numbers between 0 and 1; that of 'screen' is 2.0",
        ),
        (
            ["texts.csv", "--keywords", "words.toml", "--share", "scren=0.2"],
            "--share names 'scren', which is not among the classes",
        ),
        (["texts.csv", "--keywords", "words.toml", "--share", "scren=0.2"], "Did you mean 'screen'?"),
        (
            ["texts.csv", "--keywords", "words.toml", "--share", "screen"],
            "--share screen: give a label, = and its share",
        ),
        (
            ["texts.csv", "--keywords", "words.toml", "--share", "a=.1", "--share", "a=.2"],
            "--share says twice how frequent 'a' is",
        ),
        (
            ["texts.csv", "--keywords", "words.toml", "--tune"],
            "--tune needs texts with labels, and none has one",
        ),
        (
            ["texts.csv", "--keywords", "words.toml", "--holdout", "0.2"],
            "--holdout needs texts with labels, and none has one",
        ),
        (
            ["all.csv", "--share", "screen=0.2"],
            "--share is about texts without a label, and all of all.csv have one",
        ),
        (["some.csv", "--multilabel"], "--multilabel is for texts without any label; these have one each"),
        (
            ["some.csv", "--unlabelled", "texts.csv", "--features", "ngrams"],
            "--unlabelled is for --features words",
        ),
    ],
)
def test_what_cannot_be_done_with_texts_without_labels_is_told(words, message, folder):
    table(folder / "all.csv", TEXTS)
    table(folder / "empty-labels.csv", [(text, "") for text, _ in TEXTS])
    table(folder / "one.csv", [(text, label if label == "screen" else "") for text, label in TEXTS])
    (folder / "empty.csv").write_text("text\n")
    (folder / "no-words.toml").write_text('screen = ["xqzzy"]\nprinter = ["plugh"]\nnetwork = ["frotz"]\n')
    result = call("train", *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not (folder / "model.tmm").exists()


@pytest.mark.parametrize(
    ("data", "line"), [("some.csv", "Texts without a label: "), ("texts.csv", "used, though no label says")]
)
def test_a_report_says_what_became_of_texts_without_a_label(data, line, folder):
    table(folder / "test.csv", TEXTS)
    train(data, "--keywords", "words.toml")
    assert call("report", "model.tmm", "test.csv", "-o", "page.html").exit_code == 0
    page = (folder / "page.html").read_text()
    n_labelled = 18 if data == "some.csv" else 0
    assert (
        f"Trained on {'18 texts and ' if n_labelled else ''}{27 - n_labelled} texts without a label of"
        in page
    )
    assert line in page
    result = call("report", "model.tmm", "test.csv", "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["model"]["n_texts"], report["model"]["n_unlabelled"]) == (n_labelled, 27 - n_labelled)
    assert (report["model"]["unlabelled"] is not None) == bool(n_labelled)
    assert "unlabelled texts" not in report["model"]["parts"]["knowledge"]


def test_labels_without_a_text_are_told_apart_from_those_with_few(folder):
    # 3: a printer
    rows = [(text, label if label == "screen" or n == 3 else "") for n, (text, label) in enumerate(TEXTS)]
    table(folder / "few.csv", rows)
    told = train("few.csv", "--keywords", "words.toml").stderr
    assert "fewer than 5: printer: 1." in told
    assert "no text is labelled network: learnt from what is known alone" in told


def test_all_words_near_keywords_are_in_json_with_their_weights(folder):
    facts = json.loads(train("texts.csv", "--keywords", "words.toml", "--json").stdout)
    assert facts["unlabelled"]["spread"] == {
        name: words for name, words in load("model.tmm").spread_.items() if words
    }
    lines = unlabelled_lines(FACTS | {"spread": {"spam": dict.fromkeys("abcdefg", 0.3)}})
    assert lines[-1] == "words near those of spam: a, b, c, d, e"
