"""A model of texts in parts is the model of the same texts in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import normalize

from textmargin import Contrasts, PriorSVC
from textmargin.learners import _batch
from textmargin.learners._grouping import split_groups, table_key
from textmargin.learners._objectives import Objectives
from textmargin.learners.matrix import stack
from textmargin.learners.objective import ExtraColumns, Objective
from textmargin.learners.trust import without

from .block_rows import BlockRows

N, D, N_TOPICS = 900, 400, 5


def corpus(seed=0, n_topics=N_TOPICS):
    """Texts of some forty words, and topics that their words tell but for some noise."""
    rng = np.random.default_rng(seed)
    X = sp.random(N, D, 0.1, format="csr", random_state=seed)
    X = normalize(sp.csr_matrix(X.astype(np.float32), dtype=np.float64)).astype(np.float32).astype(np.float64)
    scores = X @ rng.normal(size=(D, n_topics)) + 0.3 * rng.normal(size=(N, n_topics))
    return sp.csr_matrix(X), (
        scores > np.quantile(scores, np.linspace(0.5, 0.95, n_topics), axis=0).diagonal()
    ).astype(int)


def objective(model, X, Y, k, weight=None):
    """J of one topic."""
    y, f = 2 * Y[:, k] - 1, X @ model.coef_[k] + model.intercept_[k]
    w = model.coef_[k] - model.trust_[k] @ model.prior_[k]
    costs = np.ones(len(y)) if weight is None else weight
    return w @ w / (4 * model.C) + 0.5 * costs @ np.maximum(0, 1 - y * f) ** 2


def rng(seed=3):
    return np.random.default_rng(seed)


OPTIONS = {
    "plain": {},
    "no intercept": {"fit_intercept": False},
    "costs": {"class_weight": {1: 5.0}},
    "balanced": {"class_weight": "balanced"},
    "margins": {"margins": (1.0, 0.2)},
    "strong": {"C": 10.0},
    "fixed": {"prior": rng().normal(size=(N_TOPICS, 1, D)), "trust": "fixed"},
    "ridge": {"prior": rng().normal(size=(N_TOPICS, 1, D)), "trust": "ridge"},
    "free": {"prior": rng().normal(size=(N_TOPICS, 2, D)), "trust": "free"},
    "nonneg": {"prior": rng().normal(size=(N_TOPICS, 2, D)), "trust": "nonneg"},
    "auto": {"prior": np.abs(rng().normal(size=(N_TOPICS, 1, D))), "trust": "auto"},
}


@pytest.fixture(params=["single", "double"])
def precision(request, monkeypatch):
    """Small matrices are taken to memory and to double precision; larger ones are not, nor shall these be."""
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100 if request.param == "single" else 10**9)
    return request.param


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_gives_the_scores_of_memory(name, precision):
    X, Y = corpus()
    memory = PriorSVC(**OPTIONS[name]).fit(X, Y)
    parts = PriorSVC(**OPTIONS[name]).fit(BlockRows.cut(X, [0, 1, 300, 300, 800]), Y)
    assert parts.trust_mode_ == memory.trust_mode_
    # What a step leaves is decided by rounding: as good as memory's, and nearly the same.
    np.testing.assert_allclose(
        parts.decision_function(X), memory.decision_function(X), atol=5e-3 if precision == "single" else 1e-6
    )
    np.testing.assert_allclose(
        parts.decision_function(BlockRows.cut(X, [5])), parts.decision_function(X), atol=1e-9
    )


@given(cuts=st.lists(st.integers(0, N), max_size=49), seed=st.integers(0, 5))
@settings(max_examples=15, deadline=None)
def test_the_objective_does_not_depend_on_the_parts(cuts, seed):
    X, Y = corpus(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_batch, "LEAST_ENTRIES", 100)
        memory, parts = PriorSVC(tol=1e-7).fit(X, Y), PriorSVC(tol=1e-7).fit(BlockRows.cut(X, cuts), Y)
    for k in range(N_TOPICS):
        assert objective(parts, X, Y, k) == pytest.approx(objective(memory, X, Y, k), rel=1e-6)


def test_weights_of_texts_count_and_zero_is_absence(precision):
    X, Y = corpus()
    weight = rng().integers(0, 3, N).astype(float)
    memory = PriorSVC().fit(X, Y, weight)
    parts = PriorSVC().fit(BlockRows.cut(X, [100, 100]), Y, weight)
    for k in range(N_TOPICS):
        assert objective(parts, X, Y, k, weight) == pytest.approx(
            objective(memory, X, Y, k, weight), rel=1e-6
        )


@pytest.mark.parametrize(
    "method", ["loo_decision_function", "fold_decision_function", "held_out_decision_function"]
)
def test_held_out_scores_are_those_of_memory(method, precision):
    X, Y = corpus()
    memory, parts = PriorSVC().fit(X, Y), PriorSVC().fit(BlockRows.cut(X, [200, 450]), Y)
    np.testing.assert_allclose(getattr(parts, method)(), getattr(memory, method)(), atol=2e-2)


def test_contrasts_lie_below_texts_elsewhere(precision):
    X, Y = corpus()
    some = np.arange(0, 60)
    sign = np.where(Y[some] > 0, 1.0, 0.0)
    contrasts = Contrasts(X[some] - X[some + 100].multiply(0.5), sign, some, 0.5)
    memory = PriorSVC(trust="fixed").fit(X, Y, contrasts=contrasts)
    parts = PriorSVC(trust="fixed").fit(BlockRows.cut(X, [77]), Y, contrasts=contrasts)
    np.testing.assert_allclose(parts.decision_function(X), memory.decision_function(X), atol=5e-3)


def test_two_classes_and_names(precision):
    X, Y = corpus()
    y = np.where(Y[:, 0] > 0, "yes", "no")
    memory, parts = PriorSVC().fit(X, y), PriorSVC().fit(BlockRows.cut(X, [10]), y)
    assert (parts.predict(BlockRows.cut(X, [600])) == memory.predict(X)).mean() > 0.999


def test_other_columns_are_an_error():
    X, Y = corpus()
    model = PriorSVC().fit(BlockRows.cut(X, [10]), Y)
    with pytest.raises(ValueError, match="399 features"):
        model.predict(BlockRows.cut(sp.csr_matrix(X[:, 1:]), [10]))
    with pytest.raises(ValueError, match="inconsistent"):
        PriorSVC().fit(BlockRows.cut(X, [10]), Y[:-1])


def test_contrasts_below_texts_keep_to_the_memory_of_these():
    X = BlockRows([sp.csr_matrix(np.eye(3))])
    X.memory = 1e6
    assert stack(X, sp.csr_matrix(np.eye(3))).memory == 1e6


FOLD_OPTIONS = ["plain", "no intercept", "margins", "balanced", "fixed", "ridge"]


@pytest.mark.parametrize("name", FOLD_OPTIONS)
@pytest.mark.parametrize("memory", [np.inf, 1e5, 1.0])
@pytest.mark.parametrize("absent", [0, 50])
def test_folds_that_share_a_table_give_the_scores_of_memory(name, memory, absent, monkeypatch):
    """However many of them are learnt together, whether or not their rows are copied, and some texts are
    absent.
    """
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)
    X, Y = corpus()
    blocks = BlockRows.cut(X, [400])
    blocks.memory = memory
    weight = np.where(np.arange(N) % absent, 1.0, 0.0) if absent else None
    expected, found = (
        PriorSVC(**OPTIONS[name]).fit(rows, Y, weight).fold_decision_function() for rows in (X, blocks)
    )
    np.testing.assert_allclose(found, expected, atol=2e-2)


def test_contrasts_go_with_their_texts_though_folds_of_classes_then_differ(monkeypatch):
    monkeypatch.setattr(_batch, "LEAST_ENTRIES", 100)
    X, Y = corpus()
    some = np.arange(0, 60)
    contrasts = Contrasts(X[some] - X[some + 100].multiply(0.5), np.where(Y[some] > 0, 1.0, 0.0), some, 0.5)
    expected, found = (
        PriorSVC(trust="fixed").fit(rows, Y, contrasts=contrasts).fold_decision_function()
        for rows in (X, BlockRows.cut(X, [77]))
    )
    np.testing.assert_allclose(found, expected, atol=2e-2)


def test_refits_of_a_class_stay_together_and_threads_have_as_many_classes_each():
    X, Y = corpus()
    blocks = BlockRows.cut(X, [400])
    n, d = X.shape
    y, costs, Z = 2.0 * Y - 1, np.ones(n), ExtraColumns(np.ones((n, 1)), np.zeros(1), np.zeros(1))
    folds = np.array_split(np.arange(n), 4)
    tasks = []
    for k in range(N_TOPICS):
        sign, margins = y[:, k].copy(), np.ones(n)
        tasks += [(Objective(blocks, sign, costs, margins, Z, 1.0, held_out=rows), None) for rows in folds]
    bundle = 21 * n + 4 * (8 * n + 16 * d)
    blocks.memory = 3.5 * bundle
    groups = list(split_groups(tasks, 1.0, 2))
    # three would fit, but two keep two threads busy; the rest is what is left
    assert [len(group) for group in groups] == [8, 12]
    assert [task for group in groups for task in group] == tasks
    assert [len(group) for group in split_groups([(one, None) for one, _ in tasks[::4]], 1.0, 2)] == [
        5
    ]  # no refits: as they come
    blocks.memory = 0.0
    assert [len(group) for group in split_groups(tasks, 1.0, 2)] == [1] * len(tasks)


def test_refits_share_a_table_though_texts_of_weight_0_are_absent():
    X, Y = corpus()
    blocks = BlockRows.cut(X, [400])
    costs = np.where(np.arange(N) % 50, 1.0, 0.0)
    Z = ExtraColumns(np.ones((N, 1)), np.zeros(1), np.zeros(1))
    whole = Objective(blocks, 2.0 * Y[:, 0] - 1, costs, np.ones(N), Z, 1.0)
    refits = [without(whole, rows) for rows in np.array_split(np.arange(N), 4)]
    assert len({table_key(one) for one in refits}) == 1
    assert len(Objectives.of(refits).sign) == 1


def test_a_group_never_takes_more_than_there_is_room_for():
    blocks = BlockRows.cut(corpus()[0], [400])
    n, d = blocks.shape
    Z = ExtraColumns(np.ones((n, 1)), np.zeros(1), np.zeros(1))
    blocks.memory = 21.0 * n + 8 * (8 * n + 16 * d) + 7 * 21 * n
    sizes = [2] * 7 + [8]
    tasks = []
    for size in sizes:
        y, costs, margins = np.ones(n), np.ones(n), np.ones(n)
        tasks += [(Objective(blocks, y, costs, margins, Z, 1.0), None)] * size
    groups = list(split_groups(tasks, 1.0, 4))
    assert [task for group in groups for task in group] == tasks
    for group in groups:
        n_tables = len({table_key(one) for one, _ in group})
        assert n_tables * 21 * n + len(group) * (8 * n + 16 * d) <= blocks.memory
