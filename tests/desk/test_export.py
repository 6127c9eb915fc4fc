"""What leaves the desk is read again by the project's own readers, whatever people write in texts and
names.
"""

import json

import pytest

import textmargin.desk  # noqa: F401  # which reads .desk files
from textmargin import KeywordPrior
from textmargin.config import read_costs, read_rationales
from textmargin.desk.acts import Act, new_id
from textmargin.desk.export import EXPORTS, export, label_separator
from textmargin.desk.project import Project
from textmargin.errors import DeskError, LabelError
from textmargin.tables.reader import read_table

HOSTILE = [
    'she said "no", twice',
    "first line\nsecond line",
    "carriage\r\nreturn",
    "שלום, עולם",
    "🎉 emoji 👩‍👩‍👧",
    "<script>alert('x')</script>",
    "comma, semicolon; pipe|tab\tend",
    "'quoted",
    "–5 €",
    "None",
    "\x7f and \x01",
]
FORMULAS = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", '=HYPERLINK("x", "y")']


def do(project, kind, who="anna", **content):
    return project.record(Act(new_id(), who, kind, content))


@pytest.fixture
def make(tmp_path):
    opened = []

    def create(texts, classes, **options):
        opened.append(
            Project.create(tmp_path / "work.desk", texts, classes=classes, source="mails.csv", **options)
        )
        return opened[-1]

    yield create
    for project in opened:
        project.close()


def saved(project, kind):
    name, content = export(project, kind)
    path = project.path.with_name(name)
    path.write_bytes(content)
    return path


def test_hostile_texts_and_labels_come_back_from_every_table(make):
    """Each text under a label that is as hostile; formulas are another matter in CSV, as in all exports."""
    names = [text for text in HOSTILE if text == text.strip()]
    project = make(HOSTILE, names)
    for number, text in enumerate(HOSTILE):
        do(project, "label", text=number, labels=[text])
    expected = list(zip(HOSTILE, HOSTILE, strict=True))
    for path in (saved(project, "csv"), saved(project, "jsonl"), project.path):
        corpus = read_table(path, text="text", label="label", missing_labels=()).corpus
        assert list(zip(corpus.texts, corpus.labels, strict=True)) == expected, path


def test_formulas_have_an_apostrophe_in_csv_and_are_exact_elsewhere(make):
    project = make(FORMULAS, FORMULAS)
    for number, text in enumerate(FORMULAS):
        do(project, "label", text=number, labels=[text])
        do(project, "mark", text=number, start=0, end=2, label=text)
    corpus = read_table(saved(project, "csv"), text="text", label="label").corpus
    assert corpus.texts == corpus.labels == [f"'{text}" for text in FORMULAS]
    for path in (saved(project, "jsonl"), project.path):
        corpus = read_table(path, fields=["marks"]).corpus
        assert corpus.texts == corpus.labels == FORMULAS
        assert [own[0][:2] for own in corpus.fields["marks"]] == [pytest.approx([0, 2])] * 4


def test_texts_without_labels_in_use_are_left_out(make):
    project = make(["one", "two", "three", "four"], ["a", "b"])
    do(project, "label", text=1, labels=["a"])
    do(project, "label", text=2, labels=["a"])
    do(project, "label", "ben", text=2, labels=["b"])
    _, content = export(project, "csv")
    assert content.decode() == "id,text,label\n2,two,a\n"
    table = read_table(project.path)
    assert (table.corpus.texts, table.unlabelled.texts) == (["two"], ["one", "three", "four"])


def test_several_labels_and_none_of_them(make):
    project = make(["one", "two", "three"], ["a", "b;c"], multilabel=True)
    do(project, "label", text=0, labels=["b;c", "a"])
    do(project, "label", text=1, labels=[])
    expected = [("a", "b;c"), ()]
    separator = label_separator(project.state.classes)
    assert separator == "|"
    assert (
        read_table(saved(project, "csv"), label="label", label_separator=separator).corpus.labels == expected
    )
    assert read_table(saved(project, "jsonl")).corpus.labels == expected
    table = read_table(project.path)
    assert (table.corpus.labels, table.unlabelled.texts) == (expected, ["three"])


def test_marks_are_rationales_of_the_labels_in_use(make):
    project = make(["no paper left", "wifi is gone"], ["network", "printing"])
    do(project, "label", text=0, labels=["printing"])
    do(project, "mark", text=0, start=3, end=8, label="printing")
    do(project, "mark", text=0, start=0, end=2, label="network")  # of a label that the text does not have
    do(project, "mark", text=1, start=0, end=4, label="network")  # of a text without a label
    for path in (saved(project, "jsonl"), project.path):
        corpus = read_table(path, label="label", fields=["marks"]).corpus
        assert read_rationales(corpus, "marks") == [("no paper left", [(3, 8, "printing")])]


def test_keywords_come_back(make):
    names = ["grain", 'quo"ted', "new\nline", "שלום", "a.b", "\x7f"]
    project = make(["x"], names)
    for name in names:
        do(project, "keyword", label=name, word="Interest Rate")
        do(project, "keyword", label=name, word='say "x"', weight=-1)
        do(project, "keyword", label=name, word="שלום", weight=0)
    prior = KeywordPrior.from_file(saved(project, "keywords"))
    assert prior.entries() == project.state.keywords
    assert prior.entries()["a.b"] == {"interest rate": 1.0, 'say "x"': -1.0, "שלום": 0.0}


def test_costs_come_back(make):
    names = ["grain", 'quo"ted', "new\nline", "a.b"]
    project = make(["x"], names)
    table = {name: {"hit": 5.25, "false_alarm": -1 / 3, "miss": -1e-7} for name in names}
    table["*"] = {"hit": 1e6, "false_alarm": -1.0, "miss": 0.0, "ask": -0.5}
    do(project, "costs", costs=table, minute=0.4, budget=20, currency="€")
    path = saved(project, "costs")
    found = read_costs(path)
    assert {name: (one.tp, one.fp, one.fn, one.ask) for name, one in found.items()} == {
        name: (own["hit"], own["false_alarm"], own["miss"], own.get("ask")) for name, own in table.items()
    }
    assert 'minute = 0.4\ncurrency = "€"\nbudget = 20\n' in path.read_text()


def test_acts_are_all_there_undone_ones_too(make):
    project = make(["x"], ["a"])
    act = do(project, "label", text=0, labels=["a"])
    do(project, "undo", act=act.id)
    lines = [json.loads(line) for line in export(project, "acts")[1].splitlines()]
    assert lines == [one.to_dict() for one in project.acts()]
    assert [one["kind"] for one in lines] == ["label", "undo"]


def test_nothing_to_export_is_said(make):
    project = make(["x"], ["a"])
    for kind in ("csv", "jsonl"):
        with pytest.raises(DeskError, match=r"No text of .* has a label that is in use"):
            export(project, kind)
    with pytest.raises(DeskError, match="has no keywords yet"):
        export(project, "keywords")
    with pytest.raises(DeskError, match="has no costs yet"):
        export(project, "costs")
    with pytest.raises(DeskError, match=f"choose one of {', '.join(EXPORTS)}"):
        export(project, "cvs")
    with pytest.raises(LabelError, match="label some at the desk, or settle conflicts"):
        read_table(project.path)


def test_half_a_surrogate_pair_in_a_text_breaks_no_file(make):
    project = make(["\ud800 half"], ["a"])
    do(project, "label", text=0, labels=["a"])
    assert b"\\ud800 half" in export(project, "csv")[1]
    assert json.loads(export(project, "jsonl")[1])["text"] == "\ud800 half"
