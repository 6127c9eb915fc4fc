"""What knowledge learnt from the training texts gives a learner beside its prior: the prior without each
fold, and contrasts.

Knowledge says which texts it was `learnt_from`, and what it is `without` some of them (`KnowledgeBase`). It
is learnt again without each of five folds; a text of a fold that had a part even then, as in a model that
cannot be learnt again, does not judge it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ._typing import Bools, Floats
from .errors import PriorError, TextmarginWarning
from .knowledge.transfer import ModelPrior
from .labels import ClassLabels
from .learners.contrasts import Contrasts
from .learners.cross_fitting import PriorFolds
from .representations.digests import Digests, text_digests


@dataclass(frozen=True)
class KindPrior:
    """One kind of knowledge, the prior it comes to, and how the same kind learnt from other texts comes to
    one like that.
    """

    kind: Any
    prior: Floats  # (n_problems, n_priors, n_terms)
    align: Callable[[Any], Floats]


@dataclass(frozen=True)
class TrainingTexts:
    """The training texts, as far as knowledge that was learnt from texts has to know them.

    Attributes
    ----------
    texts : list of str
        Of texts in parts those that knowledge names, by their digests; None for the others.
    digests : array (n_texts,), or None
        Of texts in parts.
    counted : array (n_texts,) of bool, or None
        Those of positive weight; None for all.
    """

    texts: list[Any]
    digests: Digests | None = None
    counted: Bools | None = None

    @classmethod
    def in_parts(cls, kinds: list[Any], digests: Digests) -> Self:
        """Of texts that are only known by their digests."""
        sources = [text for kind in kinds if hasattr(kind, "sources") for text in kind.sources()]
        texts: list[Any] = [None] * digests.size
        known = dict(zip(text_digests(sources).tolist(), sources, strict=True))
        for row in np.flatnonzero(np.isin(digests, list(known))).tolist() if known else []:
            texts[row] = known[int(digests[row])]
        return cls(texts, digests)

    def with_weight(self, weight: Any) -> Self:
        """With the weights that they are learnt with."""
        if weight is None or np.ndim(weight) == 0:
            return self
        counted = np.asarray(weight) > 0
        if self.digests is None:
            return replace(self, counted=counted)
        return replace(
            self,
            counted=counted,
            texts=[text if own else None for text, own in zip(self.texts, counted, strict=True)],
        )

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Bools) -> TrainingTexts:
        """Some of them."""
        numbers = np.flatnonzero(rows).tolist()
        return TrainingTexts(
            [self.texts[row] for row in numbers], None if self.digests is None else self.digests[numbers]
        )

    def learnt_from(self, kind: Any) -> Bools:
        """Which had a part in knowledge; none in what does not say."""
        if not hasattr(kind, "learnt_from"):
            return np.zeros(len(self), dtype=bool)
        by_digests = self.digests is not None and isinstance(kind, ModelPrior)
        return np.asarray(kind.learnt_from(self.digests if by_digests else self.texts))


def cross_fit(kinds: list[KindPrior], positive: Bools, texts: TrainingTexts) -> PriorFolds | None:
    """The priors of all kinds without each fold of the texts; None where none of them was learnt from these.

    `positive` (n_texts, n_classes) are the texts of each class, which folds are dealt by.
    """
    learnt = [texts.learnt_from(one.kind) for one in kinds]
    if not any(own.any() for own in learnt):
        return None
    counted = np.ones(len(texts), dtype=bool) if texts.counted is None else texts.counted
    fold = np.zeros(len(texts), dtype=np.intp)
    fold[counted] = PriorFolds.deal(positive[counted])
    priors, judges = [], []
    for one, own in zip(kinds, learnt, strict=True):
        without = np.broadcast_to(one.prior, (fold.max() + 1, *one.prior.shape))
        impartial = np.ones(len(texts), dtype=bool)
        if own.any() and one.prior.size:
            without = without.copy()
            for number in range(len(without)):
                rows = (fold == number) & counted
                held_out = texts.take(rows)
                rest = one.kind.without(held_out.texts) if hasattr(one.kind, "without") else one.kind
                impartial[rows] = ~held_out.learnt_from(rest)
                without[number] = one.prior if rest is one.kind else _align_quietly(rest, one)
            if not impartial.any():
                warn_of_double_use(one.kind, own, "none is left that could tell whether it helps")
        priors.append(without)
        judges += [impartial] * one.prior.shape[1]
    return PriorFolds(
        fold, np.concatenate(priors, axis=2), np.column_stack([np.ones((len(texts), 0), dtype=bool), *judges])
    )


def contrasts_of(
    kinds: list[Any], transform: Any, labels: ClassLabels, texts: TrainingTexts
) -> Contrasts | None:
    """The contrasts of all kinds that have any, in the columns of the representation whose `transform` is
    given.
    """
    found = [
        (kind, kind.differences(texts.texts, labels.names.tolist(), transform))
        for kind in kinds
        if hasattr(kind, "differences")
    ]
    if not sum(len(own.classes) for _, own in found):
        return None
    X = [own.X for _, own in found]
    signs = np.zeros((sum(rows.shape[0] for rows in X), labels.n_problems))
    for i, name in enumerate(name for _, own in found for name in own.classes):
        k = labels.index(name)
        if labels.kind == "binary":
            signs[i] = 2.0 * k - 1.0
        else:
            signs[i, k] = 1.0
    return Contrasts(
        sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.vstack(X),
        signs,
        np.concatenate([own.text for _, own in found]),
        np.concatenate([np.full(len(own.classes), kind.cost) for kind, own in found]),
    )


def warn_of_double_use(kind: Any, part: Bools, why: str) -> None:
    """That evidence about knowledge is none, or flatters it."""
    warnings.warn(
        f"{type(kind).__name__} was learnt from {part.sum()} of the {part.size} training texts: {why}. "
        "Learn it from "
        f"other texts, or set the trust yourself.",
        TextmarginWarning,
        stacklevel=5,
    )


def _align_quietly(rest: Any, like: KindPrior) -> Floats:
    """The priors of what is left; nothing where too little is left to learn from. What is lacking was told of
    all texts.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextmarginWarning)
        try:
            return like.align(rest)
        except PriorError:
            return np.zeros_like(like.prior)
