"""Acts: what a reader does at the desk, one by one, each with its fields and what may stand in them.

| kind             | content                                                                                                   |
|------------------|-----------------------------------------------------------------------------------------------------------|
| `label`          | text, labels (several, or none, only where texts may have several), source, seconds                        |
| `skip`           | text, source, seconds                                                                                      |
| `mark`, `unmark` | text, start, end, label: characters of the text, the end not included                                      |
| `keyword`        | label, word, weight (1 for, −1 against, 0 says nothing, None not named any more), source                   |
| `class`          | name: one more                                                                                             |
| `rename`         | name, to                                                                                                   |
| `costs`          | costs (class or "*" → hit, false_alarm, miss, ask), minute, currency, budget: all of it each time          |
| `settle`         | text, labels: the last word where people disagree                                                          |
| `consent`        | reading: whether how the annotator reads may be stored                                                     |
| `reading`        | text, fixations, word_starts, words, sentences, source                                                     |
| `undo`           | act: the id of one of the same annotator; undoing an undo brings the act back                              |

Here an act is looked at by itself; whether it fits what was done before, `State.check` says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Self
from uuid import uuid4

from ..errors import ActError, PriorError, nearest

FILE = "file"  # the annotator whose labels came with the texts
OTHERS = "*"  # in costs: every class that is not named
LABEL_SOURCES = ("tie", "balanced", "random", "search", "similar", "disagreement", "conflict", "list")
KEYWORD_SOURCES = ("text", "queue", "suggestion", "list")
READING_SOURCES = ("pointer", "tracker")
COSTS = ("hit", "false_alarm", "miss", "ask")
_FIXATIONS = ("word", "duration", "x", "onset")
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_LONGEST_NAME = 200


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

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """An act as a client sends it: id, annotator, kind and content; time and number are set when it is recorded."""
        if not isinstance(data, Mapping):
            raise ActError(f"an act should be an object with id, annotator, kind and content; it is {data!r:.60}.")
        known = ("id", "annotator", "kind", "content")
        unknown = [name for name in data if name not in (*known, "time", "number")]
        missing = [name for name in known if name not in data]
        if unknown or missing:
            which = f"no field {missing[0]!r}" if missing else f"a field {unknown[0]!r}"
            raise ActError(f"an act should have id, annotator, kind and content; this one has {which}.")
        return cls(**{name: data[name] for name in known})

    def normal(self) -> Self:
        """The same act as it is stored: all fields of its kind, in order, words in lower case. ActError where one is wrong."""
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise ActError(f"the id of an act should be 1 to 64 letters, digits, - or _; it is {self.id!r:.60}. Send a new one.")
        annotator = _name(self.annotator, "annotator")
        if annotator == FILE:
            raise ActError(f"{FILE!r} stands for the labels that came with the texts; choose another name.")
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            near = nearest(self.kind, KINDS)
            meant = "" if near is None else f" Did you mean {near!r}?"
            raise ActError(f"there is no act {self.kind!r:.60}; there are {', '.join(KINDS)}.{meant}")
        if not isinstance(self.content, Mapping):
            raise ActError(f"the content of {self.kind!r} should be an object; it is {self.content!r:.60}.")
        fields = KINDS[self.kind]
        unknown = [name for name in self.content if name not in fields]
        if unknown:
            near = nearest(unknown[0], fields)
            meant = "" if near is None else f" Did you mean {near!r}?"
            raise ActError(f"{self.kind!r} has no field {unknown[0]!r:.60}; it has {', '.join(fields)}.{meant}")
        content: dict[str, Any] = {}
        for name, read in fields.items():
            if name not in self.content and name not in _DEFAULTS.get(self.kind, {}):
                raise ActError(f"{self.kind!r} lacks the field {name!r}; it has {', '.join(fields)}.")
            content[name] = read(self.content.get(name, _DEFAULTS.get(self.kind, {}).get(name)), f"{name} of {self.kind!r}")
        if self.kind in ("mark", "unmark") and content["end"] <= content["start"]:
            raise ActError(f"a marked passage should end behind its start; it is {content['start']} to {content['end']}.")
        return type(self)(self.id, annotator, self.kind, content, self.time, self.number)

    def same(self, other: Act) -> bool:
        """Whether another act says the same, whenever that was."""
        return (self.id, self.annotator, self.kind, self.content) == (other.id, other.annotator, other.kind, other.content)


def new_id() -> str:
    """An id that no other act has."""
    return uuid4().hex


def _wrong(what: str, wanted: str, value: Any) -> ActError:
    return ActError(f"{what} should be {wanted}; it is {value!r:.60}.")


def _name(value: Any, what: str) -> str:
    """A name of an annotator or a class."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_NAME:
        raise _wrong(what, f"a name of 1 to {_LONGEST_NAME} characters", value)
    _encodable(value, what)
    return value.strip()


def _encodable(value: str, what: str) -> None:
    """Half a surrogate pair, which JSON can say, has no place in a file of keywords or costs."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _wrong(what, "text that UTF-8 can say", value) from error


def _class_name(value: Any, what: str) -> str:
    name = _name(value, what)
    if name == OTHERS:
        raise ActError(f"{what} is {OTHERS!r}, which stands for all other classes in costs; choose another name.")
    return name


def _label(value: Any, what: str) -> str:
    """The name of a class that is there, as it is spelled."""
    if not isinstance(value, str) or not value:
        raise _wrong(what, "the name of a class", value)
    return value


def _labels(value: Any, what: str) -> list[str]:
    if not isinstance(value, list | tuple):
        raise _wrong(what, "a list of names of classes", value)
    labels = [_label(one, what) for one in value]
    twice = next((name for name in labels if labels.count(name) > 1), None)
    if twice is not None:
        raise ActError(f"{what} names {twice!r} twice; name it once.")
    return labels


def _count(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(what, "a whole number of at least 0", value)
    return value


def _optional_count(value: Any, what: str) -> int | None:
    return None if value is None else _count(value, what)


def _number(value: Any, what: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise _wrong(what, "a number", value)
    return float(value)


def _amount(value: Any, what: str) -> float | None:
    if value is None:
        return None
    if _number(value, what) < 0:
        raise _wrong(what, "a number of at least 0, or null", value)
    return float(value)


def _truth(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(what, "true or false", value)
    return value


def _choice(known: tuple[Any, ...]) -> Callable[[Any, str], Any]:
    def read(value: Any, what: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int | float | None) or value not in known:
            raise _wrong(what, f"one of {', '.join(json.dumps(one) for one in known)}", value)
        return value

    return read


def _word(value: Any, what: str) -> str:
    """A word, a phrase, or a pattern, as keywords are written."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_NAME:
        raise _wrong(what, f"a word or a phrase of 1 to {_LONGEST_NAME} characters", value)
    _encodable(value, what)
    word = " ".join(value.split())
    if len(word) > 2 and word.startswith("/") and word.endswith("/"):
        from ..knowledge.vocabulary import compiled

        try:
            compiled(word)
        except PriorError as error:
            raise ActError(f"{what}: {error}") from error
        return word
    return word.lower()


def _weight(value: Any, what: str) -> int | None:
    weight = _choice((1, -1, 0, None))(value, what)
    return None if weight is None else int(weight)


def _currency(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > 10:
        raise _wrong(what, "a sign or short name of a currency, such as €", value)
    return value.strip()


def _costs(value: Any, what: str) -> dict[str, dict[str, float]]:
    """What decisions are worth, by class, each table as `read_costs` takes it."""
    if not isinstance(value, Mapping):
        raise _wrong(what, "an object class → costs", value)
    found: dict[str, dict[str, float]] = {}
    for label, own in value.items():
        if not isinstance(own, Mapping):
            raise _wrong(f"{what} for {label!r}", f"an object with {', '.join(COSTS)}", own)
        unknown = [name for name in own if name not in COSTS]
        if unknown:
            raise ActError(f"{what} for {label!r} have {unknown[0]!r:.60}, which is none of {', '.join(COSTS)}.")
        table = {name: _number(own[name], f"{name} for {label!r}") for name in COSTS if own.get(name) is not None}
        missing = [name for name in COSTS[:3] if name not in table]
        if missing:
            raise ActError(f"{what} for {label!r} lack {missing[0]!r}; say what it is worth in money, 0 for nothing.")
        if table["hit"] <= table["miss"] or table["false_alarm"] >= 0:
            raise ActError(
                f"{what} for {label!r} make no sense together: a hit ({table['hit']:g}) must be worth more than a miss "
                f"({table['miss']:g}), and a false alarm ({table['false_alarm']:g}) less than 0."
            )
        if table.get("ask", 0.0) > 0:
            raise ActError(f"ask for {label!r} is {table['ask']:g}; a person's look costs something, or nothing: 0 or less.")
        found[_label(label, what)] = table
    return found


def _fixations(value: Any, what: str) -> dict[str, list[float]]:
    """Columns of equal length: the word that was looked at, how long, where, and from when on."""
    if not isinstance(value, Mapping) or set(value) != set(_FIXATIONS):
        raise _wrong(what, f"an object with lists {', '.join(_FIXATIONS)}", value)
    columns = {name: _numbers(value[name], f"{name} in {what}") for name in _FIXATIONS}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ActError(f"the lists in {what} should be equally long; they are {lengths}.")
    return columns


def _numbers(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise _wrong(what, "a list of numbers", value)
    for one in value:
        _number(one, what)
    return list(value)


def _spans(value: Any, what: str) -> list[list[int]]:
    if not isinstance(value, list | tuple):
        raise _wrong(what, "a list of [start, end]", value)
    for one in value:
        if not isinstance(one, list | tuple) or len(one) != 2 or _count(one[0], what) > _count(one[1], what):
            raise _wrong(what, "a list of [start, end]", one)
    return [list(one) for one in value]


_source = _choice(LABEL_SOURCES)
_SPAN: dict[str, Callable[[Any, str], Any]] = {"text": _count, "start": _count, "end": _count, "label": _label}
KINDS: dict[str, dict[str, Callable[[Any, str], Any]]] = {
    "label": {"text": _count, "labels": _labels, "source": _source, "seconds": _amount},
    "skip": {"text": _count, "source": _source, "seconds": _amount},
    "mark": _SPAN,
    "unmark": _SPAN,
    "keyword": {"label": _label, "word": _word, "weight": _weight, "source": _choice(KEYWORD_SOURCES)},
    "class": {"name": _class_name},
    "rename": {"name": _label, "to": _class_name},
    "costs": {"costs": _costs, "minute": _amount, "currency": _currency, "budget": _optional_count},
    "settle": {"text": _count, "labels": _labels},
    "consent": {"reading": _truth},
    "reading": {
        "text": _count,
        "fixations": _fixations,
        "word_starts": _numbers,
        "words": _spans,
        "sentences": _numbers,
        "source": _choice(READING_SOURCES),
    },
    "undo": {"act": _label},
}  # kind → field → what reads it
_DEFAULTS: dict[str, dict[str, Any]] = {
    "label": {"source": "list", "seconds": None},
    "skip": {"source": "list", "seconds": None},
    "keyword": {"weight": 1, "source": "text"},
    "costs": {"minute": None, "currency": "€", "budget": None},
    "reading": {"word_starts": [], "sentences": [], "source": "pointer"},
}
