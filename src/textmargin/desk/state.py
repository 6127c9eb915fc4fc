"""What holds now: the fold, in their order, of all acts that are not undone.

An act is undone while an undo of it holds; an undo is an act too, so that undoing it brings the act back. An undo folds all acts
anew, and is refused where a later act of somebody would hang in the air without the one that is undone: a label of a class that
would not be there, a reading without consent.

A text's labels in use are those that were settled; otherwise those that all agree on, the labels that came with the texts among
them; otherwise none, and the text is a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

from ..errors import ActError, nearest
from ._history import History
from .acts import FILE, OTHERS, Act


@dataclass(frozen=True)
class Label:
    """The labels that an annotator gave a text, in the order of the classes; `number` is that of the act, 0 for the file's."""

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


class State:
    """Labels, marks, keywords and costs that hold.

    Parameters
    ----------
    header : mapping
        `classes`, `multilabel`, `n_texts`, and `given`: the labels that came with the texts, a tuple, or None for a text without;
        empty where no text has any.

    Attributes
    ----------
    classes : list of str
    multilabel : bool, whether a text may have several labels, or none
    n_texts : int
    labels : dict text → annotator → Label
    settled : dict text → labels that were settled
    marks : dict text → list of Mark
    keywords : dict class → word → 1.0, -1.0, or 0.0 for one that says nothing
    costs : dict class or "*" → hit, false_alarm, miss and perhaps ask
    minute : float or None, what a minute of a reader costs
    currency : str
    budget : int or None, how many texts a day people can look at
    consent : dict annotator → bool
    readings : list of Act
    n_acts : int, all that were recorded, undone ones too
    version : int, the number of the last one; 0 before the first

    Examples
    --------
    >>> from textmargin.desk.acts import Act
    >>> from textmargin.desk.state import State
    >>> state = State({"classes": ["ham", "spam"], "multilabel": False, "n_texts": 2, "given": []})
    >>> state.apply(Act("a", "anna", "label", {"text": 1, "labels": ["spam"], "source": "random", "seconds": 2.5}, number=1))
    >>> state.apply(Act("b", "ben", "label", {"text": 1, "labels": ["ham"], "source": "tie", "seconds": None}, number=2))
    >>> state.answer(1), state.conflicts(), sorted(state.random_texts())
    (None, [1], [1])
    >>> state.apply(Act("c", "ben", "undo", {"act": "b"}, number=3))
    >>> state.answers()
    {1: ('spam',)}
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._header = header
        self._history = History()
        self.multilabel: bool = header["multilabel"]
        self.n_texts: int = header["n_texts"]
        of_file = {labels: Label(tuple(labels), FILE, None, 0) for labels in {*(header.get("given") or ())} - {None}}
        self._given = {text: of_file[labels] for text, labels in enumerate(header.get("given") or ()) if labels is not None}
        self._clear()

    @classmethod
    def replay(cls, header: Mapping[str, Any], acts: Iterable[Act]) -> Self:
        """What holds after some acts, which were recorded in this order."""
        state = cls(header)
        for act in acts:
            state._history.add(act)
        state._fold_all()
        return state

    def apply(self, act: Act) -> None:
        """Take in one more act, which was checked and recorded."""
        self._history.add(act)
        if act.kind == "undo":
            self._clear()
            self._fold_all()
        else:
            self._fold(act)

    def check(self, act: Act) -> None:
        """ActError where an act, in its normal form, does not fit what was done before."""
        if act.kind == "undo":
            self._check_undo(act)
            return
        self._check_names(act)
        text: int = act.content.get("text", 0)
        if text >= self.n_texts:
            raise ActError(f"there is no text {text}; they are numbered 0 to {self.n_texts - 1}.")
        if act.kind == "unmark" and Mark(*(act.content[name] for name in ("start", "end", "label"))) not in self.marks.get(
            text, []
        ):
            place = f"{act.content['start']} to {act.content['end']}"
            raise ActError(f"text {text} has no passage {place} that is marked for {act.content['label']!r}.")
        if act.kind in ("label", "settle") and not self.multilabel and len(act.content["labels"]) != 1:
            raise ActError(
                f"a text of this project has one label; got {act.content['labels']!r:.60}. Choose one, or skip the text."
            )

    def answer(self, text: int) -> tuple[str, ...] | None:
        """The labels of a text that are in use; None where there are none, or people disagree."""
        return self._answers.get(text)

    def answers(self) -> dict[int, tuple[str, ...]]:
        """The labels in use of all texts that have them."""
        return dict(self._answers)

    def conflicts(self) -> list[int]:
        """The texts whose labels differ, and are not settled."""
        return sorted(self._conflicts)

    def random_texts(self) -> frozenset[int]:
        """The texts that were first labelled because chance drew them: an unbiased sample of those without a label."""
        return frozenset(text for text, source in self._first_sources.items() if source == "random")

    def shown(self, annotator: str) -> frozenset[int]:
        """The texts that an annotator labelled or skipped."""
        return frozenset(self._shown.get(annotator, ()))

    def annotators(self) -> list[str]:
        """Who labelled or skipped a text, in the order in which they came."""
        return list(self._shown)

    def last(self, annotator: str) -> Act | None:
        """What one step back undoes: the last act of an annotator that holds; undos, consent and readings are no steps."""
        return self._history.last(annotator)

    def last_undo(self, annotator: str) -> Act | None:
        """What one step forth undoes: the last undo of an annotator that holds, where nothing else was done since."""
        return self._history.last_undo(annotator)

    def act(self, act_id: str) -> Act | None:
        """The act of this id, undone or not."""
        return self._history.find(act_id)

    def holds(self, act_id: str) -> bool:
        """Whether an act is not undone."""
        return self._history.holds(act_id)

    def contents(self) -> dict[str, Any]:
        """All that holds, to be compared."""
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
            "consent",
            "readings",
        )
        shown = {name: frozenset(texts) for name, texts in self._shown.items()}
        held = {name: getattr(self, name) for name in names}
        sources = {"first_sources": self._first_sources, "answers": self._answers, "conflicts": self.conflicts()}
        return deepcopy({**held, **sources, "shown": shown})

    @property
    def n_acts(self) -> int:
        """How many were recorded."""
        return len(self._history.acts)

    @property
    def version(self) -> int:
        """The number of the last act."""
        return self._history.acts[-1].number if self._history.acts else 0

    def _check_undo(self, act: Act) -> None:
        target = self.act(act.content["act"])
        if target is None:
            raise ActError(f"there is no act {act.content['act']!r} to undo.")
        if target.annotator != act.annotator:
            raise ActError(f"this {target.kind!r} is {target.annotator}'s; only {target.annotator} can undo it.")
        if not self.holds(target.id):
            raise ActError(f"this {target.kind!r} is undone already; to bring it back, undo the undo.")
        if target.kind not in ("class", "rename", "consent", "undo"):
            return  # nothing can hang on it
        trial = type(self)({**self._header, "given": ()})  # whose names are there in any case
        for one in (*self._history.acts, act):
            trial._history.add(one)
        trial._fold_all(strict=True)

    def _check_names(self, act: Act) -> None:
        """That the classes, and the consent, that an act speaks of are there."""
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
            raise ActError(f"{stranger!r:.60} is none of the classes ({_listed(self.classes)}); {meant}")
        new = content.get("name") if act.kind == "class" else content.get("to") if act.kind == "rename" else None
        if new in self.classes:
            raise ActError(f"there is a class {new!r:.60} already; choose another name.")
        if act.kind == "reading" and not self.consent.get(act.annotator, False):
            raise ActError(f"{act.annotator} has not agreed that how they read is stored; nothing was stored. Agree first.")

    def _clear(self) -> None:
        self.classes: list[str] = list(self._header["classes"])
        self.labels: dict[int, dict[str, Label]] = {}
        self.settled: dict[int, tuple[str, ...]] = {}
        self.marks: dict[int, list[Mark]] = {}
        self.keywords: dict[str, dict[str, float]] = {}
        self.costs: dict[str, dict[str, float]] = {}
        self.minute: float | None = None
        self.currency: str = "€"
        self.budget: int | None = None
        self.consent: dict[str, bool] = {}
        self.readings: list[Act] = []
        self._answers: dict[int, tuple[str, ...]] = {}
        self._conflicts: set[int] = set()
        self._first_sources: dict[int, str] = {}
        self._shown: dict[str, set[int]] = {}
        if self._given:  # by the hundred thousand, and at every undo
            self.labels = {text: {FILE: label} for text, label in self._given.items()}
            self._answers = {text: label.labels for text, label in self._given.items()}
            self._first_sources = dict.fromkeys(self._given, FILE)

    def _fold_all(self, strict: bool = False) -> None:
        """All acts that hold, from the start on; with `strict` ActError where one hangs in the air."""
        for act in self._history.active():
            if strict:
                try:
                    self._check_names(act)
                except ActError as error:
                    raise ActError(
                        f"it cannot be undone, for {act.annotator} built on it: {_summary(act)}. Undo that first."
                    ) from error
            self._fold(act)

    def _fold(self, act: Act) -> None:
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
            "consent": self._fold_consent,
            "reading": self._fold_reading,
        }
        folds[act.kind](act, act.content)

    def _fold_label(self, act: Act, content: dict[str, Any]) -> None:
        text = content["text"]
        label = Label(self._in_order(content["labels"]), content["source"], content["seconds"], act.number)
        self.labels.setdefault(text, {})[act.annotator] = label
        self._first_sources.setdefault(text, content["source"])
        self._shown.setdefault(act.annotator, set()).add(text)
        self._decide(text)

    def _fold_skip(self, act: Act, content: dict[str, Any]) -> None:
        self._shown.setdefault(act.annotator, set()).add(content["text"])

    def _fold_mark(self, act: Act, content: dict[str, Any]) -> None:
        mark = Mark(content["start"], content["end"], content["label"])
        marks = self.marks.setdefault(content["text"], [])
        if mark not in marks:
            marks.append(mark)

    def _fold_unmark(self, act: Act, content: dict[str, Any]) -> None:
        mark = Mark(content["start"], content["end"], content["label"])
        marks = [one for one in self.marks.get(content["text"], []) if one != mark]
        self.marks.pop(content["text"], None)
        if marks:
            self.marks[content["text"]] = marks

    def _fold_keyword(self, act: Act, content: dict[str, Any]) -> None:
        words = self.keywords.setdefault(content["label"], {})
        words.pop(content["word"], None)
        if content["weight"] is not None:
            words[content["word"]] = float(content["weight"])
        if not words:
            del self.keywords[content["label"]]

    def _fold_class(self, act: Act, content: dict[str, Any]) -> None:
        self.classes.append(content["name"])

    def _fold_rename(self, act: Act, content: dict[str, Any]) -> None:
        def new(name: str) -> str:
            return content["to"] if name == content["name"] else name

        def renamed(labels: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(map(new, labels))

        self.classes = [new(name) for name in self.classes]
        for own in self.labels.values():
            for annotator, label in own.items():
                if content["name"] in label.labels:
                    own[annotator] = Label(renamed(label.labels), label.source, label.seconds, label.number)
        self.settled = {text: renamed(labels) for text, labels in self.settled.items()}
        self._answers = {text: renamed(labels) for text, labels in self._answers.items()}
        self.marks = {text: [Mark(one.start, one.end, new(one.label)) for one in marks] for text, marks in self.marks.items()}
        self.keywords = {new(name): words for name, words in self.keywords.items()}
        self.costs = {new(name): costs for name, costs in self.costs.items()}

    def _fold_costs(self, act: Act, content: dict[str, Any]) -> None:
        self.costs = {name: dict(costs) for name, costs in content["costs"].items()}
        self.minute, self.currency, self.budget = content["minute"], content["currency"], content["budget"]

    def _fold_settle(self, act: Act, content: dict[str, Any]) -> None:
        self.settled[content["text"]] = self._in_order(content["labels"])
        self._decide(content["text"])

    def _fold_consent(self, act: Act, content: dict[str, Any]) -> None:
        self.consent[act.annotator] = content["reading"]

    def _fold_reading(self, act: Act, content: dict[str, Any]) -> None:
        self.readings.append(act)

    def _in_order(self, labels: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(labels, key=self.classes.index))

    def _decide(self, text: int) -> None:
        """Which labels of a text are in use."""
        self._answers.pop(text, None)
        self._conflicts.discard(text)
        different = {frozenset(label.labels): label.labels for label in self.labels.get(text, {}).values()}
        if text in self.settled:
            self._answers[text] = self.settled[text]
        elif len(different) == 1:
            self._answers[text] = next(iter(different.values()))
        elif different:
            self._conflicts.add(text)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "") if names else "there is none yet"


def _summary(act: Act) -> str:
    shown = {name: value for name, value in act.content.items() if name in ("text", "labels", "label", "word", "name", "to")}
    return f"{act.kind} {', '.join(f'{name} {value!r:.40}' for name, value in shown.items())}".strip()
