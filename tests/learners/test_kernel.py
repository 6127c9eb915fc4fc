"""KernelSVC: the machines of LIBSVM, from as few kernel values as it takes."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import corpus
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, LinearSVC

from textmargin import KernelSVC, SpectrumKernel, SubsequenceKernel, TextClassifier, ThresholdClassifier
from textmargin.errors import (
    LabelError,
    NotTextError,
    SettingError,
    StoreError,
    TextmarginError,
    TooLargeError,
)
from textmargin.learners import _kernel_solver, kernel_matrix
from textmargin.learners._folds import deal_folds
from textmargin.learners.kernel_matrix import KernelMatrix


def points(n=80, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def lazy_rbf(A, B):
    """Of a function only the values that are needed are computed; "rbf" by its name comes whole."""
    return rbf_kernel(A, B)


@pytest.fixture(params=["single", "double"])
def precision(request, monkeypatch):
    """That of a kernel matrix."""
    monkeypatch.setattr(kernel_matrix, "_DOUBLE", 0 if request.param == "single" else 3000)


def objective(K, y, costs, beta, b):
    """The primal, ½β'Kβ + Σ c max(0, 1 − yf)."""
    f = K @ beta
    return 0.5 * beta @ f + costs @ np.maximum(0, 1 - y * (f + b))


def dense(model, n):
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta, model.intercept_[0]


@st.composite
def matrices(draw):
    """A kernel matrix, labels and weights of up to 60 texts: low rank, duplicates, one positive, weights
    of 0, any scale.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rank = draw(st.integers(4, 60)), draw(st.sampled_from([1, 2, 5, 80]))
    A = rng.normal(size=(n, rank))
    if draw(st.booleans()):
        A[n // 2 :] = A[: n - n // 2]
    y = np.where(A[:, 0] + draw(st.sampled_from([0.0, 0.5, 3.0])) * rng.normal(size=n) > 0, 1, -1)
    if draw(st.booleans()):
        y[:] = -1
    y[0], y[1] = 1, -1
    weight = np.ones(n) if draw(st.booleans()) else rng.choice([0.0, 0.3, 1.0, 4.0], n)
    weight[:2] = 1.0
    return A @ A.T / rank, y, weight, draw(st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6]))


@given(matrices(), st.sampled_from([0.03, 1.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_is_svc(problem, C):
    """In units in which values are `scale` times as large, C must be as many times smaller."""
    K, y, weight, scale = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = KernelSVC("precomputed", C / scale, tol=1e-5).fit(scale * K, y, weight)
    there = np.flatnonzero(weight > 0)
    other = SVC(C=C, kernel="precomputed", tol=1e-6).fit(K[np.ix_(there, there)], y[there], weight[there])
    beta = np.zeros(len(y))
    beta[there[other.support_]] = other.dual_coef_[0]
    own, b = dense(model, len(y))
    expected = objective(K, y, weight * C, beta, other.intercept_[0])
    assert objective(K, y, weight * C, own * scale, b) <= expected + 2e-5 * C * weight.sum()
    assert abs(own.sum()) <= 1e-9 * np.abs(own).sum()


@given(matrices(), st.sampled_from([0.03, 1.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_without_intercept_the_gap_to_the_dual_is_closed(problem, C):
    K, y, weight, scale = problem
    model = KernelSVC("precomputed", C / scale, fit_intercept=False, tol=1e-6).fit(scale * K, y, weight)
    beta = dense(model, len(y))[0] * scale
    assert ((y * beta >= 0) & (y * beta <= C * weight * (1 + 1e-9))).all()
    dual = y @ beta - 0.5 * beta @ K @ beta
    assert objective(K, y, C * weight, beta, 0.0) - dual <= 1e-5 * C * weight.sum()


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("kernel", ["rbf", lazy_rbf])
@pytest.mark.parametrize("first", [2, 50])
@pytest.mark.parametrize("level", ["baseline", "avx2"])
@pytest.mark.usefixtures("precision")
def test_every_way_to_the_columns_gives_the_machines_of_svc(C, kernel, first, level, monkeypatch):
    """Whole or lazy, in single precision or double, at every vector level."""
    monkeypatch.setenv("TEXTMARGIN_LEVEL", level)
    monkeypatch.setattr(_kernel_solver, "_FIRST", first)
    X, y = points(n_classes=3)
    model = KernelSVC(kernel, C=C).fit(X, y)
    new = points(50, seed=1)[0]
    whole = [SVC(C=C, gamma=1 / 3, tol=1e-8).fit(X, y == k) for k in range(3)]
    scores = np.column_stack([machine.decision_function(new) for machine in whole])
    np.testing.assert_allclose(model.decision_function(new), scores, atol=3e-4)
    assert (model.predict(new) == scores.argmax(axis=1)).all()
    indicator = KernelSVC(kernel, C=C).fit(X, np.eye(3, dtype=int)[y])
    assert (indicator.predict(new) == (scores >= 0)).mean() > 0.99


@pytest.mark.parametrize("kernel", ["rbf", lazy_rbf])
@pytest.mark.parametrize("intercept", [True, False])
def test_says_when_it_stops_early(monkeypatch, kernel, intercept):
    monkeypatch.setattr(_kernel_solver, "_MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="still misses margins by .* a smaller C, a larger tol"):
        KernelSVC(kernel, fit_intercept=intercept).fit(*points())


def test_an_indefinite_kernel_ends_or_says_so(recwarn):
    X, y = points(100)
    for C in (1.0, 1e4):
        model = KernelSVC("sigmoid", C, kernel_params={"gamma": 2.0, "coef0": -1.0}).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
    assert all(issubclass(warning.category, ConvergenceWarning) for warning in recwarn)


@pytest.mark.parametrize("kernel", ["rbf", lazy_rbf])
def test_folds_are_those_of_machines_learnt_anew(kernel):
    X, y = points(90, n_classes=3)
    model = KernelSVC(kernel, tol=1e-6).fit(X, y)
    found = model.fold_decision_function(n_folds=3)
    fold = deal_folds(y[:, None] == np.arange(3), 3, 0)
    for j in range(3):
        anew = KernelSVC(kernel, tol=1e-6).fit(X[fold != j], y[fold != j])
        np.testing.assert_allclose(found[fold == j], anew.decision_function(X[fold == j]), atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", lazy_rbf])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_warm_start_over_costs_ends_where_a_cold_one_does(intercept, kernel):
    X, y = points(90, n_classes=3)
    warm = KernelSVC(kernel, warm_start=True, fit_intercept=intercept, tol=1e-7)
    for C in (0.1, 1.0, 10.0, 0.5):
        cold = KernelSVC(kernel, C, fit_intercept=intercept, tol=1e-7).fit(X, y)
        np.testing.assert_allclose(
            warm.set_params(C=C).fit(X, y).decision_function(X), cold.decision_function(X), atol=1e-5
        )


def test_the_next_fit_finds_the_values_of_the_last_one(tmp_path):
    texts, topics = corpus()
    model = KernelSVC(SubsequenceKernel(2), cache=tmp_path).fit(texts, topics)
    assert model.n_kernel_evaluations_ > 0
    again = clone(model).fit(texts, topics)
    assert again.n_kernel_evaluations_ == 0
    plain = KernelSVC(SubsequenceKernel(2)).fit(texts, topics)
    np.testing.assert_allclose(again.decision_function(texts), plain.decision_function(texts), atol=2e-4)
    other = clone(model).set_params(kernel__decay=0.8).fit(texts, topics)
    assert other.n_kernel_evaluations_ > 0
    assert len(list(tmp_path.glob("*.npy"))) == 2


class Interrupted:
    """Pairs of texts that are killed within the second block."""

    def __init__(self, pairs, most=2):
        self.pairs, self.left = pairs, most
        self.identity, self.digests = pairs.identity, pairs.digests

    def __len__(self):
        return len(self.pairs)

    def block(self, rows, columns=None):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return self.pairs.block(rows, columns)


def fill(folder):
    texts, _ = corpus()
    gram = KernelMatrix.stored(SubsequenceKernel(3, progress=False).over(texts), folder)
    gram.compute(np.arange(len(texts)))
    return gram


@pytest.mark.usefixtures("precision")
def test_an_interrupted_matrix_goes_on_where_it_was(tmp_path):
    texts, _ = corpus()
    pairs = SubsequenceKernel(3, progress=False).over(texts)
    with pytest.raises(KeyboardInterrupt):
        KernelMatrix.stored(Interrupted(pairs), tmp_path).compute(np.arange(len(texts)))
    there = KernelMatrix.stored(pairs, tmp_path).rows
    assert 0 < there.sum() < len(texts)
    gram, n, left = fill(tmp_path), len(texts), len(texts) - there.sum()
    assert gram.n_evaluations == left * (left + 1) // 2
    np.testing.assert_allclose(gram.K, SubsequenceKernel(3)(texts), rtol=1e-5, atol=1e-7)
    assert n * (n + 1) // 2 > gram.n_evaluations


def test_two_that_fill_a_file_share_the_work(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        grams = list(pool.map(fill, [tmp_path] * 2))
    texts, _ = corpus()
    assert sum(gram.n_evaluations for gram in grams) == len(texts) * (len(texts) + 1) // 2
    np.testing.assert_allclose(fill(tmp_path).K, SubsequenceKernel(3)(texts), rtol=1e-5)


def test_a_damaged_file_or_a_folder_that_cannot_be_is_told(tmp_path):
    fill(tmp_path)
    (path,) = tmp_path.glob("*.npy")
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(StoreError, match="is damaged; delete it"):
        fill(tmp_path)
    with pytest.raises(StoreError, match="make the folder writable, choose another, or use cache=None"):
        fill(path)


def test_a_matrix_larger_than_memory_is_not_begun():
    class Endless:
        def __len__(self):
            return 10_000_000

    with pytest.raises(TooLargeError, match=r"10,000,000 texts takes up to 372529.0 GiB.* with cache="):
        KernelMatrix.lazy(Endless())


class Counted:
    """A kernel that counts how often each pair of rows is asked for."""

    def __init__(self, X):
        self.number = {row.tobytes(): i for i, row in enumerate(X)}
        self.asked = np.zeros((len(X), len(X)), dtype=int)

    def __call__(self, A, B):
        a, b = ([self.number[row.tobytes()] for row in rows] for rows in (A, B))
        self.asked[np.ix_(a, b)] += 1
        if a != b:
            self.asked[np.ix_(b, a)] += 1
        return rbf_kernel(A, B)

    def __deepcopy__(self, memo):
        return self


def test_without_intercept_it_converges_where_the_kernel_has_low_rank(recwarn):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    model = KernelSVC("linear", C=100, fit_intercept=False, tol=1e-6).fit(X, y)
    whole = LinearSVC(C=100, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=20_000_000).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=2e-3)
    assert not [warning for warning in recwarn if "misses margins" in str(warning.message)]


@pytest.mark.parametrize(
    "kernel", [SubsequenceKernel(3), SpectrumKernel(3), SubsequenceKernel(2, tokens="word")]
)
def test_on_texts(kernel):
    texts, topics = corpus()
    y = (topics == "grain").astype(int)
    model = KernelSVC(kernel, C=10).fit(texts[:60], y[:60])
    whole = SVC(C=10, kernel="precomputed", tol=1e-8).fit(kernel(texts[:60]), y[:60])
    np.testing.assert_allclose(
        model.decision_function(texts[60:]),
        whole.decision_function(kernel(texts[60:], texts[:60])),
        atol=3e-4,
    )
    assert (model.predict(texts[60:]) == whole.predict(kernel(texts[60:], texts[:60]))).all()
    assert model.support_vectors_ == [texts[i] for i in model.support_]


def test_weights_and_costs():
    X, y = points()
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
    weight[:7] = 0
    model = KernelSVC("rbf", class_weight={0: 2.0, 1: 0.5}).fit(X, y, sample_weight=weight)
    whole = SVC(gamma=1 / 3, tol=1e-8, class_weight={0: 2.0, 1: 0.5}).fit(
        X[7:], y[7:], sample_weight=weight[7:]
    )
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=2e-4)
    assert model.support_.tolist() == sorted((7 + whole.support_).tolist())
    balanced = KernelSVC("rbf", class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(
        balanced.decision_function(X),
        SVC(gamma=1 / 3, tol=1e-8, class_weight="balanced").fit(X, y).decision_function(X),
        atol=2e-4,
    )


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_topic_with_one_positive(C):
    """No support vector is free then; the intercept is the middle of what all texts allow, as in LIBSVM."""
    texts, topics = corpus()
    y = np.zeros(len(texts), dtype=int)
    y[np.flatnonzero(topics == "oil")[0]] = 1
    K = SubsequenceKernel(3)(texts)
    expected = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y).decision_function(K)
    found = KernelSVC(SubsequenceKernel(3), C=C).fit(texts, y).decision_function(texts)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_every_pair_is_asked_for_once_across_topics_and_few_are():
    X, _ = points(800)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] + X[:, 1] > 1]).astype(int)
    kernel = Counted(X)
    model = KernelSVC(kernel, C=100).fit(X, Y)
    assert np.triu(kernel.asked).max() == 1  # of rows with themselves both halves are asked for at once
    assert np.triu(kernel.asked > 0).sum() == model.n_kernel_evaluations_ < 0.75 * 800 * 801 / 2
    before = np.triu(kernel.asked).sum()
    model.predict(np.delete(X, model.support_, axis=0)[:7])
    assert np.triu(kernel.asked).sum() - before == 7 * model.support_.size


def test_inside_a_grid_search():
    texts, topics = corpus()
    search = GridSearchCV(
        KernelSVC(SubsequenceKernel(2)), {"kernel__decay": [0.2, 0.8], "C": [0.1, 10]}, cv=3
    ).fit(texts, topics)
    assert search.best_estimator_.kernel_.decay == search.best_params_["kernel__decay"]
    assert search.best_score_ > 0.8
    assert (
        cross_val_score(clone(search.best_estimator_), np.array(texts, dtype=object), topics, cv=3).mean()
        > 0.8
    )


def test_joins_the_classifier_of_texts():
    texts, topics = corpus()
    kernel = SubsequenceKernel(3)
    expected = KernelSVC(kernel).fit(texts, topics).decision_function(texts)
    for model in (
        TextClassifier(kernel),
        TextClassifier(kernel, learner=KernelSVC()),
        TextClassifier(learner=KernelSVC(kernel)),
    ):
        np.testing.assert_allclose(model.fit(texts, topics).decision_function(texts), expected, atol=1e-9)
        assert model.explain(texts[0]).matches
    decided = TextClassifier(kernel, decision=ThresholdClassifier(scores="cv")).fit(texts, topics)
    assert (decided.predict(texts) == topics).mean() > 0.9
    assert decided.explain(texts[0]).matches
    matrix = TextClassifier(kernel, learner=SVC(kernel="precomputed")).fit(texts, topics)
    assert (matrix.predict(texts) == topics).mean() > 0.9
    with pytest.raises(TextmarginError, match="leave one of them out"):
        TextClassifier(kernel, learner=KernelSVC(kernel)).fit(texts, topics)


def test_a_machine_inside_a_learner_gets_the_kernel_too():
    texts, topics = corpus()
    kernel = SubsequenceKernel(3)
    for model in (
        TextClassifier(kernel, learner=ThresholdClassifier(KernelSVC(), scores="cv")),
        TextClassifier(learner=ThresholdClassifier(KernelSVC(kernel), scores="cv")),
    ):
        assert (model.fit(texts, topics).predict(texts) == topics).mean() > 0.9
        assert model.model_.estimator_.kernel_.length == 3
    with pytest.raises(TextmarginError, match="the learner has its own: kernel='rbf'"):
        TextClassifier(kernel, learner=KernelSVC("rbf")).fit(texts, topics)


def test_a_failed_fit_leaves_the_old_machine():
    texts, topics = corpus(40)
    model = KernelSVC(SubsequenceKernel(3))
    with pytest.raises(LabelError):
        model.fit(texts, [1] * 40)
    with pytest.raises(NotFittedError):
        model.predict(texts)
    before = model.fit(texts, topics).decision_function(texts)
    with pytest.raises(LabelError):
        model.set_params(kernel__length=2).fit(texts, [1] * 40)
    np.testing.assert_allclose(model.decision_function(texts), before)


@pytest.mark.parametrize(
    ("model", "X", "y", "error", "message"),
    [
        (KernelSVC(SubsequenceKernel()), ["a", "b"], [1, 1], LabelError, "at least two classes"),
        (KernelSVC(SubsequenceKernel()), ["a", "b"], [0, 1, 1], LabelError, "2 texts but 3 labels"),
        (KernelSVC(SubsequenceKernel()), ["a", None], [0, 1], NotTextError, "number 1 is missing"),
        (KernelSVC(SubsequenceKernel()), [], [], NotTextError, "no texts"),
        (KernelSVC(), ["a", "b"], [0, 1], ValueError, "kernel='linear' compares rows of numbers"),
        (KernelSVC("soap"), [[1.0], [2.0]], [0, 1], ValueError, "'kernel' parameter"),
        (
            KernelSVC(lambda A, B: np.full((len(A), len(B)), np.nan)),
            [[1.0], [2.0]],
            [0, 1],
            ValueError,
            "must be finite",
        ),
        (
            KernelSVC(SubsequenceKernel(), kernel_params={"gamma": 1}),
            ["a", "b"],
            [0, 1],
            ValueError,
            "kernel_params are for",
        ),
        (
            KernelSVC(SubsequenceKernel(), prior_scores={0: 7}),
            ["a", "b"],
            [0, 1],
            ValueError,
            "model.decision_function",
        ),
        (KernelSVC("precomputed"), np.ones((4, 3)), [0, 1, 0, 1], ValueError, "square kernel matrix"),
        (
            KernelSVC("precomputed", kernel_params={"gamma": 1.0}),
            np.eye(2),
            [0, 1],
            ValueError,
            "kernel_params",
        ),
        (
            KernelSVC(lambda A, B: A @ B.T, cache="x"),
            [[1.0], [2.0]],
            [0, 1],
            SettingError,
            "keeps the values of string kernels",
        ),
    ],
)
def test_bad_input_says_what_is_wrong(model, X, y, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, y)


def test_texts_like_no_other_have_the_intercept_as_score():
    texts, topics = corpus()
    model = KernelSVC(SubsequenceKernel(5)).fit([*texts, "", "ab"], [*topics, "oil", "oil"])
    np.testing.assert_allclose(model.decision_function(["", "q"]), np.tile(model.intercept_, (2, 1)))


def test_takes_whatever_holds_texts():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts, topics = corpus(40)
    expected = KernelSVC(SubsequenceKernel(3)).fit(texts, topics).decision_function(texts)
    for column in (
        np.array(texts, dtype=object),
        pd.Series(texts, index=range(100, 140)),
        pl.Series(texts),
        pd.DataFrame({"text": texts}),
    ):
        model = KernelSVC(SubsequenceKernel(3)).fit(column, topics)
        np.testing.assert_allclose(model.decision_function(column), expected)


def test_a_function_may_compare_anything():
    sets = [{1, 2}, {2, 3}, {7, 8}, {8, 9}]

    def common(A, B):
        return np.array([[len(a & b) for b in B] for a in A])

    assert KernelSVC(common).fit(sets, [0, 0, 1, 1]).predict([{1}, {9, 7}]).tolist() == [0, 1]
    lists = [[1, 2], [2, 3, 3], [7, 8], [8]]
    model = KernelSVC(lambda A, B: common(map(set, A), list(map(set, B)))).fit(lists, [0, 0, 1, 1])
    assert model.predict([[1], [7, 8, 9]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "wrong", [lambda K: np.triu(K), lambda K: K + 0.01 * np.random.default_rng(0).random(K.shape)]
)
def test_a_given_matrix_that_is_not_symmetric_is_refused(wrong):
    """It took seconds, and ended with a warning about kernels that are not positive semi-definite."""
    X = np.random.default_rng(1).standard_normal((60, 5))
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match=r"symmetric; X\[\d+, \d+\] is .* but X\[\d+, \d+\] is"):
        KernelSVC("precomputed").fit(wrong(X @ X.T), y)
