"""A model that is loaded to decide decides as it did, and needs neither scikit-learn nor SciPy for it."""

import copy
import random
import subprocess
import sys

import numpy as np
import pytest
from model_files import changed
from samples import TOPICS, corpus
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from textmargin import (
    BagOfWords,
    KeywordPrior,
    PriorSVC,
    RationalePrior,
    Rocchio,
    SpectrumKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    save,
)
from textmargin.decider import Decider, load_decider
from textmargin.errors import EmptyTextWarning, ModelFileError, NotTextError, ScoreError
from textmargin.persistence import load_classifier
from textmargin.persistence._known import check_names, known_class, parameters, state_of
from textmargin.persistence._stand_ins import ATTRIBUTES

TEXTS, LABELS = corpus(80)
NEW = [*corpus(40, seed=1)[0], "", "unheard of", "corn \ud800 Öl İstanbul 1987 😡"]
FORMS = {
    "two": np.where(LABELS == "oil", "oil", "other"),
    "two, the first rarer": np.where(np.arange(len(LABELS)) % 4 == 0, "early", "late"),
    "numbers": np.where(LABELS == "oil", 1, 0),
    "several": LABELS,
    "sets": [
        (label, "all") if label == "oil" else (label,) if row % 5 else () for row, label in enumerate(LABELS)
    ],
    "indicator": np.column_stack([LABELS == "oil", LABELS == "grain"]).astype(int),
}
N_MIXED = 200
ASKING = Utility(tp=1, fp=-4, fn=-2, ask=-0.4)
MODELS = {
    "default": TextClassifier(),
    "costs": TextClassifier(decision=ThresholdClassifier(utility=Utility(tp=3, fp=-1))),
    "asking": TextClassifier(decision=ThresholdClassifier(utility=ASKING)),
    "always answering": TextClassifier(decision=ThresholdClassifier(utility=ASKING, always_answer=True)),
    "tf-idf, no norm": TextClassifier(BagOfWords("tf-idf", norm=None)),
    "counts of pairs": TextClassifier(
        BagOfWords("count", ngram_range=(1, 2), stop_words=["and"], numbers="exact")
    ),
    "papers' words": TextClassifier(BagOfWords(analyzer="letters")),
    "characters": TextClassifier(BagOfWords(analyzer="char_wb", ngram_range=(2, 4))),
    "a word or more": TextClassifier(
        BagOfWords(token_pattern=r"(?u)\b\w+\b", stop_words="english", lowercase=False)
    ),
    "rocchio": TextClassifier(learner=Rocchio()),
    "learner alone": TextClassifier(learner=Rocchio(), decision=None),
}

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning", "ignore::UserWarning")


def saved(model, tmp_path):
    save(model, tmp_path / "model.tmm")
    return tmp_path / "model.tmm"


def assert_same(found, expected):
    assert found.names == expected.names
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.accepted, expected.accepted)
    np.testing.assert_array_equal(found.unsure, expected.unsure)
    if expected.probabilities is None:
        assert found.probabilities is None
    else:
        np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=1e-11)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", MODELS)
def test_decides_as_the_classifier(kind, form, tmp_path):
    model = MODELS[kind].fit(TEXTS, FORMS[form])
    decider = load_decider(saved(model, tmp_path))
    assert type(decider) is Decider
    assert_same(decider.decide(NEW), model.decide(NEW))
    if model.has_held_out:
        assert_same(decider.decide(NEW, probabilities=True), model.decide(NEW, probabilities=True))
    assert_same(decider.decide([]), model.decide([]))
    matrix = model.representation_.transform(NEW)
    by_matrix = model.labels_.columns(model.learner_.decision_function(matrix))
    np.testing.assert_allclose(decider.scorer(NEW)[0], by_matrix, rtol=1e-12, atol=1e-12)
    assert decider.has_held_out == model.has_held_out
    assert decider.can_be_unsure == model.can_be_unsure
    assert decider.metadata_ == model.metadata_
    assert decider.labels_.text_names == model.labels_.text_names
    assert decider.labels_.positive == model.labels_.positive


@pytest.mark.parametrize(
    "model",
    [
        TextClassifier(knowledge=KeywordPrior(TOPICS)),
        TextClassifier(knowledge=RationalePrior([("corn prices rose", [(0, 4, "grain")])])),
        TextClassifier(learner=PriorSVC(class_weight={"oil": 3.0}, margins=(1.0, 0.5))),
    ],
    ids=["keywords", "marked passages", "costs of classes"],
)
def test_what_a_model_learnt_with_is_no_hindrance(model, tmp_path):
    model.fit(TEXTS, LABELS)
    decider = load_decider(saved(model, tmp_path))
    assert type(decider) is Decider
    assert_same(decider.decide(NEW), model.decide(NEW))


@pytest.mark.parametrize(
    "model",
    [
        TextClassifier(SpectrumKernel(2)),
        TextClassifier(TfidfVectorizer()),
        TextClassifier(learner=LinearSVC()),
        TextClassifier(BagOfWords(tokenizer=str.split)),
        TextClassifier(BagOfWords(strip_accents="unicode")),
        TextClassifier(BagOfWords(token_pattern=r"\w{3,}")),
        TextClassifier(BagOfWords(analyzer=str.split)),
    ],
    ids=[
        "kernel",
        "vectoriser of scikit-learn",
        "learner of scikit-learn",
        "own tokenizer",
        "accents",
        "own pattern",
        "own analyzer",
    ],
)
def test_models_of_other_kinds_are_loaded_as_usual(model, tmp_path):
    model.fit(TEXTS, LABELS)
    found = load_decider(saved(model, tmp_path))
    assert type(found) is TextClassifier
    assert_same(found.decide(NEW), model.decide(NEW))


def test_files_of_other_parts_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="holds a PriorSVC, not a fitted TextClassifier"):
        load_decider(saved(PriorSVC(), tmp_path))
    with pytest.raises(ModelFileError, match="that is not fitted"):
        load_decider(saved(TextClassifier(), tmp_path))


def test_bad_texts_and_questions(tmp_path):
    decider = load_decider(saved(TextClassifier(learner=Rocchio()).fit(TEXTS, LABELS), tmp_path))
    with pytest.raises(NotTextError):
        decider.decide(["corn", 3])
    with pytest.raises(NotTextError):
        decider.decide("corn")
    with pytest.warns(EmptyTextWarning, match="None of 2 texts"):
        decider.decide(["", "unheard"])
    if not decider.has_held_out:
        with pytest.raises(ScoreError, match="held-out"):
            decider.decide(["corn"], probabilities=True)


IMPORTED = (
    "import sys; assert not [name for name in sys.modules if name.split('.')[0] in ('sklearn', "
    "'scipy', 'joblib')]"
)


@pytest.mark.parametrize("form", ["two", "several", "sets"])
def test_neither_scikit_learn_nor_scipy_is_imported(form, tmp_path):
    path = saved(
        TextClassifier(decision=ThresholdClassifier(utility=ASKING)).fit(TEXTS, FORMS[form]), tmp_path
    )
    decide = f"load_decider({str(path)!r}).decide(['corn'], probabilities=True)"
    code = f"from textmargin.decider import load_decider; {decide}; {IMPORTED}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_predict_of_a_few_lines_imports_neither(tmp_path):
    """They took 1.5 s of CPU to import, for ten lines that take none."""
    path = saved(TextClassifier(knowledge=KeywordPrior(TOPICS)).fit(TEXTS, LABELS), tmp_path)
    (tmp_path / "new.csv").write_text("text\ncorn exports fell\ncrude oil\n")
    words = ["textmargin", "predict", str(path), str(tmp_path / "new.csv")]
    code = (
        f"import sys; sys.argv = {words!r}\nfrom textmargin.cli import app\ntry:\n    app()\nexcept "
        f"SystemExit:\n    {IMPORTED}"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines()[1].startswith("corn exports fell,grain,")


def test_help_of_one_command_imports_no_other():
    code = (
        "import sys; sys.argv = ['textmargin', 'predict', '--help']\nfrom textmargin.cli import "
        "app\ntry:\n    app()\n"
        "except SystemExit:\n    assert 'textmargin.cli.predict' in sys.modules and "
        "'textmargin.cli.train' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# What stands in for classes must be what the classes are.


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_stand_ins_have_the_parameters_of_their_classes(name):
    cls = known_class(name)
    known, learnt = (names.split() for names in ATTRIBUTES[name])
    assert sorted(known) == sorted(parameters(cls))
    check_names(cls, [*known, *learnt])


def test_stand_ins_have_what_fit_adds():
    model = TextClassifier().fit(TEXTS, LABELS)
    for part in (
        model,
        model.representation_,
        model.model_,
        model.learner_,
        TextClassifier(learner=Rocchio()).fit(TEXTS, LABELS).learner_,
    ):
        assert sorted(state_of(part)) == sorted(" ".join(ATTRIBUTES[type(part).__name__]).split())


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "model.tmm"
    save(TextClassifier(decision=ThresholdClassifier(utility=ASKING)).fit(TEXTS, LABELS), path)
    return path.read_bytes()


def arrays_of(manifest, name, attribute):
    """The name of the entry that an attribute of a part is."""
    state = [entry["state"] for entry in manifest["values"] if entry.get("object") == name][-1]
    return manifest["values"][state[attribute]["at"]]


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("BagOfWords", "idf_"),
        ("PriorSVC", "coef_"),
        ("PriorSVC", "intercept_"),
        ("ThresholdClassifier", "thresholds_"),
        ("ThresholdClassifier", "ask_thresholds_"),
        ("Calibration", "slope"),
        ("Calibration", "knot_ends"),
    ],
)
def test_arrays_that_do_not_fit_are_not_decided_with(name, attribute, sample, tmp_path):
    """Such a model used to be loaded, and failed when it was used."""

    def change(manifest):
        other = arrays_of(manifest, "HeldOutScores", "positive")["array"]
        arrays_of(manifest, name, attribute)["array"] = other

    (tmp_path / "model.tmm").write_bytes(changed(sample, change))
    with pytest.raises(ModelFileError, match=f"has a {name} whose {attribute} (is an array of|has )"):
        load_decider(tmp_path / "model.tmm")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "pattern"),
        ("kind", "letters"),
        ("kind", 1),
        ("lowercase", 1),
        ("pattern", None),
        ("ngram_range", {"tuple": [0, 1]}),
        ("ngram_range", {"tuple": [2, 1]}),
        ("ngram_range", {"tuple": [1, 1, 1]}),
        ("ngram_range", {"tuple": [1, 2**70]}),
        ("ngram_range", "ab"),
        ("stop_words", {"tuple": [1]}),
        ("stop_words", "and"),
        ("shapes", None),
        ("exact_numbers", {"tuple": ["\ud800"]}),
    ],
)
def test_terms_that_cannot_be_are_not_looked_for(name, value, sample, tmp_path):
    def change(manifest):
        words = next(entry["state"] for entry in manifest["values"] if entry.get("object") == "BagOfWords")
        manifest["values"][words["_analysis_values"]["at"]]["dict"][name] = value

    (tmp_path / "model.tmm").write_bytes(changed(sample, change))
    assert type(load_decider(tmp_path / "model.tmm")) is TextClassifier


def test_every_number_of_a_rule_that_is_something_else(sample, tmp_path):
    values = [None, 1, "word", {"tuple": []}, {"at": 0}]
    for name in ("ThresholdClassifier", "BagOfWords", "PriorSVC", "TextClassifier", "ClassLabels"):
        for attribute in " ".join(ATTRIBUTES.get(name, ("names kind positive form",))).split():
            for value in values:

                def change(manifest, name=name, attribute=attribute, value=value):
                    for entry in manifest["values"]:
                        if entry.get("object") == name and attribute in entry["state"]:
                            entry["state"][attribute] = value

                (tmp_path / "model.tmm").write_bytes(changed(sample, change))
                try:
                    found = load_decider(tmp_path / "model.tmm")
                except ModelFileError:
                    continue
                if type(found) is Decider:
                    found.decide(NEW[:3])


def places(value, path=()):
    """Where values stand in JSON."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def mixed_up(manifest, rng):
    """A manifest in which one value is another one, of the same manifest or made up."""
    *path, last = rng.choice([path for path in places(manifest["values"]) if path])
    other = manifest["values"]
    for key in rng.choice([*places(manifest["values"])]):
        other = other[key]
    target = manifest["values"]
    for key in path:
        target = target[key]
    target[last] = rng.choice(
        [copy.deepcopy(other), None, True, -1, 0, 1, 2**70, 0.5, "corn", "", {"tuple": []}, {"at": 3}]
    )


def test_values_mixed_up_at_random(sample, tmp_path):
    """Both refuse a file, in the same words; or one that is loaded to decide only does without what is wrong,
    and decides.
    """
    rng = random.Random(0)
    n_refused = n_deciders = 0
    for _ in range(N_MIXED):
        (tmp_path / "model.tmm").write_bytes(changed(sample, lambda manifest: mixed_up(manifest, rng)))
        said = []
        for read in (load_classifier, load_decider):
            try:
                said.append(type(found := read(tmp_path / "model.tmm")))
            except ModelFileError as error:
                said.append(str(error))
        n_refused += isinstance(said[0], str)
        if said[1] is Decider:
            n_deciders += 1
            decisions = found.decide(NEW, probabilities=True)
            assert np.isfinite(decisions.scores).all()
            assert np.isfinite(decisions.probabilities).all()
        elif isinstance(said[0], str):
            assert said[0] == said[1]
    assert n_refused > N_MIXED // 4
    assert n_deciders > N_MIXED // 10
