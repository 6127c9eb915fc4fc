"""The command `textmargin check`."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from textmargin import load_dataset
from textmargin.cli import app


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def data(tmp_path):
    """A file with an id that begins with its label, a copy under another label and an empty text; and a test
    file with a leak.
    """
    desk = load_dataset("desk").part("train").take(range(60))
    rows = [
        (f"{label[:2]}-{row}", text, label)
        for row, (text, label) in enumerate(zip(desk.texts, desk.labels, strict=True))
    ]
    rows += [("ne-100", desk.texts[0], "network"), ("ne-101", "", "network")]
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("id", "text", "label"), *rows])
    with (tmp_path / "test.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [("text", "label"), (desk.texts[5], desk.labels[5]), ("quite another", "network")]
        )
    return path


def test_says_what_is_wrong_and_where(data):
    before = data.read_bytes()
    result = call("check", data, "--test", data.with_name("test.csv"), "--id", "id")
    assert result.exit_code == 0, result.output
    assert "data.csv: 62 texts" in result.stdout
    assert "line 2 (" in result.stdout
    assert "62 (ne-100)" in result.stdout
    assert "test line 2" in result.stdout
    assert "leading letters of 'id'" in result.stdout
    assert "Empty texts: 1" in result.stdout
    assert data.read_bytes() == before


def test_texts_without_a_label_are_named_in_their_place(data):
    data.write_text(data.read_text().replace(",network\n", ",n/a\n", 1))
    found = json.loads(call("check", data, "--json", "--no-doubts").stdout)
    assert found["n_texts"] == 62
    missing = [one["lines"] for one in found["findings"] if one["kind"] == "unlabelled"]
    rows = list(csv.reader(data.open(newline="")))
    assert [rows[int(line) - 1][2] for (line,) in missing] == ["n/a"]
    assert "train learns from the others where that helps" in call("check", data, "--no-doubts").stdout


def test_what_is_not_shown_is_counted_and_where_it_can_be_seen(data):
    with data.open("a", newline="") as stream:
        csv.writer(stream).writerows([(f"x-{k}", " " * k, "network") for k in range(5)])
    shown = call("check", data, "--no-doubts").stdout
    assert "Empty texts: 6\n" in shown
    assert "  … and 3 more\n" in shown
    assert "-o check.csv" in shown.splitlines()[-1]
    assert "-o check.csv" not in call("check", data, "--no-doubts", "-o", data.with_name("found.csv")).stdout


def test_json_is_exact(data):
    result = call("check", data, "--json", "--no-doubts")
    found = json.loads(result.stdout)
    assert found["n_texts"] == 62
    assert {"kind": "empty", "lines": ["63"]}.items() <= next(
        one for one in found["findings"] if one["kind"] == "empty"
    ).items()
    assert sum(found["counts"].values()) == len(found["findings"])


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_writes_by_the_name(data, suffix):
    where = data.with_name(f"found.{suffix}")
    result = call("check", data, "--no-doubts", "-o", where)
    assert result.exit_code == 0
    assert where.stat().st_size > 500
    assert f"written to {where}" in " ".join(result.stderr.split())


def test_strict_is_for_scripts(data):
    assert call("check", data, "--no-doubts", "--strict").exit_code == 1
    rng, words = np.random.default_rng(0), load_dataset("desk").texts[0].lower().replace(",", "").split()
    rows = [
        f"{' '.join(rng.permutation(words))} and {' '.join(rng.permutation(words))},{label}"
        for label in "ab"
        for _ in range(9)
    ]
    clean = data.with_name("clean.csv")
    clean.write_text("text,label\n" + "\n".join(rows) + "\n")
    result = call("check", clean, "--no-doubts", "--strict", "--text", "text", "--label", "label")
    assert result.exit_code == 0, result.output
    assert "Nothing was found." in result.stdout


def test_the_data_are_not_written_over(data):
    result = call("check", data, "-o", data)
    assert result.exit_code == 2
    assert "would replace" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [(["-o", "found.txt"], "--output must end in .csv, .json"), (["--annotator", "who"], "no column 'who'")],
)
def test_options_that_are_wrong_are_named(data, options, message):
    result = call("check", data, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_annotators(tmp_path):
    path = tmp_path / "judged.csv"
    rows = [
        f"T{n},message number {n} of some,{who},{'x' if (n + (who == 'c')) % 2 else 'y'}"
        for n in range(30)
        for who in "abc"
    ]
    path.write_text("id,text,who,label\n" + "\n".join(rows) + "\n")
    result = call("check", path, "--annotator", "who", "--id", "id", "--no-doubts", "--label", "label")
    assert result.exit_code == 0, result.output
    assert "30 texts with several annotators" in result.stdout
    assert "Texts that annotators label differently: 30" in result.stdout
    assert "c: another label than others in 100% of 60 comparisons" in result.stdout
