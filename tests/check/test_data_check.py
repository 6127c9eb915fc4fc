"""All checks together: what is given, in which order, by whom it is called, and how it is written."""

import csv
import io
import json

import pytest

from textmargin import Corpus, DataCheck, check_data, load_dataset
from textmargin.check.findings import KINDS, Finding
from textmargin.check.output import to_csv, write_check
from textmargin.errors import LabelError, SettingError

DARK = "The screen of my laptop stays dark since the update of this morning"


@pytest.fixture(scope="module")
def desk():
    return load_dataset("desk").part("train")


@pytest.fixture(scope="module")
def found(desk):
    """Messages with faults in known places, at the end."""
    n = len(desk)
    texts = [*desk.texts, "", desk.texts[0], desk.texts[1] + " thanks", f"<p>{DARK}</p>"]
    labels = [*desk.labels, "network", "billing", desk.labels[1], "Network"]
    queue = {label: f"queue {k}" for k, label in enumerate(desk.classes)}
    fields = {
        "queue": [queue.get(label.lower(), "") for label in labels],
        "number": [str(row) for row in range(n + 4)],
    }
    test = desk.texts[2:4], [desk.labels[2], desk.labels[3]]
    return check_data(texts, labels, fields=fields, test=test)


def test_planted_faults_are_found_by_kind_in_order(found, desk):
    n = len(desk)
    assert [one.rows for one in found.of_kind("empty")] == [(n,)]
    assert [one.rows for one in found.of_kind("repeated")] == [(0, n + 1)]
    assert [one.rows for one in found.of_kind("near-duplicate")] == [(1, n + 2)]
    assert [one.rows for one in found.of_kind("contradiction")] == [(0, n + 1)]
    assert [one.rows for one in found.of_kind("markup")] == [(n + 3,)]
    assert [(one.label, one.suggestion) for one in found.of_kind("label-spelling")] == [
        ("Network", "network")
    ]
    assert [one.label for one in found.of_kind("giveaway-column")] == ["queue"]
    assert [(one.rows, one.test_rows) for one in found.of_kind("leak")] == [((2,), (0,)), ((3,), (1,))]
    assert list(found.counts) == [kind.name for kind in KINDS if kind.name in found.counts]
    assert found.n_texts == n + 4
    assert 0 < found.noise < 0.1
    assert len(found.of_kind("doubtful-label")) > 3


def test_clean_texts_have_no_findings():
    texts = [
        f"message of number {n} about {'paper and toner' if n % 2 else 'screens and cables'}"
        for n in range(40)
    ]
    labels = ["printing" if n % 2 else "hardware" for n in range(40)]
    shuffled = check_data(texts, labels, similarity=1.0)
    assert [one.kind for one in shuffled.findings if one.kind != "giveaway-word"] == []


def test_without_doubts_nothing_is_trained(desk, monkeypatch):
    monkeypatch.setattr("textmargin.check.doubts.TextClassifier", None)
    found = check_data(desk, doubts=False)
    assert found.noise is None
    assert found.of_kind("doubtful-label") == []


def test_missing_labels_in_every_form():
    found = check_data([f"text {n} of some" for n in range(4)], ["a", "", None, float("nan")], doubts=False)
    assert [one.rows for one in found.of_kind("unlabelled")] == [(1,), (2,), (3,)]
    assert found.label_counts == {"a": 1}


def test_annotators():
    """Three label 60 texts; the third as if by chance. Repeated rows are judgements, not copies."""
    texts = [f"{DARK}, in room {n}" for n in range(60)]
    rows = [(text, who, ["x", "y", "z"][n % 3 if who != "carl" else (n * 7 + n // 5) % 3])
            for n, text in enumerate(texts) for who in ("anna", "bert", "carl")]  # fmt: skip
    columns = {"who": [row[1] for row in rows], "id": [f"T{row // 3}" for row in range(180)]}
    corpus = Corpus("three", [row[0] for row in rows], [row[2] for row in rows], fields=columns)
    found = check_data(corpus, annotators="who", doubts=False, similarity=1.0)
    assert found.n_texts == 60
    assert (
        found.of_kind("repeated") == found.of_kind("contradiction") == found.of_kind("giveaway-column") == []
    )
    assert [one.label for one in found.of_kind("annotator")] == ["carl"]
    differ = found.of_kind("disagreement")
    assert differ
    assert all(one.suggestion == corpus.labels[one.rows[0]] for one in differ)
    assert found.agreement.n_items == 60
    assert found.agreement.annotators[0].annotator == "carl"
    by_id = check_data(corpus, annotators="who", items="id", doubts=False)
    assert by_id.agreement == found.agreement
    alone = check_data(corpus, annotators="who", items=list(range(180)), doubts=False)
    assert "no text has labels of two annotators" in alone.notes[-1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: check_data(["a"], None), LabelError, "no labels"),
        (lambda: check_data(["a"], ["x", "y"]), LabelError, "1 text, 2 labels"),
        (lambda: check_data(Corpus("c", ["a"], ["x"]), ["x"]), LabelError, "labels of its own"),
        (
            lambda: check_data(["a"], ["x"], annotators="who"),
            SettingError,
            "annotators names no field of texts: 'who'",
        ),
        (
            lambda: check_data(["a"], ["x"], annotators=["p", "q"]),
            SettingError,
            "annotators has 2 values for 1 text;",
        ),
        (lambda: check_data(["a"], ["x"], items=["p"]), SettingError, "say who gave them with annotators="),
        (lambda: check_data(["a"], ["x"], similarity=2), SettingError, "similarity must be"),
        (
            lambda: write_check(check_data(["a"], ["x"]), "found.txt"),
            SettingError,
            r"output must end in \.csv, \.json",
        ),
    ],
)
def test_what_does_not_fit_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def hostile():
    text, label = "<script>alert(1)</script>", "=HYPERLINK(1)"
    finding = Finding("doubtful-label", (0,), label, "+1", 0.5, "@why <b>")
    return DataCheck("<i>", 1, {label: 1}, [finding], ids=["2"], texts=[text], row_ids=["-id"])


def test_no_cell_is_a_formula():
    rows = list(csv.DictReader(io.StringIO(to_csv(hostile()))))
    assert rows == [{"line": "2", "id": "'-id", "kind": "doubtful-label", "label": "'=HYPERLINK(1)",
                     "suggestion": "'+1", "score": "0.5", "reason": "'@why <b>",
                     "text": "<script>alert(1)</script>", "group": "2"}]  # fmt: skip


def test_files_have_every_finding(found, tmp_path):
    for name in ("found.csv", "found.json"):
        write_check(found, tmp_path / name)
    data = json.loads((tmp_path / "found.json").read_text())
    assert data == json.loads(json.dumps(found.to_dict()))
    assert len(data["findings"]) == len(found.findings)
    rows = list(csv.DictReader((tmp_path / "found.csv").open(newline="")))
    assert len(rows) == sum(max(1, len(one.rows) + len(one.test_rows)) for one in found.findings)
    assert all(len(row["text"]) <= 81 for row in rows)
    assert any(row["text"] and found.texts[0].startswith(row["text"].rstrip("…")) for row in rows)
