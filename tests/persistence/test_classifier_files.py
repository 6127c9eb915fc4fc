"""What `textmargin train` writes, with parts that do not go with one another, does not come in."""

from dataclasses import replace

import numpy as np
import pytest
from model_files import changed, drop_of, forge, part_of, set_of
from samples import TOPICS, corpus
from sklearn.svm import LinearSVC

from textmargin import KeywordPrior, TextClassifier, save
from textmargin.errors import ModelFileError
from textmargin.persistence import load_classifier

TEXTS, LABELS = corpus(80)

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")


def array_of(values, *classes, of="names"):
    """A change: an attribute of objects of these classes is another array."""

    def change(manifest):
        manifest["values"].insert(0, {"objects": values, "shape": [len(values)]})
        _count_up(manifest["values"][1:])
        for cls in classes:
            part_of(manifest, cls)[of] = {"at": 0}

    return change


def _count_up(value):
    """All numbers of values, when one comes before them."""
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inside, dict) and set(inside) == {"at"}:
            inside["at"] += 1
        else:
            _count_up(inside)


@pytest.mark.parametrize(
    ("cls", "name", "value", "message"),
    [
        ("TextClassifier", "labels_", None, "has a TextClassifier whose labels_ is a NoneType"),
        ("TextClassifier", "labels_", "labels", "has a TextClassifier whose labels_ is a str"),
        ("TextClassifier", "classes_", None, "has a TextClassifier whose classes_ is a NoneType"),
        (
            "TextClassifier",
            "classes_",
            {"tuple": ["grain", "money", "oil"]},
            "has a TextClassifier whose classes_ is a tuple",
        ),
        ("TextClassifier", "metadata_", "me", "has a TextClassifier whose metadata_ is a str"),
        ("TextClassifier", "text_digests_", "me", "has a TextClassifier whose text_digests_ is a str"),
        (
            "ClassLabels",
            "names",
            {"tuple": ["grain", "money", "oil"]},
            "has a ClassLabels whose names is a tuple",
        ),
        ("ClassLabels", "kind", 3, "has a ClassLabels whose kind is a int"),
        ("ClassLabels", "positive", "oil", "has a ClassLabels whose positive is a str"),
        ("ClassLabels", "form", None, "has a ClassLabels whose form is a NoneType"),
        ("ClassLabels", "kind", "many", "has labels of kind 'many', given as 'names'"),
        ("ClassLabels", "form", "words", "has labels of kind 'multiclass', given as 'words'"),
        ("ClassLabels", "kind", "binary", "has labels that are not its classes"),
        ("ClassLabels", "kind", "multilabel", "has 3 names of classes, where its model decides on others"),
        (
            "ThresholdClassifier",
            "multilabel_",
            True,
            "whose _calibration is of kind multiclass, where labels are multilabel",
        ),
    ],
)
def test_classifier_of_the_wrong_parts_failed_in_predict(cls, name, value, message, fitted, refuses):
    refuses(changed(fitted["three"], set_of(cls, name, value)), message)


@pytest.mark.parametrize("positive", [-1, 2, 10**6])
def test_positive_that_is_none_of_two_classes(positive, fitted, refuses):
    refuses(
        changed(fitted["two"], set_of("ClassLabels", "positive", positive)),
        "has labels that are not its classes",
    )


@pytest.mark.parametrize("names", [["grain"], ["grain", "money"], ["a", "b", "c", "d"], ["a", "b", 3]])
@pytest.mark.parametrize("kind", ["three", "several"])
def test_classifier_with_other_names_than_its_classes_failed_in_predict(names, kind, fitted, refuses):
    refuses(changed(fitted[kind], array_of(names, "ClassLabels")), "has labels that are not its classes")


def test_classifier_with_other_classes_than_its_model_failed_in_predict(fitted, tmp_path, refuses):
    for labels in (["a", "b", "c"], ["grain", "money"]):
        model = TextClassifier().fit(TEXTS, LABELS)
        model.classes_ = np.array(labels)
        model.labels_ = replace(model.labels_, names=model.classes_, kind="multiclass")
        forge(model, tmp_path / "other.tmm")
        message = f"has {len(labels)} names of classes, where its model decides on others"
        refuses((tmp_path / "other.tmm").read_bytes(), message)


def test_classifier_with_another_number_of_classes_than_a_learner_of_scikit_learn(tmp_path, refuses):
    model = TextClassifier(learner=LinearSVC()).fit(TEXTS, LABELS)
    model.classes_ = np.array(["grain", "money", "oil", "zinc"])
    model.labels_ = replace(model.labels_, names=model.classes_)
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), "has 4 names of classes, where its model decides on 3")


@pytest.mark.parametrize("names", [np.array([["grain"], ["money"], ["oil"]]), np.array([b"a", b"b", b"c"])])
def test_names_of_classes_that_are_no_list_of_names(names, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.classes_ = names
    model.labels_ = replace(model.labels_, names=names)
    forge(model, tmp_path / "other.tmm")
    refuses(
        (tmp_path / "other.tmm").read_bytes(),
        "has (labels that are not its classes|a ClassLabels whose names has 2 sides)",
    )


@pytest.mark.parametrize(
    "name", ["model_", "labels_", "classes_", "metadata_", "representation_", "text_digests_"]
)
def test_classifier_that_is_half_fitted_failed_in_predict(name, fitted, refuses):
    refuses(
        changed(fitted["three"], drop_of("TextClassifier", name)),
        f"has a TextClassifier whose {name} is missing",
    )


@pytest.mark.parametrize(
    "metadata",
    [{}, {"n_texts": "many", "label_counts": {}}, {"n_texts": 3}, {"n_texts": 3, "label_counts": ["oil"]}],
)
def test_metadata_that_do_not_say_what_a_model_was_trained_on(metadata, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.metadata_ = metadata
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), "metadata does not say what it was trained on")


@pytest.mark.parametrize("digests", [np.zeros(3), np.zeros((2, 2), dtype=np.uint64), np.array(["a"])])
def test_digests_that_are_no_list_of_numbers(digests, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.text_digests_ = digests
    forge(model, tmp_path / "other.tmm")
    refuses(
        (tmp_path / "other.tmm").read_bytes(),
        "has a TextClassifier whose text_digests_ (is an array|has 2 sides)",
    )


@pytest.mark.parametrize("name", ["text_column", "label_column", "label_separator"])
def test_a_column_that_is_not_a_name_failed_in_predict(name, tmp_path, refuses):
    model = TextClassifier().fit(TEXTS, LABELS)
    model.metadata_[name] = ["text"]
    forge(model, tmp_path / "other.tmm")
    refuses((tmp_path / "other.tmm").read_bytes(), f"has a TextClassifier whose {name} is a list")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TextClassifier(), "holds a TextClassifier that is not fitted, not a fitted TextClassifier"),
        (KeywordPrior(TOPICS), "holds a KeywordPrior, not a fitted TextClassifier"),
    ],
)
def test_files_of_other_parts_are_not_taken_for_a_classifier(model, message, tmp_path):
    save(model, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=message):
        load_classifier(tmp_path / "model.tmm")


def test_a_classifier_without_a_word_of_unlabelled_texts_failed_when_costs_came(fitted, refuses):
    refuses(
        changed(fitted["three"], drop_of("TextClassifier", "_unlabelled")),
        "has a TextClassifier whose _unlabelled is missing",
    )
