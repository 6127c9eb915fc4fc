"""Trust modes: their limits, and a first `auto` that takes a good prior and leaves a bad one."""

import numpy as np
import pytest
from conftest import make_problem

from textmargin import PriorSVC, TextClassifier
from textmargin.learners import leave_one_out
from textmargin.learners.auto import Evaluator
from textmargin.learners.evidence import select_priors

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


def test_auto_decides_per_class():
    X, y, _, _, known = few_labels(0, n=40)
    Y = np.column_stack([y, X @ known + np.random.default_rng(1).standard_normal(40) > 0])
    model = PriorSVC(prior=[known, -known]).fit(X, Y.astype(int))
    assert model.trust_mode_ == ["fixed", "plain"]
    assert model.trust_[1].tolist() == [0.0]
    assert [verdict.status for verdict in model.verdict_] == ["supported", "contradicted"]
    assert [verdict.target for verdict in model.verdict_] == [0, 1]
    assert model.verdict_[0].gain > 0 > model.verdict_[1].gain


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
    assert select_priors(np.array([[2.0], [2.0], [0.0]])).ravel().tolist() == [True, True, True]
    assert select_priors(np.array([[-2.0], [-2.0], [0.0]])).ravel().tolist() == [False, False, False]
    assert select_priors(np.array([[0.0], [np.nan]])).ravel().tolist() == [False, False]
    assert select_priors(np.array([[1.5, -1.2], [1.5, 1.0]])).tolist() == [[True, False], [True, True]]


def test_a_word_that_no_text_has_was_dropped_though_nothing_speaks_against_it():
    silent = np.array([[True], [False]])
    assert select_priors(np.array([[0.0], [0.0]]), silent).ravel().tolist() == [True, False]
    assert select_priors(np.array([[0.0], [1.5]]), silent).ravel().tolist() == [True, True]
    assert select_priors(np.array([[0.0], [-1.5]]), silent).ravel().tolist() == [False, False]
    assert select_priors(np.array([[np.nan], [0.0]]), silent).ravel().tolist() == [False, False]


def test_auto_refits_folds_where_leaving_one_out_would_be_too_large(monkeypatch):
    monkeypatch.setattr(leave_one_out, "MAX_SIZE", 3)
    X, y, _, _, known = few_labels(1, n=60)
    assert PriorSVC(prior=known).fit(X, y).trust_mode_ == ["fixed"]
    assert PriorSVC(prior=-known).fit(X, y).trust_mode_ == ["plain"]


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


def test_the_same_prior_given_twice_counts_once():
    X, y, _, _, known = few_labels(0, n=40)
    once, often = (PriorSVC(prior=[known] * k).fit(X, y) for k in (1, 5))
    np.testing.assert_allclose(often.coef_, once.coef_, atol=1e-6)
    assert often.trust_.sum() == pytest.approx(once.trust_.sum())


def test_evidence_is_that_of_models_trained_without_the_text():
    """With fewer columns than texts the leave-one-out formula took right priors for contradicted ones."""
    flipped = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.abs(rng.standard_normal((60, 40)))
        y = (X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(60) > 0).astype(int)
        prior = np.append([1.0, -1.0], np.zeros(38))
        flipped += PriorSVC(prior=prior).fit(X, y).verdict_[0].status == "contradicted"
    assert flipped == 0


def test_without_a_prior_no_text_is_left_out(monkeypatch):
    """`auto` is the default: a plain fit took more than twice as long, for evidence about nothing."""
    monkeypatch.setattr(Evaluator, "_held_out_scores", None)
    X, y, direction = make_problem()
    assert PriorSVC().fit(X, y).verdict_ == []
    assert PriorSVC(prior=np.zeros_like(direction)).fit(X, y).verdict_ == []
    with pytest.raises(TypeError):
        PriorSVC(prior=direction).fit(X, y)


@pytest.mark.parametrize("said", [[0, 1], [0, 1, 0]], ids=["two", "one repeated"])
def test_nearly_parallel_priors_were_left_to_the_guard(said):
    """Free trust minimises over all that the priors span: two nearly parallel ones in the plane span it, in
    company too.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = np.where(X @ [1.0, -2.0] + rng.standard_normal(40) > 0, 1, -1)
    prior = np.array([[-1.54643, 0.42808], [-1.54643, 0.42809]])[said]

    def loss(model):
        return np.sum(np.maximum(0, 1 - y * model.decision_function(X)) ** 2)

    near = PriorSVC(C=0.01, prior=prior, trust="free").fit(X, y)
    apart = PriorSVC(C=0.01, prior=np.eye(2), trust="free").fit(X, y)
    assert loss(near) == pytest.approx(loss(apart), rel=1e-5)
