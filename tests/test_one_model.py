"""One file, one model: Python, commands, pages, services and exported graphs decide the same by it."""

import csv
import io
import json

import numpy as np
import onnxruntime
import pytest
from fastapi.testclient import TestClient
from samples import corpus
from typer.testing import CliRunner

from textmargin import Corpus, TextClassifier, ThresholdClassifier, Utility, load, write_report
from textmargin.cli import app
from textmargin.persistence.onnx import export_onnx, token_rows
from textmargin.serve import create_app

TEXTS, TOPICS = corpus(120)
NEW, TRUE_TOPICS = corpus(60, seed=1)
NEW = [*NEW, "?", "nothing of this is known", "wheat"]
TRUE_TOPICS = [*TRUE_TOPICS.tolist(), "oil", "oil", "grain"]


def several(texts, topics):
    """A topic, unless it is oil, and whether the text speaks of a bank; some have none."""
    pairs = zip(texts, topics, strict=True)
    return [(str(topic),) * (topic != "oil") + ("bank",) * ("bank" in text) for text, topic in pairs]


def two(rare, common):
    return lambda _, topics: [rare if topic == "oil" else common for topic in topics]


LABELS = {
    "two, the rarer first": two("a-oil", "other"),
    "two, the rarer second": two("oil", "all else"),
    "many": lambda _, topics: [str(topic) for topic in topics],
    "several a text": several,
}
COSTS = Utility(tp=4, fp=-1, fn=-2)
pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")


def call(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


def write_csv(path, texts, labels):
    with path.open("w", newline="") as stream:
        names = (";".join(own) if isinstance(own, tuple) else own for own in labels)
        csv.writer(stream).writerows([("text", "label"), *zip(texts, names, strict=True)])
    return path


def separator(kind):
    return ("--label-separator", ";") if kind == "several a text" else ()


def train_here(path, labels, kind, costs):
    TextClassifier(decision=ThresholdClassifier(utility=COSTS) if costs else None).fit(TEXTS, labels).save(
        path
    )


def train_by_command(path, labels, kind, costs):
    data = write_csv(path.with_suffix(".csv"), TEXTS, labels)
    options = ("--hit", COSTS.tp, "--false-alarm", COSTS.fp, "--miss", COSTS.fn) if costs else ()
    call("train", data, "-o", path, *separator(kind), *options)


def as_tuples(labels):
    return [own if isinstance(own, tuple) else (own,) for own in labels]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Files of models, each trained once."""
    folder, made = tmp_path_factory.mktemp("models"), {}

    def of(train, kind, costs):
        key = train, kind, costs
        if key not in made:
            made[key] = folder / f"{len(made)}.tmm"
            train(made[key], LABELS[kind](TEXTS, TOPICS), kind, costs)
        return made[key]

    return of


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize(("train", "costs"), [(train_here, True), (train_by_command, False)])
def test_everybody_decides_the_same_by_a_file(train, kind, costs, model_file, tmp_path):
    path, truth = model_file(train, kind, costs), LABELS[kind](NEW, TRUE_TOPICS)
    model = load(path)
    decided = as_tuples(model.predict(NEW).tolist())
    scores = model.decide(NEW).scores
    assert model.decide(NEW).labels == decided
    assert len(set(decided)) > 1

    printed = call("predict", path, write_csv(tmp_path / "new.csv", NEW, truth), "--json", "--scores")
    rows = [json.loads(line) for line in printed.splitlines()]
    assert [
        tuple(own) if isinstance(own, list) else (own,) for own in (row["predicted_label"] for row in rows)
    ] == decided
    assert np.array([[row["scores"][name] for name in model.classes_] for row in rows]) == pytest.approx(
        scores, abs=1e-12
    )
    printed = [
        row["predicted_label"]
        for row in csv.DictReader(io.StringIO(call("predict", path, tmp_path / "new.csv")))
    ]
    assert printed == [";".join(own) for own in decided]

    with TestClient(create_app(model), base_url="http://localhost") as client:
        answer = client.post("/predict", json={"texts": NEW}).json()["decisions"]
    assert [tuple(one["labels"]) for one in answer] == decided
    assert np.array([[one["scores"][name] for name in model.classes_] for one in answer]) == pytest.approx(
        scores, abs=1e-6
    )

    report = write_report(model, Corpus("new", NEW, truth), tmp_path / "page.html", n_bootstrap=0)
    summary = json.loads(call("evaluate", path, tmp_path / "new.csv", *separator(kind), "--json"))
    for k, (one, same) in enumerate(zip(report.summary.classes, summary["classes"], strict=True)):
        name = str(model.classes_[k])
        accepted, true = (np.array([name in own for own in each]) for each in (decided, as_tuples(truth)))
        counts = [int(both.sum()) for both in (accepted & true, accepted & ~true, ~accepted & true)]
        assert one.label == same["label"] == name
        assert [one.tp, one.fp, one.fn] == [same[count] for count in ("tp", "fp", "fn")] == counts

    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (labels,) = session.run(["labels"], {"tokens": token_rows(model, NEW)})
    if labels.ndim == 2:
        labels = np.array([";".join(model.classes_[row > 0]) for row in labels])
    assert labels.tolist() == [";".join(own) for own in decided]


@pytest.mark.parametrize("costs", [False, True], ids=["plain", "costs"])
@pytest.mark.parametrize("kind", LABELS)
def test_the_command_trained_another_model_than_the_library(kind, costs, model_file):
    """Same texts, same labels, same costs: the same classes, scores and thresholds."""
    ours, theirs = (load(model_file(train, kind, costs)) for train in (train_here, train_by_command))
    assert ours.classes_.tolist() == theirs.classes_.tolist() == sorted(ours.classes_)
    assert ours.labels_.positive == theirs.labels_.positive
    np.testing.assert_array_equal(ours.decide(NEW).scores, theirs.decide(NEW).scores)
    np.testing.assert_array_equal(ours.thresholds_, theirs.thresholds_)


def test_costs_speak_of_the_rarer_label_wherever_it_stands(model_file):
    """The names differ, and so does their order; what is accepted does not."""
    found = []
    for kind, rare in (("two, the rarer first", "a-oil"), ("two, the rarer second", "oil")):
        model = load(model_file(train_here, kind, True))
        assert model.classes_[model.labels_.positive] == rare
        found.append((model.predict(NEW) == rare).tolist())
    assert found[0] == found[1]
