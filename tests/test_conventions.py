"""scikit-learn's own checks of every estimator."""

import re

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import textmargin
from textmargin import (
    SVM2K,
    BagOfWords,
    KernelLandmarks,
    KernelSVC,
    PriorSVC,
    Rocchio,
    SpectrumKernel,
    SubsequenceFeatures,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
)

# What is expected to fail has its reason below. scikit-learn itself skips two checks of each learner: the
# array API one, which needs an environment variable set before SciPy is imported, and the output format of
# predict_proba, which they do not have. Estimators of texts get the checks that need no numbers.
# Machines of repeated rows are those of weights to many digits only if tol is small.
ESTIMATORS = [
    PriorSVC(),
    PriorSVC(class_weight="balanced", margins=(1.0, 0.5)),
    KernelSVC(tol=1e-10),
    KernelSVC("rbf", class_weight="balanced", tol=1e-10),
    KernelSVC("rbf", fit_intercept=False, tol=1e-10),
    KernelSVC("rbf", warm_start=True, tol=1e-10),
    KernelSVC("precomputed", tol=1e-10),
    KernelSVC(SubsequenceKernel()),
    Rocchio(),
    SVM2K(),
    SVM2K(kernel="rbf"),
    ThresholdClassifier(PriorSVC()),
    BagOfWords(),
    SpectrumKernel(),
    SubsequenceKernel(),
    SubsequenceFeatures(),
    KernelLandmarks(),
    TextClassifier(),
]


def expected_failures(estimator):
    if not getattr(estimator, "fit_intercept", True):
        return {
            "check_class_weight_classifiers": "Without an intercept a cost reaches only as far as the "
            "kernel does."
        }
    if not isinstance(estimator, ThresholdClassifier):
        return {}
    reason = "Leaving one out, and dealing out folds, goes by texts: a text of weight two is not two texts."
    failures = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    return {
        **failures,
        "check_classifiers_train": "It decides by what mistakes cost, not by the highest probability.",
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_every_parameter_and_learnt_attribute_is_documented(estimator):
    texts, y = ["corn wheat", "bank rates", "corn oil", "bank yen"], [0, 1, 0, 1]
    X = texts if estimator.__sklearn_tags__().input_tags.string else np.eye(4)
    fitted = estimator.fit(X, y)
    text = type(estimator).__doc__
    entries = set(re.findall(r"\w+", " ".join(re.findall(r"^    (\w[\w, ]*?)(?: :|$)", text, re.M))))
    attributes = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert {*estimator.get_params(deep=False), *attributes} <= entries


def test_public_names_are_importable():
    assert all(hasattr(textmargin, name) for name in textmargin.__all__)
    assert set(textmargin.__all__) <= set(dir(textmargin))
    with pytest.raises(AttributeError, match="No textmargin attribute Nothing"):
        textmargin.Nothing  # noqa: B018
