"""The primal SVM on texts in parts: the optimum of the in-memory learner, by the same Newton steps.

The objective and its derivatives are sums over texts, so every step is passes over the parts: weights go out, sums come back, and
all topics that are not finished share each pass. `_distributed_objective.py` has the steps of one topic, `_driver.py` the passes.
"""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from .._sklearn import fit_context
from .._typing import Floats
from ..errors import PriorError, TextmarginError
from ..learners import primal
from ..learners.prior import align_prior
from ..learners.trust import Fit, Trust
from ._blocks import Blocks
from ._client import broadcast
from ._driver import Passes
from ._problems import build_problems
from ._targets import read_targets


class PriorSVC(primal.PriorSVC):
    """`textmargin.PriorSVC` for texts in parts: the same parameters, the same learnt attributes, the same optimum.

    `fit`, `decision_function` and `predict` take `Blocks`; given a matrix in memory they do what that class does. Labels and
    weights come in parts too: a Dask array or column cut at the same texts, a list with an array per part, or one array for all
    texts. Both learners stop at `tol`; where C or costs are large and they must agree beyond six digits, make it smaller.

    With a prior, `trust` must be "free", "ridge", "fixed" or a number: the other modes look at single texts. `n_jobs` says
    nothing here, the cluster does; `verbose=1` tells of each pass on standard error.

    Examples
    --------
    >>> from distributed import Client
    >>> from textmargin import load_dataset
    >>> from textmargin.scale import BagOfWords, Blocks, PriorSVC
    >>> import dask.bag
    >>> desk = load_dataset("desk")
    >>> with Client(processes=False, dashboard_address=None):
    ...     X = BagOfWords().fit_transform(dask.bag.from_sequence(desk.texts, npartitions=2))
    ...     model = PriorSVC().fit(X, desk.indicator()[0])
    >>> model.coef_.shape == (len(desk.classes), X.n_columns)
    True
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : Blocks, or a matrix in memory
        y : classes, or a 0/1 indicator matrix with a column per class; in parts like X, or one array for all texts
        sample_weight : weights, in parts or for all texts, default=None
        """
        if not isinstance(X, Blocks):
            return super().fit(X, y, sample_weight)
        X = X.persist()
        targets = read_targets(y, sample_weight, X, type(self).__name__)
        labels = targets.labels
        prior = align_prior(self.prior, labels.names, labels.n_problems, X.n_columns)
        self._refuse_trust(prior)
        problems = build_problems(
            X,
            targets,
            prior,
            C=self.C,
            margins=self.margin_pair(),
            class_weight=self.class_weight,
            fit_intercept=self.fit_intercept,
            trust=cast(Trust, "plain" if self.trust == "auto" else self.trust),
            strength=self.trust_strength,
        )
        starts: list[Any] = [None] * len(problems)
        if self.warm_start and self._fitted_like(labels, prior):
            starts = [problem.iterate(start) for problem, start in zip(problems, self.fits(), strict=True)]

        passes = Passes(X, targets, [problem.topic() for problem in problems], self.verbose)
        objectives = [problem.objective(k) for k, problem in enumerate(problems)]
        solutions = passes.solve(objectives, starts, tol=self.tol, max_iter=self.max_iter)

        self.n_features_in_ = X.n_columns
        self._training = None
        self.verdict_ = []
        return self._learnt([problem.fit(solution) for problem, solution in zip(problems, solutions, strict=True)], labels, prior)

    def scores(self, X: Blocks) -> Blocks:
        """Scores in parts, (n_texts, n_problems) also for two classes."""
        check_is_fitted(self)
        if X.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {X.n_columns} features, but {type(self).__name__} is expecting {self.n_features_in_} features."
            )
        model = broadcast((self.coef_, self.intercept_))
        return X.map(_score, [model] * len(X), n_columns=self.coef_.shape[0])

    def decision_function(self, X: Any) -> Any:
        """Scores, as in memory; of `Blocks` as a Dask array."""
        if not isinstance(X, Blocks):
            return super().decision_function(X)
        return self.scores(X).array(self._labels.shape, float, flat=self._labels.kind == "binary")

    def predict(self, X: Any) -> Any:
        """Classes, or an indicator matrix, as in memory; of `Blocks` as a Dask array."""
        if not isinstance(X, Blocks):
            return super().predict(X)
        return self.scores(X).array(
            self._labels.decide, int if self.multilabel_ else self.classes_.dtype, flat=not self.multilabel_
        )

    def fits(self) -> list[Fit]:
        """What was learnt of each topic, for those who go on from it."""
        check_is_fitted(self)
        return list(self._fits())

    def margin_pair(self) -> tuple[float, float]:
        """The margins of positive and of other texts."""
        return self._checked_margins()

    def _require_training(self) -> Any:
        """Only after a fit in memory."""
        check_is_fitted(self)
        if self._training is None:
            raise TextmarginError(
                "Held-out scores of the training texts need all training texts in one memory, and this PriorSVC was fitted on "
                "parts or loaded; score texts that were held out with decision_function instead, or set thresholds with "
                "scores='train'."
            )
        return super()._require_training()

    def in_memory(self) -> primal.PriorSVC:
        """The same fitted model as a `textmargin.PriorSVC`, for `textmargin.save` and wherever there is no Dask."""
        check_is_fitted(self)
        plain = primal.PriorSVC(**self.get_params(deep=False))
        plain.__dict__.update(vars(self))
        return plain

    def _refuse_trust(self, prior: Floats) -> None:
        if prior.any() and self.trust in ("auto", "nonneg"):
            why = "weighs priors by leave-one-out scores" if self.trust == "auto" else "lets priors in one at a time"
            raise PriorError(
                f"trust={self.trust!r} {why}, which texts in parts do not allow; use trust='ridge', 'fixed', 'free' or a number, "
                f"perhaps the trust_ that a fit in memory on some of the texts finds."
            )


def _score(X: Any, model: tuple[Any, Floats]) -> Floats:
    coef, intercept = model
    return np.asarray(safe_sparse_dot(X, coef.T, dense_output=True) + intercept)
