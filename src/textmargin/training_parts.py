"""A `Recipe` on files in parts: the model that `Recipe.train` makes of the same texts, learnt on a cluster.

The files are read anew for each thing that is needed of them (labels, vocabulary, matrix), so that no worker keeps texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import scale
from .classifier import TextClassifier
from .datasets.corpus import Corpus
from .errors import TableError, TooLargeError
from .labelling import Labelling
from .scale.tasks import bag, delay_each, gather_each, persist_each
from .tables.columns import check_labels
from .tables.formats import BadLine
from .tables.parts import Part, PartedTable
from .trained import Trained
from .training import Recipe

_MEMORY_ONLY = ("keywords", "marks", "prior")
_MOST_LEFT_OUT = 500_000  # texts; of more, too many are inside some margin
_TOLD = 5  # lines that could not be read, of how many there may be


@dataclass(frozen=True)
class Seen:
    """What stands in a part, or in all of them."""

    n_texts: int
    counts: Counter[str]
    multilabel: bool
    bad: list[BadLine]  # the first of them
    n_bad: int


def refuse_what_needs_memory(recipe: Recipe) -> None:
    """An error that names the first setting for which all texts must be in one memory."""
    for name in _MEMORY_ONLY:
        if getattr(recipe, name) is not None:
            raise ValueError(f"--{name} needs all texts in one memory; leave it out, or train without --workers and --cluster.")
    if recipe.kernel != "words":
        raise ValueError(
            f"--kernel {recipe.kernel} needs all texts in one memory; on a cluster use --kernel words, or in Python "
            f"scale.SubsequenceFeatures and scale.KernelLandmarks."
        )


def look_through(table: PartedTable) -> Seen:
    """All texts and labels read once, on the workers; how many there are of each label."""
    found: list[Seen] = gather_each(_seen, table.parts, _light(table))
    counts: Counter[str] = sum((one.counts for one in found), Counter())
    seen = Seen(
        sum(one.n_texts for one in found),
        counts,
        any(one.multilabel for one in found),
        [bad for one in found for bad in one.bad][:_TOLD],
        sum(one.n_bad for one in found),
    )
    if not seen.n_texts:
        why = f"no line could be read; line {seen.bad[0].number:,}: {seen.bad[0].reason}" if seen.bad else "it has no rows"
        raise TableError(f"{table.name} cannot be learnt from: {why}.")
    check_labels(counts, seen.n_texts, str(table.columns.label), table.name, guessed=table.guessed)
    return seen


def train_parts(
    recipe: Recipe, table: PartedTable, seen: Seen | None = None, about: dict[str, Any] | None = None, verbose: int = 0
) -> Trained:
    """Fit a recipe to files in parts, with the client in use.

    Parameters
    ----------
    recipe : Recipe, with kernel="words" and without keywords, marks or an earlier model
    table : what `open_parts` gives
    seen : what `look_through` gives, where it was called before
    about : dict, default=None
        What to keep with the model.
    verbose : int, default=0
        With 1, each pass is told on standard error.
    """
    refuse_what_needs_memory(recipe)
    seen = look_through(table) if seen is None else seen
    labels = Labelling.of_counts(seen.counts, seen.n_texts, seen.multilabel, recipe.positive)
    model = recipe.classifier(Corpus(table.name, [], []), labels)
    if model.decision is not None and model.decision.scores == "loo" and seen.n_texts > _MOST_LEFT_OUT:
        raise TooLargeError(  # now, and not when all is learnt
            f"Leave-one-out scores need the texts inside each margin on one worker, which of {seen.n_texts:,} texts are too "
            f"many; use --scores cv, or --scores train."
        )
    words = scale.BagOfWords(**model.representation.get_params())
    how = _light(table)
    X = words.fit_transform(bag(delay_each(_texts, table.parts, how)))
    learner = scale.PriorSVC(**{**model.learner.get_params(), "verbose": verbose})
    fitted: Any = learner
    if model.decision is not None:
        fitted = scale.ThresholdClassifier(**{**model.decision.get_params(deep=False), "estimator": learner})
    fitted.fit(X, persist_each(_targets, table.parts, how, labels))
    _keep(model, words.in_memory(), fitted.in_memory())
    return Trained(model, labels.names, labels.multilabel, about or {}, worth=recipe.utility, text_column=table.columns.text)


def _light(table: PartedTable) -> PartedTable:
    """How to read a part, without the list of all parts, which would go to each of them."""
    return replace(table, parts=[])


def _keep(model: TextClassifier, words: Any, fitted: Any) -> None:
    """Make the classifier what it would be after a fit in memory."""
    for one in (fitted, getattr(fitted, "estimator", None), getattr(fitted, "estimator_", None)):
        if one is not None and "verbose" in one.get_params(deep=False):
            one.set_params(verbose=model.learner.verbose)
    model.representation_, model.model_, model.classes_ = words, fitted, fitted.classes_


def _seen(part: Part, table: PartedTable) -> Seen:
    read = table.read(part)
    counts = Counter(name for own in read.corpus.labels for name in (set(own) if isinstance(own, tuple) else [own]))
    return Seen(
        len(read.corpus), counts, any(isinstance(own, tuple) for own in read.corpus.labels), read.bad[:_TOLD], len(read.bad)
    )


def _texts(part: Part, table: PartedTable) -> list[str]:
    return table.read(part).corpus.texts


def _targets(part: Part, table: PartedTable, labels: Labelling) -> NDArray[Any]:
    """What the classifier learns of a part."""
    corpus = table.read(part).corpus
    if labels.multilabel:  # a text with one label may have it alone, not in a list
        own: Sequence[Any] = [one if isinstance(one, tuple) else (one,) for one in corpus.labels]
        corpus = replace(corpus, labels=list(own))
    found = np.asarray(labels.targets(corpus))
    if found.ndim == 2:
        return found.astype(np.uint8)
    return found if labels.numbered or found.size else np.empty(0, dtype="U1")  # of no labels NumPy would make numbers
