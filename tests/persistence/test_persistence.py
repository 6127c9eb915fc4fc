"""Models come back from files as they were, and what cannot be kept is named."""

import ast
import io
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from model_files import kept, outcome
from model_kinds import LABELS, MODELS, MULTILABEL, NEW, TEXTS, TWO
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    LabelBinarizer,
    LabelEncoder,
    MultiLabelBinarizer,
)
from sklearn.svm import SVC

import textmargin
from textmargin import (
    SVM2K,
    BagOfWords,
    FBeta,
    GazePrior,
    KernelLandmarks,
    KernelStore,
    KernelSVC,
    KeywordPrior,
    PriorSVC,
    Rocchio,
    SpectrumKernel,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load,
    save,
)
from textmargin.errors import ModelFileError, TextmarginError, TextmarginWarning
from textmargin.persistence._known import _CLASSES, known_class

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning", "ignore::UserWarning")


def shown(model):
    """As it is printed; where a function lies in memory is its own affair."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(model))


@pytest.mark.parametrize("kind", MODELS)
def test_decisions_are_the_same_bit_for_bit(kind, tmp_path):
    model = MODELS[kind].fit(TEXTS, LABELS)
    same = kept(model, tmp_path)
    assert type(same) is type(model)
    assert outcome(same, NEW) == outcome(model, NEW)
    assert shown(same) == shown(model)


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        TWO,
        [tuple(np.array(["oil", "bank", "trade"])[row > 0]) for row in MULTILABEL],
        [("oil",) if label == "oil" else () for label in LABELS],
    ],
    ids=["three", "two", "several", "one or none"],
)
@pytest.mark.parametrize(
    "kind",
    ["default", "thresholds", "subsequences", "kernel and thresholds", "rocchio", "two views", "union"],
)
def test_models_of_the_command_line_were_compared_with_themselves(kind, labels, tmp_path):
    """With the one in memory, that is: scores, labels, thresholds, and thresholds set anew."""
    model = MODELS[kind].fit(TEXTS, labels)
    model.metadata_["source"] = "own"
    same = kept(model, tmp_path)
    assert (same.classes_.tolist(), same.metadata_) == (model.classes_.tolist(), model.metadata_)
    assert vars(same.labels_) | {"names": None} == vars(model.labels_) | {"names": None}
    ours, theirs = same.decide(NEW), model.decide(NEW)
    assert ours.scores.tobytes() == theirs.scores.tobytes()
    assert ours.labels == theirs.labels
    if isinstance(model.model_, ThresholdClassifier):
        for each in (lambda model: model, lambda model: model.with_utility(Utility(tp=20.0))):
            assert each(same).thresholds_.tobytes() == each(model).thresholds_.tobytes()


def test_thresholds_are_set_anew_from_a_file_as_from_memory(tmp_path):
    """Weights, and what each threshold was set on, are kept."""
    weight = np.random.default_rng(0).integers(1, 4, size=len(TEXTS))
    X = BagOfWords().fit_transform(TEXTS)
    model = ThresholdClassifier(PriorSVC(), scores="cv").fit(X, MULTILABEL, sample_weight=weight)
    same = kept(model, tmp_path)
    for ours, theirs in zip(same.curve_, model.curve_, strict=True):
        assert ours.utility.tobytes() == theirs.utility.tobytes()
    after = {"utility": FBeta(2.0), "min_recall": 0.8}
    assert (
        same.with_utility(**after).thresholds_.tobytes() == model.with_utility(**after).thresholds_.tobytes()
    )


@pytest.mark.parametrize(
    "labels", [TWO, TWO == "oil", LABELS == "oil", (LABELS == "oil") * 7, LABELS.astype(object), MULTILABEL]
)
@pytest.mark.parametrize(
    "kind", ["default", "thresholds", "subsequences", "landmarks", "rocchio", "two views", "union"]
)
def test_any_labels(kind, labels, tmp_path):
    model = MODELS[kind].fit(TEXTS, labels)
    same = kept(model, tmp_path)
    assert outcome(same, NEW) == outcome(model, NEW)
    assert same.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize("kind", MODELS)
def test_unfitted_models_can_be_kept_and_fitted_later(kind, tmp_path):
    model = type(MODELS[kind])(**MODELS[kind].get_params(deep=False))
    same = kept(model, tmp_path)
    assert shown(same) == shown(model)
    if kind in ("default", "keywords", "svd"):
        assert outcome(same.fit(TEXTS, LABELS), NEW) == outcome(model.fit(TEXTS, LABELS), NEW)


@pytest.mark.parametrize(
    "kind", ["default", "thresholds", "keywords", "subsequences", "hashing", "marked passages, own analyzer"]
)
def test_same_model_same_bytes(kind, tmp_path):
    model = MODELS[kind].fit(TEXTS, LABELS)
    for name in ("a", "b"):
        save(model, tmp_path / name)
    save(load(tmp_path / "a"), tmp_path / "c")
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1


@pytest.mark.parametrize("kind", ["default", "keywords", "subsequences", "spectrum", "thresholds"])
def test_explains_as_before(kind, tmp_path):
    model = MODELS[kind].fit(TEXTS, LABELS)
    ours, theirs = (each.explain(NEW[0]) for each in (model, kept(model, tmp_path)))
    assert str(ours) == str(theirs)
    assert ours.data.tobytes() == theirs.data.tobytes()


def test_prior_scores_given_by_hand(tmp_path):
    z = np.linspace(-1, 1, len(TEXTS))
    model = KernelSVC(SpectrumKernel(2), trust="free").fit(TEXTS, TWO, prior_scores=z)
    same = kept(model, tmp_path)
    assert same.decision_function(TEXTS, z).tobytes() == model.decision_function(TEXTS, z).tobytes()
    with pytest.raises(TextmarginError, match="was fitted with prior_scores"):
        same.predict(TEXTS)


@pytest.mark.parametrize("sparse", [False, True])
def test_two_views_and_rows_of_numbers(sparse, tmp_path):
    X = BagOfWords().fit_transform(TEXTS)
    X, second = (X if sparse else X.toarray()), X[:, :4].toarray()
    for kernel in ("linear", "rbf"):
        model = SVM2K(kernel=kernel).fit(X, TWO, second=second)
        assert (
            kept(model, tmp_path).decision_function(X, second).tobytes()
            == model.decision_function(X, second).tobytes()
        )
        model = KernelSVC(kernel).fit(X, TWO)
        assert kept(model, tmp_path).decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_names_of_columns_are_kept(tmp_path):
    table = pd.DataFrame(np.eye(6), columns=list("abcdef"))
    model = ThresholdClassifier(PriorSVC(prior={"a": 1.0}), scores="train").fit(table, [0, 1] * 3)
    assert kept(model, tmp_path).predict(table).tolist() == model.predict(table).tolist()
    assert kept(model, tmp_path).feature_names_in_.tolist() == list("abcdef")


@pytest.mark.parametrize(
    "part",
    [LabelBinarizer(), LabelEncoder(), MultiLabelBinarizer(), FixedThresholdClassifier(LogisticRegression())],
)
def test_parts_of_scikit_learn(part, tmp_path):
    if isinstance(part, FixedThresholdClassifier):
        X = TfidfVectorizer().fit_transform(TEXTS)
        assert outcome(kept(part.fit(X, TWO == "oil"), tmp_path), X) == outcome(part, X)
    else:
        y = [tuple(label) for label in LABELS] if isinstance(part, MultiLabelBinarizer) else LABELS
        assert np.array_equal(kept(part.fit(y), tmp_path).transform(y), part.transform(y))


def readings():
    """Words of nine documents, read the longer the more they tell of their topic."""
    documents = {f"d{i}": text for i, text in enumerate(TEXTS[:30])}
    rng = np.random.default_rng(0)
    rows = [
        (name, word, len(word) + rng.random(), rng.random())
        for name, text in documents.items()
        for word in text.split()
    ]
    labels = dict(zip(documents, LABELS[:30].tolist(), strict=True))
    return pd.DataFrame(rows, columns=["doc_id", "word", "duration", "regressions"]), documents, labels


def test_what_was_learnt_from_reading_is_not_learnt_again(tmp_path, monkeypatch):
    prior = GazePrior(*readings(), regressor=Ridge(), progress=False).fit()
    model = TextClassifier(knowledge=prior).fit(TEXTS, LABELS)
    same = kept(model, tmp_path)
    assert outcome(same, NEW) == outcome(model, NEW)
    fresh = kept(GazePrior(*readings(), regressor=Ridge(), progress=False), tmp_path)
    assert fresh.fit().weights_ == prior.weights_
    monkeypatch.setattr(GazePrior, "fit", None)
    terms = sorted(same.representation_.vocabulary_)
    ours, theirs = (each.knowledge.coef(terms, same.classes_) for each in (model, same))
    assert all((ours[name] == theirs[name]).all() for name in ours)


def test_training_texts_stay_behind(tmp_path):
    model = TextClassifier().fit([*TEXTS, "secretword corn"], [*LABELS, "grain"])
    save(model, tmp_path / "model.tmm")
    same = load(tmp_path / "model.tmm")
    assert same.model_._source is None
    assert same.learner_._training is None
    with pytest.raises(TextmarginError, match="loaded without its training data"):
        same.learner_.loo_decision_function()


def test_costs_come_after_a_model_without_them_is_loaded(tmp_path):
    model = TextClassifier().fit(TEXTS, LABELS)
    save(model, tmp_path / "model.tmm")
    same = load(tmp_path / "model.tmm")
    np.testing.assert_array_equal(same.held_out_.scores, model.held_out_.scores)
    np.testing.assert_array_equal(same.predict_proba(TEXTS), model.predict_proba(TEXTS))
    costs = Utility(tp=5, fp=-1)
    np.testing.assert_array_equal(same.with_utility(costs).thresholds_, model.with_utility(costs).thresholds_)


@pytest.mark.parametrize("as_store", [True, False])
def test_folder_of_kernel_values_is_named_but_not_opened(as_store, tmp_path):
    folder = tmp_path / "kernels"
    model = KernelSVC(SpectrumKernel(2), cache=KernelStore(folder) if as_store else folder)
    save(model, tmp_path / "model.tmm")
    with pytest.warns(
        TextmarginWarning, match="keeps kernel values in .*kernels, as soon as it predicts; set cache=None"
    ):
        same = load(tmp_path / "model.tmm")
    assert getattr(same.cache, "folder", same.cache) == folder
    assert not folder.exists()
    assert outcome(same.fit(TEXTS, LABELS), NEW) == outcome(model.fit(TEXTS, LABELS), NEW)


def as_prior_scores(svm):
    return KernelSVC(SpectrumKernel(2), prior_scores=svm.fit(TEXTS, LABELS).decision_function)


@pytest.mark.parametrize("around", [OneVsRestClassifier, make_pipeline, as_prior_scores])
def test_a_folder_of_kernel_values_that_a_part_names_was_opened_when_loaded(around, tmp_path):
    folder = tmp_path / "kernels"
    model = around(KernelSVC(SpectrumKernel(2), cache=str(folder))).fit(TEXTS, LABELS)
    said = outcome(model, NEW)
    save(model, tmp_path / "model.tmm")
    shutil.rmtree(folder)
    with pytest.warns(TextmarginWarning, match="keeps kernel values in .*kernels"):
        same = load(tmp_path / "model.tmm")
    assert not folder.exists()
    assert outcome(same, NEW) == said
    assert folder.exists()


def test_a_decision_without_an_estimator_could_not_be_saved(tmp_path):
    model = TextClassifier(decision=FixedThresholdClassifier(None)).fit(TEXTS, LABELS == "oil")
    assert outcome(kept(model, tmp_path), NEW) == outcome(model, NEW)


@pytest.mark.parametrize("labels", [LABELS, TWO, MULTILABEL, MULTILABEL[:, :2]])
@pytest.mark.parametrize("learner", [RidgeClassifier(), OneVsRestClassifier(RidgeClassifier())])
def test_a_ridge_classifier_of_two_classes_could_not_be_saved(learner, labels, tmp_path):
    model = TextClassifier(learner=learner).fit(TEXTS, labels)
    assert outcome(kept(model, tmp_path), NEW) == outcome(model, NEW)


def test_a_ridge_classifier_of_two_columns_could_not_be_saved(tmp_path):
    X = BagOfWords().fit_transform(TEXTS)
    both = np.column_stack([LABELS == "oil", LABELS == "grain"]).astype(int)
    model = RidgeClassifier().fit(X, both)
    np.testing.assert_array_equal(kept(model, tmp_path).predict(X), model.predict(X))


def test_a_folder_that_can_have_no_such_name_is_refused_before_anything_is_predicted(tmp_path):
    with pytest.raises(TextmarginError, match=r"has a KernelSVC that keeps kernel values in 'a\\x00b'"):
        kept(KernelSVC(SpectrumKernel(2), cache="a\0b"), tmp_path)


def test_what_was_shared_is_shared_again(tmp_path):
    same = kept(KernelSVC(SubsequenceKernel(2)).fit(TEXTS, LABELS), tmp_path)
    assert same.kernel_ is same._support.kernel
    assert same.support_vectors_ is same._support.texts
    fitted = kept(SpectrumKernel(2).fit(TEXTS), tmp_path)
    assert fitted._fitted.kernel is fitted


def test_products_round_as_before_whatever_the_order_in_memory(tmp_path):
    model = Rocchio().fit(BagOfWords().fit_transform(TEXTS), LABELS)
    for order in "CF":
        model.coef_ = np.array(model.coef_, order=order)
        assert kept(model, tmp_path).coef_.flags[f"{order}_CONTIGUOUS"]


keys = st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False)
keys = keys | st.tuples(keys, keys)
scalars = (
    keys
    | st.floats()
    | st.builds(np.float32, st.floats(width=32))
    | st.builds(np.int16, st.integers(-99, 99))
)
values = st.recursive(
    scalars | st.builds(Path, st.just("a/b")) | st.builds(np.dtype, st.just("<i4")),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner)
        | st.sets(keys)
        | st.frozensets(keys)
    ),
    max_leaves=8,
)


@settings(max_examples=150)
@given(value=values)
def test_values_come_back_as_they_were(value, tmp_path_factory):
    holder = KeywordPrior(value)
    found = kept(holder, tmp_path_factory.getbasetemp()).keywords
    assert type(found) is type(value)
    assert spelt(found) == spelt(value)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.dtype("<f4")])
def test_a_dtype_comes_back_as_it_was(dtype, tmp_path):
    assert kept(TfidfVectorizer(dtype=dtype), tmp_path).dtype is dtype


def spelt(value):
    """As text, where sets have an order, and NaN is itself."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{spelt(key)}: {spelt(own)}' for key, own in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(spelt, value))})"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({', '.join(sorted(map(spelt, value)))})"
    return repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.random.default_rng(0).random((3, 4))),
        np.arange(12.0)[::2],
        np.zeros((3, 0, 5)),
        np.array(7.5),
        np.array([True, False]),
        np.array(["a", "ä€😀", "", "\ud83d"]),
        np.array(["\ud83d\ude00"]),
        np.array(["\udc00\ud83d", "ä"], dtype=object),
        np.array([b"a", b"\x00b"]),
        np.array(["a", None, 2.5, ("x", 1)], dtype=object),
        np.array([[1, 2], [3, 4], None], dtype=object)[:2],
        np.zeros(0, dtype="U"),
        np.arange(3, dtype=">i2"),
        np.array([np.inf, -np.inf, np.nan, -0.0], dtype=np.float16),
        np.broadcast_to(np.arange(3.0), (2, 3)),
    ],
)
def test_arrays_come_back_as_they_were(array, tmp_path):
    found = kept(KeywordPrior(array), tmp_path).keywords
    assert found.shape == array.shape
    assert found.tolist() == array.tolist() or found.tobytes() == array.tobytes()
    if array.dtype != object:
        with zipfile.ZipFile(tmp_path / "model.tmm") as archive, archive.open("arrays/0.npy") as stream:
            by_numpy = np.load(io.BytesIO(stream.read()), allow_pickle=False)
        # graphs cannot be made of another machine's
        by_numpy = by_numpy.astype(array.dtype.newbyteorder("="), copy=False)
        assert by_numpy.dtype == found.dtype
        assert by_numpy.tobytes() == found.tobytes()
        assert by_numpy.flags.f_contiguous == found.flags.f_contiguous


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
def test_sparse_matrices_come_back_as_they_were(kind, tmp_path):
    X = kind(np.array([[0, 1.5, 0], [2, 0, 0]]))
    found = kept(KeywordPrior(X), tmp_path).keywords
    assert type(found) is kind
    assert (found != X).nnz == 0


def circular():
    loop = {}
    loop["a"] = [loop]
    return loop


def deep(n):
    return [] if n == 0 else [deep(n - 1)]


class Mine(PriorSVC):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            TextClassifier(learner=KernelSVC(prior_scores=lambda texts: 0)),
            r"learner.prior_scores is a function \(<lambda>\), which",
        ),
        (
            TextClassifier(learner=KernelSVC(prior_scores={"a": len})),
            r"learner.prior_scores\['a'\] is a function \(len\).*; set it to None",
        ),
        (
            TextClassifier(BagOfWords(tokenizer=TEXTS[0].split)),
            r"representation.tokenizer is a function \(split\)",
        ),
        (TextClassifier(decision=ThresholdClassifier(rule=max)), r"decision.rule is a function \(max\)"),
        (
            TextClassifier(learner=Mine()),
            r"learner is of class .*Mine, which cannot be saved without pickle; docs/persistence",
        ),
        (TextClassifier(learner=SVC()), r"learner is of class sklearn.svm._classes.SVC"),
        (make_pipeline(CountVectorizer(), SVC()), r"steps\[1\]\[1\] is of class sklearn"),
        (
            KernelLandmarks(random_state=np.random.RandomState(0)),
            "random_state is a random generator, .*; use a number",
        ),
        (KeywordPrior(pd.Series([1.0])), "keywords is a Series, .*to_numpy"),
        (KeywordPrior(circular()), r"keywords\['a'\]\[0\] contains itself"),
        (KeywordPrior(deep(100)), r"keywords\[0\].* is nested more than 50 deep"),
        (KeywordPrior({frozenset("a"): 1}), "keywords has a key frozenset.* that is not a string"),
        (KeywordPrior(np.array(["2020-01-01"], dtype="M8[D]")), "keywords is an array of type datetime64"),
        (KeywordPrior({"a": "\ud83d\ude00"}), r"keywords\['a'\] has the two halves of a character apart"),
        (KeywordPrior({"\ud83d\ude00": 1}), "keywords has the two halves of a character apart"),
        (KeywordPrior(1j), "keywords is of class builtins.complex"),
        (KeywordPrior(PriorSVC), r"keywords is a class \(PriorSVC\)"),
        (
            GridSearchCV(PriorSVC(), {"C": [1, 2]}).fit(np.eye(20), [0, 1] * 10),
            "the model is a search .*; save its best_estimator_",
        ),
        ([PriorSVC()], "the model is of class builtins.list"),
        (len, r"the model is a function \(len\)"),
    ],
)
def test_what_cannot_be_saved_is_named_and_nothing_is_written(model, message, tmp_path):
    with pytest.raises(ModelFileError, match=rf"model.tmm is not written: {message}"):
        save(model, tmp_path / "model.tmm")
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written_or_read(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelFileError, match=r"cannot be written: .*; choose another place"):
        save(PriorSVC(), tmp_path / "file" / "model.tmm")
    with pytest.raises(ModelFileError, match="cannot be written"):
        save(PriorSVC(), tmp_path)
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        load(tmp_path / "nothing.tmm")
    with pytest.raises(ModelFileError, match="is not a file; name the file itself"):
        load(tmp_path)


def test_listed_classes_exist():
    assert all(known_class(name).__name__ == name.removeprefix("textmargin.") for name in _CLASSES)


@pytest.mark.parametrize(
    "path", sorted(Path(textmargin.__file__).parent.rglob("*.py")), ids=lambda path: path.name
)
def test_no_file_of_the_package_can_open_pickles(path):
    tree = ast.parse(path.read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    forbidden = {"pickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve"}
    if path.parts[-2:] == ("scale", "_client.py"):
        # what a cluster's driver sends to its own workers, as Dask does with all else; never a file
        forbidden -= {"cloudpickle"}
    assert not {name.split(".")[0] for name in imported} & forbidden
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"eval", "exec"}


def test_saving_made_folders_that_nobody_asked_for(tmp_path):
    with pytest.raises(
        ModelFileError, match=r"m\.tmm cannot be written: there is no folder .*there; choose another place"
    ):
        TextClassifier().save(tmp_path / "not" / "there" / "m.tmm")
    assert list(tmp_path.iterdir()) == []
