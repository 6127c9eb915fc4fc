"""Reading behaviour: how the words of a category were read, turned into weights (Parrado-Hernández & Hardoon,
Sec. 4).

1. *Ideal weights* w̃_j of each category: a linear SVM (C = 1), category against the rest, on tf-idf
   n_dt·ln(|D|/df).
2. Reading measures of a word, averaged over its occurrences (and readers) in a document.
3. For category i a regression f_i from the measures of (word k, document of category j ≠ i) to w̃_j[k]:
   category i is not seen.
4. v_i[k] = f_i(mean measures of word k in documents of category i), for words that were read there.

The paper tunes an RBF SVR by 5-fold cross-validation per category. Here the search runs on a sample of rows
(`n_tune`), which makes it affordable; the regression itself is learnt on all of them. Measures are
standardised and targets scaled.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR
from sklearn.utils import check_random_state

from .._system.parallel import run_jobs
from .._system.progress import progress_of
from .._typing import Floats
from ..errors import PriorError, TextmarginWarning
from ..records import fields_of, made_of, record
from .vocabulary import KnowledgeBase

_GRID = {"C": [1.0, 10.0, 100.0], "epsilon": [0.03, 0.1, 0.3], "width": [0.5, 1.0, 2.0]}  # σ = width·√d


@record("weights_ ideal_ mse_ settings_ _chosen")
class GazePrior(KnowledgeBase):
    """Weights from how words were read: a regression from reading measures to the weights of other
    categories.

    Parameters
    ----------
    readings : table with named columns (DataFrame, or mapping of arrays)
        A row per word occurrence and reader: the document, the word, and the measures.
    texts : mapping document → text
        The documents whose ideal weights are learnt; they need a label, not a reading.
    labels : mapping document → class
    measures : list of str, default=None
        Columns that are measures; by default all numeric ones but the document and its positions
        (`word_index`, `line`).
    document, word : str, default="doc_id" and "word"
        Names of the columns that tell document and word.
    regressor : regressor, default=None
        In place of the tuned RBF SVR.
    n_tune : int, default=800
        Rows on which the SVR's C, σ and ε are chosen, by 5 folds.
    random_state : int, default=0
        Which rows these are.
    n_jobs : int, default=None
        Categories at a time, through joblib.
    progress : bool or callable, default=True
        Show a bar on standard error when it takes long.

    Attributes
    ----------
    weights_ : dict class → dict word → weight
    ideal_ : dict class → dict word → ideal weight
    mse_ : dict class → float
        Mean square error of the weights of a category's words, whose readings the regression did not see.
    settings_ : dict class → dict, what was chosen for the SVR.

    Examples
    --------
    Words that were looked at for long get a weight for the class of the text that they were read in:

    >>> from sklearn.linear_model import Ridge
    >>> from textmargin import GazePrior
    >>> texts = {1: "wheat and corn", 2: "bank and rates", 3: "ship and port"}
    >>> rows = [(name, word, 90 + 40 * len(word)) for name, text in texts.items() for word in text.split()]
    >>> readings = dict(zip(("doc_id", "word", "gaze_duration"), zip(*rows)))
    >>> labels = {1: "grain", 2: "money", 3: "sea"}
    >>> settings = {"measures": ["gaze_duration"], "regressor": Ridge(), "progress": False}
    >>> prior = GazePrior(readings, texts, labels, **settings)
    >>> prior = prior.fit()
    >>> sorted(prior.weights_["grain"])
    ['and', 'corn', 'wheat']
    >>> prior.weights_["grain"]["wheat"] > prior.weights_["grain"]["and"]
    True
    """

    _chosen: dict[Any, dict[str, float]] | None = None  # settings of the SVR by class, chosen elsewhere

    def __init__(
        self,
        readings: Any,
        texts: Mapping[Any, str],
        labels: Mapping[Any, Any],
        *,
        measures: list[str] | None = None,
        document: str = "doc_id",
        word: str = "word",
        regressor: Any = None,
        n_tune: int = 800,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Any = True,
    ) -> None:
        self.readings = readings
        self.texts = texts
        self.labels = labels
        self.measures = measures
        self.document = document
        self.word = word
        self.regressor = regressor
        self.n_tune = n_tune
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self) -> Self:
        """Learn the weights; `coef` does it by itself when first asked. Clones keep what was learnt."""
        documents = [name for name in self.texts if name in self.labels]
        classes = sorted({self.labels[name] for name in documents}, key=str)
        if len(classes) < 3:
            raise PriorError(
                f"GazePrior learns a category from at least two others; labels has {len(classes)} in all."
            )
        vectorizer = CountVectorizer(token_pattern=r"(?u)\b\w+\b")
        X = _paper_tfidf(vectorizer.fit_transform([self.texts[name] for name in documents]))
        y = np.array([classes.index(self.labels[name]) for name in documents])
        ideal = np.array([_ideal_weights(X, y == k) for k in range(len(classes))])
        rows, place = self._rows(documents, vectorizer)
        category, word = y[place[:, 0]], place[:, 1]
        chosen = self._chosen or {}
        regressions = [
            _Regression(self.regressor, self.n_tune, self.random_state, chosen.get(name)) for name in classes
        ]
        learnt = []
        with progress_of(f"Learning how {len(classes)} categories were read", self.progress) as report:
            jobs = (
                delayed(one.category)(k, rows, category, word, ideal) for k, one in enumerate(regressions)
            )
            for found in run_jobs(jobs, self.n_jobs, prefer="processes"):
                learnt.append(found)
                if report:
                    report(len(learnt) / len(classes))
        terms = vectorizer.get_feature_names_out()
        self.weights_, self.mse_, self.settings_ = {}, {}, {}
        self.ideal_ = {
            name: dict(zip(terms, row.tolist(), strict=True))
            for name, row in zip(classes, ideal, strict=True)
        }
        for name, (words, weights, mse, settings) in zip(classes, learnt, strict=True):
            self.weights_[name] = {str(terms[w]): float(v) for w, v in zip(words, weights, strict=True)}
            self.mse_[name], self.settings_[name] = mse, settings
        self._learnt_with = self._settings()
        return self

    @property
    def title(self) -> str:
        """By what was recorded."""
        return "gaze"

    def sources(self) -> set[str]:
        """The labelled texts."""
        return {text for name, text in self.texts.items() if name in self.labels}

    def without(self, texts: Collection[str]) -> GazePrior:
        """The same learnt from the other documents, the SVR's settings held where they are chosen: the search
        takes minutes.
        """
        left_out = frozenset(texts)
        rest = {name: text for name, text in self.texts.items() if text not in left_out}
        documents = np.asarray(self.readings[self.document]).tolist()
        rows = np.flatnonzero([name in rest or name not in self.texts for name in documents])
        names = list(getattr(self.readings, "columns", self.readings))
        readings = {name: np.asarray(self.readings[name])[rows] for name in names}
        other = GazePrior(**{**self.get_params(deep=False), "readings": readings, "texts": rest})
        other._chosen = self.settings_ if self._is_learnt else None
        return other

    @property
    def _is_learnt(self) -> bool:
        return getattr(self, "_learnt_with", None) == self._settings()

    def _entries(self) -> dict[Any, dict[str, float]]:
        if not self._is_learnt:
            self.fit()
        return self.weights_

    def _settings(self) -> list[int]:
        """What the weights depend on, each by its identity."""
        return [id(value) for _, value in sorted(self.get_params(deep=False).items())]

    def __sklearn_clone__(self) -> GazePrior:
        """With what was learnt, as long as nothing is set otherwise: it takes a minute, and a grid search
        clones often.
        """
        same = GazePrior(**self.get_params(deep=False))
        same._chosen = self._chosen
        if self._is_learnt:
            for name in ("weights_", "ideal_", "mse_", "settings_", "_learnt_with"):
                setattr(same, name, getattr(self, name))
        return same

    def to_record(self) -> dict[str, Any]:
        """Readings as a mapping of columns; what was learnt, unless settings were changed since."""
        own = fields_of(self if self._is_learnt else clone(self))
        names = getattr(self.readings, "columns", self.readings)
        return own | {"readings": {str(name): np.asarray(self.readings[name]) for name in names}}

    @classmethod
    def from_record(cls, fields: dict[str, Any]) -> Self:
        """Learnt, if it was."""
        own: Self = made_of(cls, fields)
        if "weights_" in fields:
            own._learnt_with = own._settings()
        return own

    def _warn(self, *found: Any) -> None:
        """Words that were read need not be in the vocabulary; `match_vocabulary` tells how many are."""

    def _rows(self, documents: list[Any], vectorizer: CountVectorizer) -> tuple[Floats, NDArray[np.intp]]:
        """Standardised measures of each word in each document, and which document and term that is."""
        names = list(getattr(self.readings, "columns", self.readings))
        columns = {str(name): np.asarray(self.readings[name]) for name in names}
        if len({values.shape[0] for values in columns.values()}) > 1:
            raise PriorError("The columns of readings have different lengths.")
        for name in (self.document, self.word, *(self.measures or [])):
            if name not in columns:
                raise PriorError(f"readings has no column {name!r}; it has {list(columns)[:12]}.")
        measures = self.measures or [
            name
            for name, values in columns.items()
            if values.dtype.kind in "biuf" and name not in (self.document, self.word, "word_index", "line")
        ]
        texty = [name for name in measures if columns[name].dtype.kind not in "biuf"]
        if texty or not measures:
            raise PriorError(
                f"The measure {texty[0]!r} is not a number."
                if texty
                else "readings has no numeric column to learn from."
            )
        number = {name: i for i, name in enumerate(documents)}
        strangers = sorted({str(name) for name in columns[self.document].tolist() if name not in self.texts})
        if strangers:
            warnings.warn(
                f"GazePrior: readings of {len(strangers)} documents without a text are left out, such as "
                f"{strangers[0]!r}.",
                TextmarginWarning,
                stacklevel=3,
            )
        analyze, vocabulary = vectorizer.build_analyzer(), vectorizer.vocabulary_
        known: dict[str, int] = {}
        keys, kept = [], []
        for i, (name, word) in enumerate(
            zip(columns[self.document].tolist(), columns[self.word].tolist(), strict=True)
        ):
            if name not in number or not isinstance(word, str):
                continue
            if word not in known:
                known[word] = next((vocabulary[term] for term in analyze(word) if term in vocabulary), -1)
            if known[word] >= 0:
                keys.append((number[name], known[word]))
                kept.append(i)
        if not kept:
            raise PriorError(
                "None of the readings is of a word of the labelled texts; do the documents' names agree?"
            )
        values = np.column_stack([columns[name][kept].astype(np.float64) for name in measures])
        if not np.isfinite(values).all():
            raise PriorError(
                f"The measure {measures[int(np.argwhere(~np.isfinite(values))[0, 1])]!r} has values that "
                "are not finite."
            )
        place, which = np.unique(np.array(keys, dtype=np.intp), axis=0, return_inverse=True)
        counts = np.bincount(which.ravel())
        rows = np.column_stack([np.bincount(which.ravel(), column) / counts for column in values.T])
        spread = rows.std(axis=0)
        constant = spread <= 1e-12 * np.abs(rows).max(axis=0, initial=0.0)
        if constant.any():
            names = [name for name, same in zip(measures, constant, strict=True) if same]
            warnings.warn(
                f"GazePrior: constant measures are left out: {', '.join(names)}.",
                TextmarginWarning,
                stacklevel=3,
            )
        if constant.all():
            raise PriorError(
                "All reading measures are the same for all words; there is nothing to learn from them."
            )
        return ((rows - rows.mean(axis=0)) / np.where(constant, 1.0, spread))[:, ~constant], place


@dataclass(frozen=True)
class _Regression:
    """How weights are learnt from measures: all that a category needs to know of the estimator."""

    regressor: Any
    n_tune: int
    random_state: int
    settings: dict[str, float] | None = None  # of the SVR, where they were chosen before

    def category(
        self, k: int, rows: Floats, category: NDArray[np.intp], word: NDArray[np.intp], ideal: Floats
    ) -> tuple[NDArray[np.intp], Floats, float, dict[str, float]]:
        """The words read in category k, their weights, the error of these, and the settings of the
        regression.
        """
        others = category != k
        words = np.unique(word[~others])
        if not words.size:
            return words, np.empty(0), np.nan, {}
        target = ideal[category[others], word[others]]
        scale = max(float(target.std()), 1e-300)
        regressor, settings = self._tuned(rows[others], target / scale)
        regressor.fit(rows[others], target / scale)
        mean = np.array([rows[~others & (word == w)].mean(axis=0) for w in words])
        weights = scale * regressor.predict(mean)
        return words, weights, float(np.mean((weights - ideal[k, words]) ** 2)), settings

    def _tuned(self, rows: Floats, target: Floats) -> tuple[Any, dict[str, float]]:
        if self.regressor is not None:
            return clone(self.regressor), {}
        if self.settings:
            return SVR(cache_size=500, **self.settings), self.settings
        if len(target) < 10:
            raise PriorError(
                f"There are {len(target)} words with readings in the other categories, too few to learn from."
            )
        some = check_random_state(self.random_state).permutation(len(target))[: max(10, self.n_tune)]
        grid = {**_GRID, "gamma": [1 / (2 * width**2 * rows.shape[1]) for width in _GRID["width"]]}
        del grid["width"]
        search = GridSearchCV(SVR(cache_size=500), grid, cv=5, scoring="neg_mean_squared_error").fit(
            rows[some], target[some]
        )
        return clone(search.best_estimator_), search.best_params_


def _paper_tfidf(counts: sp.csr_matrix) -> sp.csr_matrix:
    """n_dt·ln(|D|/df): no smoothing, no length."""
    df = np.asarray((counts > 0).sum(axis=0)).ravel()
    return sp.csr_matrix(counts @ sp.diags(np.log(counts.shape[0] / df)))


def _ideal_weights(X: sp.csr_matrix, positive: NDArray[np.bool_]) -> Floats:
    coef = SVC(kernel="linear", C=1.0).fit(X, positive).coef_
    return np.asarray(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64).ravel()
