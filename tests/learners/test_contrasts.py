"""Contrasts: rows without intercept below the texts, held out with the texts they were made from."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem
from reference import primal_svm

from textmargin import Contrasts, PriorSVC
from textmargin.errors import PriorError, TextmarginError
from textmargin.learners import newton
from textmargin.learners._folds import deal_folds

TIGHT = {"tol": 1e-12, "max_iter": 200}


def marked(n=60, d=90, seed=0, lean=1.0):
    """Texts of two classes, with two differences each that lean towards their class; and the direction of the
    classes.
    """
    X, y, direction = make_problem(n, d, seed)
    text = np.repeat(np.arange(n), 2)
    sign = 2.0 * y[text, None] - 1
    rows = 0.1 * (lean * sign * direction + np.random.default_rng(seed + 1).standard_normal((2 * n, d)))
    return X, y, Contrasts(rows, sign, text, cost=0.3), direction


def of_rest(contrasts, held_out, n):
    """The contrasts of the other texts, by their numbers among these."""
    rest = np.setdiff1d(np.arange(n), held_out)
    own = np.isin(contrasts.text, rest)
    return Contrasts(
        contrasts.X[own], contrasts.sign[own], np.searchsorted(rest, contrasts.text[own]), contrasts.cost
    )


@pytest.mark.parametrize("way", ["exact", "conjugate gradients"])
@pytest.mark.parametrize("prior", ["none", "free", "ridge"])
@pytest.mark.parametrize("sparse", [True, False])
def test_rows_without_intercept_below_the_texts(sparse, prior, way, monkeypatch):
    """Against L-BFGS on the objective itself, in which the contrasts are further rows without an
    intercept.
    """
    monkeypatch.setattr(newton, "EXACT_SIZE", 10**9 if way == "exact" else 0)
    X, y, contrasts, direction = marked(40, 12)
    X[:, 0] += 3.0  # so that it matters who has an intercept
    weight = np.random.default_rng(3).random(40) + 0.5
    weight[4] = 0  # absent, with its contrasts
    n_priors, target = (
        int(prior != "none"),
        2 / (np.median(np.linalg.norm(X[weight > 0], axis=1)) * np.linalg.norm(direction)),
    )
    w, eta, b, _ = primal_svm(
        np.vstack([X, contrasts.X]),
        np.concatenate([2.0 * y - 1, contrasts.sign[:, 0]]),
        costs=np.concatenate([weight, 0.3 * weight[contrasts.text]]),
        prior=np.tile(direction, (n_priors, 1)),
        intercept=np.arange(120) < 40,
        pull=1 / target**2 if prior == "ridge" else 0.0,
        target=target,
    )
    model = PriorSVC(
        prior=direction if n_priors else None, trust="fixed" if prior == "none" else prior, **TIGHT
    )
    model.fit(sp.csr_matrix(X) if sparse else X, y, weight, contrasts=contrasts)
    np.testing.assert_allclose(model.coef_[0], w + eta @ np.tile(direction, (n_priors, 1)), atol=1e-6)
    np.testing.assert_allclose(model.trust_[0], eta, atol=1e-6)
    np.testing.assert_allclose(model.intercept_[0], b, atol=1e-6)


@pytest.mark.parametrize("trust", ["ridge", 0.1])
def test_contrasts_are_held_out_with_their_text(trust):
    X, y, contrasts, direction = marked()
    model = PriorSVC(prior=direction, trust=trust, **TIGHT).fit(X, y, contrasts=contrasts)
    scores, fold = model.fold_decision_function(), deal_folds(y[:, None] > 0, 5, 0)
    for j in range(5):
        rest, held_out = np.flatnonzero(fold != j), np.flatnonzero(fold == j)
        cold = PriorSVC(prior=direction, trust=trust, **TIGHT).fit(
            X[rest], y[rest], contrasts=of_rest(contrasts, held_out, 60)
        )
        np.testing.assert_allclose(scores[held_out], cold.decision_function(X[held_out]), atol=5e-3)
    assert model.held_out_method() == "cv"
    with pytest.raises(TextmarginError, match="fold_decision_function"):
        model.loo_decision_function()


def test_auto_weighs_contrasts_by_held_out_texts():
    right = [
        PriorSVC().fit(X, y, contrasts=rows) for X, y, rows, _ in (marked(seed=seed) for seed in range(5))
    ]
    wrong = [
        PriorSVC().fit(X, y, contrasts=rows)
        for X, y, rows, _ in (marked(seed=seed, lean=-1.0) for seed in range(5))
    ]
    assert [model.verdict_[0].status for model in right] == ["supported"] * 5
    assert [model.verdict_[0].status for model in wrong] == ["contradicted"] * 5
    assert right[0].verdict_[0].prior is None
    for seed, model in enumerate(wrong):
        X, y, _, _ = marked(seed=seed)
        np.testing.assert_allclose(model.coef_, PriorSVC().fit(X, y).coef_)
        # nothing is used that would have to be held out
        assert model.loo_decision_function().shape == y.shape


def test_contrasts_that_give_the_label_of_their_own_text_away_are_refused():
    """Labels by chance, and each text its own contrast: where it stayed when the text is held out, it would
    look a help.
    """
    X, y, _, _ = marked(60, 400)
    labels = np.random.default_rng(0).permutation(y)
    contrasts = Contrasts(X, 2.0 * labels[:, None] - 1, np.arange(60), cost=3.0)
    assert PriorSVC(C=0.001).fit(X, labels, contrasts=contrasts).verdict_[0].status in (
        "dropped",
        "contradicted",
    )


def test_a_prior_and_contrasts_together():
    X, y, contrasts, direction = marked(40, 200)
    model = PriorSVC(prior=direction, **TIGHT).fit(X, y, contrasts=contrasts)
    assert [(verdict.prior, verdict.status) for verdict in model.verdict_] == [
        (0, "supported"),
        (None, "supported"),
    ]
    both = PriorSVC(prior=direction, trust=model.trust_[0, 0], **TIGHT).fit(X, y, contrasts=contrasts)
    np.testing.assert_allclose(model.coef_, both.coef_, atol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.ones((120, 5))}, "contrasts has rows of 5 columns, but X has 90"),
        ({"X": np.full((120, 90), np.nan)}, "NaN or infinity"),
        ({"sign": np.ones((120, 2))}, "120 rows and 1 problems"),
        ({"sign": np.full((120, 1), 0.5)}, "1, −1 or 0"),
        ({"text": np.full(120, 60)}, "one of the 60 texts"),
        ({"text": np.zeros(3, dtype=int)}, "one of the 60 texts"),
        ({"cost": -1.0}, "contrasts.cost must be positive"),
    ],
)
def test_contrasts_that_do_not_fit_the_texts(change, message):
    X, y, contrasts, _ = marked()
    with pytest.raises(PriorError, match=message):
        PriorSVC().fit(X, y, contrasts=Contrasts(**{**vars(contrasts), **change}))
