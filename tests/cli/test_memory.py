"""`textmargin train --memory`: the model of memory, from a file in parts."""

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from textmargin import load, load_dataset
from textmargin.cli import _memory as memory
from textmargin.cli import app
from textmargin.cli._console import OptionError
from textmargin.cli._memory import MemoryOptions, read_bytes
from textmargin.scale.store import Store

DESK = load_dataset("desk")


def call(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Of some ten texts, so that there are parts."""
    monkeypatch.setattr(memory, "_LEAST_PART", 2_000)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "desk.csv"
    train = DESK.part("train")
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label", "day", "marks"])
        for i, (text, label) in enumerate(zip(train.texts, train.labels, strict=True)):
            marks = json.dumps([[0, min(10, len(text))]]) if i % 5 == 0 else ""
            rows.writerow([text, label, 1 + (i * 7) % 100, marks])
    return path


def train_both(tmp_path, data, *words):
    """What is printed as JSON, and the model, in memory and in parts."""
    found = []
    for name, more in (("whole", []), ("parts", ["--memory", "1MB"])):
        result = call("train", data, "-o", tmp_path / f"{name}.tmm", "--json", *words, *more)
        found.append((json.loads(result.stdout), load(tmp_path / f"{name}.tmm")))
    assert not (tmp_path / "parts.tmm.parts").exists()
    return found


def assert_same(whole, parts):
    """Weights within 1e-6. Held-out scores magnify what single precision leaves, to 3e-6; thresholds lie
    between two of them.
    """
    np.testing.assert_allclose(parts.learner_.coef_, whole.learner_.coef_, atol=1e-6)
    np.testing.assert_allclose(parts.learner_.intercept_, whole.learner_.intercept_, atol=1e-6)
    np.testing.assert_allclose(parts.held_out_.scores, whole.held_out_.scores, atol=3e-6)
    np.testing.assert_allclose(parts.thresholds_, whole.thresholds_, atol=3e-6)
    texts = DESK.part("test").texts
    np.testing.assert_allclose(parts.decision_function(texts), whole.decision_function(texts), atol=3e-6)
    assert parts.metadata_ == whole.metadata_
    assert parts.text_digests_.tolist() == whole.text_digests_.tolist()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--hit", "3", "--false-alarm", "-1"],
        ["--rationales", "marks"],
        ["--ngrams", "1-2", "--utility", "f1"],
    ],
    ids=" ".join,
)
def test_the_same_model(tmp_path, data, words):
    (facts, whole), (other_facts, parts) = train_both(tmp_path, data, *words)
    assert_same(whole, parts)
    same = ("labels", "n_texts", "source", "words", "thresholds")
    assert {name: other_facts[name] for name in same[:-1]} == {name: facts[name] for name in same[:-1]}
    assert other_facts["estimate"]["accuracy"]["value"] == pytest.approx(
        facts["estimate"]["accuracy"]["value"], abs=1e-3
    )


def test_knowledge(tmp_path, data):
    keywords = tmp_path / "words.toml"
    names = sorted(set(DESK.labels))
    keywords.write_text(f'{names[0]} = ["screen", "contrast"]\n{names[1]} = ["password", "login"]\n')
    call("train", data, "-o", tmp_path / "earlier.tmm")
    (facts, whole), (other_facts, parts) = train_both(
        tmp_path, data, "--keywords", keywords, "--prior-model", tmp_path / "earlier.tmm"
    )
    assert_same(whole, parts)
    assert other_facts["knowledge"] == facts["knowledge"]


@pytest.mark.parametrize("words", [[], ["--split-by", "day"]], ids=["random", "last"])
def test_holdout(tmp_path, data, words):
    """The texts that memory holds out, which no word and no digest is learnt from."""
    (facts, whole), (other_facts, parts) = train_both(tmp_path, data, "--holdout", "0.2", *words)
    assert_same(whole, parts)
    assert other_facts["holdout"] == facts["holdout"]


def test_texts_without_labels(tmp_path, data):
    more = tmp_path / "more.csv"
    with more.open("w", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in DESK.part("test").texts)])
    with data.open("a", newline="") as file:
        csv.writer(file).writerows([[f"{text} again", "", 3, ""] for text in DESK.part("test").texts[:30]])
    (_, whole), (_, parts) = train_both(tmp_path, data, "--unlabelled", more)
    assert parts.metadata_["n_unlabelled"] == whole.metadata_["n_unlabelled"] == 30 + len(DESK.part("test"))
    assert_same(whole, parts)


@pytest.mark.parametrize("columns", [["text"], ["text", "label"]], ids=" ".join)
def test_keywords_alone(tmp_path, columns):
    """No text has a label, with a column for it or without."""
    data, keywords = tmp_path / "texts.csv", tmp_path / "words.toml"
    rows = [[text, ""][: len(columns)] for text in DESK.part("train").texts]
    with data.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    keywords.write_text('account = ["password", "login"]\nhardware = ["screen", "cable"]\n')
    (facts, whole), (other_facts, parts) = train_both(tmp_path, data, "--keywords", keywords)
    texts = DESK.part("test").texts
    assert other_facts["unlabelled"] == facts["unlabelled"]
    np.testing.assert_allclose(parts.decision_function(texts), whole.decision_function(texts), atol=1e-6)
    assert (
        "--keywords FILE" in call("train", data, "-o", tmp_path / "m.tmm", "--memory", "1MB", code=2).stderr
    )


def test_settings_are_chosen_on_a_sample(tmp_path, data, monkeypatch):
    monkeypatch.setattr("textmargin.cli._parts._MOST_TUNED", 150)
    result = call("train", data, "-o", tmp_path / "m.tmm", "--memory", "1MB", "--tune", "--json")
    assert "settings are chosen on 150 of the texts, drawn at random, and used for all" in result.stderr
    facts = json.loads(result.stdout)
    assert facts["tuning"]["n_texts"] == 150
    assert facts["n_texts"] == len(DESK.part("train"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--features", "subsequence"], "SubsequenceFeatures or KernelLandmarks"),
        (["--features", "ngrams"], "SubsequenceFeatures or KernelLandmarks"),
    ],
)
def test_what_cannot_be_names_the_way(tmp_path, data, words, message):
    (tmp_path / "x.csv").write_text("text\nhello\n")
    words = [tmp_path / word if word.endswith(".csv") else word for word in words]
    result = call("train", data, "-o", tmp_path / "m.tmm", "--memory", "1MB", *words, code=2)
    assert message in result.stderr


def test_sizes():
    sizes = {"4GB": 4 * 10**9, "500 MB": 5 * 10**8, "2GiB": 2**31, "1.5g": 15 * 10**8, "3kb": 3000}
    assert {size: read_bytes(size) for size in sizes} == sizes
    for wrong in ("", "-1GB", "4 apples", "GB", "1e9", "0GB", "4"):
        with pytest.raises(
            OptionError, match=f"--memory {wrong}: a number of bytes with its unit, as in 4GB or 500MB"
        ):
            read_bytes(wrong)


def test_a_file_that_would_not_fit_is_learnt_from_in_parts(tmp_path, data, monkeypatch):
    result = call("train", data, "-o", tmp_path / "m.tmm")
    assert "in parts" not in result.stderr
    monkeypatch.setattr("textmargin._system.memory.machine_memory", lambda: 1_000_000)
    result = call("train", data, "-o", tmp_path / "m.tmm")
    assert "desk.csv would take about 0.2 GB of memory, of 0.0 GB: learnt from in parts" in result.stderr
    assert MemoryOptions().folder("-", tmp_path / "m.tmm", False) is None


_RUN = """
import sys
from textmargin.cli import _memory, app
_memory._LEAST_PART = 2_000
app()
"""


def kill_when(command, folder, pattern):
    """Run a command, and kill -9 it as soon as there is such a file."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not any(folder.glob(pattern)):
        time.sleep(0.002)
    process.kill()
    assert process.wait() == -signal.SIGKILL


def test_a_run_that_is_killed_goes_on(tmp_path, data):
    """kill -9 while words are counted, and while it learns, then the same command: the model of memory."""
    command = [sys.executable, "-c", _RUN, "train", str(data), "--memory", "1MB", "-o"]
    call("train", data, "-o", tmp_path / "a.tmm")
    folder, written = tmp_path / "b.tmm.parts", []
    for pattern in ("texts.parquet", "*.starts"):
        kill_when([*command, str(tmp_path / "b.tmm")], folder, pattern)
        assert {path.name for path in tmp_path.iterdir()} == {data.name, "a.tmm", folder.name}
        written.append((folder / "texts.parquet").stat().st_mtime_ns)
    subprocess.run([*command, str(tmp_path / "b.tmm")], check=True, capture_output=True)
    assert written[0] == written[1], "the second run began anew"
    assert {path.name for path in tmp_path.iterdir()} == {data.name, "a.tmm", "b.tmm"}
    assert_same(load(tmp_path / "a.tmm"), load(tmp_path / "b.tmm"))


def test_other_settings_take_what_they_can_of_a_run_that_was_interrupted(tmp_path, data, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    command = ["train", data, "-o", tmp_path / "m.tmm", "--memory"]
    with monkeypatch.context() as patch:
        patch.setattr("textmargin.learners.primal.PriorSVC.fit", interrupt)
        call(*command, "1MB", code=130)
    call(*command, "1MB", "--ngrams", "1-2")
    assert not (tmp_path / "m.tmm.parts").exists()


def test_a_run_that_goes_on_is_left_alone(tmp_path, data):
    store = Store(tmp_path / "m.tmm.parts")
    command = ["train", data, "-o", tmp_path / "m.tmm", "--memory", "1MB"]
    assert "m.tmm.parts is in use by another run" in call(*command, code=2).stderr
    store.close()
    call(*command)


def test_ctrl_c_leaves_the_folder_and_says_so(tmp_path, data, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("textmargin.learners.primal.PriorSVC.fit", interrupt)
    result = call("train", data, "-o", tmp_path / "m.tmm", "--memory", "1MB", code=130)
    assert (
        f"interrupted; what is done is in {tmp_path / 'm.tmm.parts'}, and the same command goes on"
        in result.stderr
    )
    assert list((tmp_path / "m.tmm.parts").glob("*.starts"))


def test_an_empty_file_has_no_rows(tmp_path):
    (tmp_path / "empty.csv").touch()
    result = call("train", tmp_path / "empty.csv", "-o", tmp_path / "m.tmm", "--memory", "1MB", code=2)
    assert "has no rows" in result.stderr


def test_rows_without_a_label_that_are_learnt_from_are_not_left_out(tmp_path, data):
    with data.open("a") as file:
        file.write("".join(f"my screen is black {i},n/a,1,\n" for i in range(20)))
    result = call("train", data, "-o", tmp_path / "m.tmm", "--memory", "1MB")
    assert (
        "rows have no label ('n/a' in its place; --missing-labels says which values mean none)\n"
        in result.stderr
    )


def test_one_class_or_costs_that_lack_one_leave_no_folder(tmp_path, data):
    command = ["train", data, "-o", tmp_path / "m.tmm", "--memory", "1MB"]
    (tmp_path / "costs.toml").write_text("billing = { hit = 5, false_alarm = -1 }\n")
    assert "says nothing of" in call(*command, "--costs", tmp_path / "costs.toml", code=2).stderr
    assert not (tmp_path / "m.tmm.parts").exists()
    data.write_text("text,label\n" + "".join(f"printer {i} is broken,printing\n" for i in range(30)))
    assert "of only one class: printing" in call(*command, "--label", "label", code=2).stderr
    assert not (tmp_path / "m.tmm.parts").exists()
