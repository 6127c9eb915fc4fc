"""Prior scores inside a kernel machine, against a general solver of the same problem."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from samples import corpus
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

from textmargin import KernelSVC, PriorSVC, SubsequenceKernel
from textmargin.errors import PriorError


def noisy(n=22, seed=0):
    """Points, labels, and a score that knows something of the labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int)
    return X, y, 0.6 * (2 * y - 1) + rng.normal(size=n)


def by_general_solver(K, y, z, costs, *, target=0.0, pull=0.0, least=-np.inf, held=False, intercept=True):
    """The primal problem in β, b, η and slacks, by an interior-point solver of quadratic programmes: scores
    and η.
    """
    n = len(y)
    unit = float(intercept)  # without intercept its column is empty
    P = sp.block_diag([K + 1e-10 * np.eye(n), [[1.0 - unit]], [[pull]], np.zeros((n, n))], format="csc")
    q = np.concatenate([np.zeros(n + 1), [-pull * target], costs])
    margins = np.hstack([y[:, None] * K, unit * y[:, None], (y * z)[:, None], np.eye(n)])
    slacks = np.hstack([np.zeros((n, n + 2)), np.eye(n)])
    trust = np.eye(2 * n + 2)[[n + 1]]
    A, b, cones = [-margins, -slacks], [-np.ones(n), np.zeros(n)], [clarabel.NonnegativeConeT(2 * n)]
    if held:
        A, b, cones = [trust, *A], [[target], *b], [clarabel.ZeroConeT(1), *cones]
    elif np.isfinite(least):
        A, b, cones = [*A, -trust], [*b, [-least]], [clarabel.NonnegativeConeT(2 * n + 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    v = np.array(
        clarabel.DefaultSolver(
            sp.triu(P, format="csc"), q, sp.csc_matrix(np.vstack(A)), np.concatenate(b), cones, settings
        )
        .solve()
        .x
    )
    return K @ v[:n] + unit * v[n] + v[n + 1] * z, v[n + 1]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("trust", ["free", "nonneg", "fixed", 0.4, -0.3])
def test_equals_a_general_solver(trust, seed, fit_intercept):
    X, y, z = noisy(seed=seed)
    if seed == 3:
        z = -z  # nonneg leaves it out
    signs, weight = 2.0 * y - 1, np.random.default_rng(seed).uniform(0.5, 2, len(y))
    model = KernelSVC(rbf_kernel, C=2.0, trust=trust, fit_intercept=fit_intercept)
    model.fit(X, y, sample_weight=weight, prior_scores=z)
    held = trust not in ("free", "nonneg")
    target = {"free": 0.0, "nonneg": 0.0, "fixed": 1.0}.get(trust, trust)
    least = 0.0 if trust == "nonneg" else -np.inf
    known = {"target": target, "least": least, "held": held, "intercept": fit_intercept}
    scores, eta = by_general_solver(rbf_kernel(X), signs, z, 2.0 * weight, **known)
    assert model.trust_[0] == pytest.approx(eta, abs=2e-4)
    np.testing.assert_allclose(model.decision_function(X, prior_scores=z), scores, atol=1e-3)


@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_ridge_equals_a_general_solver(strength):
    X, y, z = noisy()
    plain = KernelSVC("rbf").fit(X, y).decision_function(X)
    scale = plain.std() / z.std()
    model = KernelSVC("rbf", trust="ridge", trust_strength=strength).fit(X, y, prior_scores=z)
    scores, eta = by_general_solver(
        rbf_kernel(X), 2.0 * y - 1, z, np.ones(len(y)), target=scale, pull=strength / scale**2
    )
    assert model.trust_[0] == pytest.approx(eta, abs=2e-4)
    np.testing.assert_allclose(model.decision_function(X, prior_scores=z), scores, atol=1e-3)


def test_nonneg_is_free_or_plain():
    X, y, z = noisy(60)
    for scores in (z, -z):
        free, nonneg = (
            KernelSVC("rbf", trust=trust).fit(X, y, prior_scores=scores) for trust in ("free", "nonneg")
        )
        assert nonneg.trust_[0] == pytest.approx(max(0.0, free.trust_[0]), abs=1e-6)
    plain = KernelSVC("rbf").fit(X, y).decision_function(X)
    np.testing.assert_allclose(nonneg.decision_function(X, prior_scores=-z), plain, atol=1e-6)


def test_free_is_blind_to_sign_and_size():
    X, y, z = noisy(60)
    once = KernelSVC("rbf", trust="free").fit(X, y, prior_scores=z)
    other = KernelSVC("rbf", trust="free").fit(X, y, prior_scores=-37 * z)
    assert other.trust_[0] == pytest.approx(-once.trust_[0] / 37, rel=1e-4)
    np.testing.assert_allclose(
        once.decision_function(X, prior_scores=z), other.decision_function(X, prior_scores=-37 * z), atol=1e-4
    )


@pytest.mark.parametrize("trust", ["free", "nonneg", "ridge", "fixed", "auto"])
@pytest.mark.parametrize("constant", [0.0, 0.1, 5.0, 1.7e9])
def test_a_prior_that_says_nothing_changes_nothing(trust, constant):
    X, y, _ = noisy(60)
    z = np.full(60, constant)
    model = KernelSVC("rbf", trust=trust).fit(X, y, prior_scores=z)
    np.testing.assert_allclose(
        model.decision_function(X, prior_scores=z), KernelSVC("rbf").fit(X, y).decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("trust", ["free", "nonneg", "ridge", "fixed", "auto"])
def test_a_shift_of_the_scores_is_the_intercepts_business(trust):
    """Dates as scores, some 1.7e9, left η at 0 or did not end."""
    X, y, z = noisy(60)
    models = [KernelSVC("rbf", trust=trust).fit(X, y, prior_scores=z + shift) for shift in (0.0, 1.7e9)]
    assert models[1].trust_[0] == pytest.approx(models[0].trust_[0], rel=1e-4)
    scores = [
        model.decision_function(X, prior_scores=z + shift)
        for model, shift in zip(models, (0.0, 1.7e9), strict=True)
    ]
    np.testing.assert_allclose(*scores, atol=1e-4)


def test_free_trust_near_a_hard_margin():
    """With weights far below their bounds η was left at 0; a kernel in other units finds the same η."""
    X, y, z = noisy(60)
    found = [
        KernelSVC(lambda A, B, scale=scale: scale * rbf_kernel(A, B, gamma=2.0), C=C, trust="free").fit(
            X, y, prior_scores=z
        )
        for C, scale in ((1e6, 1.0), (1e8, 1.0), (1.0, 1e10))
    ]
    assert found[0].trust_[0] > 0.1
    for model in found[1:]:
        assert model.trust_[0] == pytest.approx(found[0].trust_[0], rel=1e-3)


def test_scores_beyond_all_margins_are_refused():
    X, y, z = noisy()
    with pytest.raises(PriorError, match="give smaller scores"):
        KernelSVC("rbf", trust="fixed").fit(X, y, prior_scores=1e9 * z)


def test_a_fixed_prior_counts_even_if_all_training_texts_have_the_same_score():
    X, y, _ = noisy()
    model = KernelSVC("rbf", trust="fixed").fit(X, y, prior_scores=np.full(22, 3.0))
    plain = KernelSVC("rbf").fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X, prior_scores=np.full(22, 4.0)), plain.decision_function(X) + 1, atol=1e-6
    )


def test_a_prior_that_knows_all_needs_no_support_vectors():
    X, y, _ = noisy(40)
    z = 2.0 * y - 1
    for trust in ("free", "fixed"):
        model = KernelSVC("rbf", trust=trust).fit(X, y, prior_scores=z)
        assert (model.predict(X, prior_scores=z) == y).all()
        assert np.abs(model.dual_coef_).sum() < 1e-5
    assert model.support_.size == 0


def test_auto_believes_what_helps_and_leaves_out_what_does_not():
    X, y, z = noisy(80, seed=1)
    noise = np.random.default_rng(5).normal(size=80)
    assert KernelSVC("rbf").fit(X, y, prior_scores=z).trust_mode_ == ["fixed"]
    assert KernelSVC("rbf").fit(X, y, prior_scores=-z).trust_mode_ == ["plain"]
    assert KernelSVC("rbf").fit(X, y, prior_scores=noise).trust_mode_ == ["plain"]
    one = np.zeros(80, dtype=int)
    one[7] = 1
    assert KernelSVC("rbf").fit(X, one, prior_scores=one * 1.0).trust_mode_ == ["fixed"]


def count_of(*words):
    def scores(texts):
        return np.array([sum(text.count(word) for word in words) for text in texts], dtype=float)

    return scores


def test_a_function_gives_scores_in_training_and_prediction():
    texts, topics = corpus()
    y = (topics == "grain").astype(int)
    known = count_of("wheat", "corn", "harvest", "grain")
    model = KernelSVC(SubsequenceKernel(3), prior_scores=known, trust="nonneg").fit(texts[:12], y[:12])
    given = KernelSVC(SubsequenceKernel(3), trust="nonneg").fit(
        texts[:12], y[:12], prior_scores=known(texts[:12])
    )
    np.testing.assert_allclose(
        model.decision_function(texts), given.decision_function(texts, prior_scores=known(texts))
    )
    plain = KernelSVC(SubsequenceKernel(3)).fit(texts[:12], y[:12])
    assert (model.predict(texts[12:]) == y[12:]).mean() > (plain.predict(texts[12:]) == y[12:]).mean()
    explained = model.explain(texts[20])
    assert explained.prior == pytest.approx(model.trust_[0] * known([texts[20]])[0])
    assert explained.score == pytest.approx(explained.intercept + explained.prior + explained.data.sum())


def test_scores_per_class():
    texts, topics = corpus()
    known = {"grain": count_of("wheat", "corn"), "oil": count_of("barrel")}
    model = KernelSVC(SubsequenceKernel(3), prior_scores=known, trust="free").fit(texts, topics)
    assert model.trust_mode_ == ["free", "plain", "free"]
    table = np.column_stack([known["grain"](texts), np.zeros(len(texts)), known["oil"](texts)])
    same = KernelSVC(SubsequenceKernel(3), trust="free").fit(texts, topics, prior_scores=table)
    np.testing.assert_allclose(
        model.decision_function(texts), same.decision_function(texts, prior_scores=table)
    )
    two = topics != "oil"
    some = [text for text, kept in zip(texts, two, strict=True) if kept]
    against = KernelSVC(SubsequenceKernel(3), prior_scores={"grain": count_of("wheat")}, trust="fixed").fit(
        some, topics[two]
    )
    speaks_for_money = KernelSVC(
        SubsequenceKernel(3), prior_scores=lambda X: -count_of("wheat")(X), trust="fixed"
    ).fit(some, topics[two])
    np.testing.assert_allclose(against.decision_function(some), speaks_for_money.decision_function(some))


def test_a_fitted_classifier_as_prior():
    X, y, _ = noisy(80)
    linear = PriorSVC().fit(X[:40], y[:40])
    model = KernelSVC("rbf", prior_scores=linear.decision_function, trust="fixed")
    assert cross_val_score(model, X[40:], y[40:], cv=3).mean() > 0.6  # it is fitted inside clones as well
    assert model.fit(X[40:], y[40:]).trust_.tolist() == [1.0]
    np.testing.assert_allclose(
        model.decision_function(X),
        KernelSVC("rbf", trust="fixed")
        .fit(X[40:], y[40:], prior_scores=linear.decision_function(X[40:]))
        .decision_function(X, prior_scores=linear.decision_function(X)),
    )


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros(3), "shape \\(3,\\)"),
        (np.zeros((22, 2)), "shape \\(22, 2\\)"),
        (np.full(22, np.nan), "text number 0 are not finite"),
        ({"corn": np.zeros(22)}, "'corn', which is not among the classes"),
        ({1: np.zeros(5)}, "shape \\(5,\\)"),
    ],
)
def test_bad_scores_say_what_is_wrong(scores, message):
    X, y, _ = noisy()
    with pytest.raises(PriorError, match=message):
        KernelSVC("rbf").fit(X, y, prior_scores=scores)


def test_scores_are_given_to_both_fit_and_predict():
    X, y, z = noisy()
    with pytest.raises(PriorError, match="give those of the new texts"):
        KernelSVC("rbf").fit(X, y, prior_scores=z).predict(X)
    with pytest.raises(PriorError, match="fitted without"):
        KernelSVC("rbf").fit(X, y).predict(X, prior_scores=z)
    with pytest.raises(PriorError, match="choose one"):
        KernelSVC("rbf", prior_scores=lambda X: X[:, 0]).fit(X, y, prior_scores=z)
