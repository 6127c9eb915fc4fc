import signal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings
from size import table

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of jobs in the background; tests press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time, so that a run says something of the change it follows;
# --hypothesis-profile=search looks further.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=3000)
settings.load_profile("repeatable")


def pytest_terminal_summary(terminalreporter):
    """Every run ends with the size of the project beside its budget."""
    terminalreporter.write_line(table())


@pytest.fixture(scope="session")
def threads():
    """A Dask cluster of two workers in this process: the same tasks as with processes, less to wait for."""
    distributed = pytest.importorskip("distributed")
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": False,
        "dashboard_address": None,
        "silence_logs": 50,
    }
    with distributed.LocalCluster(**settings) as cluster:
        yield cluster


def make_problem(n=60, d=8, seed=0, skew=0.0):
    """A noisy linear problem: X, labels 0/1, and the direction that made them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    direction = rng.standard_normal(d)
    y = (X @ direction + rng.standard_normal(n) > skew * np.linalg.norm(direction)).astype(int)
    y[:2] = 0, 1
    return X, y, direction


def make_texts(n=400, d=3000, seed=0, words=40, skew=0.5):
    """Sparse rows of unit length, like texts, with labels; more active rows than an exact step takes."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), words)
    columns = np.minimum(rng.zipf(1.3, n * words), d) - 1
    X = sp.csr_matrix((rng.random(n * words), (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    X = sp.csr_matrix(sp.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X)
    score = X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)
    return X, (score > np.quantile(score, skew)).astype(int)
