"""How good the decisions of a model are on labelled texts: plain data, turned into text elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..classifier import TextClassifier
from ..datasets.corpus import Corpus
from ..decisions.class_utilities import OTHERS, measures_by_class
from ..decisions.outcomes import Interval, Outcomes, distinct, f1_score, label_utility
from ..decisions.utility import Measure, Utility
from ..errors import LabelError
from ..labels import Decisions, listed


@dataclass(frozen=True)
class ClassSummary:
    """One class against the rest; `utility` is in the user's own currency."""

    label: str
    n_texts: int
    tp: int
    fp: int
    fn: int
    unsure: int  # texts of the class of which a person is to decide; neither hits nor misses
    precision: float | None
    recall: float | None
    f1: float
    utility: float | None  # where nothing is said of the class, or what is said is not defined for it
    threshold: float


@dataclass(frozen=True)
class Summary:
    """What a model does on a corpus; intervals are of 90 % over texts, see `decisions/outcomes.py`."""

    corpus: str
    n_texts: int
    multilabel: bool
    n_unsure: int  # texts of which something is left to a person
    accuracy: float  # share of texts whose labels are all right; an unsure one is not
    answered: float  # share of texts that are not unsure
    accuracy_answered: float | None  # share of these that are right
    macro_f1: float
    micro_f1: float
    t11su: float  # mean over classes with texts
    # over all classes: what they are worth together, or the mean of measures that do not add up; with
    utility: float | None
    # a price for asking, that of an unsure text is paid and its label right, else it is a miss
    classes: list[ClassSummary]
    confusions: list[tuple[str, str, int]]  # truth, decision, how often; most frequent first
    accuracy_interval: Interval
    macro_f1_interval: Interval
    micro_f1_interval: Interval
    utility_interval: Interval | None
    n_trained_on: int | None  # texts that the model was trained on; None where it does not know
    # labels that the model does not know, and how many texts have each: all of them missed
    unknown_labels: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def summarise(
    model: TextClassifier, corpus: Corpus, utility: Measure | Mapping[str, Measure] | None = None
) -> Summary:
    """Decide on every text of a corpus and compare with its labels.

    Parameters
    ----------
    model : TextClassifier, fitted
    corpus : Corpus, with labels
    utility : measure, or mapping label → measure, default=None
        What decisions are worth; by default what the thresholds were set by, and nothing where there was no
        such.
    """
    return summarise_decisions(model, model.decide(corpus.texts), corpus, utility)


def summarise_decisions(
    model: TextClassifier,
    decisions: Decisions,
    corpus: Corpus,
    utility: Measure | Mapping[str, Measure] | None = None,
) -> Summary:
    """The same of decisions that are at hand: with a string kernel texts are not compared twice."""
    names, decided, corpus = decisions.names, decisions.labels, with_text_labels(corpus)
    truth = [own if isinstance(own, tuple) else (own,) for own in corpus.labels]
    unknown = _unknown_labels(model, corpus.name, truth)
    measures = measures_of_labels(model, utility)
    others = _measure_of_others(model, utility)
    every = [*(measures[name] for name in names), *[others] * len(unknown)]
    kind = model.labels_.kind
    own_labels = corpus.indicator([*names, *unknown])[0] > 0
    accepted, unsure = (
        np.pad(part, ((0, 0), (0, len(unknown)))) for part in (decisions.accepted, decisions.unsure)
    )
    first, n_texts = distinct([own_labels, accepted, unsure])
    outcomes = Outcomes.of(
        own_labels[first], accepted[first], unsure[first], _asking_once(every, kind), kind, n_texts
    )
    counts = [
        found[0, : len(names)].astype(int).tolist() for found in outcomes.counts(outcomes.n_texts[None, :])
    ]
    classes = []
    for label, measure, threshold, *own in zip(
        names, outcomes.measures, model.thresholds_, *counts, strict=False
    ):
        tp, fp, fn, n_unsure, asked = own
        n_label = tp + fn + n_unsure
        classes.append(
            ClassSummary(
                label,
                n_label,
                tp,
                fp,
                fn,
                n_unsure,
                tp / (tp + fp) if tp + fp else None,
                tp / n_label if n_label else None,
                float(f1_score(tp, fp, n_label - tp)),
                None
                if measure is None
                else _defined(label_utility(measure, len(corpus), tp, fp, fn, n_unsure, asked)),
                float(threshold),
            )
        )
    texts = zip(truth, decided, decisions.guesses, strict=True)
    wrong = Counter(pair for own, given, guess in texts for pair in confused(own, given, guess, kind))
    figures: dict[str, Any] = {name: _defined(value[0]) for name, value in outcomes.figures().items()}
    intervals: dict[str, Any] = {
        f"{name}_interval": interval for name, interval in outcomes.intervals().items()
    }
    return Summary(
        corpus=corpus.name,
        n_texts=len(corpus),
        multilabel=model.labels_.multilabel,
        n_unsure=int(decisions.unsure.any(axis=1).sum()),
        **figures,
        classes=classes,
        confusions=[(a, b, n) for (a, b), n in wrong.most_common(10)],
        n_trained_on=None if model.text_digests_ is None else int(model.trained_on(corpus.texts).sum()),
        unknown_labels=unknown,
        **intervals,
    )


def with_text_labels(corpus: Corpus) -> Corpus:
    """The corpus with its labels as text, as `Decisions` have them; labels of a library's user may be
    numbers.
    """
    labels: Any = [tuple(map(str, own)) if isinstance(own, tuple) else str(own) for own in corpus.labels]
    return replace(corpus, labels=labels)


def measures_of_labels(model: TextClassifier, utility: Any = None) -> dict[str, Measure | None]:
    """What decisions on each label are worth: as given, or as in training; None where nothing is said of
    one.
    """
    labels = model.labels_
    utility = _utility_in_use(model) if utility is None else utility
    if isinstance(utility, Mapping):
        utility = labels.respell(utility)
    return {str(name): measure for name, measure in measures_by_class(utility, labels).items()}


def _utility_in_use(model: TextClassifier) -> Any:
    """What thresholds were set by; None where the learner decides."""
    return None if model.decision is None else getattr(model.model_, "utility", None)


def _unknown_labels(model: TextClassifier, source: str, truth: list[tuple[str, ...]]) -> dict[str, int]:
    """Labels that the model does not know, with their texts, most frequent first; an error where it knows
    none at all.
    """
    names = model.labels_.text_names
    counts = Counter(label for own in truth for label in set(own))
    unknown = {
        label: n
        for label, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if label not in names
    }
    if unknown and len(unknown) == len(counts):
        label, n = next(iter(unknown.items()))
        raise LabelError(
            f"No text of {source} has a label that the model knows: {n} have {label!r}, and it knows "
            f"{listed(label, names)}{several_hint(model, label)}"
        )
    return unknown


def _measure_of_others(model: TextClassifier, utility: Any) -> Measure | None:
    """What decisions on labels are worth that the model does not know, where something is said of all
    labels.
    """
    utility = _utility_in_use(model) if utility is None else utility
    if isinstance(utility, Mapping):
        return utility.get(OTHERS)
    return utility if callable(utility) and model.labels_.kind != "binary" else None


def several_hint(model: TextClassifier, label: str) -> str:
    """A hint, where the label looks like several."""
    separate = model.labels_.multilabel and any(name in label for name in model.labels_.text_names)
    return (
        " This model gives several labels a text; say what stands between them with label_separator=."
        if separate
        else ""
    )


def _asking_once(measures: list[Measure | None], kind: str) -> list[Measure | None]:
    """Of two labels whose costs both have a price for asking one has it, the dearer: one look tells of
    both.
    """
    first, second = (*measures[:2], None, None)[:2]
    if (
        kind != "binary"
        or not isinstance(first, Utility)
        or not isinstance(second, Utility)
        or None in (first.ask, second.ask)
    ):
        return measures
    dearer = min(first.ask or 0.0, second.ask or 0.0)
    return [replace(first, ask=dearer), replace(second, ask=0.0), *measures[2:]]


def _defined(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def confused(
    own: tuple[str, ...], given: tuple[str, ...], guess: tuple[str, ...], kind: str
) -> list[tuple[str, str]]:
    """Missed labels with the wrong ones that were given instead; "" where none was missed, or none given.

    What a person is to decide is no mistake.
    """
    if guess and kind != "multilabel":
        return []
    missed = [name for name in own if name not in given and name not in guess]
    false = [name for name in given if name not in own]
    return [(a, b) for a in missed or [""] for b in false or [""] if a or b]
