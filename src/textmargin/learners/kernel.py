"""Kernel SVM that asks for the kernel values it needs, and knows what is known of a text beforehand.

Minimises over β, b and the trust η in prior scores z, per class

    ½β'Kβ + C Σᵢ cᵢ max(0, 1 − yᵢfᵢ) + what the trust mode says of η        f(x) = Σᵢ βᵢ K(x, xᵢ) + ηz(x) + b

all classes at once over one kernel matrix (`_kernel_solver.py`), whose rows are computed when they are needed
(`kernel_matrix.py`). Without prior scores it is `SVC(kernel="precomputed")`; `test_kernel.py` holds it to
that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sklearn import HasMethods, Interval, StrOptions, check_sample_weight, fit_context, n_samples
from .._typing import Bools, Floats
from ..errors import LabelError, PriorError, SettingError, TextmarginError
from ..labels import LabelsMixin, OneVsRest, column_names
from ..records import fields_of, made_of, record
from ._folds import deal_folds
from ._kernel_solver import KernelSolver
from ._kernel_trust import KernelFit, KernelLearner, KernelProblem
from ._prior_scores import align_scores, centred, evaluate
from ._row_pairs import MatrixPairs, RowPairs
from .evidence import verdict
from .explanation import KernelExplanation
from .kernel_matrix import KernelMatrix

_NAMED = {
    "precomputed",
    "linear",
    "rbf",
    "poly",
    "polynomial",
    "sigmoid",
    "cosine",
    "laplacian",
    "chi2",
    "additive_chi2",
}
_LARGEST_AT_ONCE = 20_000  # texts whose matrix is computed as a whole, if that is cheap
_ROUNDING = 1e-4  # beside the largest value: what two halves of a matrix may differ by
_ENTRIES_AT_ONCE = 20_000_000  # of the kernel, in prediction


@record(
    "classes_ multilabel_ n_features_in_ feature_names_in_ support_ support_vectors_ n_support_ dual_coef_ "
    "intercept_ trust_ trust_mode_ verdict_ n_kernel_evaluations_ kernel_ _was_given_scores"
)
class KernelSVC(LabelsMixin, ClassifierMixin, BaseEstimator):
    """Support vector classifier on any kernel, with each kernel value computed only when it is needed, and
    once.

    Several classes are learnt one against the rest; a 0/1 indicator matrix as `y` makes it multilabel. All
    classes share the kernel values. Prediction compares with support vectors only.

    Parameters
    ----------
    kernel : kernel on texts, name or callable, default="linear"
        `SubsequenceKernel(...)` or `SpectrumKernel(...)` for texts; for rows of numbers the name of one of
        scikit-learn's pairwise kernels; a function k(A, B) that gives a matrix, and gets lists or arrays, as
        X is; or "precomputed": X is the kernel matrix itself, (n_texts, n_texts) in `fit` and (n_new,
        n_texts) in `predict`; best as float32.
    C : float, default=1.0
        Cost of missing the margin by 1.
    kernel_params : mapping, default=None
        Parameters of a kernel given by name, such as {"gamma": 0.5}.
    class_weight : mapping or "balanced", default=None
        Cost of a class's own examples (class → weight). With two classes it weighs both sides; with more, or
        multilabel, the positive side of each class's problem, the rest having weight 1. "balanced" gives both
        sides of each problem the same total.
    prior_scores : callable, or mapping class → callable, default=None
        What is known of a text beforehand: a function from texts to a score per text, (n_texts,) for two
        classes, where it speaks for the second, else (n_texts, n_classes), in the order of the classes. The
        score of another model is its method: `prior_scores=model.decision_function`. Scores that are at hand
        already are given to `fit` and `predict` instead.
    trust : {"auto", "free", "nonneg", "ridge", "fixed"} or float, default="auto"
        How the coefficient η of the prior scores is found: `free`: whatever fits best; `nonneg`: the same but
        never negative; `fixed`: 1, and a number is a fixed η of that size; `ridge`: drawn, with strength
        `trust_strength`, to where they are as widely spread as the scores that the kernel alone gives;
        `auto`: per class, no prior, or fixed where `ridge` would draw it, by what held-out texts gain (five
        folds), and where these cannot tell, by how the other classes do.
    trust_strength : float, default=1.0
        How strongly η is held by `trust="ridge"`, beside the loss of one text.
    fit_intercept : bool, default=True
        Whether b is learnt; without it, it is 0, as in the experiments of Lodhi et al. (2000), whose
        threshold is fixed.
    tol : float, default=1e-4
        By how much a margin may be missed unnoticed.
    warm_start : bool, default=False
        Whether a fit starts from the machine of the last one where texts and classes are the same, as in a
        search for C. It saves time and changes nothing else.
    cache : folder, default=None
        Where the kernel values of the training texts are kept, a file for each string kernel and list of
        texts: another C, another process, or a fit after an interruption goes on with those that are there.
        By default they are forgotten.
    n_jobs : int, default=None
        How many classes are learnt at a time, by threads. Kernel values have their own threads.

    Attributes
    ----------
    classes_ : array (n_classes,)
    multilabel_ : bool
        Whether it was trained on an indicator matrix.
    support_ : array (n_support,)
        Indices of the training texts that support some class.
    support_vectors_ : the texts themselves; empty for a matrix that was given.
    n_support_ : array (n_problems,)
        How many support each class.
    dual_coef_ : array (n_problems, n_support)
        β.
    intercept_ : array (n_problems,)
    trust_ : array (n_problems,)
        η; 0 where the prior scores are not used.
    trust_mode_ : list of str
        The mode each class was learnt with; tells what `auto` chose.
    verdict_ : list of Verdict
        Per class with prior scores whether these are `supported`, `adopted`, `dropped`, or `contradicted` by
        the data, with the evidence; empty unless `trust="auto"`.
    n_kernel_evaluations_ : int
        Pairs of texts that were compared in training; those found in the cache, or given, do not count.
        String kernels and functions on a processor compare a text only once it is needed: kernels of rows by
        name and GPUs compute the whole matrix, which is as fast.
    kernel_ : the kernel that was used.
    n_features_in_, feature_names_in_
        As in scikit-learn, for rows of numbers.

    Examples
    --------
    >>> from textmargin import KernelSVC, SubsequenceKernel
    >>> texts = ["cheap pills", "cheep pils", "lunch at noon", "lunch at one"]
    >>> model = KernelSVC(SubsequenceKernel(3)).fit(texts, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["che4p pill", "lunch?"])
    array(['spam', 'ham'], dtype='<U4')
    """

    _training: _Training | None = None  # not in a saved or pickled model
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(_NAMED), callable],
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel_params": [Mapping, None],
        "class_weight": [Mapping, StrOptions({"balanced"}), None],
        "prior_scores": [callable, Mapping, None],
        "trust": [
            StrOptions({"auto", "free", "nonneg", "ridge", "fixed"}),
            Interval(Real, None, None, closed="neither"),
        ],
        "trust_strength": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
        "cache": [str, HasMethods(["__fspath__"]), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        kernel: Any = "linear",
        C: float = 1.0,
        *,
        kernel_params: Mapping[str, Any] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        prior_scores: Any = None,
        trust: str | float = "auto",
        trust_strength: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        cache: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.kernel_params = kernel_params
        self.class_weight = class_weight
        self.prior_scores = prior_scores
        self.trust = trust
        self.trust_strength = trust_strength
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.warm_start = warm_start
        self.cache = cache
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, prior_scores: Any = None) -> Self:
        """Learn from texts and labels.

        Parameters
        ----------
        X : list, array or column of n_texts texts, or rows of numbers, as the kernel takes them
        y : array (n_texts,), or a 0/1 indicator matrix (n_texts, n_classes) for multilabel
        sample_weight : array (n_texts,), default=None
            Cost of each text; a text of weight 0 counts as absent.
        prior_scores : array (n_texts,) or (n_texts, n_classes), or mapping class → array (n_texts,),
            default=None
            Scores known beforehand, if the parameter of that name does not compute them.
        """
        kernel = clone(self.kernel, safe=False)
        names = column_names(y)
        X, y = self._checked(kernel, X, y)
        pairs = self._pairs(kernel, X)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        targets = OneVsRest.read(y, weight, type(self).__name__, names)
        if _precomputed(kernel):
            _require_symmetry(X)
        labels, counted = targets.labels, weight > 0
        z, informed = self._prior(X, prior_scores, labels.names, labels.n_problems)
        z, centre = centred(z, counted) if self.fit_intercept else (z, np.zeros(z.shape[1]))
        costs = [
            self.C * weight * targets.costs(self.class_weight, k, weight) for k in range(labels.n_problems)
        ]
        problems = [KernelProblem(targets.signs(k), own, z[:, k]) for k, own in enumerate(costs)]
        learner = KernelLearner(
            self._gram(kernel, X, pairs), KernelSolver(self.tol, self.fit_intercept, self.n_jobs)
        )
        last = self._training if self.warm_start else None
        start = None if last is None else last.start(problems, self.C)

        fits = learner.fit(problems, informed, self.trust, self.C * self.trust_strength, start)

        self.kernel_, self.classes_, self.multilabel_ = kernel, labels.names, labels.multilabel
        beta = np.array([fit.beta for fit in fits])
        self.support_ = np.flatnonzero(beta.any(axis=0))
        self.n_support_ = np.count_nonzero(beta, axis=1)
        self.dual_coef_ = beta[:, self.support_]
        self.trust_ = np.array([fit.eta for fit in fits])
        self.intercept_ = np.array([fit.intercept for fit in fits]) - self.trust_ * centre
        self.trust_mode_ = [fit.mode for fit in fits]
        self.verdict_ = [
            verdict(labels.name(k), 0, fit.evidence, fit.gain, trusted=fit.mode == "fixed")
            for k, fit in enumerate(fits)
            if not np.isnan(fit.evidence)
        ]
        self.n_kernel_evaluations_ = learner.gram.n_evaluations
        self._training = _Training(learner, problems, fits, counted, self.C)
        self._support, self._was_given_scores = pairs.take(self.support_), prior_scores is not None
        self.support_vectors_ = self._support.texts
        return self

    def decision_function(self, X: Any, prior_scores: Any = None) -> Floats:
        """Scores: (n_texts,) for two classes, else (n_texts, n_classes). Prior scores as in `fit`."""
        return self._labels.shape(self._scores(X, prior_scores))

    def predict(self, X: Any, prior_scores: Any = None) -> NDArray[Any]:
        """The class of each text; an indicator matrix if it was trained on one."""
        return self._labels.decide(self._scores(X, prior_scores))

    def fold_decision_function(self, n_folds: int = 5, random_state: int | None = 0) -> Floats:
        """Scores of the training texts, each by a machine learnt without the fold that the text is in.

        Kernel values that the fit asked for are not computed again. All classes share one set of folds, into
        which each class is dealt out evenly; what was found out about the trust in prior scores is held.
        Shaped like `decision_function`; NaN for the texts of a fold outside of which a class has no example,
        or no other text. A text of weight 0 has the score of `decision_function`, which never saw it. Needs
        the kernel values of the fit, which stay with the estimator but not in a saved or pickled one.

        Parameters
        ----------
        n_folds : int, default=5
            At least 2.
        random_state : int, default=0
            Which texts come into one fold.
        """
        check_is_fitted(self)
        if self._training is None:
            raise TextmarginError(
                "This KernelSVC was loaded without its kernel values, which held-out scores need; call "
                "fit again first."
            )
        return self._labels.shape(self._training.fold_scores(n_folds, random_state))

    def held_out_method(self) -> Literal["cv"]:
        """Which held-out scores of the training texts to take: those of `fold_decision_function`."""
        return "cv"

    def explain(
        self, text: Any, target: Any = None, *, prior_scores: Any = None, n_matches: int = 20
    ) -> KernelExplanation:
        """Which support vectors gave a text its score, and, for kernels on texts, through which subsequences.

        Parameters
        ----------
        text : str, or one row of numbers
        target : class, default=None
            Whose score; default: the second class of two, else the class with the highest score. The score of
            the first of two classes is that of the second, negated.
        prior_scores : as in `fit`, for this text
        n_matches : int, default=20
            How many subsequences to tell, those that move the score most. They are looked for among those
            with few gaps.
        """
        check_is_fitted(self)
        if hasattr(self.kernel_, "over") or not hasattr(text, "ndim"):
            X: Any = [text]
        else:
            X = np.reshape(text, (1, -1)) if text.ndim == 1 else text
        X = self._checked(self.kernel_, X)
        if n_samples(X) != 1:
            raise ValueError(f"explain takes one text at a time; got {n_samples(X)}.")
        z = self._prior_of_new(X, prior_scores)[0]
        K = self._compare(X)[0]
        scores = self.dual_coef_ @ K + self.trust_ * z + self.intercept_
        k, sign, target = self._labels.problem(target, scores)
        own = np.flatnonzero(self.dual_coef_[k])
        coefficients = sign * self.dual_coef_[k, own]
        matches, rest = [], None
        if own.size and hasattr(self._support, "matches"):
            matches, rest = self._support.take(own).matches(text, coefficients, n_matches)
            matches = [replace(match, other=int(self.support_[own[match.other]])) for match in matches]
        return KernelExplanation(
            target=target,
            score=sign * float(scores[k]),
            intercept=sign * float(self.intercept_[k]),
            prior=sign * float(self.trust_[k] * z[k]),
            support=self.support_[own],
            similarities=K[own],
            data=coefficients * K[own],
            matches=matches,
            rest=rest,
        )

    def _checked(self, kernel: Any, *X_and_y: Any) -> Any:
        """X, and y where there is one, as the kernel takes them: rows of numbers are validated, texts left to
        the kernel.
        """
        X, fitting = X_and_y[0], len(X_and_y) == 2
        if not isinstance(kernel, str) and self.kernel_params:
            raise ValueError(
                "kernel_params are for kernels given by name; set the parameters of a kernel object on "
                "itself."
            )
        if _precomputed(kernel):
            if self.kernel_params:
                raise ValueError(
                    "kernel_params are for kernels that are computed; kernel='precomputed' gives the values."
                )
            checks = {"dtype": [np.float64, np.float32], "order": "C", "reset": fitting}
            X_and_y = (
                validate_data(self, *X_and_y, multi_output=True, **checks)
                if fitting
                else validate_data(self, X, **checks)
            )
            if fitting and X_and_y[0].shape[0] != X_and_y[0].shape[1]:
                raise ValueError(
                    "kernel='precomputed' needs the square matrix of all texts with all; X should be a "
                    "square kernel matrix but "
                    f"has shape {X_and_y[0].shape}."
                )
            return X_and_y
        if isinstance(kernel, str) and isinstance(X, list) and X and isinstance(X[0], str):
            raise ValueError(
                f"kernel={kernel!r} compares rows of numbers, not texts; for texts use a string kernel: "
                f"KernelSVC(SubsequenceKernel())."
            )
        if isinstance(kernel, str) or _are_numbers(X):
            checks = {"accept_sparse": "csr", "dtype": np.float64, "reset": fitting}
            return (
                validate_data(self, *X_and_y, multi_output=True, **checks)
                if fitting
                else validate_data(self, X, **checks)
            )
        X = kernel.items(X) if hasattr(kernel, "over") else list(X)
        if not fitting:
            return X
        y = X_and_y[1]
        if y is None:
            raise LabelError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = y if sp.issparse(y) else np.asarray(y)
        if y.shape[0] != len(X):
            raise LabelError(f"There are {len(X)} texts but {y.shape[0]} labels.")
        return X, y

    def _pairs(self, kernel: Any, X: Any) -> Any:
        if _precomputed(kernel):
            return MatrixPairs(np.arange(X.shape[1]))
        return kernel.over(X) if hasattr(kernel, "over") else RowPairs(X, kernel, self.kernel_params or {})

    def _gram(self, kernel: Any, X: Any, pairs: Any) -> KernelMatrix:
        """The kernel matrix: given, in a file, or computed as far as it is needed or cheap."""
        if self.cache is not None:
            if not hasattr(pairs, "identity"):
                raise SettingError(
                    "cache", "keeps the values of string kernels; use cache=None for other kernels."
                )
            return KernelMatrix.stored(pairs, self.cache)
        if _precomputed(kernel):
            return KernelMatrix.given(X)
        gram = KernelMatrix.lazy(pairs)
        cheap = isinstance(kernel, str) or getattr(pairs, "on_device", False)
        if cheap and len(pairs) <= _LARGEST_AT_ONCE:
            gram.compute(np.arange(len(pairs)))
        return gram

    def _compare(self, X: Any) -> Floats:
        """K of texts with the support vectors, of which there may be none if the prior scores do without."""
        return self._support.versus(X) if self.support_.size else np.zeros((n_samples(X), 0))

    def _scores(self, X: Any, prior_scores: Any) -> Floats:
        check_is_fitted(self)
        X = self._checked(self.kernel_, X)
        scores = self._prior_of_new(X, prior_scores) * self.trust_ + self.intercept_
        step = max(1, _ENTRIES_AT_ONCE // max(1, self.support_.size))
        for start in range(0, n_samples(X), step):
            rows = slice(start, start + step)
            scores[rows] += self._compare(X[rows]) @ self.dual_coef_.T
        return scores

    def _prior(self, X: Any, given: Any, classes: NDArray[Any], n_problems: int) -> tuple[Floats, list[bool]]:
        """Prior scores (n_texts, n_problems), and of which problems there are any."""
        if given is not None and self.prior_scores is not None:
            raise PriorError(
                "prior_scores are given, but the parameter prior_scores computes them already; choose one."
            )
        if self.prior_scores is not None:
            given = evaluate(self.prior_scores, X)
        return align_scores(given, classes, n_problems, n_samples(X))

    def _prior_of_new(self, X: Any, given: Any) -> Floats:
        """The same for texts to predict."""
        if self.prior_scores is None and (given is not None) != self._was_given_scores:
            raise PriorError(
                "This KernelSVC was fitted with prior_scores; give those of the new texts as well: "
                "predict(X, prior_scores=...)."
                if given is None
                else "This KernelSVC was fitted without prior_scores, so it cannot use any; give them to "
                "fit as well."
            )
        return self._prior(X, given, self.classes_, len(self.dual_coef_))[0]

    def to_record(self) -> dict[str, Any]:
        """With the texts of the support vectors, or the columns of a matrix that was given."""
        own = fields_of(self) | {"cache": None}  # a file names no folder
        if isinstance(support := vars(self).get("_support"), MatrixPairs):
            own["support_vectors_"] = support.columns
        return own

    @classmethod
    def from_record(cls, fields: dict[str, Any]) -> Self:
        """With the columns of a matrix that was given."""
        own: Self = made_of(cls, fields | {"cache": None})
        if "support_vectors_" in fields and _precomputed(own.kernel_):
            own._support = MatrixPairs(own.support_vectors_)
            own.support_vectors_ = own._support.texts
        return own

    @cached_property
    def _support(self) -> Any:
        """The support vectors, ready to be compared; a file has their texts, or rows, alone."""
        return self._pairs(self.kernel_, self.support_vectors_)

    def __getstate__(self) -> dict[str, Any]:
        """Without the kernel values of all training texts."""
        state = dict(super().__getstate__())
        if "_training" in state:
            state["_training"] = None
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = isinstance(self.kernel, str) and not _precomputed(self.kernel)
        tags.input_tags.pairwise = _precomputed(self.kernel)
        if hasattr(self.kernel, "over"):
            tags.input_tags.string = True
            tags.input_tags.two_d_array = False
        return tags


@dataclass(frozen=True)
class _Training:
    """What a machine was fitted on, kernel values included."""

    learner: KernelLearner
    problems: list[KernelProblem]
    fits: list[KernelFit]
    counted: Bools  # texts of some weight
    C: float

    def start(self, problems: list[KernelProblem], C: float) -> Floats | None:
        """Weights to start a fit with another C from: those at their bound go with it, free ones stay.

        None where the texts or classes are others.
        """
        y, others = (np.array([problem.y for problem in some]) for some in (problems, self.problems))
        if not np.array_equal(y, others):
            return None
        beta = np.array([fit.beta for fit in self.fits])
        bound = np.array([problem.costs for problem in self.problems])
        return np.where(np.abs(beta) >= bound * (1 - 1e-9), C / self.C, 1.0) * beta

    def fold_scores(self, n_folds: int, random_state: int | None) -> Floats:
        """(n_texts, n_problems); NaN for a fold without which a class has no example, or no other text."""
        counted = np.flatnonzero(self.counted)
        positive = np.column_stack([problem.y for problem in self.problems])[counted] > 0
        dealt = deal_folds(positive, n_folds, random_state)
        scores = np.column_stack([fit.scores for fit in self.fits])
        scores[counted] = np.nan
        folds = []  # (texts held out, class), of all folds and classes that can be learnt
        for j in range(n_folds):
            rest = positive[dealt != j]
            learnable = np.flatnonzero(rest.any(axis=0) & ~rest.all(axis=0))
            folds += [(counted[dealt == j], k) for k in learnable.tolist()]
        fits = [self.fits[k] for _, k in folds]
        problems = [self.problems[k].without(held_out) for held_out, k in folds]
        found = self.learner.learn(
            problems, [fit.setting for fit in fits], np.array([fit.beta for fit in fits])
        )
        for (held_out, k), fit in zip(folds, found, strict=True):
            scores[held_out, k] = fit.scores[held_out]
        return scores


def _require_symmetry(K: Any) -> None:
    """Of a matrix that was given, rounding aside: some rows against their columns, since all would take as
    long as learning.
    """
    starts = np.unique(np.linspace(0, max(0, len(K) - 16), 8).astype(np.intp))
    for rows in (slice(start, start + 16) for start in starts.tolist()):
        apart = np.abs(K[rows] - K[:, rows].T)
        at, j = divmod(int(apart.argmax()), len(K))
        if apart[at, j] > _ROUNDING * float(np.abs(K[rows]).max()):
            i = rows.start + at
            raise ValueError(
                f"kernel='precomputed' needs the matrix of all texts with all, which is symmetric; X[{i}, "
                f"{j}] is {K[i, j]:g} "
                f"but X[{j}, {i}] is {K[j, i]:g}. If rounding made them so, give (X + X.T) / 2."
            )


def _precomputed(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "precomputed"


def _are_numbers(X: Any) -> bool:
    """Whether X is a matrix or table of numbers; lists are left to the kernel as they are."""
    if sp.issparse(X):
        return True
    kinds = [X.dtype] if hasattr(X, "dtype") else list(getattr(X, "dtypes", []))
    return len(kinds) > 0 and all(getattr(kind, "kind", "O") in "biuf" for kind in kinds)
