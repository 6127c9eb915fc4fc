"""What may stand in the fields of an act: each function gives a value as it is stored, or an ActError that
shows it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from ..errors import ActError, PriorError

OTHERS = "*"  # in costs: every class that is not named
COSTS = ("hit", "false_alarm", "miss", "ask")
_LONGEST_NAME = 200


def _wrong(what: str, wanted: str, value: Any) -> ActError:
    return ActError(f"{what} should be {wanted}; it is {value!r:.60}.")


def read_name(value: Any, what: str, noun: str = "a name") -> str:
    """A name of an annotator or a class."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_NAME:
        raise _wrong(what, f"{noun} of 1 to {_LONGEST_NAME} characters", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:  # JSON can say half a surrogate pair; a file of costs cannot
        raise _wrong(what, "text that UTF-8 can say", value) from error
    return value.strip()


def read_class_name(value: Any, what: str) -> str:
    name = read_name(value, what)
    if name == OTHERS:
        raise ActError(
            f"{what} is {OTHERS!r}, which stands for all other classes in costs; choose another name."
        )
    return name


def read_label(value: Any, what: str) -> str:
    """The name of a class that is there, as it is spelled."""
    if not isinstance(value, str) or not value:
        raise _wrong(what, "the name of a class", value)
    return value


def read_labels(value: Any, what: str) -> list[str]:
    if not isinstance(value, list | tuple):
        raise _wrong(what, "a list of names of classes", value)
    labels = [read_label(one, what) for one in value]
    twice = next((name for name in labels if labels.count(name) > 1), None)
    if twice is not None:
        raise ActError(f"{what} names {twice!r} twice; name it once.")
    return labels


def read_count(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(what, "a whole number of at least 0", value)
    return value


def read_optional_count(value: Any, what: str) -> int | None:
    return None if value is None else read_count(value, what)


def read_number(value: Any, what: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise _wrong(what, "a number", value)
    return float(value)


def read_amount(value: Any, what: str) -> float | None:
    if value is None:
        return None
    if read_number(value, what) < 0:
        raise _wrong(what, "a number of at least 0, or null", value)
    return float(value)


def read_choice(known: tuple[Any, ...]) -> Callable[[Any, str], Any]:
    def read(value: Any, what: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int | float | None) or value not in known:
            raise _wrong(what, f"one of {', '.join(json.dumps(one) for one in known)}", value)
        return value

    return read


def read_word(value: Any, what: str) -> str:
    """A word, a phrase, or a pattern, as keywords are written."""
    word = " ".join(read_name(value, what, "a word or a phrase").split())
    if len(word) > 2 and word.startswith("/") and word.endswith("/"):
        from ..knowledge.vocabulary import compiled

        try:
            compiled(word)
        except PriorError as error:
            raise ActError(f"{what}: {error}") from error
        return word
    return word.lower()


def read_weight(value: Any, what: str) -> int | None:
    weight = read_choice((1, -1, 0, None))(value, what)
    return None if weight is None else int(weight)


def read_currency(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > 10:
        raise _wrong(what, "a sign or short name of a currency, such as €", value)
    return value.strip()


def read_costs_table(value: Any, what: str) -> dict[str, dict[str, float]]:
    """What decisions are worth, by class, each table as `read_costs` takes it."""
    if not isinstance(value, Mapping):
        raise _wrong(what, "an object class → costs", value)
    found: dict[str, dict[str, float]] = {}
    for label, own in value.items():
        if not isinstance(own, Mapping):
            raise _wrong(f"{what} for {label!r}", f"an object with {', '.join(COSTS)}", own)
        unknown = [name for name in own if name not in COSTS]
        if unknown:
            raise ActError(
                f"{what} for {label!r} have {unknown[0]!r:.60}, which is none of {', '.join(COSTS)}."
            )
        table = {
            name: read_number(own[name], f"{name} for {label!r}")
            for name in COSTS
            if own.get(name) is not None
        }
        missing = [name for name in COSTS[:3] if name not in table]
        if missing:
            raise ActError(
                f"{what} for {label!r} lack {missing[0]!r}; say what it is worth in money, 0 for nothing."
            )
        if table["hit"] <= table["miss"] or table["false_alarm"] >= 0:
            raise ActError(
                f"{what} for {label!r} make no sense together: a hit ({table['hit']:g}) must be worth "
                "more than a miss "
                f"({table['miss']:g}), and a false alarm ({table['false_alarm']:g}) less than 0."
            )
        if table.get("ask", 0.0) > 0:
            raise ActError(
                f"ask for {label!r} is {table['ask']:g}; a person's look costs something, or nothing: 0 "
                "or less."
            )
        found[read_label(label, what)] = table
    return found
