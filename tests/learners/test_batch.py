"""All classes of a problem in step, against the minimum that slow least squares find."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_texts

from textmargin import PriorSVC, core
from textmargin.learners import _batch


def many_labels(n=1500, d=4000, n_labels=30):
    """Texts, and labels of 1 to 50 % of them."""
    X, _ = make_texts(n=n, d=d)
    assert _batch._TextsOnce().look(X).suits, "these would be learnt one by one"
    rng = np.random.default_rng(1)
    scores = X @ rng.standard_normal((d, n_labels)) + 0.2 * rng.standard_normal((n, n_labels))
    return X, (scores > np.quantile(scores, np.linspace(0.5, 0.99, n_labels), axis=0).diagonal()).astype(int)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("level", core.levels())
def test_all_classes_in_step_are_those_learnt_one_by_one(level, fit_intercept, monkeypatch):
    X, Y = many_labels()
    monkeypatch.setenv("TEXTMARGIN_LEVEL", level)
    together = PriorSVC(fit_intercept=fit_intercept).fit(X, Y)
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", X.nnz + 1)
    alone = PriorSVC(fit_intercept=fit_intercept, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(together.decision_function(X), alone.decision_function(X), atol=2e-3)
    assert together.n_iter_.max() < 20


@pytest.mark.parametrize("unit", [1e-46, 1e-10, 1e40])
def test_the_unit_of_sample_weights_and_of_1_by_C_is_free(unit):
    """Beyond the numbers that single precision has, it is double precision that learns."""
    X, Y = many_labels(n_labels=3)
    one, other = PriorSVC().fit(X, Y), PriorSVC(C=1 / unit).fit(X, Y, np.full(len(Y), unit))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=2e-3)


def test_a_matrix_whose_rows_overlap_is_refused():
    with pytest.raises(ValueError, match="indptr goes back"):
        core.SparseTexts(np.array([0, 3, 1, 2], np.int32), np.zeros(2, np.int32), np.ones(2), 1)


def test_a_sparse_coef_decides_as_the_dense_one():
    X, Y = many_labels()
    dense, sparse = PriorSVC().fit(X, Y), PriorSVC(sparse_coef=True).fit(X, Y)
    assert sp.issparse(sparse.coef_)
    assert sparse.coef_.nnz < 0.9 * dense.coef_.size
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(sparse.fold_decision_function(), dense.fold_decision_function(), atol=5e-3)
    assert sparse.explain(X[:1]).score == pytest.approx(dense.explain(X[:1]).score, abs=1e-4)
    again = PriorSVC(sparse_coef=True, warm_start=True).fit(X, Y).fit(X, Y)
    assert again.n_iter_.max() <= 2


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_prior_that_leaves_no_text_inside_the_margin_does_not_crash(fit_intercept):
    """The active texts of a class are then none, and so are their columns."""
    X, _ = make_texts(n=6000, d=4000)
    prior = np.random.default_rng(1).standard_normal((6, 1, 4000))
    # some texts have the label, some do not
    prior -= ((X @ prior[:, 0].T).mean(axis=0) / X.sum(axis=1).mean())[:, None, None]
    scores = X @ prior[:, 0].T
    clear = (np.abs(scores) > 0.03 * np.abs(scores).max()).all(axis=1)
    X, scores, prior = X[clear], scores[clear], 60 * prior / np.abs(scores).max()
    assert _batch._TextsOnce().look(X).suits
    model = PriorSVC(prior=prior, trust="fixed", fit_intercept=fit_intercept).fit(X, (scores > 0).astype(int))
    np.testing.assert_allclose(model.coef_, prior[:, 0], atol=1e-6)
