"""A matrix on disk, and one whose rows stay on workers, answer as the same matrix in memory does."""

import numpy as np
import pytest
import scipy.sparse as sp

from textmargin.errors import TextmarginError
from textmargin.scale import Blocks, WorkerBlocks


@pytest.fixture
def X():
    return sp.random(60, 7, 0.4, format="csr", random_state=0).astype(np.float32).astype(np.float64)


@pytest.fixture(params=["disk", "workers"])
def blocks(request, X):
    parts = [X[:0], X[:25], X[25:26], X[26:]]
    if request.param == "disk":
        return Blocks(parts, X.shape[1])
    client = request.getfixturevalue("client")
    return WorkerBlocks(client, [client.scatter(part) for part in parts], X.shape[1])


def test_equals_memory(X, blocks):
    W, A = np.arange(14.0).reshape(2, 7) - 3, np.arange(180.0).reshape(60, 3)
    assert blocks.shape == X.shape
    np.testing.assert_allclose(blocks.times(W), X @ W.T, atol=1e-5)
    np.testing.assert_allclose(blocks.times(W, sizes=True), abs(X) @ abs(W.T), atol=1e-5)
    np.testing.assert_allclose(blocks.transposed_times(A), A.T @ X, rtol=1e-5)
    np.testing.assert_allclose(blocks.squared_lengths(), X.multiply(X).sum(axis=1).A1, rtol=1e-5)
    assert blocks.row_counts().tolist() == np.diff(X.indptr).tolist()
    counts, sizes = blocks.column_sizes()
    assert counts.tolist() == (X != 0).sum(axis=0).A1.tolist()
    np.testing.assert_allclose(sizes, abs(X).sum(axis=0).A1, rtol=1e-5)
    rows = np.array([59, 3, 3, 26, 0])
    assert np.array_equal(blocks.take(rows).toarray(), X[rows].toarray())
    below = sp.csr_matrix(np.eye(7))
    assert np.array_equal(blocks.stacked(below)[:].toarray(), np.vstack([X.toarray(), np.eye(7)]))


def test_rows_are_put_in_order():
    """A user's CSR matrix may have its columns in any order, and zeros, and a column twice."""
    X = sp.csr_matrix(
        (np.array([2.0, 1.0, 0.0, 3.0]), np.array([2, 0, 1, 2]), np.array([0, 4])), shape=(1, 3)
    )
    assert Blocks([X], 3)[:].toarray().tolist() == [[1.0, 0.0, 5.0]]
    assert X.nnz == 4  # and stays what it is


def test_matrices_that_cannot_be_one():
    with pytest.raises(TextmarginError, match="has 3 columns; it needs 2"):
        Blocks([sp.csr_matrix((1, 2)), sp.csr_matrix((1, 3))], 2)
    with pytest.raises(ValueError, match="contains NaN or infinity"):
        Blocks([sp.csr_matrix([[np.nan, 1.0]])], 2)
