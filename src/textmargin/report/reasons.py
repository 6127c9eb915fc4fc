"""What a model goes by, for a report: words with their weights, subsequences shown in texts, and what became
of priors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._sklearn import dense_coef, term_names
from .._ties import descending_order
from ..classifier import TextClassifier
from ..learners.evidence import Verdict
from ..learners.explanation import KernelExplanation

_MOST_CHARACTERS = 600  # of a text with its matches


@dataclass(frozen=True)
class Word:
    """A word and its weight for a topic: what the training texts gave it, and what comes from the prior.

    `knowledge` is which of several kinds of knowledge is meant, empty where it is all of them together.
    """

    word: str
    data: float
    from_prior: float
    knowledge: str = ""


@dataclass(frozen=True)
class Shared:
    """A subsequence that a text shares with a training text, gaps in brackets, and by how much that moves the
    score.
    """

    here: str
    there: str
    value: float


@dataclass(frozen=True)
class Matched:
    """A text in pieces, each with what the subsequences that go through it add; the strongest of them; the
    score.
    """

    row: int
    score: float
    pieces: list[tuple[str, float]]
    shared: list[Shared]
    cut: bool  # whether only the part of the text with the strongest matches is here


def words_of(model: TextClassifier, n: int) -> list[list[Word]]:
    """For each class the n words that speak most for it, and half as many against, highest weight first;
    empty without words.
    """
    learner, representation = model.learner_, model.representation_
    names = term_names(representation)
    if not hasattr(learner, "coef_") or names is None:
        return [[] for _ in model.classes_]
    weights = dense_coef(learner)
    priors = _prior_weights(learner, weights)
    found = []
    for k in range(len(model.classes_)):
        row, sign = _problem(model, k, len(weights))
        order = descending_order(sign * weights[row])
        chosen = [*order[:n], *order[n:][-(n // 2) :]]
        parts = [
            (str(names[j]), sign * priors[row, j], sign * weights[row, j]) for j in chosen if weights[row, j]
        ]
        found.append([Word(name, _round(weight - prior), _round(prior)) for name, prior, weight in parts])
    return found


def disagreements_of(model: TextClassifier, n: int) -> list[list[Word]]:
    """For each class the n words of which prior and training texts disagree most."""
    found: list[list[Word]] = [[] for _ in model.classes_]
    if not np.any(getattr(model.learner_, "prior_", 0)):
        return found
    for one in model.disagreements(100 * len(found)):
        own = found[model.labels_.index(one.target)]
        if len(own) < n:
            own.append(Word(str(one.term), _round(one.data), _round(one.known), one.knowledge))
    return found


def verdicts_of(model: TextClassifier) -> list[list[Verdict]]:
    """For each class what became of its priors; what became of unlabelled texts, which all classes share, is
    `Model`'s.
    """
    found: list[list[Verdict]] = [[] for _ in model.classes_]
    for one in model.verdict_:
        if one.target is not None:
            found[model.labels_.index(one.target)].append(one)
    return found


def matched(model: TextClassifier, k: int, row: int, text: str, score: float, n: int = 5) -> Matched | None:
    """A text with its subsequences that move the score of a class most; None where the model does not compare
    texts.
    """
    explanation = model.explain(text, model.classes_[k])
    if not isinstance(explanation, KernelExplanation) or not explanation.matches:
        return None
    matches = explanation.matches
    shared = [Shared(match.shown, match.other_shown, _round(match.value)) for match in matches[:n]]
    weights = np.zeros(len(text))
    for match in matches:
        if isinstance(match.symbols, str):  # of words the places are not those of characters
            weights[list(match.places)] += match.value
    start = _densest(np.abs(weights), _MOST_CHARACTERS)
    inside = slice(start, start + _MOST_CHARACTERS)
    return Matched(
        row, score, list(_pieces(text[inside], weights[inside])), shared, len(text) > _MOST_CHARACTERS
    )


def _pieces(text: str, weights: NDArray[np.float64]) -> Iterator[tuple[str, float]]:
    """Stretches of characters that speak for the class, against it, or not at all."""
    signs = np.sign(weights)
    for _, places in groupby(range(len(text)), key=lambda j: signs[j]):
        own = list(places)
        yield text[own[0] : own[-1] + 1], _round(float(weights[own].mean()))


def _densest(weights: NDArray[np.float64], width: int) -> int:
    """Where the stretch of so many characters begins that holds most weight."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    return int(np.argmax(sums[width:] - sums[:-width])) if weights.size > width else 0


def _prior_weights(learner: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part of the weights that comes from the prior."""
    if not hasattr(learner, "prior_") or not hasattr(learner, "trust_"):
        return np.zeros_like(weights)
    return np.einsum("kp,kpj->kj", learner.trust_, learner.prior_)


def _problem(model: TextClassifier, k: int, n_problems: int) -> tuple[int, int]:
    """Which row of weights is that of a class, and with which sign: of two classes the second has the only
    row.
    """
    return (k, 1) if n_problems == len(model.classes_) else (0, 1 if k else -1)


def _round(value: float) -> float:
    return float(f"{value:.4g}")
