"""How good the decisions of a model are on labelled texts: plain data, turned into text elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ..classifier import TextClassifier
from ..datasets.corpus import Corpus
from ..decisions.class_utilities import measures_by_class
from ..decisions.utility import T11SU, Measure, Utility
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
    precision: float | None
    recall: float | None
    f1: float
    utility: float | None  # where nothing is said of the class, or what is said is not defined for it
    threshold: float


@dataclass(frozen=True)
class Summary:
    """What a model does on a corpus."""

    corpus: str
    n_texts: int
    multilabel: bool
    accuracy: float  # share of texts whose labels are all right
    macro_f1: float
    micro_f1: float
    t11su: float  # mean over classes with texts
    utility: float | None  # over all classes: what they are worth together, or the mean of measures that do not add up
    classes: list[ClassSummary]
    confusions: list[tuple[str, str, int]] = field(default_factory=list)  # truth, decision, how often; most frequent first

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def summarise(model: TextClassifier, corpus: Corpus, utility: Measure | Mapping[str, Measure] | None = None) -> Summary:
    """Decide on every text of a corpus and compare with its labels.

    Parameters
    ----------
    model : TextClassifier, fitted
    corpus : Corpus, with labels
    utility : measure, or mapping label → measure, default=None
        What decisions are worth; by default what the thresholds were set by, and nothing where there was no such.
    """
    return summarise_decisions(model, model.decide(corpus.texts), corpus, utility)


def summarise_decisions(
    model: TextClassifier, decisions: Decisions, corpus: Corpus, utility: Measure | Mapping[str, Measure] | None = None
) -> Summary:
    """The same of decisions that are at hand: with a string kernel texts are not compared twice."""
    names, decided, corpus = decisions.names, decisions.labels, with_text_labels(corpus)
    truth = [own if isinstance(own, tuple) else (own,) for own in corpus.labels]
    unknown = Counter(label for own in truth for label in own if label not in names)
    if unknown:
        label, n = unknown.most_common(1)[0]
        raise LabelError(
            f"{corpus.name} has {n} texts with the label {label!r}, which the model does not know; it knows "
            f"{listed(label, names)}{_several(model, label)}"
        )
    measures = measures_of_labels(model, utility)
    Y, _ = corpus.indicator(names)
    classes = []
    for k, label in enumerate(names):
        true, accepted = Y[:, k] > 0, decisions.accepted[:, k]
        tp, fp, fn = int((true & accepted).sum()), int((~true & accepted).sum()), int((true & ~accepted).sum())
        tn = len(corpus) - tp - fp - fn
        classes.append(
            ClassSummary(
                label,
                tp + fn,
                tp,
                fp,
                fn,
                tp / (tp + fp) if tp + fp else None,
                tp / (tp + fn) if tp + fn else None,
                _f1(tp, fp, fn),
                _valued(measures[label], tp, fp, fn, tn),
                float(model.thresholds_[k]),
            )
        )
    present = [one for one in classes if one.n_texts]
    wrong = Counter(pair for own, given in zip(truth, decided, strict=True) for pair in confused(own, given))
    values = [one.utility for one in classes if one.utility is not None]
    adds_up = all(isinstance(measure, Utility) for measure in measures.values() if measure is not None)
    return Summary(
        corpus=corpus.name,
        n_texts=len(corpus),
        multilabel=model.labels_.multilabel,
        accuracy=float(np.mean([set(a) == set(b) for a, b in zip(truth, decided, strict=True)])),
        macro_f1=float(np.mean([one.f1 for one in present])),
        micro_f1=_f1(*(sum(getattr(one, name) for one in classes) for name in ("tp", "fp", "fn"))),
        t11su=float(np.mean([float(T11SU(one.tp, one.fp, one.fn, len(corpus) - one.tp - one.fp - one.fn)) for one in present])),
        utility=float(sum(values) if adds_up else np.mean(values)) if values else None,
        classes=classes,
        confusions=[(a, b, n) for (a, b), n in wrong.most_common(10)],
    )


def with_text_labels(corpus: Corpus) -> Corpus:
    """The corpus with its labels as text, as `Decisions` have them; labels of a library's user may be numbers."""
    labels: Any = [tuple(map(str, own)) if isinstance(own, tuple) else str(own) for own in corpus.labels]
    return replace(corpus, labels=labels)


def measures_of_labels(model: TextClassifier, utility: Any = None) -> dict[str, Measure | None]:
    """What decisions on each label are worth: as given, or as in training; None where nothing is said of one."""
    labels = model.labels_
    if utility is None:
        utility = getattr(model.model_, "utility", None)
    if isinstance(utility, Mapping):
        utility = labels.respell(utility)
    return {str(name): measure for name, measure in measures_by_class(utility, labels).items()}


def _several(model: TextClassifier, label: str) -> str:
    """A hint, where the label looks like several."""
    separate = model.labels_.multilabel and any(name in label for name in model.labels_.text_names)
    return " This model gives several labels a text; say what stands between them with label_separator=." if separate else ""


def _f1(tp: int, fp: int, fn: int) -> float:
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def _valued(measure: Measure | None, *counts: int) -> float | None:
    value = float("nan") if measure is None else float(measure(*counts))
    return None if np.isnan(value) else value


def confused(own: tuple[str, ...], given: tuple[str, ...]) -> list[tuple[str, str]]:
    """Missed labels with the wrong ones that were given instead; "" where none was missed, or none given."""
    missed, false = [name for name in own if name not in given], [name for name in given if name not in own]
    return [(a, b) for a in missed or [""] for b in false or [""] if a or b]
