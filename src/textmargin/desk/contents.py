"""Labels, marks, keywords and costs, and what each act changes of them.

Every change goes through the journal, so that acts can be taken back, newest first, at the price of what they
changed: a hundred thousand labels that came with the texts are laid down once.

A text's labels in use are those that were settled; otherwise those that all agree on, the labels that came
with the texts among them; otherwise none, and the text is a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from ._history import STEPS
from ._journal import Journal
from .acts import FILE, Act


@dataclass(frozen=True)
class Label:
    """The labels that an annotator gave a text, in the order of the classes; `number` is that of the act, 0
    for the file's.
    """

    labels: tuple[str, ...]
    source: str
    seconds: float | None
    number: int


@dataclass(frozen=True)
class Mark:
    """A passage that was marked for a class: characters of the text, the end not included."""

    start: int
    end: int
    label: str


class Contents:
    """What holds after some acts; the attributes are those of `State`."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.classes: list[str] = list(header["classes"])
        self.labels: dict[int, dict[str, Label]] = {}
        self.settled: dict[int, tuple[str, ...]] = {}
        self.marks: dict[int, list[Mark]] = {}
        self.keywords: dict[str, dict[str, float]] = {}
        self.costs: dict[str, dict[str, float]] = {}
        self.minute: float | None = None
        self.currency: str = "€"
        self.budget: int | None = None
        self.changes: list[int] = []
        self._answers: dict[int, tuple[str, ...] | None] = {}  # None for a conflict
        self._conflicts: dict[int, bool] = {}  # texts that are or were one
        self._drawn: dict[int, bool] = {}  # texts that people labelled: whether chance drew them first
        self._shown: dict[str, dict[int, None]] = {}
        self._steps: dict[str, list[Act]] = {}
        self._journal = Journal()
        of_file = {
            labels: Label(tuple(labels), FILE, None, 0) for labels in {*(header.get("given") or ())} - {None}
        }
        for text, labels in enumerate(header.get("given") or ()):
            if labels is not None:
                self.labels[text] = {FILE: of_file[labels]}
                self._answers[text] = of_file[labels].labels

    def answer(self, text: int) -> tuple[str, ...] | None:
        """The labels of a text that are in use; None where there are none, or people disagree."""
        return self._answers.get(text)

    def answers(self) -> dict[int, tuple[str, ...]]:
        """The labels in use of all texts that have them."""
        return {text: labels for text, labels in self._answers.items() if labels is not None}

    def conflicts(self) -> list[int]:
        """The texts whose labels differ, and are not settled."""
        return sorted(text for text, is_one in self._conflicts.items() if is_one)

    def labelled_by_people(self) -> list[int]:
        """The texts that somebody labelled, in the order in which that was first done; not those with the
        file's labels alone.
        """
        return list(self._drawn)

    def random_texts(self) -> frozenset[int]:
        """The texts that were first labelled because chance drew them: an unbiased sample of those without a
        label.
        """
        return frozenset(text for text, drawn in self._drawn.items() if drawn)

    def shown(self, annotator: str) -> frozenset[int]:
        """The texts that an annotator labelled or skipped."""
        return frozenset(self._shown.get(annotator, ()))

    def annotators(self) -> list[str]:
        """Who labelled or skipped a text, in the order in which they came."""
        return list(self._shown)

    def last(self, annotator: str) -> Act | None:
        """What one step back undoes: the last act of an annotator that holds; undos are no steps."""
        steps = self._steps.get(annotator)
        return steps[-1] if steps else None

    def contents(self) -> dict[str, Any]:
        """All that holds, in its order, to be compared."""
        names = (
            "classes",
            "labels",
            "settled",
            "marks",
            "keywords",
            "costs",
            "minute",
            "currency",
            "budget",
        )
        held = {name: getattr(self, name) for name in (*names, "_answers", "_drawn")}
        in_order = {name: _in_order(value) for name, value in held.items()}
        shown = [(name, list(texts)) for name, texts in self._shown.items()]
        steps = [(name, [act.id for act in own]) for name, own in self._steps.items() if own]
        return deepcopy({**in_order, "conflicts": self.conflicts(), "shown": shown, "steps": steps})

    def _fold(self, place: int, act: Act) -> None:
        """Take in an act, which stands at a place behind all that were."""
        folds: dict[str, Callable[[Act, dict[str, Any]], None]] = {
            "label": self._fold_label,
            "skip": self._fold_skip,
            "mark": self._fold_mark,
            "unmark": self._fold_unmark,
            "keyword": self._fold_keyword,
            "class": self._fold_class,
            "rename": self._fold_rename,
            "costs": self._fold_costs,
            "settle": self._fold_settle,
        }
        self._journal.begin(place)
        folds[act.kind](act, act.content)
        if act.kind in STEPS:
            if act.annotator not in self._steps:
                self._journal.put(self._steps, act.annotator, [])
            self._journal.append(self._steps[act.annotator], act)

    def _fold_label(self, act: Act, content: dict[str, Any]) -> None:
        text = content["text"]
        label = Label(
            self._in_class_order(content["labels"]), content["source"], content["seconds"], act.number
        )
        if text not in self._drawn:
            self._journal.put(self._drawn, text, content["source"] == "random" and text not in self.labels)
        self._journal.put(self.labels, text, {**self.labels.get(text, {}), act.annotator: label})
        self._show(act.annotator, text)
        self._decide(text)

    def _fold_skip(self, act: Act, content: dict[str, Any]) -> None:
        self._show(act.annotator, content["text"])

    def _fold_mark(self, act: Act, content: dict[str, Any]) -> None:
        mark = Mark(content["start"], content["end"], content["label"])
        marks = self.marks.get(content["text"], [])
        if mark not in marks:
            self._journal.put(self.marks, content["text"], [*marks, mark])

    def _fold_unmark(self, act: Act, content: dict[str, Any]) -> None:
        mark = Mark(content["start"], content["end"], content["label"])
        text = content["text"]
        marks = {**self.marks, text: [one for one in self.marks.get(text, []) if one != mark]}
        self._journal.assign(self, "marks", {number: own for number, own in marks.items() if own})

    def _fold_keyword(self, act: Act, content: dict[str, Any]) -> None:
        name, word = content["label"], content["word"]
        words = {one: weight for one, weight in self.keywords.get(name, {}).items() if one != word}
        if content["weight"] is not None:
            words[word] = float(content["weight"])
        keywords = {**self.keywords, name: words}
        self._journal.assign(self, "keywords", {label: own for label, own in keywords.items() if own})

    def _fold_class(self, act: Act, content: dict[str, Any]) -> None:
        self._journal.assign(self, "classes", [*self.classes, content["name"]])

    def _fold_rename(self, act: Act, content: dict[str, Any]) -> None:
        def new(name: str) -> str:
            return content["to"] if name == content["name"] else name

        def renamed(labels: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(map(new, labels)) if content["name"] in labels else labels

        def renamed_label(label: Label) -> Label:
            return replace(label, labels=renamed(label.labels)) if content["name"] in label.labels else label

        assign = self._journal.assign
        assign(self, "classes", [new(name) for name in self.classes])
        labels = {
            text: {who: renamed_label(one) for who, one in own.items()} for text, own in self.labels.items()
        }
        assign(self, "labels", labels)
        assign(self, "settled", {text: renamed(own) for text, own in self.settled.items()})
        answers = {text: None if own is None else renamed(own) for text, own in self._answers.items()}
        assign(self, "_answers", answers)
        marks = {
            text: [Mark(one.start, one.end, new(one.label)) for one in own]
            for text, own in self.marks.items()
        }
        assign(self, "marks", marks)
        assign(self, "keywords", {new(name): words for name, words in self.keywords.items()})
        assign(self, "costs", {new(name): costs for name, costs in self.costs.items()})

    def _fold_costs(self, act: Act, content: dict[str, Any]) -> None:
        self._journal.assign(self, "costs", {name: dict(costs) for name, costs in content["costs"].items()})
        for name in ("minute", "currency", "budget"):
            self._journal.assign(self, name, content[name])

    def _fold_settle(self, act: Act, content: dict[str, Any]) -> None:
        self._journal.put(self.settled, content["text"], self._in_class_order(content["labels"]))
        self._decide(content["text"])

    def _in_class_order(self, labels: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(labels, key=self.classes.index))

    def _show(self, annotator: str, text: int) -> None:
        if annotator not in self._shown:
            self._journal.put(self._shown, annotator, {})
        self._journal.put(self._shown[annotator], text, None)

    def _decide(self, text: int) -> None:
        """Which labels of a text are in use."""
        different = {frozenset(label.labels): label.labels for label in self.labels.get(text, {}).values()}
        answer = self.settled.get(text)
        if answer is None and len(different) == 1:
            answer = next(iter(different.values()))
        is_conflict = answer is None and bool(different)
        if is_conflict != self._conflicts.get(text, False):
            self._journal.put(self._conflicts, text, is_conflict)
        self._journal.put(self._answers, text, answer)
        self.changes.append(text)
        self._journal.also(lambda: self.changes.append(text))


def _in_order(value: Any) -> Any:
    """Dicts as lists of their items, which compare in order."""
    return [(key, _in_order(own)) for key, own in value.items()] if isinstance(value, dict) else value
