"""Which of several priors are used together, of those that are each adopted for themselves.

Two priors that both help may do worse together than the better one alone: what one has wrong thins out what
the other has right. So they join one at a time, the one that saves most loss first, and one that harms those
already there stays out. Whether it does is asked of the held-out texts of all classes where it would join
others, at once, by the evidence of losses, Σd/√Σd² as for a prior (`evidence.py`), d being what a text loses
less by its joining: class by class there is too little to tell, and the better of two equal ones would be the
one that chance favours. It stays out where that is clear (≤ −1), and only there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._ties import descending_order
from .._typing import Bools, Floats, Indices
from .evidence import evidence_of, is_harmful, squared_gains

Losses = Callable[[Indices, Bools], list[Floats]]


def join_priors(adopted: Bools, gain: Floats, silent: Bools, losses: Losses, tol: float) -> Bools:
    """Which priors are used: (n_problems, n_priors), like what is given.

    Parameters
    ----------
    adopted : whether each prior is adopted for itself
    gain : the share of the held-out loss that it saves alone
    silent : whether no text has any of its terms, so that it can neither help nor harm here
    losses : function of classes and of what each of them uses (n_classes, n_priors)
        Gives the loss of each held-out text, per class.
    tol : float
        To which these are known.
    """
    tried = adopted & ~silent
    used = adopted & silent
    several = tried.sum(axis=1) > 1
    used[~several] = adopted[~several]
    tried[~several] = False
    for j in descending_order(np.where(tried, gain, 0.0).sum(axis=0)):
        joined = used.copy()
        joined[tried[:, j], j] = True
        contested = np.flatnonzero(tried[:, j] & (used & tried).any(axis=1))
        if contested.size:
            pairs = zip(losses(contested, used[contested]), losses(contested, joined[contested]), strict=True)
            if is_harmful(evidence_of(np.concatenate([squared_gains(*pair, tol) for pair in pairs]))):
                joined[contested, j] = False
        used = joined
    return used
