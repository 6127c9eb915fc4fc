"""The machine of Lodhi et al. on a kernel matrix, and what it gets right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from .._typing import Floats
from ..learners.kernel import KernelSVC
from ..representations.bow import BagOfWords
from ..representations.spectrum import SpectrumKernel
from ..representations.strings import SubsequenceKernel
from .run import Run

Matrices = tuple[Floats, Floats]  # training texts with themselves; test texts with training texts

MEASURES = ("F1", "precision", "recall", "support vectors")
COSTS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)


@dataclass(frozen=True)
class Kernels:
    """The kernels of the paper over texts, with values kept where that saves time."""

    run: Run

    def subsequences(self, length: int, decay: float) -> Callable[[list[str], list[str]], Matrices]:
        """SSK; looked up in the store before it is computed."""
        kernel = SubsequenceKernel(length, decay, progress=False)

        def matrices(train: list[str], test: list[str]) -> Matrices:
            K = self.run.gram(kernel, [*train, *test])
            return K[: len(train), : len(train)], K[len(train) :, : len(train)]

        return matrices

    @staticmethod
    def ngrams(length: int) -> Callable[[list[str], list[str]], Matrices]:
        """Counts of contiguous characters, unit length."""
        kernel = SpectrumKernel(length, progress=False)
        return lambda train, test: (kernel(train), kernel(test, train))

    @staticmethod
    def words() -> Callable[[list[str], list[str]], Matrices]:
        """log(1 + tf)·ln(N/df), unit length."""

        def matrices(train: list[str], test: list[str]) -> Matrices:
            bag = BagOfWords("log-tf-idf", analyzer="letters")
            X = bag.fit_transform(train)
            return (X @ X.T).toarray(), (bag.transform(test) @ X.T).toarray()

        return matrices


def fit_predict(
    K: Matrices, Y: NDArray[np.int_], C: float, fit_intercept: bool = False
) -> tuple[NDArray[np.bool_], NDArray[np.int_]]:
    """Which test text is accepted for which topic, and the number of support vectors of each topic.

    Without intercept, as the paper's threshold is fixed.
    """
    train, test = K
    model = KernelSVC("precomputed", C=C, fit_intercept=fit_intercept).fit(
        train, Y if Y.shape[1] > 1 else Y[:, 0]
    )
    return model.decision_function(test).reshape(len(test), -1) >= 0, model.n_support_


def evaluate(
    Y: NDArray[np.int_], accepted: NDArray[np.bool_], n_support: NDArray[np.int_]
) -> dict[str, list[float]]:
    """The paper's measures, each per topic; 0 where nothing was accepted."""
    right = (accepted & (Y == 1)).sum(axis=0)
    precision = right / np.maximum(accepted.sum(axis=0), 1)
    recall = right / Y.sum(axis=0)
    return dict(
        zip(
            MEASURES,
            (f1(Y, accepted).tolist(), precision.tolist(), recall.tolist(), [*map(float, n_support)]),
            strict=True,
        )
    )


def f1(Y: NDArray[np.int_], accepted: NDArray[np.bool_]) -> Floats:
    """2TP/(2TP + FP + FN) per topic."""
    return np.asarray(
        2 * (accepted & (Y == 1)).sum(axis=0) / np.maximum(accepted.sum(axis=0) + Y.sum(axis=0), 1)
    )


def tune_on_words(parts: Sequence[tuple[list[str], NDArray[np.int_]]], n_folds: int = 5) -> float:
    """The C that words prefer: mean F1 over folds of training texts, the smallest of the best.

    Parameters
    ----------
    parts : training texts and their topics, of each draw
    """
    scores: defaultdict[float, list[float]] = defaultdict(list)
    for texts, Y in parts:
        X = BagOfWords("log-tf-idf", analyzer="letters").fit_transform(texts)
        K: Any = (X @ X.T).toarray()
        for fit, held_out in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(
            K, Y.argmax(axis=1)
        ):
            for C in COSTS:
                accepted, n = fit_predict((K[np.ix_(fit, fit)], K[np.ix_(held_out, fit)]), Y[fit], C)
                scores[C].append(float(np.mean(evaluate(Y[held_out], accepted, n)["F1"])))
    return max(COSTS, key=lambda C: (round(float(np.mean(scores[C])), 6), -C))
