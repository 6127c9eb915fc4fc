"""Tasks with keywords and more texts than labels: a pool of which a few texts are labelled, and test texts.

| wikipedia25  | 25 classes, one each; pool: train and extra, labels of train alone; its own keywords    |
| reuters21578 | ten topics, any number each; pool: ModApte's training texts; keywords of `bench_priors` |
| desk         | 8 classes, one each, in the package: for `--quick`, and for the baselines' constants    |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score

from textmargin import BagOfWords, KeywordPrior, TextClassifier, load_dataset
from textmargin._ties import ROUNDING
from textmargin._typing import Bools, Floats, Indices
from textmargin.experiments.keywords import positives_of_each

from .. import bench_priors
from .scikit_learn import NeighbourGraph


@dataclass(frozen=True)
class Answers:
    """Scores of the test texts, (n_test, n_classes), and which classes each is given."""

    scores: Floats
    accepted: Bools


@dataclass(frozen=True)
class Given:
    """What a `TextClassifier` is given to learn from; `settings` are further parameters of it."""

    texts: list[str]
    labels: list[Any]
    unlabelled: list[str]
    keywords: Mapping[str, list[str]]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Features:
    """Counts of words and log-tf-idf with rows of unit length, of pool and test texts; which words are whose
    keywords.
    """

    words: NDArray[Any]
    counts: sp.csr_matrix
    test_counts: sp.csr_matrix
    X: sp.csr_matrix
    X_test: sp.csr_matrix
    keywords: Bools  # (n_classes, n_terms)

    @cached_property
    def neighbours(self) -> NeighbourGraph:
        return NeighbourGraph.find(self.X, self.X_test)

    def others(self, rows: Indices) -> Indices:
        """The other rows of the pool."""
        return np.setdiff1d(np.arange(self.counts.shape[0]), rows)


@dataclass(frozen=True)
class Task:
    """A pool of texts, of which the first `n_drawable` may be labelled, and test texts; a 1 in Y for each
    label.
    """

    name: str
    keywords: Mapping[str, list[str]]
    multilabel: bool
    texts: list[str]
    Y: Indices
    n_drawable: int
    test_texts: list[str]
    Y_test: Indices

    @classmethod
    def load(cls, name: str) -> Task:
        corpus = load_dataset(name)
        parts = [corpus.part(split) for split in ("train", "extra", "test") if split in corpus.splits]
        keywords = dict(sorted((corpus.keywords or bench_priors.KEYWORDS).items()))
        *pool, Y_test = (part.indicator(list(keywords))[0] for part in parts)
        texts = [text for part in parts[:-1] for text in part.texts]
        multilabel = isinstance(corpus.labels[0], tuple)
        return cls(name, keywords, multilabel, texts, np.vstack(pool), len(pool[0]), parts[-1].texts, Y_test)

    @property
    def classes(self) -> list[str]:
        return list(self.keywords)

    def draw(self, size: int, seed: int) -> Indices:
        """Rows of the pool: so many texts of each class; of topics as `bench_priors` draws them, with as many
        texts of none.
        """
        Y, rng = self.Y[: self.n_drawable], np.random.default_rng(seed)
        return bench_priors.drawn(Y, size, rng) if self.multilabel else positives_of_each(Y, size, rng)

    def given(self, rows: Indices) -> Given:
        """Some rows with their labels, the other texts without."""
        others = np.setdiff1d(np.arange(len(self.texts)), rows)
        names = [tuple(name for name, y in zip(self.classes, own, strict=True) if y) for own in self.Y[rows]]
        labels = names if self.multilabel else [name for (name,) in names]
        settings = {"multilabel": True} if self.multilabel else {}
        return Given(
            [self.texts[row] for row in rows],
            labels,
            [self.texts[row] for row in others],
            self.keywords,
            settings,
        )

    @cached_property
    def features(self) -> Features:
        """What the methods that take matrices are given: words of the whole pool, as the default
        representation has them.
        """
        prior = KeywordPrior(self.keywords)
        named = prior.words(BagOfWords().build_keyword_analyzer())
        words = [BagOfWords("count", norm=None, extra_terms=named), BagOfWords(extra_terms=named)]
        counts, X = (one.fit_transform(self.texts) for one in words)
        test_counts, X_test = (one.transform(self.test_texts) for one in words)
        terms = words[0].get_feature_names_out()
        coef = prior.coef(terms, self.classes)
        return Features(
            terms, counts, test_counts, X, X_test, np.array([coef[name] > 0 for name in self.classes])
        )

    def answers_of(self, model: TextClassifier) -> Answers:
        decisions = model.decide(self.test_texts)
        columns = [decisions.names.index(name) for name in self.classes]
        return Answers(decisions.scores[:, columns], decisions.accepted[:, columns])

    def answers_by(self, scores: Floats) -> Answers:
        """Decisions at 0, or the classes of the highest score."""
        highest = scores.max(axis=1, keepdims=True)
        return Answers(
            scores, scores > 0 if self.multilabel else scores >= highest - ROUNDING * np.abs(highest)
        )

    def average_precision(self, answers: Answers) -> float:
        """Mean over classes."""
        pairs = zip(self.Y_test.T, answers.scores.T, strict=True)
        return float(np.mean([average_precision_score(y, score) for y, score in pairs]))

    def rightness(self, answers: Answers) -> float:
        """Macro F1 where texts have any number of labels; else accuracy, a tie of n classes counting 1/n
        where one is right.
        """
        if self.multilabel:
            return float(f1_score(self.Y_test, answers.accepted, average="macro", zero_division=0))
        return float(np.mean((answers.accepted * self.Y_test).sum(axis=1) / answers.accepted.sum(axis=1)))
