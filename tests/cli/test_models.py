"""From a file to decisions on the command line: what is printed, what is written, and what is said of
mistakes.
"""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from textmargin import T10U, T11SU, load_dataset
from textmargin.cli import app
from textmargin.config import ModelConfig
from textmargin.persistence import load_classifier
from textmargin.tables.export import export_csv


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """The messages as files, and a model of each kind."""
    folder = tmp_path_factory.mktemp("desk")
    export_csv(load_dataset("desk"), folder)
    known = ("--keywords", folder / "desk-keywords.toml")
    costs = ("--costs", folder / "desk-costs.toml")
    for name, options in (
        ("plain", ()),
        ("model", (*known, *costs)),
        ("marked", ("--rationales", "marks", "--utility", "t11su", "--min-precision", "0.5")),
        ("strings", ("--features", "subsequence", "--length", "3", "--hit", "3")),
        ("ngrams", ("--features", "ngrams", "--length", "3")),
    ):
        result = call("train", folder / "desk-train.csv", "-o", folder / f"{name}.tmm", *options)
        assert result.exit_code == 0, result.output
    return folder


TWO = b"text,label\nwheat and corn,x\nbank rates,y\n"
MODELS = ["plain", "model", "marked", "strings", "ngrams"]


@pytest.mark.parametrize("name", MODELS)
def test_evaluate_counts_what_predict_decides(desk, name):
    summary = json.loads(call("evaluate", desk / f"{name}.tmm", desk / "desk-test.csv", "--json").stdout)
    decided = [
        json.loads(line)
        for line in call(
            "predict", desk / f"{name}.tmm", desk / "desk-test.csv", "--json"
        ).stdout.splitlines()
    ]
    truth = load_dataset("desk").part("test").labels
    right = sum(one["predicted_label"] == label for one, label in zip(decided, truth, strict=True))
    assert summary["n_texts"] == len(truth) == len(decided)
    assert summary["accuracy"] == pytest.approx(right / len(truth))
    assert sum(one["tp"] for one in summary["classes"]) == right
    assert 0.6 < summary["accuracy"] < 0.95


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(),
        ModelConfig(utility=T11SU),
        ModelConfig("subsequence", 3, utility=T10U),
        ModelConfig("ngrams", 3),
    ],
)
def test_a_model_decides_the_same_from_its_file(config, tmp_path):
    desk = load_dataset("desk")
    model, texts = config.fit(desk.part("train")), desk.part("test").texts
    model.save(tmp_path / "model.tmm")
    same = load_classifier(tmp_path / "model.tmm")
    np.testing.assert_array_equal(same.decide(texts).scores, model.decide(texts).scores)
    np.testing.assert_array_equal(same.predict(texts), model.predict(texts))
    same.save(tmp_path / "again.tmm")
    assert (tmp_path / "again.tmm").read_bytes() == (tmp_path / "model.tmm").read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_the_score(desk, name):
    text = "the printer says paper jam but there is no paper"
    found = json.loads(call("explain", desk / f"{name}.tmm", text, "--json").stdout)
    model = load_classifier(desk / f"{name}.tmm")
    decisions = model.decide([text])
    assert tuple(found["labels"]) == decisions.labels[0]
    if name in ("plain", "model", "marked"):  # of words all are shown, and nothing else is left
        k = model.classes_.tolist().index(found["label"])
        assert found["rest"] == pytest.approx(model.learner_.intercept_[k] - model.thresholds_[k])
    assert found["score"] == pytest.approx(decisions.scores[0].max())
    assert found["score"] == pytest.approx(
        found["rest"] + sum(one["contribution"] for one in found["contributions"])
    )
    against = json.loads(call("explain", desk / f"{name}.tmm", text, "--label", "billing", "--json").stdout)
    assert against["label"] == "billing"
    assert against["score"] < found["score"]


def test_a_model_with_costs_has_the_higher_utility(desk):
    utility = {}
    for name in ("plain", "model"):
        costs = ("--costs", desk / "desk-costs.toml", "--json")
        utility[name] = json.loads(
            call("evaluate", desk / f"{name}.tmm", desk / "desk-test.csv", *costs).stdout
        )["utility"]
    assert utility["model"] > utility["plain"]


def test_thresholds_move_without_texts(desk, tmp_path):
    bold, careful = tmp_path / "bold.tmm", tmp_path / "careful.tmm"
    assert call("threshold", desk / "model.tmm", "--hit", 50, "--false-alarm", -1, "-o", bold).exit_code == 0
    moved = json.loads(
        call(
            "threshold", desk / "model.tmm", "--hit", 1, "--false-alarm", -50, "-o", careful, "--json"
        ).stdout
    )
    assert list(moved["before"].values()) == pytest.approx(load_classifier(desk / "model.tmm").thresholds_)
    assert np.mean(load_classifier(bold).thresholds_) < np.mean(load_classifier(careful).thresholds_)
    fresh = tmp_path / "fresh.tmm"
    known = ("--keywords", desk / "desk-keywords.toml", "--hit", 1, "--false-alarm", -50)
    assert call("train", desk / "desk-train.csv", *known, "-o", fresh).exit_code == 0
    assert load_classifier(fresh).thresholds_ == pytest.approx(load_classifier(careful).thresholds_)


def test_several_labels_a_text(tmp_path):
    (tmp_path / "a.csv").write_text(
        "text,topics\n"
        + "wheat and corn,grain\nwheat for the bank,grain;money\nbank rates,money\nsunny day,\n" * 5
    )
    model = tmp_path / "m.tmm"
    assert call("train", tmp_path / "a.csv", "--label-separator", ";", "-o", model, "--hit", 2).exit_code == 0
    (tmp_path / "b.csv").write_text("text\nwheat bank\nnothing known\n")
    assert (
        call("predict", model, tmp_path / "b.csv", "--only-decisions")
        .stdout.splitlines()[1]
        .startswith("2,grain;money,,")
    )
    summary = call("evaluate", model, tmp_path / "a.csv", "--label-separator", ";", "--json")
    assert json.loads(summary.stdout)["multilabel"]
    assert json.loads(summary.stdout)["accuracy"] == 1.0


def test_all_kinds_of_knowledge_at_once(desk, tmp_path):
    assert call("train", desk / "desk-test.csv", "-o", tmp_path / "old.tmm").exit_code == 0
    kinds = (
        "--keywords",
        desk / "desk-keywords.toml",
        "--rationales",
        "marks",
        "--prior-model",
        tmp_path / "old.tmm",
    )
    result = call("train", desk / "desk-train.csv", *kinds, "-o", tmp_path / "m.tmm")
    assert result.exit_code == 0, result.output
    names = ["keywords in desk-keywords.toml", "marked passages", "earlier model old.tmm"]
    for name in names:
        assert f"prior for account from {name}: " in result.stdout
    model = load_classifier(tmp_path / "m.tmm")
    assert model.knowledge_ == names
    pairs = {(one.target, one.knowledge) for one in model.verdict_}
    assert pairs >= {(label, name) for label in model.classes_ for name in names}
    shown = json.loads(
        call("explain", tmp_path / "m.tmm", "the printer is jammed", "--label", "printing", "--json").stdout
    )
    assert {*shown["contributions"][0]["from_knowledge"]} == {*names}
    assert (
        "keywords in desk-keywords.toml +"
        in call("explain", tmp_path / "m.tmm", "printer", "--label", "printing").stdout
    )


def test_a_model_of_several_kinds_of_knowledge(desk, tmp_path):
    words = ("--keywords", desk / "desk-keywords.toml", "--rationales", "marks", "--trust", "ridge")
    assert call("train", desk / "desk-train.csv", *words, "-o", tmp_path / "m.tmm").exit_code == 0
    model = load_classifier(tmp_path / "m.tmm")
    assert model.knowledge_ == ["keywords in desk-keywords.toml", "marked passages"]
    assert model.learner_.trust_mode_ == ["ridge"] * 8


def test_an_earlier_model_as_knowledge(desk, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("".join((desk / "desk-train.csv").read_text().splitlines(keepends=True)[:60]))
    result = call("train", few, "--prior-model", desk / "plain.tmm", "-o", tmp_path / "new.tmm")
    assert result.exit_code == 0, result.output
    assert "prior for account: " in result.stdout


def test_bad_lines_are_numbered_and_skipped_or_fatal(desk, tmp_path):
    path = tmp_path / "new.csv"
    path.write_bytes(b"text,x\nno toner,\xc3\xa9\nonly one\ncaf\xe9,2\nvpn down,3\n")
    skipped = call("predict", desk / "plain.tmm", path, "--only-decisions")
    assert skipped.exit_code == 0
    assert [line.split(",")[0] for line in skipped.stdout.splitlines()] == ["line", "2", "5"]
    assert "line 3 skipped: 1 values for 2 columns" in skipped.stderr
    assert "line 4 skipped: byte 4 (0xe9) is not UTF-8; name the encoding with --encoding" in skipped.stderr
    assert "2 lines skipped" in skipped.stderr
    stopped = call("predict", desk / "plain.tmm", path, "--only-decisions", "--strict")
    assert stopped.exit_code == 2
    assert [line.split(",")[0] for line in stopped.stdout.splitlines()] == ["line", "2"]
    assert "line 3: 1 values" in stopped.stderr


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (TWO, ["--label", "topic"], "has no column 'topic'. It has 'text', 'label'. Choose one with --label"),
        (b"", [], "has no rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", [], "a.csv is an image (PNG)"),
        (
            b"text,label\n\xc3\xa9\xc3\xa9,y\ncaf\xe9,x\n",
            [],
            "is not UTF-8; name the encoding with --encoding",
        ),
        (b"text,label\nhello,\n", [], "No text of a.csv has a label in column 'label'"),
        (b"text,label\na b,x\nc d,x\n", [], "All 2 texts are of only one class: x"),
        (TWO, ["-o", "/nowhere/m.tmm"], "/nowhere/m.tmm cannot be written"),
        (TWO, ["-o", "."], "cannot be written: it is a folder"),
        (TWO, ["--features", "poly"], "--features must be one of words, subsequence, ngrams; got 'poly'"),
        (TWO, ["--utility", "t9u"], "--utility t9u is none of t10u, t11su, t10su, f1"),
        (TWO, ["--hit", "1", "--utility", "f1"], "both say what decisions are worth; choose one"),
        (TWO, ["--hit", "-1"], "a right decision must be worth more than a wrong one"),
        (TWO, ["--keywords", "no.toml"], "no.toml cannot be read: No such file"),
        (TWO, ["--rationales", "spans"], "has no column 'spans'"),
        (TWO, ["--rationales", ""], "has no column ''"),
        (TWO, ["--prior-model", "a.csv"], "a.csv"),
        (b"text,label\n!!,x\n??,y\n", [], "No words"),
        (TWO, ["--C", "0"], "--C must be a number of more than 0; got 0.0"),
        (
            TWO,
            ["--features", "subsequence", "--decay", "2"],
            "--decay must be a number of more than 0 and at most 1; got 2.0",
        ),
    ],
)
def test_mistakes_are_one_line_exit_code_2_and_write_nothing(
    content, options, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_bytes(content)
    result = call("train", "a.csv", *options)
    assert result.exit_code == 2, result.output
    told = [line for line in result.stderr.splitlines() if "column 'text'" not in line or "has no" in line]
    told = [line for line in told if "learning from" not in line]
    assert message in told[-1]
    assert len(told) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "no.tmm", "a.csv"], "no.tmm"),
        (["predict", "a.csv", "a.csv"], "a.csv"),
        (["explain", "plain.tmm", "hello", "--label", "weather"], "There is no class 'weather'"),
        (["threshold", "model.tmm", "-o", "b.tmm"], "say what decisions are worth"),
        (["threshold", "model.tmm", "--costs", "a.csv", "-o", "b.tmm"], "should hold [costs]"),
        (
            ["evaluate", "plain.tmm", "other.csv"],
            "No text of other.csv has a label that the model knows: 1 have 'weather'",
        ),
    ],
)
def test_mistakes_with_models(words, message, desk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("plain", "model"):
        (tmp_path / f"{name}.tmm").write_bytes((desk / f"{name}.tmm").read_bytes())
    (tmp_path / "a.csv").write_text("text,label\na b,account\n")
    (tmp_path / "other.csv").write_text("text,label\na b,weather\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    result = call(*words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_interrupted_training_writes_nothing(tmp_path):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghij"), 400)) for _ in range(1500)]
    (tmp_path / "a.csv").write_text(
        "text,label\n" + "".join(f"{word},{k % 2}\n" for k, word in enumerate(words))
    )
    command = [
        sys.executable,
        "-m",
        "textmargin",
        "train",
        "a.csv",
        "--features",
        "subsequence",
        "--hit",
        "2",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, env={**os.environ})
    first = process.stderr.readline()  # the columns, once the file is read
    time.sleep(2)
    assert process.poll() is None, first
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"given again the command starts from the beginning" in told
    assert b"Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_reader_who_has_had_enough(desk):
    command = (
        f"{sys.executable} -m textmargin predict {desk / 'plain.tmm'} {desk / 'desk-train.csv'} "
        "--scores | head -n 1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60)
    assert done.stdout.startswith(b"id,text,label,marks,predicted_label,guess,score,confidence")
    assert b"Traceback" not in done.stderr


def test_a_decision_comes_before_the_next_line(desk):
    command = [sys.executable, "-m", "textmargin", "predict", str(desk / "plain.tmm"), "--format", "txt"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"line,label,guess,score,confidence\n"
    for number, text in enumerate([b"no toner left in the printer", b"the vpn drops all the time"], start=1):
        process.stdin.write(text + b"\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(f"{number},".encode())
    process.stdin.close()
    assert process.wait(20) == 0
