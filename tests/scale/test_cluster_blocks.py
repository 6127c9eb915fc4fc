"""A matrix whose rows lie with workers is the matrix, whatever happens to the workers."""

import os
import signal
import time
from itertools import pairwise

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import make_texts
from dask import delayed
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st

from textmargin import PriorSVC
from textmargin.errors import ClusterError, StoreError, TextmarginError
from textmargin.learners import _batch
from textmargin.scale import ClusterBlocks, _holding, cluster_blocks, connect

X = make_texts()[0].astype(np.float32).astype(np.float64)  # as single precision has it
rng = np.random.default_rng(0)
W, A = rng.standard_normal((3, X.shape[1])), rng.standard_normal((X.shape[0], 2))


@pytest.fixture(scope="module")
def inside(threads):
    with Client(threads) as connected:
        yield connected


def activate(seed=0):
    """Active rows of three classes, the last of which has none."""
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(rng.random(X.shape[0]) < share).astype(np.int64) for share in (0.5, 0.1, 0)]
    return [
        (own, *rng.random((2, own.size)).astype(np.float32), rng.random((1, own.size)).astype(np.float32))
        for own in rows
    ]


def agree(blocks, X):
    """Every question is answered as for the matrix in memory."""
    np.testing.assert_allclose(blocks.times(W), X @ W.T, atol=1e-12)
    np.testing.assert_allclose(blocks.times(W, sizes=True), abs(X) @ abs(W).T, atol=1e-12)
    np.testing.assert_allclose(blocks.transposed_times(A), (X.T @ A).T, atol=1e-12)
    np.testing.assert_allclose(blocks.squared_lengths(), X.power(2).sum(axis=1).A1, atol=1e-12)
    assert blocks.row_counts().tolist() == np.diff(X.indptr).tolist()
    counts, sizes = blocks.column_sizes()
    assert counts.tolist() == np.bincount(X.indices, minlength=X.shape[1]).tolist()
    np.testing.assert_allclose(sizes, abs(X).sum(axis=0).A1, atol=1e-12)
    rows = [*range(X.shape[0] - 1, -1, -7), 0, 0]
    assert abs(blocks.take(np.array(rows)) - X[rows]).max() == 0
    np.testing.assert_allclose(blocks.scores(W.astype(np.float32)), (X @ W.T).T, atol=1e-4)
    np.testing.assert_allclose(blocks.gradients(A.T.astype(np.float32)), (X.T @ A).T, atol=1e-4)
    return True


@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_every_question_is_answered_as_in_memory(client, n_parts):
    assert agree(ClusterBlocks.split(X, n_parts), sp.csr_matrix(X))


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, X.shape[0]), max_size=12))
def test_however_the_rows_are_cut(inside, cuts):
    """Into empty parts, parts of one row, fewer parts than workers."""
    ends = [0, *sorted(cuts), X.shape[0]]
    blocks = ClusterBlocks([delayed(X[a:b]) for a, b in pairwise(ends)], X.shape[1])
    np.testing.assert_array_equal(blocks.compute().toarray(), X.toarray())


def test_products_with_active_rows(inside):
    blocks = ClusterBlocks.split(X, 5)
    classes = activate()
    answers = blocks.activate(classes)
    P = np.random.default_rng(1).standard_normal((2, X.shape[1])).astype(np.float32)
    asked = [2, 0]
    directions = [
        np.concatenate([P[p, own[0][own[1][k] : own[1][k + 1]]] for p, k in enumerate(asked)])
        for own in answers
    ]
    images = blocks.products(asked, directions)
    rows, costs, errors, Z = classes[0]
    S = X[rows]
    pull, diagonal, cross, product = np.zeros((4, X.shape[1]))
    for (columns, ends, *sums), image in zip(answers, images, strict=True):
        own = columns[ends[0] : ends[1]]
        for total, values in zip((pull, diagonal, cross), sums, strict=True):
            total[own] += values[: ends[1]]
        product[own] += image[ends[3] - ends[2] :]
    np.testing.assert_allclose(pull, S.T @ (costs * errors), atol=1e-4)
    np.testing.assert_allclose(diagonal, S.power(2).T @ costs, atol=1e-4)
    np.testing.assert_allclose(cross, S.T @ (costs * Z[0]), atol=1e-4)
    np.testing.assert_allclose(product, S.T @ (costs * (S @ P[1])), atol=1e-4)


@pytest.mark.parametrize("n_columns", [100, 10_000])
def test_columns_that_no_row_of_a_worker_has_stay_at_home(inside, n_columns):
    """Where they are more than half."""
    few = sp.csr_matrix((np.ones(60), (np.arange(60), np.arange(60) + 30)), shape=(60, n_columns))
    blocks = ClusterBlocks.split(few, 2)
    assert [share.facts.columns is None for share in blocks._shares] == [False] * 2
    assert [share.facts.columns.size for share in blocks._shares] == [30] * 2
    ones = np.ones((1, n_columns))
    assert blocks.times(ones).tolist() == [[1.0]] * 60
    assert abs(blocks.compute() - few).max() == 0
    assert blocks.transposed_times(np.ones((60, 1))).tolist() == few.sum(axis=0).tolist()
    rows, one = np.arange(60), np.ones(60, np.float32)
    columns = [own[0].tolist() for own in blocks.activate([(rows, one, one, one[None])])]
    assert columns == [[*range(30, 60)], [*range(60, 90)]]


def test_nothing_at_all(inside):
    blocks = ClusterBlocks.split(np.zeros((3, 4)), 2)
    assert blocks.times(np.ones((2, 4))).tolist() == [[0, 0]] * 3
    assert blocks.scores(np.ones((2, 4), np.float32)).shape == (2, 3)
    assert ClusterBlocks.split(np.zeros((0, 4)), 2).shape == (0, 4)


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ([], TextmarginError, "at least one part"),
        (
            [np.ones((2, 3)), np.ones((2, 4))],
            TextmarginError,
            r"Part 1 has shape \(2, 4\), but the matrix has 3 columns",
        ),
        ([np.ones((2, 3)), np.full((1, 3), np.nan)], ValueError, "Part 1 contains NaN or infinity"),
    ],
)
def test_what_cannot_be_held_is_named(inside, parts, error, message):
    with pytest.raises(error, match=message):
        ClusterBlocks([delayed(part) for part in parts], 3)


def test_a_full_disk_is_named(inside, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_holding, "_write", full)
    with pytest.raises(
        StoreError, match=r"of worker .*No space left on device; give it a folder with more room"
    ):
        ClusterBlocks.split(X, 2)


# Workers that are lost, late or slow


@pytest.fixture
def notes(monkeypatch):
    """What is said meanwhile; Dask's clusters silence logs."""
    said = []
    monkeypatch.setattr(cluster_blocks.log, "warning", said.append)
    return said


@pytest.fixture
def mortal():
    """A cluster of its own, whose workers may be killed, and a client."""
    settings = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": "2GB", "silence_logs": 50}
    with (
        LocalCluster(n_workers=2, **settings) as cluster,
        Client(cluster, direct_to_workers=True, set_as_default=False) as client,
        client.as_current(),
    ):
        yield cluster, client


def kill(client, address):
    """The process of a worker, at once."""
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def test_a_worker_that_is_killed_between_two_passes_changes_no_bit(mortal, notes):
    _, client = mortal
    blocks = ClusterBlocks.split(X, 5)
    D = W.astype(np.float32)
    classes = activate()
    before = blocks.scores(D), blocks.transposed_times(A), blocks.activate(classes)
    directions = [np.ones(own[0].size, np.float32) for own in before[2]]
    products = blocks.products([0, 1, 2], directions)
    for share in range(2):
        kill(client, blocks._shares[share].facts.address)
        for one, other in zip(blocks.products([0, 1, 2], directions), products, strict=True):
            assert np.array_equal(one, other)
        assert np.array_equal(blocks.scores(D), before[0])
        assert np.array_equal(blocks.transposed_times(A), before[1])
    assert sum("its rows are made anew" in note for note in notes) >= 2


def test_a_worker_that_is_killed_while_it_works(mortal):
    _, client = mortal
    blocks = ClusterBlocks.split(X, 4)
    expected = blocks.times(W)
    for _ in range(3):
        future = blocks._shares[0].holding.times(W, False)
        kill(client, blocks._shares[0].facts.address)
        assert np.array_equal(blocks.times(W), expected)
        del future


def test_the_only_worker_is_killed(mortal):
    """Its nanny starts another one, which is waited for."""
    cluster, client = mortal
    cluster.scale(1)
    while len(client.nthreads()) > 1:
        time.sleep(0.05)
    blocks = ClusterBlocks.split(X, 3)
    expected = blocks.times(W)
    kill(client, blocks._shares[0].facts.address)
    assert np.array_equal(blocks.times(W), expected)


def test_a_worker_that_comes_late_takes_what_comes_after(mortal):
    cluster, client = mortal
    cluster.scale(1)
    while len(client.nthreads()) > 1:
        time.sleep(0.05)
    first = ClusterBlocks.split(X, 4)
    cluster.scale(2)
    client.wait_for_workers(2)
    second = ClusterBlocks.split(X, 4)
    assert [len({share.facts.address for share in blocks._shares}) for blocks in (first, second)] == [1, 2]
    np.testing.assert_allclose(first.transposed_times(A), second.transposed_times(A), atol=1e-12)


def test_all_workers_are_gone(mortal, monkeypatch):
    cluster, client = mortal
    blocks = ClusterBlocks.split(X, 4)
    monkeypatch.setattr(cluster_blocks, "worker_threads", lambda client: real(client, 0.5))
    cluster.scale(0)
    while client.nthreads():
        time.sleep(0.05)
    with pytest.raises(ClusterError, match="has no workers; start some"):
        blocks.times(W)


real = cluster_blocks.worker_threads


def test_a_worker_that_is_slow_is_named_and_waited_for(inside, monkeypatch, notes):
    monkeypatch.setattr(cluster_blocks, "_POLL", 0.1)
    monkeypatch.setattr(cluster_blocks, "_SLOW", 0.1)
    blocks = ClusterBlocks.split(X, 2)
    monkeypatch.setattr(_holding.Holding, "row_counts", lambda self: (time.sleep(0.3), np.zeros(1))[1])
    assert blocks.row_counts().size == 2
    assert "is slow; waiting for it" in notes[0]


def test_an_error_of_the_work_is_no_loss(inside):
    blocks = ClusterBlocks.split(X, 2)
    with pytest.raises(ValueError, match="A has other rows"):
        blocks.transposed_times(np.ones((3, 1)))


def test_texts_that_change_between_two_readings_are_noticed(mortal, tmp_path):
    _, client = mortal
    (tmp_path / "n").write_text("3")

    def read():
        return np.ones((int((tmp_path / "n").read_text()), 2))

    blocks = ClusterBlocks([delayed(read, pure=False)() for _ in range(2)], 2)
    (tmp_path / "n").write_text("4")
    kill(client, blocks._shares[0].facts.address)
    with pytest.raises(ClusterError, match="are not what they were; did files change"):
        blocks.times(np.ones((1, 2)))


def test_several_threads_a_worker_give_the_same_bits():
    found = []
    for threads in (1, 2):
        with connect(workers=1, threads_per_worker=threads):
            blocks = ClusterBlocks.split(X, 4)
            assert [share.facts.n_threads for share in blocks._shares] == [threads]
            found.append((blocks.scores(W.astype(np.float32)), blocks.transposed_times(A)))
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("settings", [{"workers": 0}, {"workers": 1, "threads_per_worker": 0}])
def test_no_workers_or_no_threads_are_refused(settings):
    with pytest.raises(ClusterError, match=r"must be 1 or more\. Got 0"), connect(**settings):
        pass


# Learning


@pytest.fixture
def single(monkeypatch):
    """Small matrices are taken to memory; larger ones are not, nor shall these be."""
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)


def topics():
    scores = X @ np.random.default_rng(4).standard_normal((X.shape[1], 3))
    return (scores > np.quantile(scores, 0.7, axis=0)).astype(int)


@pytest.mark.parametrize(
    "settings", [{}, {"class_weight": "balanced", "C": 5.0}, {"fit_intercept": False}], ids=str
)
def test_a_learner_finds_what_it_finds_in_memory(client, single, settings):
    Y = topics()
    memory = PriorSVC(tol=1e-7, **settings).fit(X, Y)
    model = PriorSVC(tol=1e-7, **settings).fit(ClusterBlocks.split(X, 5), Y)
    np.testing.assert_allclose(model.decision_function(X), memory.decision_function(X), atol=2e-3)


def test_labels_in_a_collection(inside, single):
    y = topics()[:, 0]
    blocks = ClusterBlocks.split(X, 3)
    expected = PriorSVC().fit(blocks, y).coef_
    for labels in (
        da.from_array(y, chunks=100),
        dd.from_pandas(pd.Series(y), npartitions=2),
        db.from_sequence(y.tolist()),
    ):
        assert np.array_equal(PriorSVC().fit(blocks, labels).coef_, expected)


def test_a_worker_that_is_killed_while_it_learns_changes_no_bit(mortal, single, monkeypatch):
    _, client = mortal
    Y = topics()
    expected = PriorSVC().fit(ClusterBlocks.split(X, 5), Y).coef_
    asked = []
    ask = ClusterBlocks._ask

    def kill_some(self, method, arguments=None):
        asked.append(method)
        if len(asked) in (9, 14):
            kill(client, self._shares[len(asked) % 2].facts.address)
        return ask(self, method, arguments)

    monkeypatch.setattr(ClusterBlocks, "_ask", kill_some)
    model = PriorSVC().fit(ClusterBlocks.split(X, 5), Y)
    assert {"scores", "activate", "products"} <= {*asked}
    assert len(asked) > 14
    assert np.array_equal(model.coef_, expected)


def test_slow_to_tell_its_shape_is_not_lost(inside, monkeypatch):
    """Which columns a share has may be megabytes: it is waited for, and not made anew."""
    made, facts = [], _holding.Holding.facts

    def write(*arguments, own=_holding._write):
        made.append(arguments)
        return own(*arguments)

    def facts_later(self):
        time.sleep(3 * cluster_blocks._POLL)
        return facts(self)

    monkeypatch.setattr(cluster_blocks, "_POLL", 0.1)
    monkeypatch.setattr(_holding, "_write", write)
    monkeypatch.setattr(_holding.Holding, "facts", facts_later)
    blocks = ClusterBlocks.split(X, 4)
    assert blocks.shape == X.shape
    assert len(made) == len(blocks._shares)
