"""Exported graphs decide as the models do."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from samples import corpus

from textmargin import (
    BagOfWords,
    KernelSVC,
    PriorSVC,
    Rocchio,
    SpectrumKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load,
)
from textmargin.errors import ModelFileError, TextmarginError
from textmargin.persistence.onnx import export_onnx, token_rows

TEXTS, TOPICS = corpus(120)
NEW = [*corpus(200, seed=1)[0], "", "nothing of this is known", "wheat", "wheat wheat wheat oil"]
LABELS = {
    "strings": TOPICS,
    "objects": TOPICS.astype(object),
    "numbers": np.unique(TOPICS, return_inverse=True)[1],
    "two": np.where(TOPICS == "oil", "oil", "other"),
    "truth": TOPICS == "oil",
    "floats": (TOPICS == "oil") + 1.0,
    "multilabel": np.column_stack(
        [TOPICS == "oil", np.char.find(TEXTS, "bank") >= 0, TOPICS != "money"]
    ).astype(int),
}
MODELS = {
    "plain": TextClassifier(),
    "thresholds": TextClassifier(decision=ThresholdClassifier(utility=Utility(tp=5, fp=-1))),
    "logarithms": TextClassifier(
        BagOfWords("log-tf-idf", ngram_range=(1, 2)), decision=ThresholdClassifier()
    ),
    "counts": TextClassifier(
        BagOfWords("count", norm=None, analyzer="char", ngram_range=(2, 3)), learner=PriorSVC(C=0.1)
    ),
    "rocchio": TextClassifier(learner=Rocchio()),
    "knowledge": TextClassifier(knowledge={"wheat": 1.0, "oil": -1.0}, learner=PriorSVC(trust="fixed")),
}


def run(model, path, texts):
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(path)
    return session.run(["scores", "labels"], {"tokens": token_rows(model, texts)})


@pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kind", MODELS)
def test_decisions_are_the_models(kind, labels, tmp_path):
    """Labels exactly, scores to rounding in double precision."""
    model = MODELS[kind].fit(TEXTS, LABELS[labels])
    scores, found = run(model, tmp_path / "model.onnx", NEW)
    expected = model.predict(NEW)
    assert np.array_equal(found, expected)
    assert found.dtype.kind == {"U": "O"}.get(expected.dtype.kind, expected.dtype.kind)
    assert scores.dtype == np.float64
    expected = model.decision_function(NEW).reshape(len(NEW), -1)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_texts", [1, 7])
def test_any_number_of_texts_and_tokens(n_texts, tmp_path):
    model = TextClassifier().fit(TEXTS, TOPICS)
    assert np.array_equal(run(model, tmp_path / "model.onnx", NEW[:n_texts])[1], model.predict(NEW[:n_texts]))
    rows = token_rows(model, ["", "a - b"])
    assert rows.shape == (2, 1)
    assert (rows == "").all()


def test_graph_tells_how_to_split_texts(tmp_path):
    model = TextClassifier(BagOfWords(stop_words=["and"], ngram_range=(1, 2))).fit(TEXTS, TOPICS)
    export_onnx(model, tmp_path / "model.onnx")
    about = {prop.key: json.loads(prop.value) for prop in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert about["textmargin.analyzer"]["stop_words"] == ["and"]
    assert about["textmargin.analyzer"]["ngram_range"] == [1, 2]
    assert about["textmargin.classes"] == ["grain", "money", "oil"]


@pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")
@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (LABELS["two"], ["oil", "other"]),
        (LABELS["strings"], ["grain", "money", "oil"]),
        ([("oil",) if topic == "oil" else () for topic in TOPICS], ["oil"]),
        ([tuple("abc"[k] for k in np.flatnonzero(row)) for row in LABELS["multilabel"]], ["a", "b", "c"]),
    ],
    ids=["two", "strings", "one or none", "sets"],
)
def test_file_of_the_command_line_was_not_exported(labels, names, tmp_path):
    """What `textmargin train` writes knows its labels by name; their names go along."""
    model = MODELS["thresholds"].fit(TEXTS, labels)
    model.save(tmp_path / "model.tmm")
    scores, _ = run(load(tmp_path / "model.tmm"), tmp_path / "model.onnx", NEW)
    if len(names) == 2:
        scores = np.column_stack([-scores, scores])
    np.testing.assert_allclose(scores, model.decide(NEW).scores, rtol=1e-12, atol=1e-12)
    about = {prop.key: json.loads(prop.value) for prop in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert about["textmargin.classes"] == names


def test_same_model_same_bytes(tmp_path):
    model = TextClassifier().fit(TEXTS, TOPICS)
    for name in ("a", "b"):
        export_onnx(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TextClassifier(), "takes a fitted TextClassifier; got TextClassifier"),
        (PriorSVC(), "takes a fitted TextClassifier; got PriorSVC"),
        (
            TextClassifier(learner=KernelSVC(SpectrumKernel(2))).fit(TEXTS, TOPICS),
            "this one has SpectrumKernel and KernelSVC",
        ),
        (
            TextClassifier(BagOfWords(vocabulary=["", "oil"])).fit(TEXTS, TOPICS),
            "The empty string is among the terms",
        ),
        (TextClassifier(learner=KernelSVC()).fit(TEXTS, TOPICS), "this one has BagOfWords and KernelSVC"),
    ],
)
def test_what_is_not_a_linear_model_of_words_is_refused(model, message, tmp_path):
    with pytest.raises(TextmarginError, match=message):
        export_onnx(model, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelFileError, match="cannot be written"):
        export_onnx(TextClassifier().fit(TEXTS, TOPICS), tmp_path / "file" / "model.onnx")
