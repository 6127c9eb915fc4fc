"""What stands in columns of labels: one label, several with something between them, 0 and 1, or nothing at
all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..errors import TableError

MISSING_LABELS = frozenset({"-", "#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"})
YES = frozenset({"1", "true", "yes", "y", "x"})
NO = frozenset({"0", "false", "no", "n"})
_SEPARATORS = "|;,/"


def label_name(value: Any) -> str | None:
    """A label as CSV would write it, so that every format has the same ones; None for a value that is
    none.
    """
    if type(value) is str:
        return value.strip()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dict | list | bytes):
        raise ValueError(f"{value!r:.60} is not a label")
    return str(value).strip()


def find_flags(columns: Mapping[str, Iterable[Any]], missing: Collection[str]) -> dict[str, bool]:
    """Columns that say of each text whether it has the label they are called by; with whether an empty cell
    says no.

    An empty cell says no where the columns have no word for it, as where texts are marked with an x.

    Parameters
    ----------
    columns : mapping from names to values, how often they occur does not matter
    missing : values that mean that there is none
    """
    values: dict[str, set[str]] = {}
    for name, column in columns.items():
        names = (None if isinstance(value, list | dict) else label_name(value) for value in column)
        values[name] = {own.casefold() for own in names if own is not None and own not in missing}
    flags = [name for name, own in values.items() if own & (YES | NO) and own <= YES | NO | {""}]
    return dict.fromkeys(flags, not any(values[name] & NO for name in flags))


def obvious_separator(labels: Mapping[str, int]) -> tuple[str, str] | None:
    """What stands between several labels in one, and such a value; None where that is not obvious.

    It is where every part of these values occurs as a label by itself, or in another of them.

    Parameters
    ----------
    labels : labels and how often they occur

    Examples
    --------
    >>> from textmargin.tables.label_values import obvious_separator
    >>> obvious_separator({"bug": 3, "praise": 4, "bug|praise": 1})
    ('|', 'bug|praise')
    >>> obvious_separator({"I/O": 3, "network": 4}) is None
    True
    """
    for separator in _SEPARATORS:
        joined = {
            label: {part.strip() for part in label.split(separator)} for label in labels if separator in label
        }
        places = Counter(part for parts in joined.values() for part in parts)
        places.update(label for label in labels if label not in joined)
        if joined and all(part and places[part] > 1 for parts in joined.values() for part in parts):
            return separator, max(joined, key=lambda label: (labels[label], label))
    return None


def check_separator(label_separator: str | None) -> None:
    """That it is not empty."""
    if label_separator == "":
        raise TableError(
            "label_separator= is empty; say what stands between several labels of one text, as a semicolon."
        )


def describe_missing(values: Counter[str], n_labelled: int, *, left_out: bool = True) -> str:
    """How many texts have no label, beside those that have one, what stands in its place, and whether they
    are left out.
    """
    n = values.total()
    shown = ", ".join(repr(value) for value, _ in values.most_common(3) if value)
    where = f" ({shown} in its place; missing_labels= says which values mean none)" if shown else ""
    return (
        f"{n:,} of {n + n_labelled:,} rows {'has' if n == 1 else 'have'} no "
        f"label{where}{'; left out' if left_out else ''}"
    )
