"""`joblib.parallel_config(backend="dask")` moves the work to the workers, and the numbers stay the same."""

import cloudpickle
import numpy as np
import pytest
from conftest import make_texts
from distributed import Client, get_task_stream
from joblib import parallel_config

from textmargin import PriorSVC, SubsequenceKernel, ThresholdClassifier, Utility
from textmargin._system import parallel

KERNEL = SubsequenceKernel(3, n_jobs=1, progress=False)


@pytest.fixture(scope="module")
def client():
    """Of two worker processes, in which nothing of these tests is changed."""
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as connected:
        yield connected


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


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_folds_in_threads(n_jobs):
    X, y = make_texts(n=150, d=300)
    thresholds = [
        ThresholdClassifier(PriorSVC(), scores="cv", n_jobs=n).fit(X, y).thresholds_ for n in (None, n_jobs)
    ]
    np.testing.assert_allclose(*thresholds, rtol=1e-9)
