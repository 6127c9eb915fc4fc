"""Labels, marks, keywords and costs, and what each act changes of them.

A text's labels in use are those that were settled; otherwise those that all agree on, the labels that came
with the texts among them; otherwise none, and the text is a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ActError, nearest
from .acts import FILE, OTHERS, Act


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
        self.header = header
        self.changes: list[int] = []
        of_file = {
            labels: {FILE: Label(tuple(labels), FILE, None, 0)}
            for labels in {*(header.get("given") or ())} - {None}
        }
        given = enumerate(header.get("given") or ())
        self._given = {text: of_file[labels] for text, labels in given if labels is not None}
        self._begin()

    def _begin(self) -> None:
        """As it was before any act."""
        self.classes: list[str] = list(self.header["classes"])
        self.labels: dict[int, dict[str, Label]] = dict(self._given)
        self.settled: dict[int, tuple[str, ...]] = {}
        self.marks: dict[int, list[Mark]] = {}
        self.keywords: dict[str, dict[str, float]] = {}
        self.costs: dict[str, dict[str, float]] = {}
        self.minute: float | None = None
        self.currency: str = "€"
        self.budget: int | None = None
        self._answers: dict[int, tuple[str, ...] | None] = {  # None for a conflict
            text: own[FILE].labels for text, own in self._given.items()
        }
        self._conflicts: set[int] = set()
        self._drawn: dict[int, bool] = {}  # texts that people labelled: whether chance drew them first
        self._shown: dict[str, set[int]] = {}

    def answer(self, text: int) -> tuple[str, ...] | None:
        """The labels of a text that are in use; None where there are none, or people disagree."""
        return self._answers.get(text)

    def answers(self) -> dict[int, tuple[str, ...]]:
        """The labels in use of all texts that have them."""
        return {text: labels for text, labels in self._answers.items() if labels is not None}

    def conflicts(self) -> list[int]:
        """The texts whose labels differ, and are not settled."""
        return sorted(self._conflicts)

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

    def check_names(self, act: Act) -> None:
        """ActError unless the classes that an act speaks of are there, and one that it adds is not."""
        content = act.content
        names: list[str] = content.get("labels", [])
        if act.kind in ("mark", "unmark", "keyword"):
            names = [content["label"]]
        elif act.kind == "costs":
            names = [name for name in content["costs"] if name != OTHERS]
        elif act.kind == "rename":
            names = [content["name"]]
        stranger = next((name for name in names if name not in self.classes), None)
        if stranger is not None:
            near = nearest(stranger, self.classes)
            meant = "add it first" if near is None else f"did you mean {near!r}?"
            known = ", ".join(self.classes[:10]) or "there is none yet"
            raise ActError(f"{stranger!r:.60} is none of the classes ({known}); {meant}")
        new = content["name"] if act.kind == "class" else content.get("to")
        if new is None:
            return
        others = [one for one in self.classes if one not in names or one == new]
        twin = next((one for one in others if one.casefold() == new.casefold()), None)
        if twin is not None:
            alike = "" if twin == new else f", and {new!r:.60} differs from it in capitals alone"
            raise ActError(f"there is a class {twin!r:.60} already{alike}; choose another name.")

    def fold(self, act: Act) -> None:
        """Take in one more act, other than an undo."""
        content = act.content
        match act.kind:
            case "label":
                self._label(act, content)
            case "skip":
                self._shown.setdefault(act.annotator, set()).add(content["text"])
            case "mark":
                marks, mark = self.marks.setdefault(content["text"], []), mark_of(content)
                if mark not in marks:
                    marks.append(mark)
            case "unmark":
                left = [one for one in self.marks.pop(content["text"], []) if one != mark_of(content)]
                if left:
                    self.marks[content["text"]] = left
            case "keyword":
                words = self.keywords.setdefault(content["label"], {})
                words.pop(content["word"], None)
                if content["weight"] is not None:
                    words[content["word"]] = float(content["weight"])
                elif not words:
                    del self.keywords[content["label"]]
            case "class":
                self.classes.append(content["name"])
            case "rename":
                self._rename(content["name"], content["to"])
            case "costs":
                self.costs = {name: dict(costs) for name, costs in content["costs"].items()}
                self.minute, self.currency, self.budget = (
                    content[name] for name in ("minute", "currency", "budget")
                )
            case "settle":
                self.settled[content["text"]] = self._in_class_order(content["labels"])
                self._decide(content["text"])

    def _label(self, act: Act, content: dict[str, Any]) -> None:
        text, labels = content["text"], self._in_class_order(content["labels"])
        label = Label(labels, content["source"], content["seconds"], act.number)
        self._drawn.setdefault(text, content["source"] == "random" and text not in self.labels)
        self.labels[text] = {**self.labels.get(text, {}), act.annotator: label}
        self._shown.setdefault(act.annotator, set()).add(text)
        self._decide(text)

    def _rename(self, old: str, to: str) -> None:
        def new(name: str) -> str:
            return to if name == old else name

        def renamed(labels: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(map(new, labels)) if old in labels else labels

        self.classes = [new(name) for name in self.classes]
        self.labels = {
            text: {who: replace(one, labels=renamed(one.labels)) for who, one in own.items()}
            if any(old in one.labels for one in own.values())
            else own
            for text, own in self.labels.items()
        }
        self.settled = {text: renamed(own) for text, own in self.settled.items()}
        self._answers = {text: None if own is None else renamed(own) for text, own in self._answers.items()}
        self.marks = {
            text: [replace(one, label=new(one.label)) for one in own] for text, own in self.marks.items()
        }
        self.keywords = {new(name): words for name, words in self.keywords.items()}
        self.costs = {new(name): costs for name, costs in self.costs.items()}

    def _in_class_order(self, labels: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(labels, key=self.classes.index))

    def _decide(self, text: int) -> None:
        """Which labels of a text are in use."""
        different = {frozenset(label.labels): label.labels for label in self.labels.get(text, {}).values()}
        answer = self.settled.get(text)
        if answer is None and len(different) == 1:
            answer = next(iter(different.values()))
        if answer is None and different:
            self._conflicts.add(text)
        else:
            self._conflicts.discard(text)
        self._answers[text] = answer
        self.changes.append(text)


def mark_of(content: Mapping[str, Any]) -> Mark:
    """The passage that a `mark` or an `unmark` is about."""
    return Mark(content["start"], content["end"], content["label"])
