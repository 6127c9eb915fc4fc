"""Bad input: a clear error, or a documented result. Each row is a promise."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem

from textmargin import PriorSVC
from textmargin.errors import LabelError, PriorError


def problem_with(**changes):
    X, y, _ = make_problem(n=20, d=4)
    for (i, j), value in changes.get("X", {}).items():
        X[i, j] = value
    return X, changes.get("y", y)


ONE_MISSING = np.column_stack([np.arange(20) % 2, np.zeros(20), np.arange(20) % 3 == 0]).astype(int)
ONE_FULL = np.column_stack([np.arange(20) % 2, np.ones(20)]).astype(int)


@pytest.mark.parametrize(
    ("options", "data", "error", "message"),
    [
        ({}, {"X": {(3, 1): np.nan}}, ValueError, "Input X contains NaN"),
        ({}, {"X": {(3, 1): np.inf}}, ValueError, "Input X contains infinity"),
        ({}, {"y": np.zeros(20)}, LabelError, "needs at least two classes; y has only one class: 0.0"),
        ({}, {"y": ONE_MISSING}, LabelError, "class 1 has no example for it among 20 texts"),
        ({}, {"y": ONE_FULL}, LabelError, "class 1 has no example against it among 20 texts"),
        ({}, {"y": np.linspace(0, 1, 20)}, ValueError, "Unknown label type: continuous"),
        ({"C": -1.0}, {}, ValueError, "'C' parameter of PriorSVC must be a float in the range"),
        ({"C": 0}, {}, ValueError, "'C' parameter of PriorSVC"),
        ({"trust": "maybe"}, {}, ValueError, "'trust' parameter of PriorSVC"),
        ({"trust": np.nan}, {}, ValueError, "'trust' parameter of PriorSVC"),
        ({"trust_strength": 0}, {}, ValueError, "'trust_strength' parameter"),
        ({"margins": (1.0,)}, {}, ValueError, "'margins' parameter of PriorSVC must be two numbers"),
        ({"margins": (0, 0)}, {}, ValueError, "not both 0. Got"),
        ({"margins": (1, -1)}, {}, ValueError, "not negative"),
        ({"margins": "wide"}, {}, ValueError, "'margins' parameter"),
        ({"max_iter": 0}, {}, ValueError, "'max_iter' parameter"),
        ({"class_weight": {7: 2.0}}, {}, LabelError, "class_weight names 7, which is not among the "
                                                     "classes: 0, 1"),
        ({"class_weight": {1: -2.0}}, {}, LabelError, "class_weight must be positive"),
        ({"class_weight": {1: np.inf}}, {}, LabelError, "class_weight must be positive, finite"),
        ({}, {"y": sp.csr_matrix(np.ones((20, 1)))}, LabelError, "only one class: 1.0"),
        ({"prior": [1.0, 2.0]}, {}, PriorError, "prior has 2 weights but X has 4 columns"),
        ({"prior": [1.0, np.nan, 0, 0]}, {}, PriorError, "NaN"),
        ({"prior": {"wheat": 1.0}}, {}, PriorError, "names of X's columns are not known"),
    ],
)  # fmt: skip
def test_learner_refuses(options, data, error, message):
    X, y = problem_with(**data)
    for matrix in (X, sp.csr_matrix(X)):
        with pytest.raises(error, match=message):
            PriorSVC(**options).fit(matrix, y)


def test_negative_sample_weight_is_refused_and_no_weight_at_all_names_the_class():
    X, y = problem_with()
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        PriorSVC().fit(X, y, -np.ones(20))
    with pytest.raises(LabelError, match="class 1 has no example for it among"):
        PriorSVC().fit(X, y, (y == 0).astype(float))


def test_another_number_of_columns_is_refused():
    X, y = problem_with()
    with pytest.raises(ValueError, match="X has 3 features, but PriorSVC is expecting 4"):
        PriorSVC().fit(X, y).predict(X[:, :3])


def test_a_matrix_of_zeros_gives_the_intercept_alone():
    """Texts without a single known word: the best constant score, and no failure."""
    y = np.array([0, 0, 0, 1])
    model = PriorSVC().fit(np.zeros((4, 3)), y)
    np.testing.assert_allclose(model.decision_function(np.zeros((1, 3))), [-0.5])


def test_nothing_passed_in_is_changed():
    X, y = problem_with()
    prior = np.ones((2, 4))
    copies = X.copy(), y.copy(), prior.copy()
    PriorSVC(prior=prior).fit(X, y)
    for before, after in zip(copies, (X, y, prior), strict=True):
        np.testing.assert_array_equal(before, after)
