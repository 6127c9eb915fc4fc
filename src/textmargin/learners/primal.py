"""Primal SVM with prior weight vectors, costs and uneven margins.

Minimises over w, the trust η and the intercept b (Parrado-Hernández & Hardoon, Eq. 1, misprints mended)

    ½λ‖w‖² + ½ Σᵢ cᵢ max(0, mᵢ − yᵢfᵢ)² + what the trust mode says of η    f(x) = ⟨w + Vη, x⟩ + b,  C = 1/(2λ)

by Newton steps on the texts inside the margin. Without a prior it is squared-hinge `LinearSVC` with a free
intercept; `test_primal.py` holds it to that.

Departs from the paper: b is added and not penalised; the trust may be bounded, drawn to a value or chosen by
leave-one-out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)
from threadpoolctl import threadpool_limits

from .._sklearn import Interval, StrOptions, check_sample_weight, dense_coef, fit_context
from .._system.collections import in_memory
from .._system.threads import n_threads
from .._typing import Floats
from ..errors import TextmarginError
from ..labels import ClassLabels, LabelsMixin, OneVsRest, column_names
from ..records import RecordError, fields_of, made_of, record
from ._held_out_scores import HeldOutTexts
from ._training import StackedContrasts, Training
from .auto import fit_auto
from .contrasts import Contrasts
from .cross_fitting import PriorFolds
from .evidence import Disagreement, Verdict
from .explanation import Explanation
from .matrix import BlockMatrix, Matrix
from .objective import canonical
from .prior import align_prior
from .problem import Problem
from .trust import Fit, Solver, Trust

_NO_WEIGHTS: Floats = np.empty(0)
_MOST_PRIORS = 64  # of a class in a file
_NO_WEIGHT = 1e-6  # beside the largest of a class: what a sparse `coef_` leaves out


@record(
    "classes_ multilabel_ n_features_in_ feature_names_in_ coef_ intercept_ prior_ trust_ trust_mode_ "
    "verdict_ n_iter_ _anchors"
)
class PriorSVC(LabelsMixin, ClassifierMixin, BaseEstimator):
    """Linear support vector classifier that takes prior knowledge about its weights.

    Squared hinge loss, solved in the primal by Newton steps. Several classes are learnt one against the rest;
    a 0/1 indicator matrix as `y` makes it multilabel.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty on w, scikit-learn's `C` (the papers' λ is 1/(2C)).
    prior : array-like or mapping, default=None
        What is known of the weights: a vector (n_features,); an array (n_priors, n_features); one row per
        class, like `coef_`; an array (n_classes, n_priors, n_features); a mapping term → weight where X's
        columns have names; or a mapping class → any of these. With three classes or more, or an indicator
        matrix, an array with as many rows as classes is read as one row per class. With two classes a prior
        belongs to the second, and one given for the first speaks against it.
    trust : {"auto", "free", "nonneg", "ridge", "fixed"} or float, default="auto"
        How the coefficient η of each prior is found:

        - `free`: whatever fits best, blind to the prior's sign and size (the paper);
        - `nonneg`: whatever fits best but never negative;
        - `fixed`: η = 1, so that w is drawn towards the prior as given; a number is a fixed η of that size;
        - `ridge`: drawn, with strength `trust_strength`, to where the prior alone would lift a text of
          nothing but its terms from one margin to the other;
        - `auto`: per class, no prior, or fixed where `ridge` would draw it, by what held-out texts gain, and
          where these cannot tell, by how the priors of the other classes do; `verdict_` tells. Contrasts are
          weighed in the same way.
    trust_strength : float, default=1.0
        The ρ of `trust="ridge"`: how strongly η is held.
    class_weight : mapping or "balanced", default=None
        Cost of a class's own examples (class → weight). With two classes it weighs both sides; with more, or
        multilabel, the positive side of each class's problem, the rest having weight 1, as in LIBLINEAR.
        "balanced" gives both sides of each problem the same total.
    margins : tuple (m₊, m₋), default=(1.0, 1.0)
        The margins that positive and negative examples should reach.
    fit_intercept : bool, default=True
        Whether to add an intercept. It is never penalised.
    tol : float, default=1e-6
        Stop when the Newton decrement (twice the expected decrease) is below tol times the objective.
    max_iter : int, default=50
        Largest number of Newton steps per class.
    warm_start : bool, default=False
        Start from the last solution if classes and columns are the same.
    sparse_coef : bool, default=False
        Whether `coef_` is a sparse matrix, from the start: for thousands of classes over many terms, whose
        weights would not fit into memory otherwise. Weights below a millionth of the largest of their class
        are left out.
    n_jobs : int, default=None
        Threads. None: all cores, within the limits that OpenMP and joblib have been given; but classes that
        are learnt one at a time, those of dense or small matrices, are so in one thread unless
        `joblib.parallel_config` says otherwise.

    Attributes
    ----------
    classes_ : array (n_classes,)
    multilabel_ : bool
        Whether it was trained on an indicator matrix.
    coef_ : array or sparse matrix (n_problems, n_features)
        Weights, w + Vη; one row for two classes, else one per class.
    intercept_ : array (n_problems,)
    trust_ : array (n_problems, n_priors)
        η: `coef_` is what the data say plus `trust_` times the priors.
    trust_mode_ : list of str
        The mode each class was learnt with; tells what `auto` chose.
    verdict_ : list of Verdict
        Per class and prior, and for contrasts, whether it is `supported`, `adopted`, `dropped`, or
        `contradicted` by the data, with the evidence; empty unless `trust="auto"`.
    prior_ : array (n_problems, n_priors, n_features)
        The priors, aligned with the columns.
    n_iter_ : array (n_problems,)
        Newton steps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Two texts, four words, and the knowledge that the fourth word, in none of them, speaks for class 1:

    >>> import numpy as np
    >>> from textmargin import PriorSVC
    >>> X = np.array([[1.0, 0, 1, 0], [0, 1, 1, 0]])
    >>> model = PriorSVC(prior=[0, 0, 0, 1.0], trust="fixed").fit(X, [0, 1])
    >>> model.coef_.round(2)
    array([[-0.67,  0.67,  0.  ,  1.  ]])
    """

    _training: Training | None = None  # not in a saved or pickled model
    takes_blocks: ClassVar[bool] = True  # as X a BlockMatrix, which others who wrap an estimator cannot know

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "prior": ["array-like", "sparse matrix", Mapping, None],
        "trust": [
            StrOptions({"auto", "free", "nonneg", "ridge", "fixed"}),
            Interval(Real, None, None, closed="neither"),
        ],
        "trust_strength": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [Mapping, StrOptions({"balanced"}), None],
        "margins": [tuple, list],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "sparse_coef": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        prior: Any = None,
        trust: str | float = "auto",
        trust_strength: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        margins: tuple[float, float] = (1.0, 1.0),
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 50,
        warm_start: bool = False,
        sparse_coef: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.prior = prior
        self.trust = trust
        self.trust_strength = trust_strength
        self.class_weight = class_weight
        self.margins = margins
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.sparse_coef = sparse_coef
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        contrasts: Contrasts | None = None,
        prior_folds: PriorFolds | None = None,
    ) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array, sparse matrix or BlockMatrix (n_texts, n_features)
            Of a BlockMatrix the rows stay where they are, on disk or on other machines; all that is learnt is
            here.
        y : array (n_texts,), or a 0/1 indicator matrix (n_texts, n_classes) for multilabel;
            the columns of a data frame name its classes
        sample_weight : array (n_texts,), default=None
            Cost of each text; a text of weight 0 counts as absent.
        contrasts : Contrasts, default=None
            Further examples, differences of texts without intercept. With `trust="auto"` a class uses them
            where held-out texts gain by them, and `verdict_` tells; else they are used.
        prior_folds : PriorFolds, default=None
            For priors that were learnt from these texts: what they are without each fold of them. Held-out
            scores of a fold, and with them what `auto` believes, are then by the priors that were learnt
            without it.
        """
        y, sample_weight = in_memory(y), in_memory(sample_weight)
        names = column_names(y)
        X, y = self._validate(X, y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        targets = OneVsRest.read(y, weight, type(self).__name__, names)
        labels = targets.labels
        terms = getattr(self, "feature_names_in_", None)
        prior = align_prior(self.prior, labels.names, labels.n_problems, X.shape[1], terms)
        training = Training(
            X,
            targets,
            weight,
            prior,
            self.C,
            self._checked_margins(),
            self.class_weight,
            self.fit_intercept,
            Solver(self.trust_strength, self.tol, self.max_iter, self.n_jobs),
            contrasts=None if contrasts is None else StackedContrasts.stack(X, contrasts, labels.n_problems),
            prior_folds=None if prior_folds is None else prior_folds.check(prior, X.shape[0]),
        )
        starts = self._fits() if self.warm_start and self._fitted_like(labels, prior) else None
        self.verdict_: list[Verdict] = []
        if self.trust == "auto" and (prior.size or contrasts is not None):
            weighed, self.verdict_, contrasted = fit_auto(training, list(starts or ()), self._per_class)
            training, fits = replace(training, contrasted=contrasted), iter(weighed)
        else:
            fits = training.solver.fit(training.problems(), cast(Trust, self.trust), starts or repeat(None))

        self._training = training
        return self._learnt(fits, labels, prior)

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_texts,) for two classes, else (n_texts, n_classes)."""
        return self._labels.shape(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each text; an indicator matrix if it was trained on one."""
        return self._labels.decide(self._scores(X))

    def loo_decision_function(self) -> Floats:
        """Scores of the training texts, each by the model trained on all others, without training again.

        Exact as long as leaving the text out moves no other across its margin; otherwise an estimate, which
        is close where the score moves little, and lies between the text's own score and the worst that a
        refit could give it. Of `trust="free"` and `"nonneg"`, where a single text may decide η, texts whose
        score moves by more than a twentieth of the way between the margins are refitted: all of them up to 5
        million values of the matrix times refits, beyond that those that move most, at least 20. What `auto`
        and `ridge` found out about the prior is held. Shaped like `decision_function`. Needs the training
        data, which stay with the estimator (the matrix itself, not a copy: do not change it in between) but
        not in a saved or pickled one. Where contrasts are used, or a prior that was learnt from these texts
        (`prior_folds`), only `fold_decision_function` can hold a text out.
        """
        held_out = self._held_out_texts()
        if held_out.need_folds:
            raise TextmarginError(
                "Leave-one-out scores are of texts that contrasts, or a prior that is used, were learnt "
                "from; "
                "use those of folds, which are held out with all that comes of them: "
                "fold_decision_function()."
            )
        return self._labels.shape(held_out.leave_one_out(np.arange(len(self.intercept_))))

    def fold_decision_function(self, n_folds: int = 5, random_state: int | None = 0) -> Floats:
        """Scores of the training texts, each by a model refitted without the fold that the text is in.

        All classes share one set of folds, into which each class is dealt out evenly. A refit starts from the
        fit of all texts, which makes it cheap, and goes on until what the held-out texts left in that is
        gone; what `auto` and `ridge` found out about the prior is held. Shaped like `decision_function`; NaN
        for the texts of a fold outside of which a class has no example, or no other text. A text of weight 0
        has the score of `decision_function`, which never saw it. The contrasts of a text are held out with
        it, and the folds are those of `prior_folds` where there are such. Needs the training data, as
        `loo_decision_function` does.

        Parameters
        ----------
        n_folds : int, default=5
            At least 2.
        random_state : int, default=0
            Which texts come into one fold.

        Examples
        --------
        >>> import numpy as np
        >>> from textmargin import PriorSVC
        >>> X = np.array([[1.0, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]])
        >>> PriorSVC().fit(X, [0, 1, 0, 1]).fold_decision_function(n_folds=2).round(2)
        array([-0.67,  0.67, -0.67,  0.67])
        """
        held_out = self._held_out_texts()
        return self._labels.shape(held_out.folds(np.arange(len(self.intercept_)), n_folds, random_state))

    def held_out_decision_function(self, n_folds: int = 5, random_state: int | None = 0) -> Floats:
        """Held-out scores of the training texts at a bearable cost: per class leave-one-out, or of folds
        where that is cheaper.

        Shaped like `decision_function`. Parameters as in `fold_decision_function`.
        """
        held_out = self._held_out_texts()
        exact = held_out.leave_one_out_pays()
        scores = held_out.folds(np.flatnonzero(~exact), n_folds, random_state)
        scores[:, exact] = held_out.leave_one_out(np.flatnonzero(exact))
        return self._labels.shape(scores)

    def held_out_method(self) -> Literal["loo", "cv", "mixed"]:
        """Which held-out scores of the training texts to take for what they cost.

        "loo", those of `loo_decision_function`, where these can be had and are estimated to cost no more than
        three times the training, "cv", those of `fold_decision_function`, where they do not, and "mixed",
        those of `held_out_decision_function`, where some classes have so many texts inside the margin that
        folds are cheaper. The estimate goes by the numbers of texts, of terms and of texts inside the margin.
        """
        exact = self._held_out_texts().leave_one_out_pays()
        return "loo" if exact.all() else "mixed" if exact.any() else "cv"

    def explain(self, x: Any, target: Any = None) -> Explanation:
        """How much of a text's score each term gave, through the data and through each prior.

        Parameters
        ----------
        x : array or sparse matrix (1, n_features), or a vector (n_features,)
        target : class, default=None
            Whose score; default: the second class of two, else the class with the highest score. The score of
            the first of two classes is that of the second, negated.
        """
        check_is_fitted(self)
        x = np.atleast_2d(x) if np.ndim(x) == 1 else x
        x = validate_data(self, x, accept_sparse="csr", dtype=np.float64, reset=False)
        if x.shape[0] != 1:
            raise ValueError(f"explain takes one text at a time; got {x.shape[0]}.")
        scores = self._products(x)[0]
        k, sign, target = self._labels.problem(target, scores)
        row = sp.csr_array(x)
        columns, values = row.indices, sign * row.data
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        priors = self.trust_[k][:, None] * self.prior_[k][:, columns] * values
        return Explanation(
            target=target,
            score=sign * float(scores[k]),
            intercept=sign * float(self.intercept_[k]),
            terms=np.asarray(names)[columns],
            data=_dense_row(self.coef_, k)[columns] * values - priors.sum(axis=0),
            priors=priors,
        )

    def disagreements(self, n: int = 10) -> list[Disagreement]:
        """The n terms of which priors and data disagree most: what the data add has the other sign, and is
        large.

        A tool to mend a list of words with: a term that stands here was named for a class by mistake, or
        means something else in these texts. Of priors that are not trusted, the terms are judged all the
        same.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        classes = self._labels.problem_names
        found = []
        for k, j in np.argwhere(np.abs(self.prior_).sum(axis=2) > 0).tolist():
            prior = self.prior_[k, j]
            coef = _dense_row(self.coef_, k)
            data = coef - np.maximum(self.trust_[k], 0) @ self.prior_[k]
            for t in np.flatnonzero((prior * data < 0) & (np.abs(data) > 1e-6 * np.abs(coef).max())):
                found.append(Disagreement(classes[k], j, names[t], float(prior[t]), float(data[t])))
        return sorted(found, key=lambda one: -abs(one.data))[:n]

    def _learnt(self, fits: Iterable[Fit], labels: ClassLabels, prior: Floats) -> Self:
        """Keep what the fits of all classes found; their weights are let go one by one, so that memory holds
        them once.
        """
        rows: list[Any] = []
        coef = None if self.sparse_coef else np.empty((self.n_features_in_, labels.n_problems)).T
        rest = []
        for k, (fit, v) in enumerate(zip(fits, prior, strict=True)):
            weights = fit.w + fit.eta @ v if len(v) else fit.w
            if coef is None:
                rows.append(_sparse_row(weights))
            else:
                coef[k] = weights
            rest.append(replace(fit, w=_NO_WEIGHTS))
        self.classes_, self.multilabel_, self.prior_ = labels.names, labels.multilabel, prior
        self.coef_ = sp.csr_matrix(sp.vstack(rows, format="csr")) if coef is None else coef
        self.trust_ = np.array([fit.eta for fit in rest])
        self._anchors = np.array([fit.anchor for fit in rest])
        self.trust_mode_ = [fit.mode for fit in rest]
        self.intercept_ = np.array([fit.intercept for fit in rest])
        self.n_iter_ = np.array([fit.n_iter for fit in rest])
        self._warn_unconverged(rest, labels)
        return self

    def _per_class(
        self, work: Callable[..., Any], problems: Iterable[Problem], *others: Iterable[Any]
    ) -> list[Any]:
        """Some work per class; BLAS keeps to one thread in each, where its own threads would only wait for
        one another.
        """
        jobs = (
            delayed(_on_texts)(
                problem.X, {name: value for name, value in vars(problem).items() if name != "X"}, work, *rest
            )
            for problem, *rest in zip(problems, *others, strict=False)
        )
        with threadpool_limits(limits=1, user_api="blas"):
            return Parallel(n_jobs=n_threads(self.n_jobs), prefer="threads")(jobs)

    def _validate(self, X: Any, y: Any) -> tuple[Matrix, NDArray[Any]]:
        """The matrix and the labels of training."""
        if not isinstance(X, BlockMatrix):
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=np.float64, order="C", multi_output=True
            )
            return canonical(X), y
        self.n_features_in_ = X.shape[1]
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        y = check_array(y, ensure_2d=False, dtype=None, accept_sparse="csr", input_name="y", estimator=self)
        check_consistent_length(X, y)
        return X, column_or_1d(y, warn=True) if y.ndim == 1 or y.shape[1] == 1 else y

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        if not isinstance(X, BlockMatrix):
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return self._products(X)

    def _products(self, X: Matrix) -> Floats:
        if isinstance(X, BlockMatrix):
            scores = X.times(np.ascontiguousarray(dense_coef(self)))
            scores += self.intercept_  # in place: of millions of texts they are gigabytes
            return scores
        return np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_)

    def _require_training(self) -> Training:
        check_is_fitted(self)
        if self._training is None:
            raise TextmarginError(
                f"This {type(self).__name__} was loaded without its training data, which held-out scores "
                "need; "
                f"call fit again first."
            )
        return self._training

    def _held_out_texts(self) -> HeldOutTexts:
        training = self._require_training()
        trained = self._products(training.X)
        if isinstance(training.X, BlockMatrix):  # of so many texts, what single precision made
            trained = trained.astype(np.float32)
        return HeldOutTexts(training, self._fits, trained, bool(self.trust_.any()), self._per_class)

    def _fitted_like(self, labels: ClassLabels, prior: Floats) -> bool:
        """Whether the last fit was of the same classes, columns and number of priors."""
        return (
            hasattr(self, "coef_")
            and self.prior_.shape == prior.shape
            and self.multilabel_ == labels.multilabel
            and np.array_equal(self.classes_, labels.names)
        )

    def _checked_margins(self) -> tuple[float, float]:
        margins = tuple(self.margins)
        if (
            len(margins) != 2
            or not all(isinstance(m, Real) and 0 <= m < np.inf for m in margins)
            or sum(margins) == 0
        ):
            raise ValueError(
                f"The 'margins' parameter of {type(self).__name__} must be two numbers (m₊, m₋), not "
                "negative and not both 0. "
                f"Got {self.margins!r} instead."
            )
        return float(margins[0]), float(margins[1])

    def _fits(self) -> Iterator[Fit]:
        """The fits behind the fitted attributes, as they were when it was called."""
        coef, parts = self.coef_, (self.trust_, self.prior_, self.intercept_, self.trust_mode_, self._anchors)
        return (
            Fit(_dense_row(coef, k) - eta @ prior, eta, float(intercept), mode, anchor, 0, True, 0.0)
            for k, (eta, prior, intercept, mode, anchor) in enumerate(zip(*parts, strict=True))
        )

    def _warn_unconverged(self, fits: list[Fit], labels: ClassLabels) -> None:
        left = [k for k, fit in enumerate(fits) if not fit.converged]
        if left:
            worst = max(left, key=lambda k: fits[k].gap)
            gap = fits[worst].gap
            off = (
                f"may still fall by {gap / 2:.1e} of its value"
                if np.isfinite(gap)
                else "is at its first step"
            )
            why = (
                f"stopped at max_iter={self.max_iter} Newton steps before reaching"
                if any(fits[k].n_iter >= self.max_iter for k in left)
                else "ran out of digits before it could be shown to have reached"
            )
            warnings.warn(
                f"{type(self).__name__} {why} tol={self.tol:g} for {len(left)} of {len(fits)} problems; "
                "furthest off is class "
                f"{labels.name(worst)!r}, whose objective {off}. Scale the columns, lower C, raise "
                "max_iter or loosen tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def to_record(self) -> dict[str, Any]:
        """Priors, which are zeros but for some terms, as a sparse matrix."""
        own = fields_of(self)
        if "prior_" in own:
            own["prior_"] = sp.csr_matrix(self.prior_.reshape(-1, self.n_features_in_))
        return own

    @classmethod
    def from_record(cls, fields: dict[str, Any]) -> Self:
        """With priors as they were."""
        if "prior_" in fields:
            shape = (*fields["trust_"].shape, fields["coef_"].shape[1])
            if shape[1] > _MOST_PRIORS or fields["prior_"].shape != (shape[0] * shape[1], shape[2]):
                raise RecordError("its priors are not those of its classes and terms")
            fields["prior_"] = fields["prior_"].toarray().reshape(shape)
        own: Self = made_of(cls, fields)
        return own

    def __getstate__(self) -> dict[str, Any]:
        """Without the training data: a model can be shared, its texts perhaps not."""
        state = dict(super().__getstate__())
        if "_training" in state:
            state["_training"] = None
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _sparse_row(weights: Any) -> Any:
    """Without what is nothing beside the largest weight: words that no text inside the margin has."""
    weights = np.asarray(weights, dtype=np.float64)
    return sp.csr_matrix(
        np.where(np.abs(weights) > _NO_WEIGHT * np.abs(weights).max(initial=0.0), weights, 0.0)
    )


def _dense_row(coef: Any, k: int) -> Floats:
    return np.asarray(coef[[k]].toarray()[0] if sp.issparse(coef) else coef[k])


def _on_texts(X: Matrix, problem: dict[str, Any], work: Callable[..., Any], *others: Any) -> Any:
    """Work on one class. The texts are an argument of their own: all classes share them, and a worker gets
    them once.
    """
    return work(Problem(X=X, **problem), *others)
