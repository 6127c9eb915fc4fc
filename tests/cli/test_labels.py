"""Two labels, several labels a text, and what is known and what costs say of them: each reaches the label it
names.
"""

import json

import pytest
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.persistence import load_classifier

SPAM = ["win cash now", "cheap cash prize", "win a prize now", "cheap pills now"]
HAM = [
    "lunch at noon",
    "see you at the meeting",
    "notes of the meeting",
    "call me at noon",
    "noon is fine",
    "minutes of it",
]


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def trained(path, *options):
    result = call("train", path / "a.csv", "-o", path / "m.tmm", *options)
    assert result.exit_code == 0, result.output
    return result, load_classifier(path / "m.tmm")


def threshold_of(label, model):
    """Where a label is cut on the learner's own scores for it."""
    return model.thresholds_[model.classes_.tolist().index(label)]


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
    assert bold.model_.pos_label_ == spam
    _, careful = trained(folder, "--hit", 1, "--false-alarm", -50)
    assert threshold_of(spam, bold) < threshold_of(spam, careful)
    told, other = trained(folder, "--hit", 50, "--false-alarm", -1, "--positive", ham)
    assert f"costs and floors speak of '{ham}'\n" in told.stderr
    assert other.model_.pos_label_ == ham
    assert threshold_of(ham, other) < threshold_of(ham, bold)


def test_names_of_two_labels_do_not_change_decisions_or_utility(two):
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
        costs = (
            f'"{ham}" = {{ hit = 1, false_alarm = -1 }}\n"{spam}" = {{ hit = {hit}, false_alarm = '
            f"{alarm} }}\n"
        )
        (folder / "c.toml").write_text("[costs]\n" + costs)
        thresholds.append(threshold_of(spam, trained(folder, "--costs", folder / "c.toml")[1]))
    assert thresholds[1] < thresholds[0]


def test_thresholds_for_two_labels_are_those_of_the_best_utility(two):
    """What evaluate adds up is what the thresholds were set for, on the scores that they were set on."""
    folder = two("spam", "ham")
    spam, ham = (
        "spam = { hit = 20, false_alarm = -1, miss = -5 }",
        "ham = { hit = 1, false_alarm = -3, miss = -2 }",
    )
    (folder / "c.toml").write_text(f"[costs]\n{spam}\n{ham}\n")
    costs, utility = ("--costs", folder / "c.toml"), {}
    for name, options in (("plain", []), ("costs", [*costs, "--threshold-scores", "train"])):
        trained(folder, *options)
        valued = call("evaluate", folder / "m.tmm", folder / "a.csv", *costs, "--json")
        utility[name] = json.loads(valued.stdout)["utility"]
    assert utility["costs"] >= utility["plain"]


@pytest.fixture
def several(tmp_path):
    rows = (
        "wheat and corn,grain\nwheat for the bank,grain;money\nbank rates,money\noil prices,oil\nsunny day,\n"
    )
    (tmp_path / "a.csv").write_text("text,topics\n" + rows * 4)
    return tmp_path


def from_prior(model, text, label):
    """What of a label's score each word of a text gives by what is known of it."""
    return {one.feature: one.from_prior for one in model.explain(text, label).contributions()}


def test_keywords_reach_their_label_where_a_text_has_several(several):
    (several / "k.toml").write_text('[keywords]\noil = ["barrel", "oil"]\n')
    (several / "a.csv").write_text((several / "a.csv").read_text() + "a barrel,oil\n")
    _, model = trained(
        several, "--label-separator", ";", "--keywords", several / "k.toml", "--trust", "fixed"
    )
    assert from_prior(model, "oil and wheat", "oil")["oil"] > 0
    assert not any(from_prior(model, "oil and wheat", "grain").values())


def marked(several, passages):
    """Texts of which the second has two labels, and marks."""
    rows = [
        'wheat and corn,grain,"[[0, 5]]"',
        f'wheat for the bank,grain;money,"{passages}"',
        "bank rates,money,",
        "oil prices,oil,",
    ]
    (several / "a.csv").write_text("text,topics,marks\n" + "\n".join(rows * 2) + "\n")
    return ("--label-separator", ";", "--rationales", "marks", "--trust", "fixed")


def test_a_passage_may_be_marked_for_one_label_of_several(several):
    _, model = trained(several, *marked(several, '[[0, 5, ""grain""], [14, 18, ""money""]]'))
    grain, money = (from_prior(model, "wheat bank", label) for label in ("grain", "money"))
    assert grain["wheat"] > grain["bank"] == 0
    assert money["bank"] > money["wheat"] == 0
    _, model = trained(several, *marked(several, "[[0, 5], [14, 18]]"))
    assert from_prior(model, "wheat bank", "grain")["bank"] > 0


@pytest.mark.parametrize(
    ("passages", "message"),
    [
        (
            '[[0, 5, ""oil""]]',
            "Line 3: a passage in 'marks' is marked for 'oil', which is not a label of this text: "
            "'grain', 'money'.",
        ),
        (
            '[[0, 5, ""grian""]]',
            "Line 3: a passage in 'marks' is marked for 'grian', which is not a label of this text: "
            "'grain', 'money'. "
            "Did you mean 'grain'?",
        ),
        (
            "[[0]]",
            "Line 3: 'marks' should hold passages [[start, end], …] or [[start, end, label], …]; it is "
            "'[[0]]'.",
        ),
        (
            "[5]",
            "Line 3: 'marks' should hold passages [[start, end], …] or [[start, end, label], …]; it is "
            "'[5]'.",
        ),
    ],
)
def test_passages_that_make_no_sense_are_told_with_their_line(several, passages, message):
    result = call("train", several / "a.csv", *marked(several, passages))
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"textmargin: {message}"


def test_an_earlier_model_reaches_its_labels_by_name(several):
    trained(several, "--label-separator", ";")
    (several / "m.tmm").rename(several / "old.tmm")
    rows = "bank rates,money\noil prices,oil\nanimals and bank,zoo\nanimals,zoo\n"
    (several / "a.csv").write_text("text,topics\n" + rows * 4)
    _, model = trained(
        several, "--label-separator", ";", "--prior-model", several / "old.tmm", "--trust", "fixed"
    )
    assert from_prior(model, "bank", "money")["bank"] > 0
    assert not any(from_prior(model, "bank", "zoo").values())


def test_one_label_that_a_text_has_or_not(tmp_path):
    (tmp_path / "a.csv").write_text("text,topics\n" + "wheat and corn,grain\nbank rates,\n" * 5)
    told, model = trained(tmp_path, "--label-separator", ";")
    assert "column-vector" not in told.stderr
    explanation = model.explain("wheat and corn")
    assert explanation.labels == ("grain",)
    assert all(one.contribution > 0 for one in explanation.contributions())
    assert explanation.score > 0


def test_confusions_pair_misses_with_false_alarms(several):
    trained(several, "--label-separator", ";")
    (several / "b.csv").write_text("text,topics\nwheat and corn,grain;oil\noil prices,money\n")
    found = json.loads(
        call("evaluate", several / "m.tmm", several / "b.csv", "--label-separator", ";", "--json").stdout
    )["confusions"]
    assert ["oil", "", 1] in found
    assert ["money", "oil", 1] in found


def test_scaled_measures_are_averaged_and_those_undefined_left_out(two):
    folder = two("spam", "ham")
    trained(folder, "--utility", "t11su")
    (folder / "b.csv").write_text("text,label\nlunch at noon,ham\n")
    shown = call("evaluate", folder / "m.tmm", folder / "b.csv")
    assert shown.exit_code == 0
    assert "nan" not in shown.stdout
    assert (
        0 < json.loads(call("evaluate", folder / "m.tmm", folder / "a.csv", "--json").stdout)["utility"] <= 1
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["train", "a.csv", "--positive", "eggs"],
            "--positive eggs is neither of the two classes, 'ham', 'spam'",
        ),
        (
            ["train", "a.csv", "-o", "a.csv"],
            "a.csv would replace a.csv, which is needed; choose another name",
        ),
        (["train", "a.csv", "--costs", "c.toml"], "'false-alarm', which is none of hit, false_alarm, miss"),
        (
            ["evaluate", "m.tmm", "a.csv", "--costs", "d.toml"],
            "The utility (costs) names 'eggs', which is not among the classes",
        ),
        (
            ["train", "a.csv", "--prior-model", "k.tmm"],
            "k.tmm knows no words: the columns of its SpectrumKernel have no names",
        ),
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
    (tmp_path / "a.csv").write_text(
        "text,label\n" + "wheat corn,b [/x]\nbank rates,[red]y\nbank wheat,z\n" * 5
    )
    trained(tmp_path)
    (tmp_path / "b.csv").write_text("text,label\nwheat corn,z\nbank rates,b [/x]\n")
    shown = call("evaluate", tmp_path / "m.tmm", tmp_path / "b.csv")
    assert shown.exit_code == 0, shown.output
    assert "b [/x] as [red]y" in shown.stdout


@pytest.mark.parametrize(
    "words",
    [
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
    (folder / "k.sqlite").write_bytes(b"feedback")
    assert call("train", "a.csv", "-o", "m.tmm").exit_code == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = call(*words)
    assert result.exit_code == 2
    assert "choose another name" in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
