"""Labels that held-out scores doubt.

A `TextClassifier` learns the texts as they are labelled, and each text gets probabilities of labels from
scores of a model that did not know it (`held_out_`). Of nearly the same texts one stands for all, with the
label that most of them have: copies cannot vouch for one another.

Doubtful labels are ranked by the probability of the label that was given, the lowest first. How many there
are is estimated by the half of the texts that the model is surest of: the share ε of these whose label is
another is the share of wrong labels, and the list ends after ε n of n texts. The model's own mistakes are in
the other half. Where a text may have several labels, each is a problem of its own: labels that are too many
are estimated on the half with the lowest probabilities, labels that are missing on half as many texts as have
the label, those with the highest.

Chosen on desk (three draws) and Reuters texts of one topic (one draw), 5, 10 and 20 % of the labels flipped
at random (`benchmarks/bench_check.py` has the other corpora). There the ranking by p(given) has average
precision .66 to .99, by the margin of the best other label over it .62 to .97, by that margin less what is
usual for a label .54 to .70. A second training without the doubtful, ranked by the margin, has .68 to .98:
higher than p(given) on desk with 5 % (.68 to .66), lower in the other five. Other ends of the list (a fixed
probability or margin, confident learning's, a probability corrected for ε) were good with many labels or with
two, this one with both; with two, confident learning's was about as good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._ties import ROUNDING, descending_order, first_maximum
from .._typing import Bools, Floats, Indices
from ..classifier import TextClassifier
from ..decisions.calibration import Calibration
from ..errors import EmptyVocabularyError
from ..representations.texts import join_copies
from .findings import Finding

LEAST_TEXTS = 5  # of a label that is judged: as many as there are folds
_N_WORDS = 3  # of a reason


@dataclass(frozen=True, eq=False)
class Doubts:
    """Doubtful labels, the most doubtful first; the estimated share of wrong labels; and why some were not
    judged.
    """

    findings: list[Finding]
    noise: float | None
    notes: list[str]


def doubtful_labels(texts: Sequence[str], labels: Sequence[Any], group: Indices | None = None) -> Doubts:
    """Train on texts, and list the labels that models which did not know the text think wrong.

    Parameters
    ----------
    texts : list of str
    labels : names, "" for none; or tuples of names
    group : array (n_texts,), default=None
        Texts with the same number are copies of one another (`NearDuplicates.group`); by default none are.

    Examples
    --------
    >>> from textmargin import load_dataset
    >>> from textmargin.check.doubts import doubtful_labels
    >>> desk = load_dataset("desk").part("train")
    >>> labels = ["software" if row == 5 else label for row, label in enumerate(desk.labels)]
    >>> doubts = doubtful_labels(desk.texts, labels).findings
    >>> [one.suggestion == desk.labels[5] for one in doubts if one.rows == (5,)]
    [True]
    """
    several = any(isinstance(own, tuple) for own in labels)
    group = np.arange(len(texts)) if group is None else group
    rows = np.array(
        [bool(text.strip()) and bool(own or several) for text, own in zip(texts, labels, strict=True)],
        dtype=bool,
    )
    heads, place = np.unique(group[rows], return_inverse=True)
    common = _most_common([labels[row] for row in np.flatnonzero(rows).tolist()], place, heads.size)
    counts = Counter(name for own in common for name in (own if several else (own,)))
    few = {name for name, n in counts.items() if n < LEAST_TEXTS or n > heads.size - LEAST_TEXTS}
    if several:
        common = [tuple(name for name in own if name not in few) for own in common]
    learnt = np.array([several or own not in few for own in common], dtype=bool)
    n_judged = len(counts) - len(few)
    if n_judged < (1 if several else 2):
        return Doubts(
            [], None, [f"labels were not judged: fewer than two have {LEAST_TEXTS} different texts or more"]
        )
    known = [texts[head] for head in heads[learnt].tolist()]
    targets = [own for own, used in zip(common, learnt, strict=True) if used]
    try:
        model = TextClassifier().fit(known, targets)
    except EmptyVocabularyError:
        return Doubts([], None, ["labels were not judged: the texts have no words to learn from"])
    # of texts that occur again, where nobody grouped them, one has a held-out score for all
    proba = _held_out_probabilities(model)[join_copies(known, targets)[1]]
    judged = np.flatnonzero(rows)[learnt[place]]
    proba = proba[(np.cumsum(learnt) - 1)[place][learnt[place]]]
    notes = (
        [f"labels with fewer than {LEAST_TEXTS} different texts were not judged: {len(few):,}"] if few else []
    )
    column = {str(name): k for k, name in enumerate(model.labels_.text_names)}
    if several:
        own = np.zeros(proba.shape, dtype=bool)
        for i, row in enumerate(judged.tolist()):
            own[i, [column[name] for name in labels[row] if name in column]] = True
        return Doubts(_several(model, texts, judged, own, proba), None, notes)
    given = np.array([column.get(labels[row], -1) for row in judged.tolist()])
    learnt = given >= 0  # a copy may have a label that was not
    judged, given, proba = judged[learnt], given[learnt], proba[learnt]
    listed, noise, best = _doubtful(given, proba)
    names = model.labels_.text_names
    reasons = _Reasons(model, [texts[judged[i]] for i in listed.tolist()])
    findings = []
    for number, i in enumerate(listed.tolist()):
        k, other = int(given[i]), int(best[i])
        reason = f"P({names[other]}) = {proba[i, other]:.2f}, P({names[k]}) = {proba[i, k]:.2f}"
        reason += reasons.words(number, other, k)
        findings.append(
            Finding(
                "doubtful-label", (int(judged[i]),), names[k], names[other], float(1 - proba[i, k]), reason
            )
        )
    return Doubts(findings, noise, notes)


def _most_common(labels: list[Any], place: Indices, n_groups: int) -> list[Any]:
    """The label that most texts of each group have, the first of those where there are several."""
    members: list[list[Any]] = [[] for _ in range(n_groups)]
    for own, g in zip(labels, place.tolist(), strict=True):
        members[g].append(own)
    return [own[0] if len(own) == 1 else Counter(own).most_common(1)[0][0] for own in members]


def _held_out_probabilities(model: TextClassifier) -> Floats:
    """Of all classes (n_texts, n_classes), each text's by models that did not know it."""
    held_out, labels = model.held_out_, model.labels_
    calibration = Calibration.fit(held_out.positive, held_out.scores, labels.kind, held_out.weight)
    proba = calibration.predict(held_out.complete())
    if labels.kind != "binary":
        return proba
    both = np.empty((proba.size, 2))
    both[:, labels.positive], both[:, 1 - labels.positive] = proba, 1 - proba
    return both


def _doubtful(given: Indices, proba: Floats) -> tuple[Indices, float, Indices]:
    """Which texts have a doubtful label, in order; the share of wrong labels; and the most probable label of
    each text.
    """
    best = first_maximum(proba.T, ROUNDING)
    own = proba[np.arange(given.size), given]
    sure = descending_order(proba.max(axis=1))[: (given.size + 1) // 2]
    noise = float(np.mean(best[sure] != given[sure]))
    order = descending_order(-own)[: round(noise * given.size)]
    return order[best[order] != given[order]], noise, best


def _several(
    model: TextClassifier, texts: Sequence[str], judged: Indices, own: Bools, proba: Floats
) -> list[Finding]:
    """Labels that are too many or missing, where a text may have several."""
    found: list[tuple[float, int, int, bool]] = []
    for k in range(proba.shape[1]):
        order = descending_order(proba[:, k])
        n_with = int(own[:, k].sum())
        high, low = order[: (n_with + 1) // 2], order[len(order) // 2 :]
        n_missing = round(float(np.mean(~own[high, k])) * n_with)
        n_surplus = round(float(np.mean(own[low, k])) * (len(own) - n_with))
        missing, surplus = order[~own[order, k]][:n_missing], order[own[order, k]][::-1][:n_surplus]
        found += [(float(proba[i, k]), int(i), k, True) for i in missing if proba[i, k] > 0.5 + ROUNDING]
        found += [(float(1 - proba[i, k]), int(i), k, False) for i in surplus if proba[i, k] < 0.5 - ROUNDING]
    order = descending_order([score for score, *_ in found]).tolist()
    reasons = _Reasons(model, [texts[judged[found[j][1]]] for j in order])
    findings = []
    for number, j in enumerate(order):
        score, i, k, is_missing = found[j]
        name = model.labels_.text_names[k]
        reason = f"{'missing' if is_missing else 'surplus'}: P({name}) = {proba[i, k]:.2f}"
        reason += reasons.words(number, k, against=not is_missing)
        suggestion = f"{'add' if is_missing else 'remove'} {name}"
        findings.append(Finding("doubtful-label", (int(judged[i]),), name, suggestion, score, reason))
    return findings


class _Reasons:
    """The words of texts that speak for a label, or against it."""

    def __init__(self, model: TextClassifier, texts: list[str]) -> None:
        self.learner, self.kind = model.learner_, model.labels_.kind
        # none is asked for where there is none
        self.rows: Any = model.representation_.transform(texts) if texts else None
        self.terms = model.representation_.get_feature_names_out()
        self.names = model.labels_.names.tolist()

    def words(self, row: int, target: int, given: int | None = None, against: bool = False) -> str:
        """Those that speak most for a class, rather than for the given one; or against a class."""
        x = self.rows[[row]]
        explanation = self.learner.explain(x, self.names[target])
        total = -explanation.total if against else explanation.total
        if given is not None and self.kind == "multiclass":
            total = total - self.learner.explain(x, self.names[given]).total
        most = [j for j in descending_order(total)[:_N_WORDS] if total[j] > ROUNDING]
        words = ", ".join(str(self.terms[explanation.terms[j]]) for j in most)
        return f"; {'against' if against else 'for'} {self.names[target]}: {words}" if words else ""
