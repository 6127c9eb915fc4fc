"""Linear models of words for other runtimes: an ONNX graph from tokens to scores and labels, in standard
operators.

    tokens ── TfIdfVectorizer ──▶ counts ── Log, Mul, Div ──▶ φ(x) ── MatMul, Add ──▶ scores ── ≥ 0 or ArgMax
    ──▶ labels

Input `tokens`, strings (n_texts, n_tokens): what `BagOfWords.build_analyzer()` makes of each text, n-grams
included, in any order, padded with "" (`token_rows` does it). Unknown tokens are ignored. The first operator
counts in single precision, exactly; all else is in double.

Outputs `scores`, double (n_texts, n_problems), thresholds taken off, so that 0 is the decision; and `labels`,
the classes (n_texts,), or 0/1 (n_texts, n_classes) for multilabel. Scores differ from the model's by rounding
only: sums are taken in another order.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._sklearn import dense_coef
from .._system.writing import write_whole
from ..decisions.threshold import ThresholdClassifier
from ..errors import ModelFileError, TextmarginError, TooLargeError, install_hint
from ..learners.primal import PriorSVC
from ..learners.rocchio import Rocchio
from ..representations.bow import BagOfWords

if TYPE_CHECKING:
    from ..classifier import TextClassifier

_OPSET = 17
_MAX_BYTES = 1_900_000_000  # of weights: protobuf ends at 2 GiB
_SETTINGS = ("lowercase", "ngram_range", "analyzer", "numbers")


def export_onnx(model: TextClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted linear model with its thresholds as an ONNX graph.

    The module's docstring has its inputs and outputs. How texts are split into tokens is not part of the
    graph; the settings are in its metadata, under `textmargin.analyzer`, and the names of the classes, in the
    order of the scores, under `textmargin.classes`.

    Parameters
    ----------
    model : TextClassifier with BagOfWords and PriorSVC (or Rocchio), with or without ThresholdClassifier
    path : str or path

    Examples
    --------
    >>> import tempfile, onnxruntime
    >>> from textmargin import TextClassifier, export_onnx, token_rows
    >>> texts = ["wheat and corn harvest", "corn exports fell", "bank raises rates", "rates and the dollar"]
    >>> model = TextClassifier().fit(texts, ["grain", "grain", "money", "money"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, f"{folder}/topics.onnx")
    ...     session = onnxruntime.InferenceSession(f"{folder}/topics.onnx")
    >>> session.run(["labels"], {"tokens": token_rows(model, ["corn prices", "dollar falls"])})[0].tolist()
    ['grain', 'money']
    """
    words, learner, thresholds = _parts(model)
    if dense_coef(learner).nbytes > _MAX_BYTES:
        raise TooLargeError(
            f"The weights take {dense_coef(learner).nbytes / 1e9:.1f} GB, and an ONNX file holds 2 GB; "
            "use fewer terms (min_df)."
        )
    names = model.labels_.text_names
    content = _graph(words, learner, thresholds, names).SerializeToString(deterministic=True)
    try:
        write_whole({Path(path): content})
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be written: {error.strerror or error}; choose another place."
        ) from error


def token_rows(model: TextClassifier, texts: list[str]) -> NDArray[Any]:
    """The input `tokens` for some texts: (n_texts, n_tokens), padded with ""."""
    analyze = _parts(model)[0].build_analyzer()
    found = [analyze(text) for text in texts]
    rows = np.full((len(found), max([1, *map(len, found)])), "", dtype=object)
    for row, tokens in zip(rows, found, strict=True):
        row[: len(tokens)] = tokens
    return rows


def _parts(model: Any) -> tuple[BagOfWords, Any, NDArray[np.float64]]:
    """The words, the linear learner, and what is taken off its scores."""
    if not hasattr(model, "representation_") or not hasattr(model, "model_"):
        raise TextmarginError(f"export_onnx takes a fitted TextClassifier; got {model!r:.80}.")
    words, learner, offsets = model.representation_, model.model_, np.zeros(1)
    if isinstance(learner, ThresholdClassifier):
        learner, offsets = learner.estimator_, learner.offsets_
    if type(words) is not BagOfWords or type(learner) not in (PriorSVC, Rocchio):
        raise TextmarginError(
            "ONNX graphs are made of linear models of words, BagOfWords and PriorSVC; this one has "
            f"{type(words).__name__} and "
            f"{type(learner).__name__}. textmargin.save keeps any model."
        )
    return words, learner, offsets


def _graph(words: BagOfWords, learner: Any, thresholds: NDArray[np.float64], names: list[Any]) -> Any:
    try:
        from onnx import TensorProto, checker, helper
    except ImportError as error:
        raise TextmarginError(
            f"export_onnx needs onnx, which is not installed: {install_hint('onnx')}."
        ) from error
    graph = _Graph()
    terms = [str(term) for term in words.get_feature_names_out()]
    if "" in words.vocabulary_:
        raise TextmarginError(
            "The empty string is among the terms, but tokens are padded with it; leave it out."
        )
    scores = graph.scores(terms, words, learner, thresholds)
    labels, kind = graph.labels(scores, learner)
    inputs = [helper.make_tensor_value_info("tokens", TensorProto.STRING, ["n_texts", "n_tokens"])]
    n_scores = learner.coef_.shape[0]
    outputs = [
        helper.make_tensor_value_info(scores, TensorProto.DOUBLE, ["n_texts", n_scores]),
        helper.make_tensor_value_info(
            labels, kind, ["n_texts", n_scores] if learner.multilabel_ else ["n_texts"]
        ),
    ]
    opset = [helper.make_opsetid("", _OPSET)]
    made = helper.make_model(
        helper.make_graph(graph.nodes, "textmargin", inputs, outputs, graph.constants),
        opset_imports=opset,
        ir_version=helper.find_min_ir_version_for(opset),
        producer_name="textmargin",
        producer_version=__version__,
    )
    stop_words = words.get_stop_words()
    settings = {name: getattr(words, name) for name in _SETTINGS} | {
        "stop_words": stop_words and sorted(stop_words)
    }
    about = {
        "textmargin.analyzer": json.dumps(settings, default=repr),
        "textmargin.classes": json.dumps(names, default=str),
    }
    helper.set_model_props(made, about)
    checker.check_model(made)
    return made


class _Graph:
    """Nodes and constants, as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """A node; the name of its output."""
        from onnx import helper

        name = name or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, name: str, values: Any) -> str:
        """A constant array."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def scores(
        self, terms: list[str], words: BagOfWords, learner: Any, thresholds: NDArray[np.float64]
    ) -> str:
        """⟨w, φ(x)⟩ + b − θ, φ weighted as `BagOfWords` does."""
        from onnx import TensorProto

        counts = self.add(
            "TfIdfVectorizer",
            "tokens",
            mode="TF",
            min_gram_length=1,
            max_gram_length=1,
            max_skip_count=0,
            ngram_counts=[0],
            ngram_indexes=list(range(len(terms))),
            pool_strings=terms,
        )
        x = self.add("Cast", counts, to=TensorProto.DOUBLE)
        if words.weight == "log-tf-idf":
            x = self.add("Log", self.add("Add", x, self.constant("one", np.ones(1))))
        x = self.add("Mul", x, self.constant("idf", words.idf_))
        raw = self.add("MatMul", x, self.constant("weights", dense_coef(learner).T))
        if words.norm:
            squares = self.add(
                "ReduceSum", self.add("Mul", x, x), self.constant("terms", np.array([1])), keepdims=1
            )
            some = self.add("Greater", squares, self.constant("zero", np.zeros(1)))
            length = self.add("Where", some, self.add("Sqrt", squares), self.constant("unit", np.ones(1)))
            raw = self.add("Div", raw, length)
        sums = self.add("Add", raw, self.constant("intercept", learner.intercept_))
        return self.add("Sub", sums, self.constant("thresholds", thresholds), name="scores")

    def labels(self, scores: str, learner: Any) -> tuple[str, Any]:
        """What the scores decide, and of which type it is."""
        from onnx import TensorProto

        if learner.multilabel_ or learner.coef_.shape[0] == 1:
            accepted = self.add("GreaterOrEqual", scores, self.constant("bound", np.zeros(1)))
            if learner.multilabel_:
                return self.add("Cast", accepted, to=TensorProto.INT64, name="labels"), TensorProto.INT64
            column = self.add("Squeeze", accepted, self.constant("column", np.array([1])))
            place = self.add("Cast", column, to=TensorProto.INT64)
        else:
            place = self.add("ArgMax", scores, axis=1, keepdims=0)
        classes, kind = _typed(learner.classes_)
        return self.add("Gather", self.constant("classes", classes), place, name="labels"), kind


def _typed(classes: NDArray[Any]) -> tuple[NDArray[Any], Any]:
    """The classes as an array that ONNX has a type for, and that type."""
    from onnx import TensorProto

    if classes.dtype.kind == "U" or all(isinstance(name, str) for name in classes):
        return classes.astype(object), TensorProto.STRING
    types = {
        "i": (np.int64, TensorProto.INT64),
        "u": (np.int64, TensorProto.INT64),
        "f": (np.float64, TensorProto.DOUBLE),
    }
    dtype, kind = {**types, "b": (np.bool_, TensorProto.BOOL)}.get(classes.dtype.kind, (None, None))
    if dtype is None:
        raise TextmarginError(f"ONNX has no type for classes such as {classes[0]!r}; use strings or numbers.")
    return classes.astype(dtype), kind
