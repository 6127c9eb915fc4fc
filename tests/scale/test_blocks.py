"""A matrix on disk answers the learners' questions as the same matrix in memory does."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from textmargin.errors import StoreError, TextmarginError
from textmargin.scale import Blocks

numbers = st.sampled_from([0.0, 0.0, 1.0, -0.5, 1 / 3, 1e-3])


@st.composite
def matrices(draw):
    """One matrix in 1 to 50 parts, empty ones among them."""
    n_columns = draw(st.integers(1, 5))
    row = st.lists(numbers, min_size=n_columns, max_size=n_columns)
    sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=50))
    rows = draw(st.lists(row, min_size=sum(sizes), max_size=sum(sizes)))
    X = np.array(rows).reshape(-1, n_columns)
    ends = np.cumsum(sizes)
    return X, [sp.csr_matrix(X[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


@given(both=matrices(), n_jobs=st.sampled_from([1, 2]))
def test_equals_memory(both, n_jobs):
    X, parts = both
    X = X.astype(np.float32).astype(np.float64)
    blocks = Blocks.from_matrices(parts, n_jobs=n_jobs)
    W, A = np.arange(2.0 * X.shape[1]).reshape(2, -1) - 3, np.arange(3.0 * X.shape[0]).reshape(-1, 3)
    assert blocks.shape == X.shape
    np.testing.assert_allclose(blocks.times(W), X @ W.T, atol=1e-12)
    np.testing.assert_allclose(blocks.times(W, sizes=True), abs(X) @ abs(W.T), atol=1e-12)
    np.testing.assert_allclose(blocks.transposed_times(A), A.T @ X, atol=1e-9)
    np.testing.assert_allclose(blocks.squared_lengths(), (X * X).sum(axis=1), atol=1e-12)
    assert np.array_equal(blocks.row_counts(), (X != 0).sum(axis=1))
    counts, sizes = blocks.column_sizes()
    assert np.array_equal(counts, (X != 0).sum(axis=0))
    np.testing.assert_allclose(sizes, abs(X).sum(axis=0), atol=1e-12)
    rows = np.arange(X.shape[0])[::-2]
    assert np.array_equal(blocks.take(rows).toarray(), X[rows])


def test_rows_are_put_in_order():
    """A user's CSR matrix may have its columns in any order, and zeros, and a column twice."""
    X = sp.csr_matrix(
        (np.array([2.0, 1.0, 0.0, 3.0]), np.array([2, 0, 1, 2]), np.array([0, 4])), shape=(1, 3)
    )
    assert Blocks.from_matrices([X]).take([0]).toarray().tolist() == [[1.0, 0.0, 5.0]]
    assert X.nnz == 4  # and stays what it is


def test_matrices_that_do_not_fit():
    with pytest.raises(TextmarginError, match="matrices have 2 columns, but number 1 has 3"):
        Blocks.from_matrices([sp.csr_matrix((1, 2)), sp.csr_matrix((1, 3))])
    with pytest.raises(TextmarginError, match="matrices has none"):
        Blocks.from_matrices([])


def test_named_folder(tmp_path):
    X = Blocks.from_matrices([sp.csr_matrix(np.eye(2))], folder=tmp_path / "X")
    assert sorted(path.name for path in (tmp_path / "X").iterdir()) == [
        "entries",
        "lock",
        "matrix.json",
        "run.json",
        "starts",
    ]
    with pytest.raises(StoreError, match="in use"):
        Blocks.from_matrices([sp.csr_matrix(np.eye(2))], folder=tmp_path / "X")
    X.delete()
    assert not (tmp_path / "X").exists()


def test_values_that_are_no_numbers():
    with pytest.raises(ValueError, match="Number 1 of matrices contains NaN or infinity"):
        Blocks.from_matrices([sp.csr_matrix(np.eye(2)), sp.csr_matrix([[np.nan, 1.0]])])
