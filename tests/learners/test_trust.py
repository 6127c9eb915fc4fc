"""Trust modes: their limits, and a first `auto` that takes a good prior and leaves a bad one."""

import numpy as np
import pytest
from conftest import make_problem

from textmargin import PriorSVC, TextClassifier

TIGHT = {"tol": 1e-12, "max_iter": 200}


def few_labels(seed, n=24, d=60):
    """Few texts, many columns, five of which decide; a prior that names them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + 400, d))
    known = np.zeros(d)
    known[:5] = 1.0
    y = (X @ known + rng.standard_normal(n + 400) > 0).astype(int)
    y[:2] = 0, 1
    return X[:n], y[:n], X[n:], y[n:], known


def test_ridge_lies_between_free_and_fixed():
    X, y, direction = make_problem()
    target = 2 / (np.median(np.linalg.norm(X, axis=1)) * np.linalg.norm(direction))
    free = PriorSVC(prior=direction, trust="free", **TIGHT).fit(X, y)
    fixed = PriorSVC(prior=direction, trust=target, **TIGHT).fit(X, y)
    loose = PriorSVC(prior=direction, trust="ridge", trust_strength=1e-8, **TIGHT).fit(X, y)
    firm = PriorSVC(prior=direction, trust="ridge", trust_strength=1e8, **TIGHT).fit(X, y)
    middle = PriorSVC(prior=direction, trust="ridge", trust_strength=3.0, **TIGHT).fit(X, y)
    np.testing.assert_allclose(loose.coef_, free.coef_, atol=1e-5)
    np.testing.assert_allclose(firm.coef_, fixed.coef_, atol=1e-5)
    low, high = sorted([free.trust_[0, 0], fixed.trust_[0, 0]])
    assert low < middle.trust_[0, 0] < high


def test_fixed_draws_the_weights_to_the_prior_as_given():
    """Biased regularisation: fitting the residual is the same as shifting the margin's goal by Xv."""
    X, y, direction = make_problem()
    model = PriorSVC(C=1e-10, prior=direction, trust="fixed").fit(X, y)
    np.testing.assert_allclose(model.coef_[0], direction, atol=1e-6)
    assert model.trust_.tolist() == [[1.0]]


def test_zero_trust_is_the_plain_svm():
    X, y, direction = make_problem()
    model = PriorSVC(prior=direction, trust=0.0, **TIGHT).fit(X, y)
    np.testing.assert_allclose(model.coef_, PriorSVC(**TIGHT).fit(X, y).coef_, atol=1e-10)


@pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])
def test_auto_takes_a_good_prior_whatever_its_size(factor):
    gains = []
    for seed in range(10):
        X, y, X_test, y_test, known = few_labels(seed)
        model = PriorSVC(prior=factor * known).fit(X, y)
        gains.append(model.score(X_test, y_test) - PriorSVC().fit(X, y).score(X_test, y_test))
    assert np.mean(gains) > 0.05
    assert min(gains) >= -0.01


@pytest.mark.parametrize("wrong", ["opposite", "elsewhere"])
def test_auto_leaves_a_wrong_prior(wrong):
    losses = []
    for seed in range(10):
        X, y, X_test, y_test, known = few_labels(seed)
        v = -known if wrong == "opposite" else np.roll(known, 20)
        losses.append(
            PriorSVC().fit(X, y).score(X_test, y_test) - PriorSVC(prior=v).fit(X, y).score(X_test, y_test)
        )
    assert np.mean(losses) < 0.02


def test_auto_judges_each_of_several_priors():
    X, y, _, _, known = few_labels(0, n=40)
    model = PriorSVC(prior=[known, -known, np.zeros_like(known)]).fit(X, y)
    assert [(verdict.prior, verdict.status) for verdict in model.verdict_] == [
        (0, "supported"),
        (1, "contradicted"),
    ]
    assert model.trust_[0, 0] > 0
    assert model.trust_[0, 1:].tolist() == [0, 0]
    both = PriorSVC(prior=[known * (np.arange(known.size) < 3), known * (np.arange(known.size) >= 3)]).fit(
        X, y
    )
    assert [verdict.status for verdict in both.verdict_] == ["supported", "supported"]
    assert (both.trust_ > 0).all()


def test_where_the_data_cannot_tell_the_other_classes_do():
    """Two examples a class, and the known word of one class in no text at all."""
    y = np.arange(12) % 6
    X = np.zeros((12, 30))
    X[np.arange(12), y] = 1  # a word of the class
    X[np.arange(12), 10 + np.arange(12)] = 1  # and one of the text
    V = np.zeros((6, 30))
    V[np.arange(5), np.arange(5)] = 1
    V[5, 29] = 1  # in no text
    model = PriorSVC(prior=V).fit(X, y)
    assert [verdict.status for verdict in model.verdict_] == ["supported"] * 5 + ["adopted"]
    assert model.verdict_[5].evidence == 0
    assert (model.trust_ > 0).all()


def test_disagreements_name_the_terms_that_data_contradict():
    X, y, _, _, known = few_labels(0, n=200)
    wrong = known.copy()
    wrong[2] = -1.0
    found = PriorSVC(prior=wrong, trust="fixed").fit(X, y).disagreements(1)[0]
    assert (found.target, found.prior, found.term) == (1, 0, 2)
    assert found.known < 0 < found.data
    model = TextClassifier(knowledge={"a": {"corn": 1, "yen": 1}})
    texts = ["corn wheat", "corn oats", "yen bank", "yen rates"]
    assert model.fit(texts, ["a", "a", "b", "b"]).disagreements()[0].term == "yen"
