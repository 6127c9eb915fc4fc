"""Contrasts: what a text loses with a passage, as an example without intercept.

For a text x of class y with a marked passage, and x⁻ the same text without it, (x − x⁻)/μ should reach the
margin on the side of y (Zaidan, Eisner & Piatko 2007): without the passage the text would be less clearly y.
A row belongs to a text, and is held out together with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import PriorError
from .matrix import Matrix
from .objective import canonical


@dataclass(frozen=True)
class Contrasts:
    """Differences of texts that should reach the margin of a class, the intercept aside.

    Parameters
    ----------
    X : array or sparse matrix (n_contrasts, n_features)
        The differences, in the columns of the texts.
    sign : array (n_contrasts, n_problems)
        Of which problems each is an example: 1 for, −1 against, 0 of none. Two classes have one problem,
        whose positive side is the second class.
    text : array (n_contrasts,) of int
        The row of the text that each was made from; −1 for one that is not among the training texts.
    cost : float or array (n_contrasts,), default=1.0
        In units of a text's own cost, C times its weight.

    Examples
    --------
    The second word is why the first text is of class 1:

    >>> import numpy as np
    >>> from textmargin import Contrasts, PriorSVC
    >>> X = np.array([[1.0, 1, 0], [1, 0, 1], [1, 0, 0]])
    >>> rows = Contrasts(np.array([[0, 1.0, 0]]), sign=[[1]], text=[0])
    >>> PriorSVC(trust="fixed").fit(X, [1, 1, 0], contrasts=rows).coef_[0, 1:].round(2)
    array([0.9 , 0.83])
    """

    X: Any
    sign: Any
    text: Any
    cost: Any = 1.0

    def check(self, like: Matrix, n_problems: int) -> Contrasts:
        """With arrays of the right kind, dense or sparse as the texts `like` are; an error for what does not
        fit these.
        """
        X = (
            canonical(sp.csr_matrix(self.X, dtype=np.float64))
            if not isinstance(like, np.ndarray)
            else _dense(self.X)
        )
        n = X.shape[0]
        if X.ndim != 2 or X.shape[1] != like.shape[1]:
            raise PriorError(
                f"contrasts has rows of {X.shape[-1]} columns, but X has {like.shape[1]}; use the texts' "
                "columns."
            )
        if not np.isfinite(X.data if sp.issparse(X) else X).all():
            raise PriorError("contrasts.X contains NaN or infinity; leave such rows out.")
        sign, text = np.asarray(self.sign, dtype=np.float64), np.asarray(self.text)
        if sign.shape != (n, n_problems) or not np.isin(sign, (-1.0, 0.0, 1.0)).all():
            raise PriorError(
                f"contrasts.sign must be 1, −1 or 0 for each of {n} rows and {n_problems} problems; it "
                f"has shape {sign.shape}."
            )
        if text.shape != (n,) or not np.isin(text, np.arange(-1, like.shape[0])).all():
            raise PriorError(
                f"contrasts.text must name one of the {like.shape[0]} texts for each of {n} rows, or −1; "
                f"got {text!r:.50}."
            )
        cost = np.asarray(self.cost, dtype=np.float64)
        cost = np.full(n, cost) if cost.ndim == 0 else cost
        if cost.shape != (n,) or not (np.isfinite(cost) & (cost > 0)).all():
            raise PriorError(
                f"contrasts.cost must be positive, one number or one for each of {n} rows; got "
                f"{self.cost!r:.60}."
            )
        return replace(self, X=X, sign=sign, text=text.astype(np.intp), cost=cost)


def _dense(X: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
