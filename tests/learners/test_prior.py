"""Every way of giving a prior, and what does not fit."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem

from textmargin import PriorSVC
from textmargin.errors import PriorError, UnknownTermWarning
from textmargin.learners.prior import align_prior

TWO, THREE = ["ham", "spam"], ["acq", "corn", "earn"]
TERMS = ["bank", "corn", "wheat"]


def test_one_vector_is_the_prior_of_every_class():
    assert align_prior([1, 0, 2], TWO, 1, 3).tolist() == [[[1, 0, 2]]]
    assert align_prior([1, 0, 2], THREE, 3, 3).tolist() == [[[1, 0, 2]]] * 3


def test_rows_are_several_priors_with_two_classes_and_one_per_class_with_more():
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert align_prior(rows, TWO, 1, 3).shape == (1, 3, 3)
    assert align_prior(sp.csr_matrix(rows), THREE, 3, 3).tolist() == [[row] for row in rows]
    assert align_prior(rows[:2], THREE, 3, 3).tolist() == [rows[:2]] * 3
    assert align_prior([rows[:2]] * 3, THREE, 3, 3).tolist() == [rows[:2]] * 3


def test_terms_are_aligned_by_name():
    assert align_prior({"wheat": 2, "bank": -1.0}, TWO, 1, 3, TERMS).tolist() == [[[-1, 0, 2]]]


def test_a_mapping_of_classes_leaves_the_others_without():
    aligned = align_prior({"corn": {"corn": 1}, "earn": [[0, 0, 1], [1, 0, 0]]}, THREE, 3, 3, TERMS)
    assert aligned.tolist() == [[[0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]], [[0, 0, 1], [1, 0, 0]]]


def test_with_two_classes_what_speaks_for_the_first_speaks_against_the_second():
    assert align_prior({"ham": [1, 0, 0]}, TWO, 1, 3).tolist() == [[[-1, 0, 0]]]
    assert align_prior({"ham": [1, 0, 0], "spam": [0, 1, 0]}, TWO, 1, 3).tolist() == [[[0, 1, 0], [-1, 0, 0]]]


@pytest.mark.parametrize("nothing", [None, {}, {"ham": {}}])
def test_no_prior_at_all(nothing):
    aligned = align_prior(nothing, TWO, 1, 3, TERMS)
    assert aligned.shape[::2] == (1, 3)
    assert not aligned.any()


def test_some_unknown_terms_are_named_with_their_nearest_and_ignored():
    with pytest.warns(UnknownTermWarning, match=r"1 of 2 terms .* 'wheet'. Nearest: 'wheat'"):
        aligned = align_prior({"wheet": 1, "corn": 1}, TWO, 1, 3, TERMS)
    assert aligned.tolist() == [[[0, 1, 0]]]


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1.0, 2.0], r"prior has 2 weights but X has 3 columns"),
        (np.ones((4, 2, 3)), r"first axis must be the 3 classes"),
        ([1.0, np.nan, 0.0], r"NaN or infinity"),
        ({"corn": np.inf}, r"NaN or infinity"),
        ({"barly": 1, "maiz": 2}, r"2 of 2 terms of the prior are not among the columns: 'barly', 'maiz'"),
        ({"grain": {"corn": 1}}, r"names 'grain', which is not among the classes: 'acq', 'corn', 'earn'"),
        ({"corn": np.ones((1, 1, 3))}, r"the prior of class 'corn' has 3 axes"),
        (["corn", "wheat", "bank"], r"prior must be numbers"),
        (3.0, r"prior has 0 weights but X has 3 columns"),
    ],
)
def test_what_does_not_fit_is_refused(prior, message):
    with pytest.raises(PriorError, match=message):
        align_prior(prior, THREE, 3, 3, TERMS)


def test_terms_without_column_names_are_refused():
    X, y, _ = make_problem()
    with pytest.raises(
        PriorError, match="names of X's columns are not known; fit on a DataFrame, use TextClassifier"
    ):
        PriorSVC(prior={"wheat": 1.0}).fit(X, y)


def test_a_term_that_names_two_columns_is_refused():
    with pytest.raises(PriorError, match="'corn', but X has several columns of that name"):
        align_prior({"corn": 1}, TWO, 1, 3, ["corn", "corn", "bank"])
    assert align_prior({"bank": 1}, TWO, 1, 3, ["corn", "corn", "bank"]).tolist() == [[[0, 0, 1]]]
