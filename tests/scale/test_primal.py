"""Training on texts in parts ends where training in memory does."""

import os
import resource
import signal
import threading
from itertools import pairwise
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import make_problem, make_texts
from distributed import Client, LocalCluster

import textmargin
from textmargin import core
from textmargin.errors import ClusterError, LabelError, PriorError, StoreError, TextmarginError
from textmargin.learners import newton
from textmargin.scale import Blocks, PriorSVC
from textmargin.scale._driver import Passes
from textmargin.scale._line_search import search_plane, solve_small
from textmargin.scale._median import medians
from textmargin.scale._problems import _squared_lengths
from textmargin.scale._spill import SpilledArrays, SpilledMatrix
from textmargin.scale._targets import read_targets

X, y = make_texts()
Y = np.column_stack([y, make_texts(skew=0.9)[1], np.arange(400) % 40 == 3]).astype(int)
PRIORS = np.abs(np.random.default_rng(1).standard_normal((2, X.shape[1])))


@pytest.fixture
def inside(threads):
    with Client(threads) as connected:
        yield connected


def agree(model, memory, tol=1e-6):
    """Weights, intercepts and trust are the same, and so are the steps that led there."""
    assert np.abs(model.coef_ - memory.coef_).max() < tol
    assert np.abs(model.intercept_ - memory.intercept_).max() < tol
    assert np.allclose(model.trust_, memory.trust_, atol=tol)
    assert model.n_iter_.tolist() == memory.n_iter_.tolist()
    return True


def test_the_optimum_is_that_of_memory(client):
    assert agree(PriorSVC().fit(Blocks.split(X, 7), Y), textmargin.PriorSVC().fit(X, Y))


@pytest.mark.parametrize("n_parts", [1, 2])
def test_however_the_texts_are_cut(inside, n_parts):
    assert agree(PriorSVC().fit(Blocks.split(X, n_parts), Y), textmargin.PriorSVC().fit(X, Y))


@pytest.mark.parametrize(
    "settings",
    [
        {"fit_intercept": False, "C": 10.0},
        {"class_weight": "balanced", "margins": (1.0, 0.3)},
        {"class_weight": {0: 3.0, 2: 0.5}},
        {"prior": PRIORS, "trust": "free"},
        {"prior": PRIORS[0], "trust": "ridge", "trust_strength": 30.0},
        {"prior": PRIORS[0], "trust": 0.05},
    ],
    ids=str,
)
def test_every_setting_that_sums_allow(inside, settings):
    assert agree(PriorSVC(**settings).fit(Blocks.split(X, 3), Y), textmargin.PriorSVC(**settings).fit(X, Y))


@pytest.mark.parametrize("exact_size", [0, 64, 10**9], ids=["conjugate gradients", "as it comes", "exact"])
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_every_kind_of_step(inside, monkeypatch, exact_size, sparse):
    """Few columns and many active texts: exact steps go by normal equations; many columns: by the active texts."""
    monkeypatch.setattr(newton, "EXACT_SIZE", exact_size)
    matrix, labels = (X, y) if sparse else make_problem(120, 8)[:2]
    assert agree(PriorSVC().fit(Blocks.split(matrix, 3), labels), textmargin.PriorSVC().fit(matrix, labels))


def test_empty_parts_and_a_topic_that_is_in_one_part_only(inside):
    order = np.argsort(-Y[:, 2], kind="stable")  # its ten texts first
    ends = [0, 0, 50, 50, 200, 400, 400]
    rows = [order[a:b] for a, b in pairwise(ends)]
    model = PriorSVC().fit(Blocks.of([X[some] for some in rows]), [Y[some] for some in rows])
    assert agree(model, textmargin.PriorSVC().fit(X[order], Y[order]))


def test_weighted_texts_and_texts_of_no_weight(inside):
    weight = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    model = PriorSVC(class_weight="balanced", prior=PRIORS[0], trust="ridge").fit(Blocks.split(X, 3), Y, weight)
    memory = textmargin.PriorSVC(class_weight="balanced", prior=PRIORS[0], trust="ridge").fit(X, Y, weight)
    assert agree(model, memory)


def test_classes_by_name_from_columns_and_arrays(inside):
    names = np.array(["corn", "oil", "wheat"])[Y[:, 0] + Y[:, 1]]
    memory = textmargin.PriorSVC().fit(X, names)
    blocks = Blocks.split(X, 4).persist()
    cuts = tuple(blocks.sizes)
    model = PriorSVC().fit(blocks, dd.from_pandas(pd.Series(names), npartitions=4))
    assert agree(model, memory)
    assert list(model.classes_) == ["corn", "oil", "wheat"]
    as_array = read_targets(da.from_array(names, chunks=(cuts,)), None, blocks, "PriorSVC")
    assert as_array.counts.n_positive.tolist() == [(names == name).sum() for name in model.classes_]
    assert np.array_equal(model.predict(blocks).compute(), memory.predict(X))
    assert np.allclose(model.decision_function(blocks).compute(), memory.decision_function(X))


def test_scores_and_labels_are_shaped_as_in_memory(inside):
    for labels in (y, Y):
        memory = textmargin.PriorSVC().fit(X, labels)
        model = PriorSVC(warm_start=True).fit(X, labels)  # in memory, too
        for parts in (Blocks.split(X, 3), Blocks(Blocks.split(X, 3).parts, X.shape[1])):  # of known sizes and of unknown
            assert np.allclose(model.decision_function(parts).compute(), memory.decision_function(X))
            assert np.array_equal(model.predict(parts).compute(), memory.predict(X))
        assert model.scores(Blocks.split(X, 3)).compute().shape == (400, len(model.coef_))


def test_a_sparse_coef_scores_as_the_dense_one(inside):
    blocks = Blocks.split(X, 3)
    sparse, dense = (PriorSVC(sparse_coef=flag).fit(blocks, Y) for flag in (True, False))
    assert sp.issparse(sparse.coef_)
    np.testing.assert_allclose(sparse.decision_function(blocks).compute(), dense.decision_function(blocks).compute(), atol=1e-4)


def test_a_warm_start_goes_on_from_there(inside):
    blocks = Blocks.split(X, 2).persist()
    model = PriorSVC(warm_start=True, tol=1e-9).fit(blocks, Y)
    first, again = model.n_iter_.sum(), model.fit(blocks, Y).n_iter_.sum()
    assert again < first


def test_the_model_can_be_kept_without_dask(inside, tmp_path):
    model = PriorSVC().fit(Blocks.split(X, 2), Y)
    plain = model.in_memory()
    textmargin.save(plain, tmp_path / "model.tmm")
    assert type(plain) is textmargin.PriorSVC
    assert np.array_equal(textmargin.load(tmp_path / "model.tmm").decision_function(X), model.decision_function(X))
    with pytest.raises(TextmarginError, match="need all training texts in one memory"):
        model.loo_decision_function()


@pytest.mark.parametrize("n_workers", [2, 1], ids=["one of two", "the only one"])
def test_a_worker_is_killed_in_the_middle(monkeypatch, n_workers):
    """What it held is computed again, on the worker that takes its place or on the other one."""
    memory = textmargin.PriorSVC().fit(X, Y)
    victims = []
    run = Passes.run

    def kill_once(self, requests):
        if self.n_passes == 12:
            victims.append(next(iter(self.client.run(os.getpid).values())))
            timer = threading.Timer(0.005, os.kill, (victims[0], signal.SIGKILL))
            timer.start()
        return run(self, requests)

    monkeypatch.setattr(Passes, "run", kill_once)
    settings = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": "2GB", "silence_logs": 50}
    cluster = LocalCluster(n_workers=n_workers, **settings)
    with cluster, Client(cluster) as own:
        model = PriorSVC().fit(Blocks.split(X, 5), Y)
        assert victims
        assert victims[0] not in own.run(os.getpid).values()
    assert agree(model, memory)


def test_progress_is_told_pass_by_pass(inside, capsys):
    PriorSVC(verbose=1).fit(Blocks.split(X, 2), Y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("pass 1: objective ")
    assert lines[-1].split(", ")[1] == "0 of 3 topics go on"
    objectives = [float(line.split()[3].rstrip(",")) for line in lines]
    assert objectives[-1] < objectives[0]


@pytest.mark.parametrize(
    ("settings", "labels", "error", "message"),
    [
        ({}, np.zeros(400), LabelError, "needs at least two classes"),
        ({}, np.column_stack([y, np.zeros(400, int)]), LabelError, "class 1 has no example for it among 400 texts"),
        ({}, y[:300], TextmarginError, "y has 300 rows but X has 400"),
        ({}, [y[:200], y[:100]], TextmarginError, "Part 1 of y has 100 rows, but this part of X has 200"),
        ({}, da.from_array(y, chunks=100), TextmarginError, "y has 4 parts but X has 2"),
        ({}, [np.where(y[:200], "a", "b"), y[200:]], LabelError, "Part 1 of y has .*, which is none of the classes"),
        ({}, np.linspace(0, 1, 400), LabelError, "Unknown label type: continuous"),
        ({"prior": PRIORS}, Y, PriorError, "trust='auto' weighs priors by leave-one-out scores"),
        ({"prior": PRIORS, "trust": "nonneg"}, Y, PriorError, "use trust='ridge'"),
        ({"C": -1}, Y, ValueError, "The 'C' parameter of PriorSVC"),
    ],
)
def test_what_cannot_be_learnt_is_said(inside, settings, labels, error, message):
    with pytest.raises(error, match=message):
        PriorSVC(**settings).fit(Blocks.split(X, 2), labels)


def test_without_a_cluster_the_next_step_is_named():
    with pytest.raises(ClusterError, match=r"start one first: dask\.distributed\.Client\(\)"):
        PriorSVC().fit(Blocks.split(X, 2), Y)


def test_parts_must_have_the_same_columns_and_finite_numbers(inside):
    with pytest.raises(TextmarginError, match=r"must have the same columns; got \[2, 3\]"):
        Blocks.of([np.ones((2, 2)), np.ones((2, 3))])
    with pytest.raises(ValueError, match="NaN or infinity"):
        Blocks.of([np.full((2, 2), np.nan)]).persist()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("n_extra", [0, 1, 2])
def test_the_search_in_a_plane_is_that_of_the_compiled_core(directed, n_extra):
    """`_line_search.py` and `search.hpp` are twins."""
    if not directed and n_extra == 0:
        return
    rng = np.random.default_rng(n_extra)
    shortfall, costs = rng.standard_normal(80), rng.random(80) + 0.1
    signs, move, Z = np.where(rng.random(80) < 0.3, 1.0, -1.0), rng.standard_normal(80), rng.standard_normal((80, n_extra))
    k = directed + n_extra
    g, A = rng.standard_normal(k), np.diag(rng.random(k))
    D = signs[:, None] * (np.column_stack([move, Z]) if directed else Z)

    def bent(theta):
        after = shortfall - D @ theta
        on = after > 0
        loss = float(costs[on] @ after[on] ** 2)
        return D[on].T @ (costs[on] * after[on]), (D[on].T * costs[on]) @ D[on], int(((shortfall > 0) != on).sum()), loss

    search, answer = search_plane(bent(np.zeros(k)), g, A), None
    while True:
        try:
            answer = bent(search.send(answer))
        except StopIteration as end:
            theta, stayed = end.value
            break
    expected, _, expected_stayed = core.search_plane(shortfall, signs, costs, move if directed else np.empty(0), Z, g, A)
    assert theta == pytest.approx(expected)
    assert stayed == expected_stayed


def test_what_changes_nothing_stays_at_zero():
    H = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    assert solve_small(H, np.array([4.0, 4.0, 1.0])) == pytest.approx([2.0, 0.0, 0.0])


@pytest.mark.parametrize("size", [0, 1, 7, 40])
def test_medians_by_counting_are_exact(inside, size):
    numbers = np.random.default_rng(size).lognormal(0, 20, (size, 1))
    parts = Blocks.split(numbers, 20)
    weights = [SpilledArrays([np.empty(0), np.ones(n)]) for n in parts.sizes]
    assert medians(_squared_lengths, parts, weights, 1)[0] == (np.median(numbers[:, 0] ** 2) if size else 0)


def test_arrays_on_disk_come_back_and_travel_with_their_contents():
    import pickle

    arrays = SpilledArrays([np.arange(6.0).reshape(3, 2), np.empty((0, 2), np.int32)])
    arrays.write(0, 1, np.array([[9.0, 8.0]]))
    for copy in (arrays, pickle.loads(pickle.dumps(arrays))):
        assert copy.read(0).tolist() == [[0, 1], [9, 8], [4, 5]]
        assert copy.read(1).shape == (0, 2)
    matrix = SpilledMatrix(X)
    for copy in (matrix, pickle.loads(pickle.dumps(matrix))):
        assert abs(copy.matrix() - X).max() == 0
    assert sp.issparse(matrix.matrix())


def test_more_parts_than_files_may_be_open():
    """A worker has a file or more open for each part; systems allow 1,024 unless they are asked for more."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/proc/self/fd").iterdir()]) + 10, allowed[1]))
    try:
        found = [SpilledArrays([np.full(3, i)]) for i in range(100)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, allowed)
    assert [one.read(0)[0] for one in found] == list(range(100))


def test_a_folder_that_cannot_be_written_to_is_named(monkeypatch):
    monkeypatch.setattr("textmargin.scale._spill._folder", lambda: "/no/such/folder")
    with pytest.raises(StoreError, match="A partition cannot be kept in '/no/such/folder': No such file"):
        SpilledArrays()
