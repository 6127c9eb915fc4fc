"""Acts: what a reader does at the desk, one by one, each with its fields and what may stand in them.

| kind             | content                                                                             |
|------------------|-------------------------------------------------------------------------------------|
| `label`          | text, labels (one, unless texts may have several), source, seconds                  |
| `skip`           | text, source, seconds                                                               |
| `mark`, `unmark` | text, start, end, label: characters of the text, the end not included               |
| `keyword`        | label, word, weight (1 for, −1 against, 0 nothing, None not named any more), source |
| `class`          | name: one more                                                                      |
| `rename`         | name, to                                                                            |
| `costs`          | costs (class or "*" → hit, false_alarm, miss, ask), minute, currency, budget: all   |
| `settle`         | text, labels: the last word where people disagree                                   |
| `undo`           | act: the id of one of the same annotator; undoing an undo brings the act back       |

Here an act is looked at by itself; whether it fits what was done before, `State.check` says.
`costs` is all of it each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self
from uuid import uuid4

from ..errors import ActError
from ._fields import OTHERS as OTHERS  # in costs: every class that is not named
from ._fields import (
    read_amount,
    read_choice,
    read_class_name,
    read_costs_table,
    read_count,
    read_currency,
    read_label,
    read_labels,
    read_name,
    read_optional_count,
    read_weight,
    read_word,
)

FILE = "file"  # the annotator whose labels came with the texts
LABEL_SOURCES = ("tie", "balanced", "random", "search", "similar", "disagreement", "conflict", "list")
KEYWORD_SOURCES = ("text", "queue", "suggestion", "list")
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True)
class Act:
    """One act of one annotator.

    Attributes
    ----------
    id : str
        Chosen by who sends it (`new_id`): the same id again is the same act.
    annotator : str, a name
    kind : str, one of KINDS
    content : dict, as JSON has it
    time : str, UTC, set when it is recorded
    number : int, its place in the project from 1 on; -1 before it is recorded

    Examples
    --------
    >>> from textmargin.desk.acts import Act
    >>> Act("7", "anna", "keyword", {"label": "billing", "word": " Invoice "}).normal().content
    {'label': 'billing', 'word': 'invoice', 'weight': 1, 'source': 'text'}
    """

    id: str
    annotator: str
    kind: str
    content: dict[str, Any]
    time: str = ""
    number: int = -1

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @property
    def summary(self) -> str:
        """The act in a few words, for who may want to take it back; texts count from 1, as on the page."""
        content, label, name = self.content, self.content.get("label"), self.content.get("name")
        text = f"text {content.get('text', 0) + 1}"
        match self.kind:
            case "label" | "settle":
                labels = ", ".join(content["labels"]) or "none of these"
                return f"{text}{' settled' if self.kind == 'settle' else ''}: {labels}"
            case "skip":
                return f"{text} skipped"
            case "mark" | "unmark":
                return f"passage of {text} {'' if self.kind == 'mark' else 'not '}marked for {label}"
            case "keyword":
                says = {1: "for", -1: "against", 0: "says nothing of", None: "no longer named for"}
                return f"{content['word']} {says[content['weight']]} {label}"
            case "class":
                return f"class {name} added"
            case "rename":
                return f"{name} renamed to {content['to']}"
        return self.kind

    def normal(self) -> Self:
        """The same act as it is stored: all fields of its kind, in order, words in lower case. ActError where
        one is wrong.
        """
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise ActError(
                f"the id of an act should be 1 to 64 letters, digits, - or _; it is {self.id!r:.60}. Send "
                "a new one."
            )
        annotator = read_name(self.annotator, "annotator")
        if annotator == FILE:
            raise ActError(f"{FILE!r} stands for the labels that came with the texts; choose another name.")
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ActError(f"there is no act {self.kind!r:.60}; there are {', '.join(KINDS)}.")
        if not isinstance(self.content, Mapping):
            raise ActError(f"the content of {self.kind!r} should be an object; it is {self.content!r:.60}.")
        fields = KINDS[self.kind]
        unknown = [name for name in self.content if name not in fields]
        if unknown:
            raise ActError(f"{self.kind!r} has no field {unknown[0]!r:.60}; it has {', '.join(fields)}.")
        content: dict[str, Any] = {}
        for name, read in fields.items():
            if name not in self.content and name not in _DEFAULTS.get(self.kind, {}):
                raise ActError(f"{self.kind!r} lacks the field {name!r}; it has {', '.join(fields)}.")
            content[name] = read(
                self.content.get(name, _DEFAULTS.get(self.kind, {}).get(name)), f"{name} of {self.kind!r}"
            )
        if self.kind in ("mark", "unmark") and content["end"] <= content["start"]:
            raise ActError(
                f"a marked passage should end behind its start; it is {content['start']} to {content['end']}."
            )
        return type(self)(self.id, annotator, self.kind, content, self.time, self.number)


def new_id() -> str:
    """An id that no other act has."""
    return uuid4().hex


_source = read_choice(LABEL_SOURCES)
_SPAN: dict[str, Callable[[Any, str], Any]] = {
    "text": read_count,
    "start": read_count,
    "end": read_count,
    "label": read_label,
}
KINDS: dict[str, dict[str, Callable[[Any, str], Any]]] = {
    "label": {"text": read_count, "labels": read_labels, "source": _source, "seconds": read_amount},
    "skip": {"text": read_count, "source": _source, "seconds": read_amount},
    "mark": _SPAN,
    "unmark": _SPAN,
    "keyword": {
        "label": read_label,
        "word": read_word,
        "weight": read_weight,
        "source": read_choice(KEYWORD_SOURCES),
    },
    "class": {"name": read_class_name},
    "rename": {"name": read_label, "to": read_class_name},
    "costs": {
        "costs": read_costs_table,
        "minute": read_amount,
        "currency": read_currency,
        "budget": read_optional_count,
    },
    "settle": {"text": read_count, "labels": read_labels},
    "undo": {"act": read_label},
}  # kind → field → what reads it
_DEFAULTS: dict[str, dict[str, Any]] = {
    "label": {"source": "list", "seconds": None},
    "skip": {"source": "list", "seconds": None},
    "keyword": {"weight": 1, "source": "text"},
    "costs": {"minute": None, "currency": "€", "budget": None},
}
