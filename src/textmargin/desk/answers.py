"""What the desk learns from, at one moment: the labels in use as rows and columns, the random sample among
them, and keywords.

The random sample is what quality, thresholds and the learning curve rest on. Texts come up at random in one
fixed order, and the sample is all texts of that order, up to the last one that came up at random, that have
an answer: also those that were labelled for another reason before chance reached them. Without these, the
sample would lack the very texts that ties and rare classes picked out, and flatter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .._typing import Bools, Indices
from ..labels import ClassLabels, Kind
from .acts import FILE
from .contents import Mark
from .state import State


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
        return LabelledTexts(
            self.labels, **parts, keywords=self.keywords, marks=self.marks, version=self.version
        )


class AnswerTable:
    """The labels in use of a state, kept up with it: what is new is what changed, whatever number of labels
    there is.

    Parameters
    ----------
    state : State
    order : array, that in which texts come up at random
    """

    def __init__(self, state: State, order: Indices) -> None:
        self._state, self._order = state, order
        self._n_classes, self._n_changes = -1, 0

    def now(self) -> LabelledTexts:
        """What holds now."""
        state = self._state
        if len(state.classes) != self._n_classes:
            self._n_classes, texts = len(state.classes), list(state.answers())
            none = np.empty(0, dtype=np.intp)
            self._first, self._rows, self._given = none, none, none.astype(bool)
            self._member = np.zeros((0, self._n_classes), dtype=bool)
        else:
            texts = sorted({*state.changes[self._n_changes :]})
        self._n_changes = len(state.changes)
        if texts:
            self._take_in(texts)
        return LabelledTexts(
            class_labels(state.classes, state.multilabel),
            self._rows,
            self._member,
            random_sample(self._rows, state.random_texts(), self._order),
            self._given,
            {name: dict(words) for name, words in state.keywords.items()},
            {text: tuple(marks) for text, marks in state.marks.items() if marks},
            state.version,
        )

    def _take_in(self, texts: list[int]) -> None:
        """What holds of some texts, in the order in which texts were first labelled; those of the file come
        first.
        """
        labels, place = self._state.labels, {name: k for k, name in enumerate(self._state.classes)}
        own = [(text, answer) for text in texts if (answer := self._state.answer(text)) is not None]
        rows = np.array([text for text, _ in own], dtype=np.intp)
        first = np.array(
            [min((one.number for one in labels.get(text, {}).values()), default=0) for text, _ in own],
            np.intp,
        )
        given = np.array([set(labels.get(text, ())) == {FILE} for text, _ in own], dtype=bool)
        member = np.zeros((rows.size, self._n_classes), dtype=bool)
        for i, (_, answer) in enumerate(own):
            member[i, [place[name] for name in answer]] = True
        others = ~np.isin(self._rows, np.array(texts, dtype=np.intp))
        self._first, self._rows = np.append(self._first[others], first), np.append(self._rows[others], rows)
        self._given, self._member = (
            np.append(self._given[others], given),
            np.concatenate([self._member[others], member]),
        )
        sort = np.lexsort((self._rows, self._first))
        self._first, self._rows, self._given, self._member = (
            values[sort] for values in (self._first, self._rows, self._given, self._member)
        )


def class_labels(classes: list[str], multilabel: bool) -> ClassLabels:
    """The classes of a project, in its order."""
    kind: Kind = "multilabel" if multilabel else "binary" if len(classes) == 2 else "multiclass"
    return ClassLabels(
        np.array(classes, dtype=object).astype(str) if classes else np.empty(0, dtype="U1"), kind
    )


def random_sample(rows: Indices, drawn: frozenset[int], order: Indices) -> Bools:
    """Which texts are the random sample: those of `order` up to the last one that was drawn at random."""
    if not drawn:
        return np.zeros(rows.size, dtype=bool)
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    return np.asarray(place[rows] <= place[list(drawn)].max())
