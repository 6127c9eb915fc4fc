"""KernelSVC: the machine of the whole kernel matrix from as few kernel values as it takes."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from samples import corpus
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, LinearSVC

from textmargin import KernelSVC, SpectrumKernel, SubsequenceKernel, TextClassifier, ThresholdClassifier
from textmargin.errors import LabelError, NotTextError, TextmarginError
from textmargin.learners._lazy import LazyGram


def points(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.5).astype(int)


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


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("chunk_size", [2, 10, 1000])
def test_is_the_machine_of_the_whole_matrix(C, chunk_size):
    X, y = points()
    model = KernelSVC("rbf", C=C, chunk_size=chunk_size).fit(X, y)
    whole = SVC(C=C, gamma=1 / 3, tol=1e-8).fit(X, y)
    new = points(50, seed=1)[0]
    np.testing.assert_allclose(model.decision_function(new), whole.decision_function(new), atol=2e-4)
    assert model.support_.tolist() == sorted(whole.support_.tolist())
    assert model.n_support_.sum() == whole.n_support_.sum()


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("chunk_size", [2, 10, 1000])
def test_without_intercept_is_linear_svc_in_the_space_of_the_kernel(C, chunk_size):
    X, y = points()
    new = points(50, seed=1)[0]
    model = KernelSVC("rbf", C=C, chunk_size=chunk_size, fit_intercept=False, tol=1e-6).fit(X, y)
    values, vectors = np.linalg.eigh(rbf_kernel(np.vstack([X, new])))
    coordinates = vectors * np.sqrt(np.maximum(values, 0))
    whole = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(
        coordinates[: len(y)], y
    )
    assert model.intercept_ == 0
    np.testing.assert_allclose(
        model.decision_function(new), whole.decision_function(coordinates[len(y) :]), atol=2e-4
    )


def test_without_intercept_it_converges_where_the_kernel_has_low_rank(recwarn):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    model = KernelSVC("linear", C=100, fit_intercept=False, tol=1e-6).fit(X, y)
    whole = LinearSVC(C=100, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=20_000_000).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=2e-3)
    assert not [warning for warning in recwarn if "misses margins" in str(warning.message)]


@pytest.mark.parametrize("chunk_size", [50, None])
@pytest.mark.parametrize("intercept", [True, False])
def test_says_when_it_stops_early(monkeypatch, chunk_size, intercept):
    monkeypatch.setattr("textmargin.learners._gram_dual._STEPS_PER_TEXT", 0)
    monkeypatch.setattr("textmargin.learners._jump._MAX_JUMPS", 0)
    with pytest.warns(ConvergenceWarning, match="still misses margins by .* a smaller C, a larger tol"):
        KernelSVC("rbf", fit_intercept=intercept, chunk_size=chunk_size).fit(*points())


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
        atol=1e-5,
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
        atol=1e-6,
    )


def test_several_classes_are_each_against_the_rest():
    texts, topics = corpus()
    kernel = SubsequenceKernel(3)
    K = kernel(texts)
    model = KernelSVC(kernel).fit(texts, topics)
    expected = [
        SVC(kernel="precomputed", tol=1e-8).fit(K, topics == topic).decision_function(K)
        for topic in model.classes_
    ]
    np.testing.assert_allclose(model.decision_function(texts), np.transpose(expected), atol=2e-4)
    assert (model.predict(texts) == model.classes_[np.argmax(expected, axis=0)]).all()
    indicator = (topics[:, None] == model.classes_).astype(int)
    several = KernelSVC(kernel).fit(texts, sp.csr_matrix(indicator))
    np.testing.assert_allclose(several.decision_function(texts), np.transpose(expected), atol=2e-4)
    assert (several.predict(texts) == (np.transpose(expected) >= 0)).all()


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_topic_with_one_positive(C):
    """No support vector is free then; the intercept is the middle of what all texts allow, as in LIBSVM."""
    texts, topics = corpus()
    y = np.zeros(len(texts), dtype=int)
    y[np.flatnonzero(topics == "oil")[0]] = 1
    K = SubsequenceKernel(3)(texts)
    expected = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y).decision_function(K)
    found = KernelSVC(SubsequenceKernel(3), C=C, chunk_size=5).fit(texts, y).decision_function(texts)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_every_pair_is_asked_for_once_across_topics_and_few_are():
    X, _ = points(800)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] + X[:, 1] > 1]).astype(int)
    kernel = Counted(X)
    model = KernelSVC(kernel, C=100, chunk_size=20).fit(X, Y)
    assert np.triu(kernel.asked).max() == 1  # of rows with themselves both halves are asked for at once
    assert np.triu(kernel.asked > 0).sum() == model.n_kernel_evaluations_ < 0.7 * 800 * 801 / 2
    before = np.triu(kernel.asked).sum()
    model.predict(np.delete(X, model.support_, axis=0)[:7])
    assert np.triu(kernel.asked).sum() - before == 7 * model.support_.size


def test_lazy_columns_are_those_of_the_matrix():
    X, _ = points(30)
    K = rbf_kernel(X)

    class Pairs:
        def __len__(self):
            return 30

        def block(self, rows, columns=None):
            return K[np.ix_(rows, rows if columns is None else columns)]

    gram = LazyGram(Pairs())
    rng = np.random.default_rng(0)
    for size in (3, 1, 8, 2, 20):
        rows, columns = (np.sort(rng.choice(30, size, replace=False)) for _ in range(2))
        np.testing.assert_allclose(gram.block(rows, columns), K[np.ix_(rows, columns)], rtol=1e-12)
    gram.compute(np.arange(30))
    assert gram.n_evaluations == 30 * 31 // 2


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


def test_a_grid_search_reuses_what_is_kept(tmp_path):
    texts, topics = corpus()
    model = KernelSVC(SubsequenceKernel(2), cache=tmp_path)
    GridSearchCV(model, {"kernel__decay": [0.2, 0.8], "C": [0.1, 10]}, cv=3).fit(texts, topics)
    again = clone(model).set_params(kernel__decay=0.8, C=1.0).fit(texts[::-1], topics[::-1])
    assert again.n_kernel_evaluations_ == 0
    forgetful = KernelSVC(SubsequenceKernel(2, decay=0.8)).fit(texts[::-1], topics[::-1])
    np.testing.assert_allclose(again.decision_function(texts), forgetful.decision_function(texts), atol=2e-4)
    rows = KernelSVC("rbf", cache=tmp_path)
    X, y = points()
    assert rows.fit(X, y).n_kernel_evaluations_ > 0
    assert rows.fit(X, y).n_kernel_evaluations_ == 0
    np.testing.assert_allclose(
        rows.decision_function(X), KernelSVC("rbf").fit(X, y).decision_function(X), atol=1e-9
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


def test_sparse_and_dense_rows_share_a_cache(tmp_path):
    X, y = points()
    rows = sp.csr_matrix(np.where(X > 0, X, 0))
    kept = KernelSVC("rbf", cache=tmp_path).fit(rows, y)
    plain = KernelSVC("rbf").fit(rows, y)
    np.testing.assert_allclose(
        kept.decision_function(rows.toarray()), plain.decision_function(rows), atol=1e-9
    )
    unsorted = sp.csr_matrix((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 3))
    KernelSVC("rbf", cache=tmp_path).fit(sp.vstack([unsorted, rows]), [0, *y])
    assert unsorted.indices.tolist() == [1, 0]


def test_under_a_threshold():
    texts, topics = corpus()
    y = (topics == "oil").astype(int)
    model = ThresholdClassifier(KernelSVC(SubsequenceKernel(3)), scores="cv").fit(texts, y)
    assert (model.predict(texts) == y).mean() > 0.9


def test_verbose_tells_every_round(capsys):
    X, y = points()
    KernelSVC("rbf", verbose=1, chunk_size=10).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[KernelSVC] 1, round 1: 10 texts")
    assert "0 others miss the margin" in lines[-1]
    texts, topics = corpus(60)
    known = {
        name: lambda X, name=name: np.array([text.count(name[0]) for text in X]) for name in ("oil", "grain")
    }
    KernelSVC(SubsequenceKernel(2), verbose=1, prior_scores=known, trust="ridge").fit(texts, topics)
    told = [line.split("'")[1] for line in capsys.readouterr().out.splitlines() if "round 1:" in line]
    assert told == ["grain", "money", "oil", "grain", "oil"]


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
        (KernelSVC(chunk_size=1), [[1.0], [2.0]], [0, 1], ValueError, "chunk_size"),
        (
            KernelSVC(lambda A, B: A @ B.T, cache="x"),
            [[1.0], [2.0]],
            [0, 1],
            ValueError,
            "cache keeps kernels",
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


def test_the_kernel_machine_loads_without_the_compiled_core():
    """A GPU does without."""
    code = (
        "import sys; sys.modules['textmargin.core'] = None; from textmargin import KernelSVC, "
        "SubsequenceKernel"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
