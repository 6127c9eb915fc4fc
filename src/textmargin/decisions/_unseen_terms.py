"""How much of a training text's row is terms that other texts have too: all that a new text would have of it.

A new text's terms are in the matrix only if a training text has them, and its row has unit length without the others. A held-out
text's row still has the terms that it alone brought along. A model without it gives these no weight, but they take up length: the
score is nearer to the intercept than that of a new text, the more so the fewer and shorter the texts are. With 150 texts of desk
64 to 68 % of the leave-one-out decisions were right and 68 to 73 % of those on other texts; that is what leave-one-out gives with
a vocabulary of the others alone, and with the distance from the intercept divided by the length that is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Floats

_UNIT = 1e-6  # by how much the length of a row may differ from 1


def shared_length(X: Any) -> Floats | None:
    """Per row of unit length its length (n_texts,) without the terms that no other has; None where rows have other lengths."""
    if not sp.issparse(X):
        return None
    matrix = X.tocsr()
    squares = matrix.multiply(matrix).tocsr()
    length = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    if not ((np.abs(length - 1) < _UNIT) | (length == 0)).all():
        return None
    shared = np.bincount(matrix.indices[matrix.data != 0], minlength=matrix.shape[1]) > 1
    return np.asarray(np.sqrt(squares @ shared.astype(np.float64))).ravel()
