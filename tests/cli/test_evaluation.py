"""How good a model is: on texts it was trained on, on texts kept out, on labels it does not know, in files of
other columns.
"""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from textmargin import load_dataset
from textmargin.cli import app
from textmargin.persistence import load_classifier
from textmargin.tables.export import export_csv


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    export_csv(load_dataset("desk"), folder)
    for name, options in (("model", ()), ("silent", ("--no-digests",))):
        assert call("train", folder / "desk-train.csv", "-o", folder / f"{name}.tmm", *options).exit_code == 0
    return folder


SEVERAL = "id;x,body,what,about\n" + "".join(
    f"{k},{text},about {k % 7},{topics}\n"
    for k, (text, topics) in enumerate(
        [
            ("wheat and corn", "grain"),
            ("wheat for the bank", "grain|money"),
            ("bank rates", "money"),
            ("sunny day", ""),
        ]
        * 8
    )
)


def evaluated(model, data, *options):
    result = call("evaluate", model, data, *options, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), result.stderr


def test_evaluating_on_the_training_file_went_without_a_warning(desk, tmp_path):
    summary, told = evaluated(desk / "model.tmm", desk / "desk-train.csv")
    assert summary["n_trained_on"] == summary["n_texts"] == 313
    assert (
        "the model was trained on all 313 texts of desk-train.csv, so it looks better than it is; "
        "evaluate it on others" in told
    )
    both = tmp_path / "both.csv"
    lines = (desk / "desk-train.csv").read_text().splitlines(keepends=True)[:11]
    both.write_text("".join([*(desk / "desk-test.csv").read_text().splitlines(keepends=True), *lines[1:]]))
    summary, told = evaluated(desk / "model.tmm", both)
    assert summary["n_trained_on"] == 10
    assert "trained on 10 of the 177 texts of both.csv" in told
    summary, told = evaluated(desk / "model.tmm", desk / "desk-test.csv")
    assert (summary["n_trained_on"], "trained on" in told) == (0, False)


def test_a_model_without_digests_does_not_know_its_training_texts(desk):
    assert load_classifier(desk / "silent.tmm").text_digests_ is None
    assert (desk / "silent.tmm").stat().st_size < (desk / "model.tmm").stat().st_size
    summary, told = evaluated(desk / "silent.tmm", desk / "desk-train.csv")
    assert (summary["n_trained_on"], "trained on" in told) == (None, False)


def test_report_warns_of_training_texts_too(desk, tmp_path):
    page = tmp_path / "page.html"
    done = call("report", desk / "model.tmm", desk / "desk-train.csv", "-o", page)
    assert "trained on all 313 texts" in done.stderr
    assert re.search(
        r'class="banner"><strong>Too good:</strong> the model was trained on all\s+313 texts',
        page.read_text(),
    )
    done = call("report", desk / "model.tmm", desk / "desk-test.csv", "-o", page)
    assert "trained on" not in done.stderr
    assert 'class="banner"' not in page.read_text()


def test_figures_have_intervals_wherever_they_are_shown(desk, tmp_path):
    options = ("--hit", 3)
    summary, _ = evaluated(desk / "model.tmm", desk / "desk-test.csv", *options)
    for name in ("accuracy", "macro_f1", "micro_f1", "utility"):
        low, high = summary[f"{name}_interval"]
        assert low < summary[name] < high
    low, high = summary["accuracy_interval"]
    text = " ".join(call("evaluate", desk / "model.tmm", desk / "desk-test.csv", *options).stdout.split())
    assert (
        f"167 texts, {summary['accuracy']:.1%} right ({low:.1%} to {high:.1%}); F1 "
        f"{summary['macro_f1']:.3f} macro (" in text
    )
    assert "In brackets: 90% intervals" in text
    assert (
        call(
            "report", desk / "model.tmm", desk / "desk-test.csv", *options, "-o", tmp_path / "page.html"
        ).exit_code
        == 0
    )
    assert f'<dd class="interval">{low:.1%} to {high:.1%}</dd>' in (tmp_path / "page.html").read_text()


def test_a_new_label_stopped_the_evaluation(desk, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text(
        (desk / "desk-test.csv").read_text()
        + "n1,the <b>roof</b> leaks,<roof>,\nn2,rain on the roof,<roof>,\n"
    )
    before, _ = evaluated(desk / "model.tmm", desk / "desk-test.csv", "--hit", 3, "--miss", -1)
    summary, told = evaluated(desk / "model.tmm", new, "--hit", 3, "--miss", -1)
    assert summary["unknown_labels"] == {"<roof>": 2}
    assert "not known to the model, and counted as missed: <roof> (2 texts)." in told
    assert summary["n_texts"] == before["n_texts"] + 2
    assert summary["accuracy"] == pytest.approx(before["accuracy"] * 167 / 169)
    micro = {name: sum(one[name] for one in summary["classes"]) for name in ("tp", "fp", "fn")}
    assert micro["fp"] == sum(one["fp"] for one in before["classes"]) + 2
    assert summary["micro_f1"] == pytest.approx(
        2 * micro["tp"] / (2 * micro["tp"] + micro["fp"] + micro["fn"] + 2)
    )
    assert summary["macro_f1"] == pytest.approx(sum(one["f1"] for one in summary["classes"]) / 9)
    assert summary["utility"] == before["utility"] - 2 - 2  # two false alarms, and two misses
    assert re.search(r"<roof> \(not known\) +2 +0 +0 +2", call("evaluate", desk / "model.tmm", new).stdout)
    assert call("report", desk / "model.tmm", new, "-o", tmp_path / "page.html").exit_code == 0
    shown = (tmp_path / "page.html").read_text()
    assert "Not known to the model,</strong> and so missed: <bdi>&lt;roof&gt;</bdi> (2 texts)." in shown


def test_labels_with_another_separator_are_new_labels_with_a_hint(tmp_path):
    (tmp_path / "a.csv").write_text(SEVERAL)
    (tmp_path / "b.csv").write_text("body,about\nwheat,grain\nbank,grain+money\n")
    assert (
        call(
            "train",
            tmp_path / "a.csv",
            "--label",
            "about",
            "--label-separator",
            "|",
            "-o",
            tmp_path / "m.tmm",
        ).exit_code
        == 0
    )
    summary, told = evaluated(tmp_path / "m.tmm", tmp_path / "b.csv")
    assert summary["unknown_labels"] == {"grain+money": 1}
    assert "several labels a text; say what stands between them with --label-separator" in told


def test_columns_and_separator_of_training_had_to_be_given_again(tmp_path):
    (tmp_path / "a.csv").write_text(SEVERAL)
    options = ("--text", "body", "--label", "about", "--label-separator", "|")
    assert call("train", tmp_path / "a.csv", *options, "-o", tmp_path / "m.tmm").exit_code == 0
    metadata = load_classifier(tmp_path / "m.tmm").metadata_
    assert [metadata[name] for name in ("text_column", "label_column", "label_separator")] == [
        "body",
        "about",
        "|",
    ]
    summary, told = evaluated(tmp_path / "m.tmm", tmp_path / "a.csv")
    assert (summary["accuracy"], summary["multilabel"], "column" in told) == (1.0, True, False)
    shown = json.loads(call("report", tmp_path / "m.tmm", tmp_path / "a.csv", "--json").stdout)
    assert shown["summary"] == summary
    (tmp_path / "b.csv").write_text(
        "text,topic\nwheat and corn,grain\nbank rates,money\nwheat for the bank,grain+money\n"
    )
    summary, told = evaluated(tmp_path / "m.tmm", tmp_path / "b.csv", "--label-separator", "+")
    assert "text: column 'text'; label: column 'topic'" in told  # it has not those of training
    assert (summary["accuracy"], summary["unknown_labels"]) == (1.0, {})
    other = call("evaluate", tmp_path / "m.tmm", tmp_path / "a.csv", "--label", "what")
    assert "No text of a.csv has a label that the model knows" in other.stderr  # what is given wins


def test_a_share_of_the_texts_is_held_out(desk, tmp_path):
    words = ("train", desk / "desk-train.csv", "--holdout", 0.2, "--hit", 3, "-o", tmp_path / "m.tmm")
    done = call(*words, "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["n_texts"] == 250
    assert (facts["holdout"]["split_by"], facts["holdout"]["from"]) == (None, None)
    summary = facts["holdout"]["summary"]
    assert (summary["n_texts"], summary["n_trained_on"], len(summary["classes"])) == (63, 0, 8)
    assert 0.6 < summary["accuracy"] < 0.95
    model, train = load_classifier(tmp_path / "m.tmm"), load_dataset("desk").part("train")
    assert model.trained_on(train.texts).sum() == 250
    text = " ".join(call(*words).stdout.split())
    assert (
        "Held out: 63 texts, at random. On these the model, which was trained on the others alone, decides:"
        in text
    )
    assert f"63 texts, {summary['accuracy']:.1%} right (" in text


def test_the_last_texts_by_date_are_held_out(desk, tmp_path):
    train = load_dataset("desk").part("train")
    days = np.random.default_rng(0).permutation(len(train)).tolist()
    dated = [
        json.dumps(
            {"when": f"{day % 28 + 1}-FEB-{1900 + day // 28} 10:00:00.00", "text": text, "label": label}
        )
        for day, text, label in zip(days, train.texts, train.labels, strict=True)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(dated))
    words = ("train", tmp_path / "a.jsonl", "--holdout", 0.2, "--split-by", "when", "-o", tmp_path / "m.tmm")
    facts = json.loads(call(*words, "--json").stdout)["holdout"]
    assert (facts["split_by"], facts["from"], facts["summary"]["n_texts"]) == (
        "when",
        "27-FEB-1908 10:00:00.00",
        63,
    )
    assert load_classifier(tmp_path / "m.tmm").trained_on(train.texts).tolist() == [day < 250 for day in days]
    assert "Held out: 63 texts, the last by when, from 27-FEB-1908 10:00:00.00 on." in call(*words).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--holdout", "1"], "--holdout is a share of the texts, more than 0 and less than 1; got 1"),
        (["--holdout", "0"], "--holdout is a share"),
        (
            ["--split-by", "id"],
            "--split-by says which texts --holdout keeps out; say how many with it: --holdout 0.2",
        ),
        (
            ["--holdout", "0.2", "--split-by", "date"],
            "has no column 'date'. It has 'id', 'text', 'label', 'marks'.",
        ),
        (
            ["--holdout", "0.2", "--split-by", "id"],
            "'id' is 'desk-004', neither a number nor a date such as 1987-02-26",
        ),
    ],
)
def test_what_cannot_be_held_out_is_said_in_one_line_and_nothing_is_written(
    options, message, desk, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_bytes((desk / "desk-train.csv").read_bytes())
    done = call("train", "a.csv", "--text", "text", "--label", "label", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith("textmargin: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_train_says_how_good_it_will_be(desk, tmp_path):
    shown = call("train", desk / "desk-train.csv", "-o", tmp_path / "m.tmm").stdout
    found = re.search(
        r"On new texts: ([\d.]+)% right \(([\d.]+)% to ([\d.]+)%\); 90% intervals, from leave-one-out scores",
        shown,
    )
    low, high = float(found[2]) / 100, float(found[3]) / 100
    assert low < evaluated(tmp_path / "m.tmm", desk / "desk-test.csv")[0]["accuracy"] < high
    assert "added" not in shown


def test_train_says_what_costs_and_knowledge_add(desk, tmp_path):
    words = tmp_path / "words.toml"
    words.write_text('billing = ["invoice", "payment"]\nprinting = ["printer", "toner"]\n')
    command = (
        "train",
        desk / "desk-train.csv",
        "-o",
        tmp_path / "m.tmm",
        "--keywords",
        words,
        "--hit",
        1,
        "--false-alarm",
        -20,
    )
    shown = call(*command).stdout
    assert re.search(r"[\d.]+% of the \d+% answered, utility .* per 1,000 texts", shown)
    assert "Beside a model without moved thresholds: utility +" in shown
    assert "Beside a model without knowledge: utility " in shown
    estimate = json.loads(call(*command, "--json").stdout)["estimate"]
    assert estimate["method"] == "loo"
    assert estimate["by_thresholds"]["utility"]["low"] > 0
    assert estimate["by_knowledge"]["accuracy"]["low"] <= estimate["by_knowledge"]["accuracy"]["value"]


def test_train_says_why_there_is_no_estimate(desk, tmp_path):
    costs = ("--hit", 1, "--false-alarm", -1, "--threshold-scores", "train")
    shown = call("train", desk / "desk-train.csv", "-o", tmp_path / "m.tmm", *costs)
    assert "On new texts: no estimate. An estimate needs held-out scores" in shown.stdout


def test_unsure_texts_are_neither_hits_nor_misses(desk, tmp_path):
    model = tmp_path / "dear.tmm"
    assert (
        call("train", desk / "desk-train.csv", "-o", model, "--hit", 1, "--false-alarm", -20).exit_code == 0
    )
    summary, _ = evaluated(model, desk / "desk-test.csv")
    decisions = load_classifier(model).decide(load_dataset("desk").part("test").texts)
    assert summary["n_unsure"] == decisions.unsure.any(axis=1).sum() > 10
    assert summary["answered"] == pytest.approx(1 - summary["n_unsure"] / 167)
    assert sum(one["unsure"] for one in summary["classes"]) == summary["n_unsure"]
    assert all(one["tp"] + one["fn"] + one["unsure"] == one["n_texts"] for one in summary["classes"])
    shown = call("evaluate", model, desk / "desk-test.csv").stdout
    assert re.search(r"right \([^)]*\), [\d.]+% of the \d+% that are answered", shown)
    assert "unsure" in shown.splitlines()[0] + shown.splitlines()[1] + shown.splitlines()[2]
    assert "as none" not in shown
