"""A model that was saved and loaded decides the same to the bit; so does what `load_decider` reads of it."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import safetensors
from model_kinds import FORMS, KNOWLEDGE, LABELS, LINEAR, MULTILABEL, NEW, OTHERS, TEXTS, TWO
from samples import TOPICS

from textmargin import (
    SVM2K,
    BagOfWords,
    GazePrior,
    KernelSVC,
    PriorSVC,
    SpectrumKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    load,
    save,
)
from textmargin.decider import Decider, load_decider
from textmargin.errors import EmptyTextWarning, ModelFileError, NotTextError, ScoreError, TextmarginError
from textmargin.persistence.file import read_file

ALL = LINEAR | KNOWLEDGE | OTHERS
METHODS = ("predict", "decision_function", "predict_proba")
pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning", "ignore::UserWarning")


def bits(array):
    array = np.asarray(array)
    return array.dtype, array.shape, array.tolist() if array.dtype == object else array.tobytes()


def outcome(model, texts=NEW):
    """All that a model says of texts, to the bit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sure = getattr(model, "has_held_out", True)
        said = {
            name: bits(getattr(model, name)(texts)) for name in METHODS[: 2 + sure] if hasattr(model, name)
        }
        if hasattr(model, "decide") and hasattr(model, "labels_"):
            decided = model.decide(texts, probabilities=sure)
            said |= {name: bits(own) for name, own in vars(decided).items() if own is not None}
    return said


def kept(model, folder):
    save(model, folder / "model.tmm")
    return load(folder / "model.tmm")


def kept_as(model, folder):
    save(model, folder / "model.tmm")
    return folder / "model.tmm"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LINEAR)
def test_every_linear_kind_and_form_of_labels(kind, form, tmp_path):
    model = LINEAR[kind].fit(TEXTS, FORMS[form])
    said, same = outcome(model), kept(model, tmp_path)
    assert outcome(same) == said
    decider = load_decider(tmp_path / "model.tmm")
    assert type(decider) is Decider
    assert outcome(decider) == {name: said[name] for name in outcome(decider)}
    assert (decider.metadata_, decider.can_be_unsure) == (model.metadata_, model.can_be_unsure)
    assert decider.labels_.text_names == model.labels_.text_names
    matrix = model.representation_.transform(NEW)
    by_matrix = model.labels_.columns(model.learner_.decision_function(matrix))
    np.testing.assert_allclose(decider.scores(NEW), by_matrix, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KNOWLEDGE | OTHERS)
def test_every_other_kind(kind, tmp_path):
    model = ALL[kind].fit(TEXTS, LABELS)
    same = kept(model, tmp_path)
    assert outcome(same) == outcome(model)
    assert outcome(load_decider(tmp_path / "model.tmm")).items() <= outcome(model).items()
    assert str(getattr(same, "verdict_", "")) == str(getattr(model, "verdict_", ""))


@pytest.mark.parametrize("kind", ALL)
def test_the_same_model_is_the_same_bytes(kind, tmp_path):
    save(ALL[kind].fit(TEXTS, LABELS), tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("kind", ["default", "keywords", "subsequences", "spectrum, thresholds"])
def test_explanations_and_estimates(kind, tmp_path):
    model = ALL[kind].fit(TEXTS, LABELS)
    same = kept(model, tmp_path)
    assert str(same.explain(NEW[0])) == str(model.explain(NEW[0]))
    assert bits(same.explain(NEW[0]).data) == bits(model.explain(NEW[0]).data)
    assert str(same.estimate()) == str(model.estimate())
    assert same.trained_on(TEXTS).all()


@pytest.mark.parametrize("kind", ALL)
def test_models_that_are_not_fitted(kind, tmp_path):
    model = type(ALL[kind])(**ALL[kind].get_params(deep=False))
    assert repr(kept(model, tmp_path)) == repr(model)


def test_learners_by_themselves(tmp_path):
    X = BagOfWords().fit_transform(TEXTS)
    for labels in (TWO, LABELS, MULTILABEL):
        for model in (PriorSVC(), ThresholdClassifier(PriorSVC(), scores="cv"), KernelSVC("rbf"), SVM2K()):
            model.fit(X, labels)
            assert outcome(kept(model, tmp_path), X) == outcome(model, X)
    second = X[:, :4].toarray()
    for kernel in ("linear", "rbf"):
        model = SVM2K(kernel=kernel).fit(X, TWO, second=second)
        same = kept(model, tmp_path)
        assert bits(same.decision_function(X, second)) == bits(model.decision_function(X, second))
    given = np.asarray((X @ X.T).toarray())
    model = KernelSVC("precomputed").fit(given, TWO)
    assert outcome(kept(model, tmp_path), given) == outcome(model, given)
    z = np.linspace(-1, 1, len(TEXTS))
    model = KernelSVC(SpectrumKernel(2), trust="free").fit(TEXTS, TWO, prior_scores=z)
    assert bits(kept(model, tmp_path).decision_function(TEXTS, z)) == bits(model.decision_function(TEXTS, z))


def test_names_of_columns(tmp_path):
    table = pd.DataFrame(np.eye(6), columns=list("abcdef"))
    model = ThresholdClassifier(PriorSVC(prior={"a": 1.0}), scores="train").fit(table, [0, 1] * 3)
    assert kept(model, tmp_path).predict(table).tolist() == model.predict(table).tolist()
    assert kept(model, tmp_path).feature_names_in_.tolist() == list("abcdef")


def test_what_was_learnt_from_reading_is_not_learnt_again(tmp_path, monkeypatch):
    documents = {f"d{i}": text for i, text in enumerate(TEXTS[:30])}
    rng = np.random.default_rng(0)
    rows = [(name, word, rng.random()) for name, text in documents.items() for word in text.split()]
    labels = dict(zip(documents, LABELS[:30].tolist(), strict=True))
    readings = pd.DataFrame(rows, columns=["doc_id", "word", "duration"])
    prior = GazePrior(readings, documents, labels, n_tune=50, progress=False)
    model = TextClassifier(knowledge=prior).fit(TEXTS, LABELS)
    assert outcome(kept(model, tmp_path)) == outcome(model)
    learnt = kept(prior.fit(), tmp_path)
    monkeypatch.setattr(GazePrior, "fit", None)
    assert learnt.coef(["corn", "bank"], ["grain"]).keys() == {"grain"}


def hand_edit(model):
    model.learner_.coef_[0, :3] += 0.5
    model.learner_.intercept_[0] -= 0.25
    model.model_.thresholds_[0] += 0.125
    return model


def new_weights(model):
    model.learner_.coef_ = np.ascontiguousarray(model.learner_.coef_) * 2
    model.decide(NEW)
    model.learner_.coef_[0] = 0.5
    return model


CHANGES = {
    "costs": lambda model: model.with_utility(Utility(tp=1, fp=-9)),
    "a person to ask": lambda model: model.with_utility(Utility(tp=1, fp=-3, ask=-0.2)),
    "floors": lambda model: model.with_utility(min_recall=0.7),
    "decision": lambda model: model.with_decision(
        model.model_.with_utility(Utility(tp=1, fp=-9, ask=-1), rule="best")
    ),
    "mix": lambda model: model.with_decision(model.model_.with_mix(np.array([2.0, 1, 1]), np.ones(3))),
    "by hand": hand_edit,
    "other weights": new_weights,
    "fitted again": lambda model: model.fit(TEXTS[:50], LABELS[:50]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_decides_is_never_out_of_date(change, tmp_path):
    """A `decider_` that only `fit` made would give other labels after each of these."""
    model = kept(TextClassifier().fit(TEXTS, LABELS), tmp_path)
    before = outcome(model)
    changed = CHANGES[change](model)
    said = outcome(changed)
    assert said != before
    decided = changed.model_.decide(changed.representation_.transform(NEW))
    np.testing.assert_allclose(changed.decide(NEW).scores, decided.scores, rtol=1e-12, atol=1e-12)
    assert bits(changed.decide(NEW).accepted) == bits(decided.accepted)
    save(changed, tmp_path / "model.tmm")
    assert outcome(load(tmp_path / "model.tmm")) == said
    assert outcome(load_decider(tmp_path / "model.tmm")).items() <= said.items()


def test_costs_come_after_a_model_without_them_is_loaded(tmp_path):
    model = TextClassifier().fit(TEXTS, LABELS)
    same, costs = kept(model, tmp_path), Utility(tp=5, fp=-1)
    assert bits(same.held_out_.scores) == bits(model.held_out_.scores)
    assert bits(same.with_utility(costs).thresholds_) == bits(model.with_utility(costs).thresholds_)


def test_training_texts_are_no_part_of_the_file(tmp_path):
    same = kept(TextClassifier().fit([*TEXTS, "secretword corn"], [*LABELS, "grain"]), tmp_path)
    with pytest.raises(TextmarginError, match="loaded without its training data"):
        same.learner_.loo_decision_function()
    with pytest.raises(AttributeError, match="no unlabelled texts"):
        same.unlabelled_  # noqa: B018


def test_no_folder_of_kernel_values_is_named(tmp_path):
    model = KernelSVC(SpectrumKernel(2), cache=tmp_path / "kernels").fit(TEXTS, LABELS)
    assert kept(model, tmp_path).cache is None
    assert outcome(kept(model, tmp_path)) == outcome(model)


@pytest.mark.parametrize("kind", ["default", "keywords", "subsequences"])
def test_the_safetensors_library_reads_the_file(kind, tmp_path):
    save(ALL[kind].fit(TEXTS, LABELS), tmp_path / "model.tmm")
    _, arrays = read_file(tmp_path / "model.tmm")
    with safetensors.safe_open(tmp_path / "model.tmm", "np") as file:
        assert file.metadata()["format"] == "textmargin 3"
        assert set(file.keys()) == set(arrays)
        assert all(bits(file.get_tensor(name)) == bits(array) for name, array in arrays.items())


def test_weights_are_in_the_file_and_in_memory_once(tmp_path):
    model = TextClassifier(knowledge=TOPICS).fit(TEXTS, LABELS)
    same = kept(model, tmp_path)
    _, arrays = read_file(tmp_path / "model.tmm")
    assert sum(array.size == model.learner_.coef_.size for array in arrays.values()) == 1
    for own in (model, same):
        assert np.shares_memory(own.decider_.scorer.coef, own.learner_.coef_)


def test_files_of_other_parts_and_bad_texts(tmp_path):
    with pytest.raises(ModelFileError, match="holds a PriorSVC, not a fitted TextClassifier"):
        load_decider(kept_as(PriorSVC(), tmp_path))
    with pytest.raises(ModelFileError, match="that is not fitted"):
        load_decider(kept_as(TextClassifier(), tmp_path))
    decider = load_decider(kept_as(LINEAR["rocchio"].fit(TEXTS, LABELS), tmp_path))
    for texts in (["corn", 3], "corn"):
        with pytest.raises(NotTextError):
            decider.decide(texts)
    with pytest.warns(EmptyTextWarning, match="None of 2 texts"):
        decider.decide(["", "unheard"])
    if not decider.has_held_out:
        with pytest.raises(ScoreError, match="held-out"):
            decider.decide(["corn"], probabilities=True)


IMPORTED = (
    "import sys; assert not [name for name in sys.modules if name.split('.')[0] in ('sklearn', "
    "'scipy', 'joblib')]"
)


def test_deciding_imports_neither_scikit_learn_nor_scipy(tmp_path):
    model = TextClassifier(knowledge=TOPICS, decision=ThresholdClassifier()).fit(TEXTS, LABELS)
    decide = f"load_decider({str(kept_as(model, tmp_path))!r}).decide(['corn'], probabilities=True)"
    code = f"from textmargin.decider import load_decider; {decide}; {IMPORTED}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_predicting_a_few_lines_imports_neither(tmp_path):
    """They took 1.5 s of CPU to import, for ten lines that take none."""
    path = kept_as(TextClassifier(knowledge=TOPICS).fit(TEXTS, LABELS), tmp_path)
    (tmp_path / "new.csv").write_text("text\ncorn exports fell\ncrude oil\n")
    words = ["textmargin", "predict", str(path), str(tmp_path / "new.csv")]
    run = "from textmargin.cli import app\ntry:\n    app()\nexcept SystemExit:\n    "
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv = {words!r}\n{run}{IMPORTED}"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.splitlines()[1].startswith("corn exports fell,grain,")
