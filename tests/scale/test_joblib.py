"""`joblib.parallel_config(backend="dask")` moves the work to the workers, and the numbers stay the same."""

import cloudpickle
import numpy as np
import pytest
from conftest import make_texts
from distributed import get_task_stream
from joblib import parallel_config
from samples import corpus
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from textmargin import (
    SVM2K,
    GazePrior,
    KernelStore,
    KernelSVC,
    PriorSVC,
    SubsequenceKernel,
    ThresholdClassifier,
    Utility,
)
from textmargin._system import parallel

KERNEL = SubsequenceKernel(3, n_jobs=1, progress=False)


@pytest.fixture
def on_cluster(client):
    """Runs something with joblib's work on the workers; at least so many tasks must have been there."""

    def run(work, n_tasks):
        with get_task_stream(client) as stream, parallel_config(backend="dask"):
            found = work()
        done = [task for task in stream.data if "batch_of" in str(task["key"])]
        assert sum(int(str(task["key"]).split("_calls")[0].rsplit("_", 1)[1]) for task in done) >= n_tasks
        return found

    return run


def forbid(monkeypatch, place):
    """Nothing of this in the process of the test: the workers have their own."""

    def refused(*args, **kwargs):
        raise AssertionError(f"{place} ran in this process")

    monkeypatch.setattr(place, refused)


def topics_of(n=120):
    X, y = make_texts(n=n, d=300)
    return X, (y + (np.arange(n) % 3 == 0)) % 3


# One against the rest


def test_classes_of_a_linear_learner(on_cluster, monkeypatch):
    X, y = topics_of()
    here = PriorSVC().fit(X, y)
    expected = here.coef_, here.loo_decision_function()
    forbid(monkeypatch, "textmargin.learners._batch.newton")
    forbid(monkeypatch, "textmargin.learners.trust.leave_one_out")
    there = on_cluster(lambda: PriorSVC().fit(X, y), n_tasks=3)
    np.testing.assert_allclose(there.coef_, expected[0], rtol=1e-9, atol=1e-12)
    scores = on_cluster(there.loo_decision_function, n_tasks=3)
    np.testing.assert_allclose(scores, expected[1], rtol=1e-9, atol=1e-12)


def test_classes_of_a_kernel_machine(on_cluster, monkeypatch):
    X, y = topics_of(60)
    model = KernelSVC("rbf", chunk_size=20)
    here = model.fit(X, y).decision_function(X)
    forbid(monkeypatch, "textmargin.learners._hinge.solve_dual")
    there = on_cluster(lambda: model.fit(X, y), n_tasks=3).decision_function(X)
    np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-12)


def test_classes_of_two_views(on_cluster, monkeypatch):
    X, y = topics_of()
    second = np.random.default_rng(0).normal(size=(len(y), 2))
    here = SVM2K().fit(X, y, second=second)
    forbid(monkeypatch, "textmargin.learners.two_view.newton")
    there = on_cluster(lambda: SVM2K().fit(X, y, second=second), n_tasks=3)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9, atol=1e-12)


def test_categories_of_readings(on_cluster, monkeypatch):
    """Dask's backend gives no generators, which these were asked for."""
    rng = np.random.default_rng(0)
    texts, topics = corpus(30)
    names = dict(enumerate(texts))
    rows = [(i, word, rng.random(), rng.random()) for i, text in names.items() for word in text.split()]
    readings = dict(
        zip(("doc_id", "word", "time", "count"), map(np.array, zip(*rows, strict=True)), strict=True)
    )
    prior = GazePrior(readings, names, dict(enumerate(topics)), regressor=Ridge(), progress=False)
    here = prior.fit().weights_
    forbid(monkeypatch, "textmargin.knowledge.gaze.clone")
    assert on_cluster(prior.fit, n_tasks=3).weights_ == here


def test_a_class_does_not_carry_the_texts(monkeypatch):
    X, y = topics_of(600)
    sizes = []

    class Watched(parallel.Parallel):
        def __call__(self, jobs):
            jobs = list(jobs)
            sizes.extend(len(cloudpickle.dumps((work, arguments[1:]))) for work, arguments, _ in jobs)
            return super().__call__(jobs)

    monkeypatch.setattr(parallel, "Parallel", Watched)
    PriorSVC().fit(X, y)
    assert len(sizes) == 3
    assert max(sizes) < 0.2 * len(cloudpickle.dumps(X))


# Cross-validation


def test_folds_that_thresholds_are_set_on(on_cluster, monkeypatch):
    X, y = make_texts(n=150, d=300)
    model = ThresholdClassifier(PriorSVC(), scores="cv", utility=Utility(tp=5))
    here = model.fit(X, y).thresholds_
    train = PriorSVC.fit
    monkeypatch.setattr(
        PriorSVC, "fit", lambda self, X, y: train(self, X, y) if len(y) == 150 else pytest.fail("a fold here")
    )
    there = on_cluster(lambda: model.fit(X, y), n_tasks=5).thresholds_
    np.testing.assert_allclose(there, here, rtol=1e-9)


def test_folds_of_scikit_learn(on_cluster, monkeypatch):
    X, y = make_texts(n=150, d=300)
    here = cross_val_score(PriorSVC(), X, y)
    forbid(monkeypatch, "textmargin.learners._batch.newton")
    np.testing.assert_allclose(on_cluster(lambda: cross_val_score(PriorSVC(), X, y), n_tasks=5), here)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_folds_in_threads(n_jobs):
    X, y = make_texts(n=150, d=300)
    thresholds = [
        ThresholdClassifier(PriorSVC(), scores="cv", n_jobs=n).fit(X, y).thresholds_ for n in (None, n_jobs)
    ]
    np.testing.assert_allclose(*thresholds, rtol=1e-9)


# Gram tiles


def test_tiles_of_a_kernel_matrix(on_cluster, monkeypatch, tmp_path):
    """Also where the same pair is asked for both ways, which is one computation."""
    texts = [f"{text} {i}" for i, text in enumerate(corpus(200)[0])]
    K = KERNEL(texts)
    forbid(monkeypatch, f"{type(KERNEL.over(texts)).__module__}.{type(KERNEL.over(texts)).__name__}.block")
    store = KernelStore(tmp_path / "symmetric")
    np.testing.assert_allclose(on_cluster(lambda: store.gram(KERNEL, texts), n_tasks=6), K, atol=1e-6)
    np.testing.assert_allclose(store.gram(KERNEL, texts), K, atol=1e-6)  # kept: nobody computes
    pairs = KernelStore(tmp_path / "both ways").over(KERNEL.over(texts))
    found = on_cluster(lambda: pairs.block(np.arange(180), 20 + np.arange(180)), n_tasks=6)
    np.testing.assert_allclose(found, K[:180, 20:], atol=1e-6)
    assert pairs.n_computed == 180 * 180 - 160 * 159 // 2


def test_a_kernel_machine_on_tiles(on_cluster, monkeypatch, tmp_path):
    texts, topics = corpus(90)
    here = KernelSVC(KERNEL).fit(texts, topics)
    forbid(monkeypatch, f"{type(KERNEL.over(texts)).__module__}.{type(KERNEL.over(texts)).__name__}.block")
    there = on_cluster(lambda: KernelSVC(KERNEL, cache=tmp_path).fit(texts, topics), n_tasks=3)
    np.testing.assert_allclose(there.dual_coef_, here.dual_coef_, atol=1e-5)


def test_tiles_in_processes(tmp_path):
    texts = [f"{text} {i}" for i, text in enumerate(corpus(150)[0])]
    np.testing.assert_allclose(KernelStore(tmp_path).gram(KERNEL, texts, n_jobs=2), KERNEL(texts), atol=1e-6)


def test_what_cannot_be_written_to(tmp_path):
    """Arrays come to processes through shared memory, read-only, where they are large; here all are. Ray's
    always are.
    """
    X, y = topics_of(60)
    texts, topics = corpus(90)

    def numbers(folder):
        yield PriorSVC().fit(X, y).coef_
        yield PriorSVC().fit(X, y).loo_decision_function()
        yield SVM2K().fit(X, y, second=X.toarray()[:, :3]).coef_
        yield KernelSVC(KERNEL, cache=folder).fit(texts, topics).decision_function(texts)
        yield ThresholdClassifier(PriorSVC(), scores="cv").fit(X, y).thresholds_

    here = list(numbers(tmp_path / "here"))
    with parallel_config(backend="loky", n_jobs=2, max_nbytes=1):
        there = list(numbers(tmp_path / "there"))
    for found, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)
