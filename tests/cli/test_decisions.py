"""What a decision can be on the command line: a label, a guess for a person, one of so many a day, one for
another mix.
"""

import csv
import io
import json

import numpy as np
import pytest
from samples import needs_corpora
from typer.testing import CliRunner

from textmargin import load_dataset
from textmargin.cli import app
from textmargin.persistence import load_classifier


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def done(*words):
    result = call(*words)
    assert result.exit_code == 0, result.output
    return result


def table(result):
    return list(csv.DictReader(io.StringIO(result.stdout)))


def write(path, texts, labels=None, days=None):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label", "sent"])
        rows.writerows(zip(texts, labels or [""] * len(texts), days or [""] * len(texts), strict=True))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Desk's texts with three days, models with costs of three labels or more, of two, and of several a
    text.
    """
    folder = tmp_path_factory.mktemp("decisions")
    train, test = (load_dataset("desk").part(part) for part in ("train", "test"))
    days = [f"2024-05-0{1 + row % 3}T10:{row % 60:02}:00" for row in range(len(test.texts))]
    write(folder / "train.csv", train.texts, list(train.labels))
    write(folder / "test.csv", test.texts, list(test.labels), days)
    costs = ("--hit", 1, "--false-alarm", -5, "--ask", -0.4)
    done("train", folder / "train.csv", "-o", folder / "m.tmm", *costs, "--text", "text", "--label", "label")
    write(
        folder / "two.csv",
        train.texts,
        ["account" if label == "account" else "other" for label in train.labels],
    )
    done("train", folder / "two.csv", "-o", folder / "two.tmm", *costs, "--text", "text", "--label", "label")
    several = [
        "account;urgent" if label == "account" and row % 2 else str(label)
        for row, label in enumerate(train.labels)
    ]
    write(folder / "several.csv", train.texts, several)
    columns = ("--text", "text", "--label", "label", "--label-separator", ";")
    done("train", folder / "several.csv", "-o", folder / "several.tmm", *costs, *columns)
    done("train", folder / "train.csv", "-o", folder / "plain.tmm", "--text", "text", "--label", "label")
    return folder


def test_a_price_for_asking_threw_the_costs_of_the_model_away(folder, tmp_path):
    done("train", folder / "train.csv", "-o", tmp_path / "m.tmm", "--hit", 1, "--false-alarm", -20)
    moved = json.loads(
        done("threshold", tmp_path / "m.tmm", "--ask", -0.5, "-o", tmp_path / "a.tmm", "--json").stdout
    )
    utility = load_classifier(tmp_path / "a.tmm").model_.utility
    assert (utility.tp, utility.fp, utility.ask) == (1, -20, -0.5)
    assert 0 < moved["estimate"]["answered"]["value"] < 1
    (tmp_path / "costs.toml").write_text('[costs]\n"*" = { hit = 3, false_alarm = -9 }\n')
    done(
        "threshold",
        tmp_path / "m.tmm",
        "--costs",
        tmp_path / "costs.toml",
        "--ask",
        -1,
        "-o",
        tmp_path / "b.tmm",
    )
    assert load_classifier(tmp_path / "b.tmm").model_.utility["*"].ask == -1


def test_dear_mistakes_made_a_floor_for_precision_impossible(folder, tmp_path):
    """The best precision to be had was 1.000, it said: nothing was accepted of a label, at these costs."""
    done(
        "threshold",
        folder / "plain.tmm",
        "--min-precision",
        0.95,
        "--hit",
        1,
        "--false-alarm",
        -20,
        "-o",
        tmp_path / "a.tmm",
    )
    result = call("threshold", folder / "plain.tmm", "--min-recall", 0.95, "-o", tmp_path / "b.tmm")
    assert result.exit_code == 2
    assert "the classes take each other's texts, so ask for less" in result.stderr
    assert not (tmp_path / "b.tmm").exists()


def test_where_unsure_the_label_is_empty_and_a_guess_beside_it(folder):
    model = load_classifier(folder / "m.tmm")
    texts = load_dataset("desk").part("test").texts
    decided = model.decide(texts, probabilities=True)
    rows = table(done("predict", folder / "m.tmm", folder / "test.csv", "--only-decisions"))
    assert 0 < sum(row["label"] == "" for row in rows) < len(rows)
    assert [(row["label"],) if row["label"] else () for row in rows] == decided.labels
    assert [(row["guess"],) if row["guess"] else () for row in rows] == decided.guesses
    for name, values in {"score": decided.score, "confidence": decided.confidence}.items():
        np.testing.assert_allclose([float(row[name]) for row in rows], values, atol=6e-7)
    assert model.predict(texts).tolist() == [row["label"] or None for row in rows]


def test_json_has_what_is_unsure_and_probabilities(folder):
    first = json.loads(
        done(
            "predict", folder / "m.tmm", folder / "test.csv", "--only-decisions", "--json", "--scores"
        ).stdout.splitlines()[0]
    )
    assert list(first) == ["line", "label", "guess", "score", "confidence", "scores", "probabilities"]
    assert sum(first["probabilities"].values()) == pytest.approx(1)
    assert first["confidence"] == pytest.approx(max(first["probabilities"].values()), abs=1e-6)


def test_open_labels_of_several_stand_beside_those_given(folder):
    model = load_classifier(folder / "several.tmm")
    decided = model.decide(load_dataset("desk").part("test").texts, probabilities=True)
    rows = table(done("predict", folder / "several.tmm", folder / "test.csv", "--only-decisions"))
    assert [row["guess"] for row in rows] == [";".join(own) for own in decided.guesses]
    assert any(row["guess"] and row["label"] for row in rows)


@pytest.mark.parametrize("model", ["m", "two"])
def test_always_answer_and_back(folder, tmp_path, model):
    told = done(
        "train",
        folder / "train.csv",
        "--text",
        "text",
        "--label",
        "label",
        "-o",
        tmp_path / "a.tmm",
        "--ask",
        -0.1,
    )
    assert "gets no label but a best guess (unsure); --always-answer gives every text a label" in told.stderr
    done("threshold", folder / f"{model}.tmm", "--always-answer", "-o", tmp_path / "sure.tmm")
    assert all(
        row["label"]
        for row in table(done("predict", tmp_path / "sure.tmm", folder / "test.csv", "--only-decisions"))
    )
    done("threshold", tmp_path / "sure.tmm", "--hit", 2, "-o", tmp_path / "still.tmm")
    assert load_classifier(tmp_path / "still.tmm").decision.always_answer
    done("threshold", tmp_path / "sure.tmm", "--may-be-unsure", "-o", tmp_path / "back.tmm")
    again, before = (load_classifier(path) for path in (tmp_path / "back.tmm", folder / f"{model}.tmm"))
    assert again.thresholds_.tolist() == before.thresholds_.tolist()


def test_ask_in_a_costs_file_is_that_of_the_option(folder, tmp_path):
    (tmp_path / "costs.toml").write_text('[costs]\n"*" = { hit = 1, false_alarm = -5, ask = -0.4 }\n')
    words = ("train", folder / "train.csv", "--text", "text", "--label", "label", "-o", tmp_path / "c.tmm")
    done(*words, "--costs", tmp_path / "costs.toml")
    ours, theirs = (load_classifier(path) for path in (tmp_path / "c.tmm", folder / "m.tmm"))
    assert ours.thresholds_.tolist() == theirs.thresholds_.tolist()
    (tmp_path / "costs.toml").write_text('[costs]\n"*" = { hit = 1, ask = 2 }\n')
    assert (
        "ask of '*' is 2; a person's look costs something"
        in call(*words, "--costs", tmp_path / "costs.toml").stderr
    )
    assert "--ask 2: a person's look costs something" in call(*words, "--ask", 2).stderr


@pytest.mark.parametrize("words", [("--always-answer",), ("--utility", "f1", "--ask", -1)])
def test_options_that_do_not_go_together(folder, tmp_path, words):
    result = call(
        "train", folder / "train.csv", "--text", "text", "--label", "label", "-o", tmp_path / "x.tmm", *words
    )
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


# Budgets


# Another mix, and other texts


def other_mix(folder, path):
    """Texts that the model does not know, mostly of one label."""
    desk = load_dataset("desk").part("test")
    rows = [row for row, label in enumerate(desk.labels) if label != "account"] * 1 + [
        row for row, label in enumerate(desk.labels) if label == "account"
    ] * 6
    return write(path, [desk.texts[row] for row in rows])


def test_adapt_tells_shares_and_moves_thresholds(folder, tmp_path):
    new = other_mix(folder, tmp_path / "new.csv")
    result = done(
        "adapt", folder / "two.tmm", new, "--text", "text", "-o", tmp_path / "adapted.tmm", "--json"
    )
    (facts,) = json.loads(result.stdout)["labels"].values()
    assert facts["low"] < facts["share"] < facts["high"]
    assert facts["share"] > 1.5 * facts["share_before"]
    assert facts["threshold"] < facts["threshold_before"]
    before, after = (load_classifier(path) for path in (folder / "two.tmm", tmp_path / "adapted.tmm"))
    texts = load_dataset("desk").part("test").texts
    positive = before.classes_.tolist().index("account")
    assert (after.predict_proba(texts) > before.predict_proba(texts))[:, positive].all()
    shown = done("adapt", folder / "two.tmm", new, "--text", "text", "-o", tmp_path / "adapted.tmm").stdout
    assert "share in training" in shown
    assert "Written to" in shown


def test_the_same_mix_moves_nothing(folder, tmp_path):
    result = done(
        "adapt", folder / "m.tmm", folder / "test.csv", "--text", "text", "-o", tmp_path / "same.tmm"
    )
    assert "no share has changed by more than chance" in result.stderr
    same, before = (load_classifier(path) for path in (tmp_path / "same.tmm", folder / "m.tmm"))
    assert same.thresholds_.tolist() == before.thresholds_.tolist()


@needs_corpora
def test_texts_of_another_kind_are_refused(folder, tmp_path):
    write(tmp_path / "other.csv", load_dataset("sms_spam").texts[:300])
    result = call(
        "adapt", folder / "two.tmm", tmp_path / "other.csv", "--text", "text", "-o", tmp_path / "no.tmm"
    )
    assert result.exit_code == 1
    assert "nothing was written" in result.stderr
    assert "distance" in result.stderr
    assert not (tmp_path / "no.tmm").exists()
