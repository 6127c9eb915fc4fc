"""All that a report shows, as plain data: `html.py` makes a page of it, the command line prints it as
JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .. import __version__
from .._system.json import jsonable
from .._typing import Floats
from ..classifier import TextClassifier
from ..datasets.corpus import Corpus
from ..decisions.estimate import Estimate
from ..decisions.utility import Measure
from ..errors import ScoreError, TableError
from ..labels import Decisions
from ..learners.evidence import Verdict
from .reasons import Matched, disagreements_of, matched, verdicts_of, words_of
from .reliability import Probabilities, Reliability, probabilities_of, quality_of
from .summary import Summary, confused, measures_of_labels, summarise_decisions, with_text_labels
from .topic import Borderline, Topic, borderline_of, interval_of, leads, points_of, ranking_of

# What bounds the size of a page, however many topics and texts there are: some 3 MB even if every character
# must be escaped.
_MOST_POINTS = 24_000
_MOST_CHARACTERS = 400_000
_LONGEST_TEXT = 400
# texts shown with their subsequences, which takes a second or so each; the largest topics come first
_MOST_MATCHED = 24
_MOST_LABELS = 200
_MOST_CONFUSIONS = 2_000


@dataclass(frozen=True)
class Model:
    """What decides: the parts of the classifier, what it was trained on, and how many texts of each label
    that were.

    `n_unlabelled` texts without a label were there as well, and `unlabelled` is the verdict on them, where
    labels could weigh it.
    """

    data: str
    n_texts: int
    n_unlabelled: int
    unlabelled: Verdict | None
    labels: dict[str, int]
    parts: dict[str, str]


@dataclass(frozen=True)
class Report:
    """What a model does on a corpus, and why.

    Attributes
    ----------
    version : str, of textmargin
    model : Model
    summary : Summary, as `textmargin evaluate` gives it
    estimate : Estimate of as many new texts, from training; None where the model has no held-out scores
    probabilities : Probabilities, how good they are here; None where the model gives none
    topics : list of Topic, in the order of `summary.classes`
    positive : int, which topic is looked for, of two; 0 where there are more
    confusions : list of (truth, decision, how often), most frequent first, right ones among them; as in
        `Summary`, "" is none
    texts : dict, row in the corpus → text, shortened; those that a topic names
    """

    version: str
    model: Model
    summary: Summary
    estimate: Estimate | None
    probabilities: Probabilities | None
    topics: list[Topic]
    positive: int
    confusions: list[tuple[str, str, int]]
    texts: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; None for what is undefined."""
        return jsonable(asdict(self))


def report_content(
    model: TextClassifier,
    corpus: Corpus,
    utility: Measure | Mapping[str, Measure] | None = None,
    *,
    n_borderline: int = 8,
    n_words: int = 12,
    n_points: int = 240,
    n_bootstrap: int = 100,
) -> Report:
    """Decide on every text of a corpus, and collect what there is to see.

    Parameters
    ----------
    model : TextClassifier, fitted
    corpus : Corpus, with labels; texts that the model was not trained on
    utility : as in `summarise`
    n_borderline : int, default=8
        Texts of each topic on each side of its threshold.
    n_words : int, default=12
        Words for each topic; half as many against it.
    n_points : int, default=240
        Thresholds of each topic at most; fewer where there are more than 100 topics.
    n_bootstrap : int, default=100
        Resamplings behind the intervals of thresholds; 0 for none.
    """
    if not len(corpus):
        raise TableError(f"{corpus.name} has no texts to report on.")
    corpus = with_text_labels(corpus)
    decisions = model.decide(corpus.texts)
    summary = summarise_decisions(model, decisions, corpus, utility)
    unknown = dict(list(summary.unknown_labels.items())[:_MOST_LABELS])
    truth, _ = corpus.indicator(decisions.names)
    lead, measures = leads(model, decisions), measures_of_labels(model, utility)
    proba = probabilities_of(model, decisions)
    words, opposed, verdicts = words_of(model, n_words), disagreements_of(model, 5), verdicts_of(model)
    n_points = max(20, min(n_points, _MOST_POINTS // len(decisions.names)))
    largest = np.argsort(-truth.sum(axis=0), kind="stable")[:_MOST_MATCHED]
    topics = []
    for k, one in enumerate(summary.classes):
        true, own = truth[:, k] > 0, lead[:, k]
        points, in_use, best = points_of(true, own, measures[one.label], n_points)
        borderline = borderline_of(true, own, n_borderline)
        topics.append(
            Topic(
                label=one.label,
                n_texts=one.n_texts,
                threshold=one.threshold,
                points=points,
                in_use=in_use,
                best=best,
                average_precision=ranking_of(true, own),
                interval=interval_of(true, own, measures[one.label], n_bootstrap),
                borderline=borderline,
                reliability=None if proba is None else Reliability.of(true, proba[:, k]),
                words=words[k],
                disagreements=opposed[k],
                matched=_matched(model, k, corpus, own, borderline) if k in largest else [],
                verdicts=verdicts[k],
            )
        )
    return Report(
        version=__version__,
        model=_model(model),
        summary=replace(summary, unknown_labels=unknown),
        estimate=_estimate(model, len(corpus)),
        probabilities=None if proba is None else quality_of(truth > 0, proba),
        topics=topics,
        positive=model.labels_.positive if model.labels_.kind == "binary" else 0,
        confusions=_confusions(decisions, corpus, model.labels_.kind),
        texts=_texts(corpus, topics),
    )


def _estimate(model: TextClassifier, n_new: int) -> Estimate | None:
    """What training expects of so many new texts; None where there is nothing to tell it from, or floors fail
    on a part.
    """
    try:
        return model.estimate(n_new=n_new)
    except ScoreError:
        return None


def _model(model: TextClassifier) -> Model:
    metadata = model.metadata_
    priors = [one.knowledge for one in model.verdict_ if one.target is not None]
    parts = {
        "representation": repr(model.representation_),
        "knowledge": ", ".join(dict.fromkeys([*model.knowledge_, *priors])) or "none",
        "learner": repr(model.learner) if model.learner is not None else type(model.learner_).__name__,
        "decision": repr(model.decision) if model.decision is not None else "where the score is 0",
    }
    labels = sorted(metadata["label_counts"].items(), key=lambda item: -item[1])[:_MOST_LABELS]
    short = {name: shortened(" ".join(text.split()), 300) for name, text in parts.items()}
    return Model(
        data=str(metadata.get("source", "")),
        n_texts=metadata["n_texts"],
        n_unlabelled=metadata.get("n_unlabelled", 0),
        unlabelled=next((one for one in model.verdict_ if one.target is None), None),
        labels=dict(labels),
        parts=short,
    )


def _matched(
    model: TextClassifier, k: int, corpus: Corpus, lead: Floats, borderline: list[Borderline]
) -> list[Matched]:
    """The text that is accepted most, and those nearest the threshold, with the subsequences that moved
    them.
    """
    if not hasattr(model.learner_, "dual_coef_"):
        return []
    nearest = sorted(borderline, key=lambda one: abs(one.score))
    rows = dict.fromkeys([int(lead.argmax()), *(one.row for one in nearest)])
    chosen = list(rows)[: min(3, max(1, _MOST_MATCHED // len(model.classes_)))]
    found = (matched(model, k, row, corpus.texts[row], float(lead[row])) for row in chosen)
    return [one for one in found if one is not None]


def _confusions(decisions: Decisions, corpus: Corpus, kind: str) -> list[tuple[str, str, int]]:
    """What was taken for what; right decisions as themselves. Counted as in `Summary.confusions`."""
    truth = [own if isinstance(own, tuple) else (own,) for own in corpus.labels]
    pairs = Counter(
        pair
        for own, given, guess in zip(truth, decisions.labels, decisions.guesses, strict=True)
        for pair in [*confused(own, given, guess, kind), *((name, name) for name in own if name in given)]
    )
    return [
        (a, b, n)
        for (a, b), n in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CONFUSIONS]
    ]


def _texts(corpus: Corpus, topics: list[Topic]) -> dict[str, str]:
    rows = sorted({one.row for topic in topics for one in topic.borderline})
    longest = min(_LONGEST_TEXT, _MOST_CHARACTERS // max(1, len(rows)))
    return {str(row): shortened(corpus.texts[row], longest) for row in rows}


def shortened(text: str, longest: int) -> str:
    """A text of so many characters at most."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
