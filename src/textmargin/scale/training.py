"""A `TextClassifier` fitted to files in parts: the model that its `fit` makes of the same texts, learnt on a cluster.

The files are read anew for each thing that is needed of them (labels, vocabulary, matrix), so that no worker keeps texts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._label_forms import describe_counts, encode
from ..decisions.class_utilities import measures_of
from ..errors import PriorError, TableError, TextmarginError, TooLargeError
from ..labels import ClassLabels
from ..learners import primal
from ..representations import bow
from ..representations.digests import Digests, text_digests
from ..tables.columns import check_labels
from ..tables.parts import Part, PartedTable
from ..tables.rows import InvalidLine
from .bow import BagOfWords
from .primal import PriorSVC
from .tasks import bag, delay_each, gather_each, persist_each
from .threshold import ThresholdClassifier

if TYPE_CHECKING:
    from ..classifier import TextClassifier

_MOST_LEFT_OUT = 500_000  # texts; of more, too many are inside some margin
_MOST_DIGESTS = 10_000_000  # texts; of more, digests would be most of the model, and come from all workers to one place
_N_SHOWN = 5  # lines that could not be read, of how many there may be


@dataclass(frozen=True)
class PartCounts:
    """What stands in a part, or in all of them."""

    n_texts: int
    counts: Counter[str]
    multilabel: bool
    invalid: list[InvalidLine]  # the first of them
    n_invalid: int
    digests: Digests | None = None  # of the texts; None where they are too many
    missing: Counter[str] = field(default_factory=Counter)  # what stands in place of labels of texts that have none


def check_parts(model: TextClassifier) -> None:
    """An error that names the first part of a model for which all texts must be in one memory."""
    if model.knowledge is not None:
        raise PriorError("knowledge needs all texts in one memory; leave it out, or train without a cluster.")
    words = bow.BagOfWords() if model.representation is None else model.representation
    learner = primal.PriorSVC() if model.learner is None else model.learner
    if not isinstance(words, bow.BagOfWords) or not isinstance(learner, primal.PriorSVC):
        raise TextmarginError(
            "Texts in parts are learnt from by their words, BagOfWords and PriorSVC; other models need all texts in one memory: "
            "train without a cluster, or use scale.SubsequenceFeatures or scale.KernelLandmarks."
        )


def count_labels(table: PartedTable) -> PartCounts:
    """All texts and labels read once, on the workers; how many there are of each label."""
    most = _MOST_DIGESTS // len(table.parts)  # parts are about as large as one another
    found: list[PartCounts] = gather_each(_count_part, table.parts, _light(table), most)
    digests = [one.digests for one in found if one.digests is not None]
    counts: Counter[str] = sum((one.counts for one in found), Counter())
    total = PartCounts(
        sum(one.n_texts for one in found),
        counts,
        any(one.multilabel for one in found),
        [line for one in found for line in one.invalid][:_N_SHOWN],
        sum(one.n_invalid for one in found),
        np.concatenate(digests) if len(digests) == len(found) else None,
        sum((one.missing for one in found), Counter()),
    )
    if not total.n_texts and not total.missing:
        why = (
            f"no line could be read; line {total.invalid[0].number:,}: {total.invalid[0].reason}"
            if total.invalid
            else "it has no rows"
        )
        raise TableError(f"{table.name} cannot be learnt from: {why}.")
    check_labels(counts, total.n_texts, str(table.columns.label), table.name, is_guess=table.label_is_guess)
    return total


def fit_parts(model: TextClassifier, table: PartedTable, counted: PartCounts | None = None, verbose: int = 0) -> TextClassifier:
    """Fit a classifier of words to files in parts, with the client in use.

    Parameters
    ----------
    model : TextClassifier, of words, without knowledge
    table : what `open_parts` gives
    counted : what `count_labels` gives, where it was called before
    verbose : int, default=0
        With 1, each pass is told on standard error.
    """
    check_parts(model)
    counted = count_labels(table) if counted is None else counted
    labels = describe_counts(counted.counts, counted.n_texts, counted.multilabel, model.classes, model.positive)
    if model.decision is not None and model.decision.scores == "loo" and counted.n_texts > _MOST_LEFT_OUT:
        raise TooLargeError(  # now, and not when all is learnt
            f"Leave-one-out scores need the texts inside each margin on one worker, which of {counted.n_texts:,} texts are too "
            f"many; set thresholds on scores='cv' or 'train'."
        )
    plain_words = bow.BagOfWords() if model.representation is None else clone(model.representation)
    plain_learner = primal.PriorSVC() if model.learner is None else clone(model.learner)
    words = BagOfWords(**plain_words.get_params())
    how = _light(table)
    X = words.fit_transform(bag(delay_each(_texts, table.parts, how)))
    learner = PriorSVC(**{**plain_learner.get_params(), "verbose": verbose})
    fitted: Any = learner
    if model.decision is not None:
        measures = measures_of(model.decision.utility, labels)  # columns have no names on workers
        utility = model.decision.utility if labels.kind == "binary" else measures
        parameters = {**model.decision.get_params(deep=False), "estimator": learner, "utility": utility}
        if model.positive is not None:
            parameters["pos_label"] = model.positive
        fitted = ThresholdClassifier(**parameters)
    fitted.fit(X, persist_each(_targets, table.parts, how, labels))
    found = _with_names(fitted.in_memory(), labels, plain_learner.verbose)
    if model.decision is not None:
        found.utility = model.decision.utility
    counts = np.array([counted.counts[name] for name in labels.text_names])
    return model.set_fitted(words.in_memory(), found, labels, counted.n_texts, counts, counted.digests)


def _with_names(fitted: Any, labels: ClassLabels, verbose: int) -> Any:
    """The learner, inside its decision, with the names of the columns, and as talkative as it was."""
    for one in (fitted, getattr(fitted, "estimator", None), getattr(fitted, "estimator_", None)):
        if one is None:
            continue
        if "verbose" in one.get_params(deep=False):
            one.set_params(verbose=verbose)
        if labels.multilabel and hasattr(one, "classes_"):
            one.classes_, one.multilabel_ = labels.names, True
            if hasattr(one, "pos_label_"):
                one.pos_label_ = None
    return fitted


def _light(table: PartedTable) -> PartedTable:
    """How to read a part, without the list of all parts, which would go to each of them."""
    return replace(table, parts=[])


def _count_part(part: Part, table: PartedTable, most_digests: int) -> PartCounts:
    read = table.read(part)
    texts = read.corpus.texts
    counts = Counter(name for own in read.corpus.labels for name in (set(own) if isinstance(own, tuple) else [own]))
    multilabel = any(isinstance(own, tuple) for own in read.corpus.labels)
    digests = text_digests(texts) if len(texts) <= most_digests else None
    return PartCounts(len(texts), counts, multilabel, read.invalid[:_N_SHOWN], len(read.invalid), digests, read.missing)


def _texts(part: Part, table: PartedTable) -> list[str]:
    return table.read(part).corpus.texts


def _targets(part: Part, table: PartedTable, labels: ClassLabels) -> NDArray[Any]:
    """What the classifier learns of a part."""
    own: list[Any] = list(table.read(part).corpus.labels)
    if labels.multilabel:  # a text with one label may have it alone, not in a list
        own = [one if isinstance(one, tuple) else (one,) for one in own]
    found = np.asarray(encode(labels, own))
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
