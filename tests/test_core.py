"""The compiled core against plain definitions."""

import platform
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_problem, make_texts
from hypothesis import given
from hypothesis import strategies as st
from reference import WORKED, ssk_by_definition

from textmargin import core


def ssk(s, t, length, decay):
    codes = {token: code for code, token in enumerate(dict.fromkeys([*s, *t]))}
    s, t = (np.array([codes[token] for token in tokens], dtype=np.int32) for tokens in (s, t))
    return core.ssk(s, t, length, decay)


@pytest.mark.parametrize(("pair", "length", "decay", "value", "normalised"), WORKED)
def test_values_worked_out_by_hand(pair, length, decay, value, normalised):
    s, t = pair
    assert ssk(s, t, length, decay) == pytest.approx(value, rel=1e-9)
    size = np.sqrt(ssk(s, s, length, decay) * ssk(t, t, length, decay))
    assert ssk(s, t, length, decay) / size == pytest.approx(normalised, rel=1e-9)


@given(
    s=st.text(alphabet="abß語🙂", max_size=8),
    t=st.text(alphabet="abß語🙂", max_size=8),
    length=st.integers(1, 5),
    decay=st.floats(0.05, 1.0),
)
def test_subsequence_kernel_equals_its_definition(s, t, length, decay):
    assert ssk(s, t, length, decay) == pytest.approx(
        ssk_by_definition(s, t, length, decay), rel=1e-12, abs=1e-300
    )


def test_subsequence_kernel_refuses_length_zero():
    with pytest.raises(ValueError, match="length"):
        ssk("car", "cat", 0, 0.5)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_times_is_the_product_with_a_vector(index):
    X, _ = make_texts(n=50)
    v = np.random.default_rng(0).standard_normal(X.shape[1])
    np.testing.assert_allclose(
        core.sparse_times(X.indptr.astype(index), X.indices.astype(index), X.data, v), X @ v, atol=1e-14
    )


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_gram_is_the_product_of_rows(index):
    X, _ = make_texts(n=50)
    rows = np.array([3, 7, 20, 49])
    K = core.sparse_gram(X.indptr.astype(index), X.indices.astype(index), X.data, X.shape[1], rows)
    np.testing.assert_allclose(np.tril(K), np.tril((X[rows] @ X[rows].T).toarray()), atol=1e-15)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("n_extra", [0, 1, 3])
def test_conjugate_gradients_solve_the_newton_system(sparse, n_extra):
    """H(p, q) = −g with H = [λI + X'CX, X'CZ; Z'CX, Z'CZ + ρ], columns nobody touches included."""
    rng = np.random.default_rng(0)
    X, _, _ = make_problem(n=30, d=12)
    X[:, 4] = 0
    rows = np.sort(rng.permutation(30)[:20])
    X_S, Z = X[rows], rng.standard_normal((20, n_extra))
    costs, errors, w, q_slope = (
        rng.random(20) + 0.1,
        rng.standard_normal(20),
        rng.standard_normal(12),
        rng.standard_normal(n_extra),
    )
    penalty, pull = 0.3, 0.2 * np.eye(n_extra)
    M_inverse = np.linalg.inv((Z.T * costs) @ Z + pull)
    gradient = np.concatenate([penalty * w - X_S.T @ (costs * errors), q_slope])
    H = np.block(
        [
            [penalty * np.eye(12) + (X_S.T * costs) @ X_S, (X_S.T * costs) @ Z],
            [(Z.T * costs) @ X_S, (Z.T * costs) @ Z + pull],
        ]
    )
    expected = -np.linalg.solve(H, gradient)

    quadratic = (rows, penalty, costs, errors, costs[:, None] * Z, M_inverse, q_slope, w, 1e-12, 200)
    if sparse:
        S = sp.csr_matrix(X)
        p, q, decrement = core.cg_sparse(S.indptr, S.indices, S.data, *quadratic)
    else:
        p, q, decrement = core.cg_dense(X, *quadratic)
    np.testing.assert_allclose(np.concatenate([p, q]), expected, atol=1e-9)
    assert decrement == pytest.approx(-gradient @ expected)


def test_parts_that_do_not_fit_together_are_refused():
    one, empty = np.ones(1), np.empty((1, 0))
    with pytest.raises(ValueError, match="do not fit"):
        core.search_plane(one, one, np.ones(2), one, empty, one, np.ones((1, 1)))


def test_the_levels_are_those_of_the_processor():
    """As the system tells them, which asks the processor in its own way."""
    cpuinfo = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not cpuinfo.exists():
        assert core.levels()[-1] == "baseline"
        return
    flags = set(next(line for line in cpuinfo.read_text().splitlines() if line.startswith("flags")).split())
    v3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"} <= flags  # abm is lzcnt
    v4 = v3 and {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags
    assert core.levels() == ["avx512"] * v4 + ["avx2"] * v3 + ["baseline"]
