"""What the desk learns from, at one moment: the labels in use as rows and columns, the random sample among them, and keywords.

The random sample is what quality, thresholds and the learning curve rest on. Texts come up at random in one fixed order, and the
sample is all texts of that order, up to the last one that came up at random, that have an answer: also those that were labelled
for another reason before chance reached them. Without these, the sample would lack the very texts that ties and rare classes
picked out, and flatter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .._typing import Bools, Indices
from ..labels import ClassLabels, Kind
from .acts import FILE
from .state import Mark, State


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts with labels in use.

    Attributes
    ----------
    labels : ClassLabels
    rows : array (n,), the texts, in the order in which they were first labelled
    member : array (n, n_classes) of bool
    sample : array (n,) of bool, which of them are the random sample
    given : array (n,) of bool, which have the labels that came with the texts and nobody's else
    keywords : dict class → word → weight
    marks : dict text → passages
    version : int, of the state
    """

    labels: ClassLabels
    rows: Indices
    member: Bools
    sample: Bools
    given: Bools
    keywords: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    marks: Mapping[int, tuple[Mark, ...]] = field(default_factory=dict)
    version: int = 0

    @classmethod
    def of(cls, state: State, order: Indices) -> LabelledTexts:
        """Those of a state; `order` is that in which texts come up at random."""
        answers = state.answers()
        first = {text: min(one.number for one in state.labels[text].values()) for text in answers if text in state.labels}
        rows = np.array(sorted(answers, key=lambda text: (first.get(text, 0), text)), dtype=np.intp)
        place = {name: k for k, name in enumerate(state.classes)}
        member = np.zeros((rows.size, len(place)), dtype=bool)
        for i, row in enumerate(rows.tolist()):
            member[i, [place[name] for name in answers[row]]] = True
        given = np.array([set(state.labels.get(row, ())) == {FILE} for row in rows.tolist()], dtype=bool)
        return cls(
            class_labels(state.classes, state.multilabel),
            rows,
            member,
            random_sample(rows, state.random_texts(), order),
            given,
            {name: dict(words) for name, words in state.keywords.items()},
            {text: tuple(marks) for text, marks in state.marks.items() if marks},
            state.version,
        )

    def __len__(self) -> int:
        return self.rows.size

    def same(self, other: LabelledTexts) -> bool:
        """Whether the same is to be learnt from both."""
        names = self.labels.names
        return (
            np.array_equal(self.rows, other.rows)
            and np.array_equal(self.member, other.member)
            and np.array_equal(self.sample, other.sample)
            and names.tolist() == other.labels.names.tolist()
            and self.keywords == other.keywords
            and self.marks == other.marks
        )

    @property
    def signs(self) -> Indices:
        """1 or −1 for each problem, (n, n_problems)."""
        columns = self.member[:, 1:] if self.labels.kind == "binary" else self.member
        return np.where(columns, 1, -1).astype(np.int8)

    def take(self, chosen: Indices | Bools) -> LabelledTexts:
        """Some of them."""
        parts = {name: getattr(self, name)[chosen] for name in ("rows", "member", "sample", "given")}
        return LabelledTexts(self.labels, **parts, keywords=self.keywords, marks=self.marks, version=self.version)

    def target(self, chosen: Indices | Bools | slice = slice(None)) -> Indices:
        """The labels as estimators take them: names, or a matrix of 0 and 1."""
        member = self.member[chosen]
        return member.astype(np.uint8) if self.labels.multilabel else self.labels.names[member.argmax(axis=1)]


def class_labels(classes: list[str], multilabel: bool) -> ClassLabels:
    """The classes of a project, in its order."""
    kind: Kind = "multilabel" if multilabel else "binary" if len(classes) == 2 else "multiclass"
    return ClassLabels(np.array(classes, dtype=object).astype(str) if classes else np.empty(0, dtype="U1"), kind)


def random_sample(rows: Indices, drawn: frozenset[int], order: Indices) -> Bools:
    """Which texts are the random sample: those of `order` up to the last one that was drawn at random."""
    if not drawn:
        return np.zeros(rows.size, dtype=bool)
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    return np.asarray(place[rows] <= place[list(drawn)].max())
