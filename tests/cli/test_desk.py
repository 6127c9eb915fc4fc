"""`textmargin desk`, and the commands that learn from, judge and show what was done there."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.desk.acts import Act, new_id
from textmargin.desk.project import Project
from textmargin.persistence import load_classifier

SPAM = [
    "win cash now",
    "cheap cash prize",
    "win a prize today",
    "cheap pills online",
    "claim the cash prize",
    "free pills now",
]
HAM = [
    "lunch at noon",
    "see you at the meeting",
    "notes of the meeting",
    "call me at noon",
    "noon is fine",
    "minutes of it",
]


def call(*words, **options):
    return CliRunner().invoke(app, [str(word) for word in words], **options)


def do(project, kind, who="anna", **content):
    return project.record(Act(new_id(), who, kind, content))


@pytest.fixture
def work(tmp_path):
    """A project in which most texts have a label."""
    path = tmp_path / "work.desk"
    texts = [f"{text} {k}" for k in range(4) for text in (*SPAM, *HAM)]
    with Project.create(path, texts, classes=["ham", "spam"], source="mails.csv") as project:
        for number in range(40):
            do(project, "label", text=number, labels=["spam" if number % 12 < 6 else "ham"], source="random")
    return path


def change(path, *acts):
    with Project.open(path) as project:
        for kind, content in acts:
            do(project, kind, **content)


def test_train_evaluate_check_and_report_read_a_project(work, tmp_path):
    model = tmp_path / "m.tmm"
    trained = call("train", work, "-o", model)
    assert trained.exit_code == 0, trained.output
    assert "Trained on 40 texts" in trained.stdout
    assert "8 of 48 rows have no label" in trained.stderr
    assert "those of" not in trained.stderr  # the project has neither keywords nor marks nor costs
    assert load_classifier(model).classes_.tolist() == ["ham", "spam"]
    evaluated = call("evaluate", model, work)
    assert evaluated.exit_code == 0, evaluated.output
    assert "40 texts" in evaluated.stdout
    checked = call("check", work, "--no-doubts")
    assert checked.exit_code == 0, checked.output
    assert "work.desk: 48 texts, 2 labels" in checked.stdout
    page = tmp_path / "report.html"
    shown = call("report", model, work, "-o", page)
    assert shown.exit_code == 0, shown.output
    assert "work.desk" in page.read_text()
    decided = call("predict", model, work, "--output", tmp_path / "decided.csv")
    assert decided.exit_code == 0, decided.output


KNOWN = [
    ("keyword", {"label": "spam", "word": "cash"}),
    ("keyword", {"label": "ham", "word": "noon"}),
    ("mark", {"text": 0, "start": 0, "end": 8, "label": "spam"}),
    ("mark", {"text": 6, "start": 0, "end": 5, "label": "ham"}),
    ("costs", {"costs": {"spam": {"hit": 1, "false_alarm": -50, "miss": -1}}}),
]


def test_train_takes_what_people_said_and_says_so(work, tmp_path):
    model = tmp_path / "m.tmm"
    call("train", work, "-o", model)
    before = load_classifier(model)
    change(work, *KNOWN)
    result = call("train", work, "-o", model)
    assert result.exit_code == 0, result.output
    said = (
        "keywords, marks and costs are those of .*work.desk; --keywords, --rationales and --costs "
        "choose others"
    )
    assert re.search(said, result.stderr), result.stderr
    assert "prior for spam" in result.stdout
    after = load_classifier(model)
    assert after.thresholds_[-1] != before.thresholds_[-1]
    assert {one.knowledge for one in after.verdict_ if one.target is not None} >= {
        "keywords in work-keywords.toml"
    }


@pytest.mark.parametrize("marks", [[0], [0, 6], [0, 1, 2, 6, 7, 8]])
def test_train_with_a_holdout_takes_few_marks(work, tmp_path, marks):
    """Whichever of them are held out: what is left is used, or none is."""
    for number in marks:
        change(
            work, ("mark", {"text": number, "start": 0, "end": 4, "label": "spam" if number < 6 else "ham"})
        )
    result = call("train", work, "-o", tmp_path / "m.tmm", "--holdout", 0.3)
    assert result.exit_code == 0, result.output
    assert "marks are those of" in result.stderr
    assert load_classifier(tmp_path / "m.tmm").classes_.tolist() == ["ham", "spam"]


def test_options_win_over_what_people_said(work, tmp_path):
    change(work, *KNOWN)
    words = tmp_path / "own.toml"
    words.write_text('spam = ["pills"]\n')
    result = call(
        "train", work, "-o", tmp_path / "m.tmm", "--keywords", words, "--hit", 5, "--false-alarm", -1
    )
    assert result.exit_code == 0, result.output
    assert "marks are those of" in result.stderr
    assert "--rationales chooses others" in result.stderr
    result = call("train", work, "-o", tmp_path / "m.tmm", "--features", "ngrams", "--utility", "f1")
    assert result.exit_code == 0, result.output
    assert "those of" not in result.stderr


def test_keywords_alone_train_a_model(tmp_path):
    path = tmp_path / "new.desk"
    with Project.create(path, [*SPAM, *HAM], classes=["ham", "spam"]) as project:
        do(project, "keyword", label="spam", word="cash")
        do(project, "keyword", label="ham", word="noon")
    result = call("train", path, "-o", tmp_path / "m.tmm")
    assert result.exit_code == 0, result.output
    assert "12 texts without a label" in result.stdout


def test_a_class_without_any_text_may_have_costs(work, tmp_path):
    costs = {"hit": 1, "false_alarm": -1, "miss": 0}
    change(
        work,
        ("class", {"name": "other"}),
        ("costs", {"costs": dict.fromkeys(("spam", "ham", "other"), costs)}),
    )
    result = call("train", work, "-o", tmp_path / "m.tmm")
    assert result.exit_code == 0, result.output


def test_several_labels_a_text(tmp_path):
    path = tmp_path / "several.desk"
    with Project.create(path, [*SPAM, *HAM], classes=["a", "b"], multilabel=True) as project:
        for number in range(12):
            do(project, "label", text=number, labels=[["a"], ["a", "b"], ["b"], []][number % 4])
    assert call("train", path, "-o", tmp_path / "m.tmm").exit_code == 0
    assert load_classifier(tmp_path / "m.tmm").labels_.kind == "multilabel"
    assert call("evaluate", tmp_path / "m.tmm", path).exit_code == 0


@pytest.mark.parametrize("command", ["train", "check"])
def test_a_project_without_labels_is_one_line(tmp_path, command):
    path = tmp_path / "new.desk"
    Project.create(path, SPAM, classes=["spam"]).close()
    result = call(command, path)
    assert result.exit_code == 2
    assert "has a label that is in use; label some at the desk" in result.stderr


def test_a_file_that_is_no_project_is_one_line(tmp_path):
    path = tmp_path / "work.desk"
    path.write_text("text,label\na,b\n" * 50)
    for words in (("train", path), ("check", path), ("desk", path), ("desk", path, "--export", "csv")):
        result = call(*words)
        assert result.exit_code == 2
        assert "cannot be read: file is not a database" in result.stderr, words


def test_a_project_cannot_be_read_in_parts(work, tmp_path):
    result = call("train", work, "-o", tmp_path / "m.tmm", "--memory", "1GB")
    assert result.exit_code == 2
    assert "project of the desk cannot be read in parts" in result.stderr


def test_exports(work, tmp_path):
    folder = tmp_path / "out"
    result = call("desk", work, "--export", folder)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == ["work-acts.jsonl", "work.csv", "work.jsonl"]
    result = call("desk", work, "--export", "csv")
    assert result.stdout_bytes == (folder / "work.csv").read_bytes()
    result = call("desk", work, "--export", "keywords")
    assert result.exit_code == 2
    assert "has no keywords yet" in result.stderr
    result = call("desk", tmp_path / "tickets.csv", "--export", "csv")
    assert "There is no project" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-",), "need a name for what is done with them: --project work.desk"),
        (("mails.csv", "--project", "work.sqlite"), "end its name with .desk"),
        (("mails.desk", "--project", "other.desk"), "is a project itself; leave --project out"),
        (("nothing.csv",), "There is no file nothing.csv"),
        (("nothing.desk",), "There is no project nothing.desk"),
        (("mails.csv", "--keywords", "nothing.toml"), "nothing.toml cannot be read"),
        (("mails.csv", "--costs", "nothing.toml"), "nothing.toml cannot be read"),
        (("mails.csv", "--text", "body"), "has no column 'body'"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mails.csv").write_text("text\nwin cash now\nlunch at noon\n")
    result = call("desk", *words, "--no-browser")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mails.csv"]  # nothing was made for it


def test_a_table_of_several_labels_with_empty_cells_is_not_read_to_the_end_already(tmp_path):
    table = tmp_path / "mails.csv"
    table.write_text(
        "text,labels\nwin cash now,spam;money\nlunch at noon,\ncheap pills,spam\nsee you n/a,n/a\n"
    )
    server = Server(tmp_path, table, "--label-separator", ";", "--annotator", "anna")
    try:
        state = server.ask("/api/state")
        assert (state["project"]["n_labelled"], state["project"]["multilabel"]) == (2, True)
        assert {server.ask("/api/next")["text"]} <= {1, 3}
    finally:
        server.stop()
    with Project.open(tmp_path / "mails.desk") as project:
        assert project.header["given"] == [("spam", "money"), None, ("spam",), None]


class Server:
    """The command in a process of its own, once it answers."""

    def __init__(self, folder, *words):
        command = [sys.executable, "-m", "textmargin", "desk", *map(str, words), "--no-browser"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=pipe, stderr=pipe, text=True, env={**os.environ}
        )
        self.address = self.process.stdout.readline().strip()
        self.url, _, self.token = self.address.partition("/?token=")

    def ask(self, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def stop(self, sign=signal.SIGTERM):
        self.process.send_signal(sign)
        _, error = self.process.communicate(timeout=60)
        return self.process.returncode, error


def test_the_desk_opens_goes_on_where_it_was_and_refuses_a_table_that_changed(tmp_path):
    table = tmp_path / "mails.csv"
    table.write_text(
        "id,text,topic\n"
        + "".join(f"{k},{text},{'spam' if k < 2 else ''}\n" for k, text in enumerate([*SPAM, *HAM]))
    )
    (tmp_path / "words.toml").write_text('spam = ["cash"]\nham = { noon = 2.0 }\n')
    (tmp_path / "costs.toml").write_text('"*" = { hit = 5, false_alarm = -1, miss = 0 }\n')
    server = Server(
        tmp_path,
        table,
        "--keywords",
        "words.toml",
        "--costs",
        "costs.toml",
        "--annotator",
        "anna",
        "--classes",
        "other",
    )
    try:
        assert server.url.startswith("http://127.0.0.1:")
        assert len(server.token) >= 20
        state = server.ask("/api/state")
        assert state["annotator"] == "anna"
        assert [one["name"] for one in state["classes"]] == ["other", "spam", "ham"]
        assert state["project"]["n_labelled"] == 2
        act = {"id": "7", "annotator": "anna", "kind": "label", "content": {"text": 6, "labels": ["ham"]}}
        assert server.ask("/api/acts", act)["act"]["number"] == state["version"] + 1
        with pytest.raises(urllib.error.HTTPError, match="401"):
            server.ask("/api/state", token="another")
        second = call("desk", table, "--no-browser")
        assert second.exit_code == 2
        assert f"is open at another desk, {server.url}. Work there, or stop it first." in second.stderr
        assert server.token not in second.stderr
    finally:
        code, error = server.stop(signal.SIGKILL)
    assert "mails.desk is new: 12 texts, 2 with a label" in error
    assert "other weights than 1 and -1" in error
    with Project.open(tmp_path / "mails.desk") as project:
        assert project.state.answer(6) == ("ham",)
        assert project.state.keywords == {"spam": {"cash": 1.0}, "ham": {"noon": 1.0}}
        assert project.state.costs["*"]["hit"] == 5.0
        n_acts = len(project.state.acts)

    killed = server
    server = Server(tmp_path, table, "--keywords", "words.toml", "--costs", "costs.toml")
    try:
        assert server.url == killed.url  # a browser finds what waits for it
        assert server.token != killed.token
        # what is there already is not recorded again
        assert server.ask("/api/state?annotator=ben")["version"] == n_acts
    finally:
        code, error = server.stop(signal.SIGINT)
    assert code == 0, error
    assert "going on with mails.desk: 12 texts, 3 with a label" in error.replace(f"{tmp_path}/", "")

    table.write_text(table.read_text().replace("lunch", "dinner"))
    result = call("desk", table, "--no-browser")
    assert result.exit_code == 2
    assert "text 7 or its label is another one" in result.stderr
    assert "Go on with the project alone" in result.stderr
