"""How a `TextClassifier` learns from texts that have labels, in memory or in parts: the same steps on the
same numbers.

Of texts in parts the matrix lies elsewhere (`BlockMatrix`), so that no row can be left out of it: what memory
leaves out has weight 0. Texts are known again by their digests, white space aside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from ._cross_fitting import TrainingTexts
from ._label_forms import describe, describe_counts, encode
from ._sklearn import check_sample_weight
from ._slots import Slots
from ._system.stages import log, stage
from ._typing import Floats, Indices
from .decisions.threshold import ThresholdClassifier
from .errors import LabelError, TextmarginError
from .labels import ClassLabels
from .learners.matrix import BlockMatrix
from .learners.primal import PriorSVC
from .representations.bow import BagOfWords
from .representations.digests import Digests, text_digests
from .representations.features import KernelLandmarks, SubsequenceFeatures
from .representations.text_parts import TextParts
from .representations.texts import join_copies
from .tables.parts import LabelCodes

_MOST_DIGESTS = 10_000_000  # texts; of more, digests would be most of the model


@dataclass(frozen=True)
class EncodedLabels:
    """The labels of texts as learners take them, how many texts have each, and a number per text for what its
    labels are.
    """

    labels: ClassLabels
    y: NDArray[Any]
    counts: NDArray[Any]
    codes: Indices

    @classmethod
    def read(cls, given: Any, classes: Sequence[Any] | None, positive: Any) -> Self:
        """From labels in any form."""
        if not isinstance(given, LabelCodes):
            labels = describe(given, classes, positive)
            y = encode(labels, given)
            if labels.multilabel:
                sets = LabelCodes.of(row.tobytes() for row in np.ascontiguousarray(y))
                return cls(labels, y, np.asarray(y).sum(axis=0, dtype=np.intp), sets.codes.astype(np.intp))
            _, codes, n_texts = np.unique(y, return_inverse=True, return_counts=True)
            return cls(labels, y, n_texts, codes.ravel())
        n_texts = np.bincount(given.codes, minlength=len(given.names))
        several = any(isinstance(name, tuple) for name in given.names)
        # Where one text of all has several labels, each may have any number.
        names = (
            [name if isinstance(name, tuple) else (name,) if name else () for name in given.names]
            if several
            else given.names
        )
        counts: Counter[Any] = Counter()
        for own, n in zip(names, n_texts.tolist(), strict=True):
            counts.update(dict.fromkeys(own if several else [own], n))
        labels = describe_counts(counts, len(given), several, classes, positive)
        encoded = encode(labels, names)
        _, same = np.unique(np.asarray(encoded), axis=0, return_inverse=True)
        return cls(
            labels,
            encoded[given.codes],
            np.array([counts[name] for name in labels.names.tolist()], dtype=np.intp),
            same.ravel()[given.codes],
        )


@dataclass(frozen=True)
class FittedModel:
    """What was learnt, as `TextClassifier.set_fitted` takes it, and the title of each prior."""

    representation: Any
    model: Any
    labels: ClassLabels
    n_texts: int
    counts: NDArray[Any]
    digests: Digests | None
    knowledge: list[str]


def fit_labelled(
    slots: Slots,
    texts: list[str] | TextParts,
    y: Any,
    sample_weight: Any,
    classes: Sequence[Any] | None,
    positive: Any,
) -> FittedModel:
    """Learn from texts that all have labels; for parts, y None stands for their own."""
    if isinstance(texts, TextParts):
        representation, matrix, targets = _represent_parts(slots, texts, y, classes, positive)
        n_texts, digests = texts.n_texts, texts.digests
    else:
        representation, matrix, targets = _represent(slots, texts, y, classes, positive)
        n_texts, digests = len(texts), text_digests(texts)
    labels, target, weight = targets.labels, targets.y, sample_weight
    learner = slots.new_learner()
    prior = slots.prior(learner, representation, labels, matrix)
    if prior is not None:
        learner.set_params(prior=prior.prior)
    model = slots.assemble(learner, positive)
    if weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise LabelError(f"sample_weight is given, but {type(model).__name__}.fit does not take it.")
    joins = isinstance(model, ThresholdClassifier) and has_fit_parameter(learner, "sample_weight")
    if isinstance(texts, TextParts):
        weight = join_weights(matrix, digests, targets.codes, weight) if joins else weight
        training = TrainingTexts.in_parts(slots.kinds(), digests)
    else:
        if joins:
            texts, matrix, target, weight = without_copies(texts, matrix, target, weight)
        training = TrainingTexts(texts)
    given = {} if weight is None else {"sample_weight": weight}
    given |= slots.fit_params(model, prior, representation, labels, training.with_weight(weight), target)
    with stage(f"training {labels.names.size} labels"):
        fitted = model.fit(matrix, target, **given)
    knowledge = [] if prior is None else prior.knowledge
    known = digests if n_texts <= _MOST_DIGESTS else None
    return FittedModel(representation, fitted, labels, n_texts, targets.counts, known, knowledge)


def _represent(
    slots: Slots, texts: list[str], y: Any, classes: Any, positive: Any
) -> tuple[Any, Any, EncodedLabels]:
    """The representation, fitted, or the kernel; the texts' matrix, or these; and the labels."""
    targets = EncodedLabels.read(y, classes, positive)
    _require_length(targets, len(texts))
    slots.check()
    kernel = slots.kernel()
    if kernel is not None:
        return kernel, texts, targets
    representation = slots.new_representation()
    with stage(f"turning {len(texts):,} texts into columns"):
        matrix = representation.fit_transform(texts, targets.y)
    log.debug(f"{matrix.shape[1]:,} columns, {getattr(matrix, 'nnz', matrix.size):,} values that are not 0")
    return representation, matrix, targets


def _represent_parts(
    slots: Slots, parts: TextParts, y: Any, classes: Any, positive: Any
) -> tuple[Any, BlockMatrix, EncodedLabels]:
    """The same of texts in parts, whose own labels are known once they were read."""
    targets = None if y is None else EncodedLabels.read(y, classes, positive)
    slots.check()
    require_parts(slots)
    representation = slots.new_representation()
    with stage(f"turning the texts of {parts.name} into columns"):
        matrix = representation.fit_transform(parts)
    log.debug(f"{matrix.shape[1]:,} columns")
    if targets is None:
        if parts.labels is None:
            raise LabelError(f"{parts.name} has no labels; give those of its {parts.n_texts:,} texts as y.")
        targets = EncodedLabels.read(parts.labels, classes, positive)
    _require_length(targets, parts.n_texts)
    return representation, matrix, targets


def require_parts(slots: Slots) -> None:
    """An error that names the first slot for which all texts must be in one memory, and what to use in its
    place.
    """
    if slots.kernel() is not None:
        raise TextmarginError(
            "Texts in parts are not compared as they are: a kernel has a value for each pair of them. Use "
            "SubsequenceFeatures or "
            "KernelLandmarks as the representation, which turn texts into columns, with PriorSVC."
        )
    representation, learner, decision = slots.new_representation(), slots.new_learner(), slots.decision
    if not isinstance(representation, BagOfWords | SubsequenceFeatures | KernelLandmarks):
        raise TextmarginError(
            f"{type(representation).__name__} needs all texts in one memory; BagOfWords, "
            "SubsequenceFeatures and KernelLandmarks "
            f"make columns of texts in parts."
        )
    if not isinstance(learner, PriorSVC):
        raise TextmarginError(
            f"{type(learner).__name__} needs all texts in one memory; PriorSVC learns from texts in parts."
        )
    if decision is not None and not isinstance(decision, ThresholdClassifier):
        raise TextmarginError(
            f"{type(decision).__name__} needs all texts in one memory; ThresholdClassifier decides on "
            "texts in parts."
        )


def without_copies(
    texts: list[str], matrix: Any, target: Any, weight: Any
) -> tuple[list[str], Any, Any, Any]:
    """Of texts that occur again with the same label one, with the weight of all: the same model.

    A held-out score of a text is then by a model that knew none of its copies, which would flatter it.
    """
    labels = target.tolist() if target.ndim == 1 else [*map(tuple, target.tolist())]
    first, group = join_copies(texts, labels)
    # no copies; or nothing else, so that no text could be held out
    if len(first) == len(texts) or len(first) <= len({*labels}):
        return texts, matrix, target, weight
    some = [texts[row] for row in first]
    return some, some if matrix is texts else matrix[first], target[first], np.bincount(group, weight)


def join_weights(X: BlockMatrix, digests: Digests, codes: Indices, sample_weight: Any) -> Floats | None:
    """The weights (n_texts,) by which the first of texts that occur again with the same label stands for all;
    None for 1 each.

    Texts that differ in white space alone are the same if they have as many words.
    """
    weight = (
        None
        if sample_weight is None
        else check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )
    if np.unique(digests).size == digests.size:
        return weight
    order = np.lexsort((counts := X.row_counts(), codes, digests))
    keys = (digests[order], codes[order], counts[order])
    starts = np.ones(order.size, dtype=bool)
    starts[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    first = order[starts]
    if first.size == order.size or first.size <= np.unique(codes).size:
        return weight
    group = np.empty(order.size, dtype=np.intp)
    group[order] = np.cumsum(starts) - 1
    joined = np.zeros(order.size)
    joined[first] = np.bincount(group, weight)
    return joined


def weight_of_each(sample_weight: Any, n_texts: int) -> Floats:
    """The weight of each text, where one number is that of all."""
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape not in ((), (n_texts,)):
        raise LabelError(
            f"sample_weight must be a number for each of {n_texts} texts; it has shape {weight.shape}."
        )
    return np.broadcast_to(weight, n_texts)


def _require_length(targets: EncodedLabels, n_texts: int) -> None:
    if len(targets.y) != n_texts:
        raise LabelError(f"There are {n_texts} texts but {len(targets.y)} labels.")
