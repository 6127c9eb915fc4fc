"""A `BlockMatrix` of matrices in memory, each answering for its own rows: what the learners see of other
places.
"""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from textmargin.learners.matrix import (
    BlockMatrix,
    column_sizes,
    local_texts,
    row_counts,
    squared_lengths,
    times,
)


class BlockRows(BlockMatrix):
    def __init__(self, parts):
        # Values are in single precision wherever they lie.
        self.parts = [sp.csr_matrix(part, dtype=np.float32).astype(np.float64) for part in parts]
        self.sizes = [part.shape[0] for part in self.parts]
        self.shape = sum(self.sizes), self.parts[0].shape[1]

    @classmethod
    def cut(cls, X, cuts):
        edges = [0, *sorted(cuts), X.shape[0]]
        return cls([X[a:b] for a, b in pairwise(edges)])

    def times(self, W, *, sizes=False):
        return np.vstack([times(part, W, sizes=sizes) for part in self.parts])

    def transposed_times(self, A):
        return sp.vstack(self.parts).T.dot(A).T

    def squared_lengths(self):
        return np.concatenate([squared_lengths(part) for part in self.parts])

    def row_counts(self):
        return np.concatenate([row_counts(part) for part in self.parts])

    def column_sizes(self):
        return tuple(sum(values) for values in zip(*(column_sizes(part) for part in self.parts), strict=True))

    def take(self, rows):
        return sp.csr_matrix(sp.vstack(self.parts, format="csr")[rows])

    def solver_texts(self):
        return local_texts(self.take(np.arange(self.shape[0])))

    def stacked(self, below):
        more = BlockRows([*self.parts, below])
        more.memory = self.memory
        return more

    def minimise(self, tasks, tol, max_iter):
        return None
