"""Two labels, several labels a text, and what is known and what costs say of them: each reaches the label it names."""

import json

import pytest
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.persistence import load_classifier

SPAM = ["win cash now", "cheap cash prize", "win a prize now", "cheap pills now"]
HAM = ["lunch at noon", "see you at the meeting", "notes of the meeting", "call me at noon", "noon is fine", "minutes of it"]


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def trained(path, *options):
    result = call("train", path / "a.csv", "-o", path / "m.tmm", *options)
    assert result.exit_code == 0, result.output
    return result, load_classifier(path / "m.tmm")


@pytest.fixture
def two(tmp_path):
    """Spam under a name before, or after, that of the rest."""

    def write(spam, ham):
        texts = {spam: SPAM * 3 + HAM[:2], ham: HAM * 6 + SPAM[:2] * 2}  # some are one as well as the other
        rows = [f"{text} {k},{label}" for label, own in texts.items() for k, text in enumerate(own)]
        (tmp_path / "a.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
        return tmp_path

    return write


@pytest.mark.parametrize(("spam", "ham"), [("spam", "ham"), ("a-spam", "b-ham")])
def test_costs_speak_of_the_rarer_of_two_labels_whatever_it_is_called(two, spam, ham):
    folder = two(spam, ham)
    told, bold = trained(folder, "--hit", 50, "--false-alarm", -1)
    assert f"costs and floors speak of '{spam}', the rarer label; --positive chooses" in told.stderr
    assert bold.classes == [ham, spam]
    bold = bold.thresholds()[1]
    _, careful = trained(folder, "--hit", 1, "--false-alarm", -50)
    assert bold < careful.thresholds()[1]
    _, other = trained(folder, "--hit", 50, "--false-alarm", -1, "--positive", ham)
    assert other.classes == [spam, ham]


def test_names_of_two_labels_do_not_change_decisions_or_worth(two):
    found = []
    for spam, ham in (("spam", "ham"), ("a", "b")):
        folder = two(spam, ham)
        trained(folder, "--hit", 20, "--false-alarm", -1)
        summary = json.loads(call("evaluate", folder / "m.tmm", folder / "a.csv", "--json").stdout)
        classes = {one["label"] == spam: (one["tp"], one["fp"], one["utility"]) for one in summary["classes"]}
        found.append((summary["utility"], classes))
    assert found[0] == found[1]
    assert found[0][1][False][2] is None  # costs say nothing of the other label


@pytest.mark.parametrize(("spam", "ham"), [("spam", "ham"), ("a-spam", "b-ham")])
def test_costs_of_either_of_two_labels_count(two, spam, ham):
    folder = two(spam, ham)
    thresholds = []
    for hit, alarm in ((1, -100), (100, -1)):
        costs = f'"{ham}" = {{ hit = 1, false_alarm = -1 }}\n"{spam}" = {{ hit = {hit}, false_alarm = {alarm} }}\n'
        (folder / "c.toml").write_text("[costs]\n" + costs)
        thresholds.append(trained(folder, "--costs", folder / "c.toml")[1].thresholds()[1])
    assert thresholds[1] < thresholds[0]


def test_thresholds_for_two_labels_are_those_of_the_best_worth(two):
    """What evaluate adds up is what the thresholds were set for."""
    folder = two("spam", "ham")
    spam, ham = "spam = { hit = 20, false_alarm = -1, miss = -5 }", "ham = { hit = 1, false_alarm = -3, miss = -2 }"
    (folder / "c.toml").write_text(f"[costs]\n{spam}\n{ham}\n")
    costs, worth = ("--costs", folder / "c.toml"), {}
    for name, options in (("plain", []), ("told", costs)):
        trained(folder, *options)
        valued = call("evaluate", folder / "m.tmm", folder / "a.csv", *costs, "--json")
        worth[name] = json.loads(valued.stdout)["utility"]
    assert worth["told"] >= worth["plain"]


@pytest.fixture
def several(tmp_path):
    rows = "wheat and corn,grain\nwheat for the bank,grain;money\nbank rates,money\noil prices,oil\nsunny day,\n"
    (tmp_path / "a.csv").write_text("text,topics\n" + rows * 4)
    return tmp_path


def test_keywords_reach_their_label_where_a_text_has_several(several):
    (several / "k.toml").write_text('[keywords]\noil = ["barrel", "oil"]\n')
    (several / "a.csv").write_text((several / "a.csv").read_text() + "a barrel,oil\n")
    _, model = trained(several, "--label-separator", ";", "--keywords", several / "k.toml", "--trust", "fixed")
    reasons = {reason.what: reason.known for reason in model.explain("oil and wheat", "oil").reasons}
    assert reasons["oil"] > 0
    assert not any(reason.known for reason in model.explain("oil and wheat", "grain").reasons)


def test_an_earlier_model_reaches_its_labels_by_name(several):
    trained(several, "--label-separator", ";")
    (several / "m.tmm").rename(several / "old.tmm")
    rows = "bank rates,money\noil prices,oil\nanimals and bank,zoo\nanimals,zoo\n"
    (several / "a.csv").write_text("text,topics\n" + rows * 4)
    _, model = trained(several, "--label-separator", ";", "--prior-model", several / "old.tmm", "--trust", "fixed")
    assert {reason.what: reason.known for reason in model.explain("bank", "money").reasons}["bank"] > 0
    assert not any(reason.known for reason in model.explain("bank", "zoo").reasons)


def test_one_label_that_a_text_has_or_not(tmp_path):
    (tmp_path / "a.csv").write_text("text,topics\n" + "wheat and corn,grain\nbank rates,\n" * 5)
    told, model = trained(tmp_path, "--label-separator", ";")
    assert "column-vector" not in told.stderr
    reasons = model.explain("wheat and corn")
    assert reasons.labels == ("grain",)
    assert all(reason.share > 0 for reason in reasons.reasons)
    assert reasons.score > 0


def test_confusions_pair_what_was_missed_with_what_was_said_instead(several):
    trained(several, "--label-separator", ";")
    (several / "b.csv").write_text("text,topics\nwheat and corn,grain;oil\noil prices,money\n")
    found = json.loads(call("evaluate", several / "m.tmm", several / "b.csv", "--label-separator", ";", "--json").stdout)[
        "confusions"
    ]
    assert ["oil", "", 1] in found
    assert ["money", "oil", 1] in found


def test_scaled_measures_are_averaged_and_those_undefined_left_out(two):
    folder = two("spam", "ham")
    trained(folder, "--utility", "t11su")
    (folder / "b.csv").write_text("text,label\nlunch at noon,ham\n")
    shown = call("evaluate", folder / "m.tmm", folder / "b.csv")
    assert shown.exit_code == 0
    assert "nan" not in shown.stdout
    assert 0 < json.loads(call("evaluate", folder / "m.tmm", folder / "a.csv", "--json").stdout)["utility"] <= 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "a.csv", "--positive", "eggs"], "'eggs' is to be looked for, but the labels are 'ham' and 'spam'"),
        (["train", "a.csv", "-o", "a.csv"], "a.csv would replace a.csv, which is needed; choose another name"),
        (["train", "a.csv", "--costs", "c.toml"], "'false-alarm' is none of hit, false_alarm, miss"),
        (["evaluate", "m.tmm", "a.csv", "--costs", "d.toml"], "The costs name 'eggs', which is not among the labels"),
        (["train", "a.csv", "--prior-model", "k.tmm"], "compares texts as they are and knows no words"),
    ],
)
def test_mistakes_about_labels(words, message, two, monkeypatch):
    folder = two("spam", "ham")
    monkeypatch.chdir(folder)
    (folder / "c.toml").write_text("[costs]\nspam = { hit = 5, false-alarm = -50 }\n")
    (folder / "d.toml").write_text("[costs]\neggs = { hit = 5 }\n")
    assert call("train", "a.csv", "-o", "m.tmm").exit_code == 0
    assert call("train", "a.csv", "-o", "k.tmm", "--features", "ngrams", "--length", 3).exit_code == 0
    before = (folder / "a.csv").read_bytes()
    result = call(*words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr.splitlines()[-1]
    assert (folder / "a.csv").read_bytes() == before


def test_labels_that_look_like_markup(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n" + "wheat corn,b [/x]\nbank rates,[red]y\nbank wheat,z\n" * 5)
    trained(tmp_path)
    (tmp_path / "b.csv").write_text("text,label\nwheat corn,z\nbank rates,b [/x]\n")
    shown = call("evaluate", tmp_path / "m.tmm", tmp_path / "b.csv")
    assert shown.exit_code == 0, shown.output
    assert "b [/x] as [red]y" in shown.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["train", "a.csv", "-o", "b.csv", "--test", "b.csv", "--report", "r.html"],
        ["train", "a.csv", "-o", "n.tmm", "--test", "b.csv", "--report", "b.csv"],
        ["train", "a.csv", "-o", "n.tmm", "--test", "b.csv", "--report", "n.tmm"],
        ["train", "a.csv", "--costs", "c.toml", "-o", "c.toml"],
        ["report", "m.tmm", "a.csv", "-o", "m.tmm"],
        ["threshold", "m.tmm", "--from-feedback", "k.sqlite", "-o", "k.sqlite"],
    ],
)
def test_nothing_that_is_read_is_written_over(words, two, monkeypatch):
    folder = two("spam", "ham")
    monkeypatch.chdir(folder)
    (folder / "b.csv").write_bytes((folder / "a.csv").read_bytes())
    (folder / "c.toml").write_text("[costs]\nspam = { hit = 5 }\n")
    (folder / "k.sqlite").write_bytes(b"judgements")
    assert call("train", "a.csv", "-o", "m.tmm").exit_code == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = call(*words)
    assert result.exit_code == 2
    assert "choose another name" in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
