"""Which columns of a table hold the texts and the labels: as given, or guessed from names and values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from ..errors import LabelError, TableError, nearest
from .decision_columns import GUESS, LABEL, SCORE
from .label_values import MISSING_LABELS, find_flags, label_name
from .rows import Row, SheetRow

LabelUse: TypeAlias = Literal["required", "optional", "ignored"]

# In this order; titles come last, for they stand beside longer texts. Without "note", which in French is a
# mark given.
TEXT_NAMES = (
    *(
        "text",
        "message",
        "msg",
        "nachricht",
        "body",
        "content",
        "inhalt",
        "document",
        "review",
        "comment",
        "kommentar",
    ),
    *(
        "sentence",
        "description",
        "beschreibung",
        "abstract",
        "summary",
        "notes",
        "title",
        "subject",
        "betreff",
    ),
)
LABEL_NAMES = (
    *(
        "label",
        "labels",
        "topic",
        "topics",
        "thema",
        "class",
        "klasse",
        "category",
        "categories",
        "kategorie",
        "target",
    ),
    *("tag", "tags", "sentiment", "y"),
)
# Which are labels as often as not: proposed, and never taken by themselves.
_LIKELY_LABELS = ("type", "typ", "queue", "intent", "kind", "art", "group", "priority")

Item = TypeVar("Item")
N_SAMPLE = 200  # rows that a guess is made from
_MAX_LABELS = 50
# Thai to Chinese
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_MIN_WORDS = 3  # of a value, on average, for its column to hold texts
_MIN_TEXTS = 20  # rows from which labels that all differ are no labels


@dataclass(frozen=True)
class ColumnNames:
    """Names of columns, as given or guessed; `notes` say which were guessed.

    Where several columns say which labels a text has, `label` names them with commas between, and `labels`
    are their names.
    """

    text: str
    label: str | None
    notes: list[str]
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.labels and self.label is not None:
            object.__setattr__(self, "labels", (self.label,))


def find_columns(
    rows: Sequence[Row],
    source: Any,
    text: str | None = None,
    label: str | None = None,
    usual: Sequence[str | None] = (None, None),
    labels: LabelUse = "required",
    likely: Sequence[str] | None = None,
) -> ColumnNames:
    """Names of the columns, those not given the usual ones, else guessed from their names, else from what is
    in them.

    Where it is known which labels there may be, `likely` are the columns that hold some (`columns_with`), and
    a table without labels will do.
    """
    names = list(rows[0].values)
    if text is not None and text not in names:
        raise TableError(no_column(text, names, source, "text"))
    for given in split_names(label, names):
        if given not in names:
            raise TableError(no_column(given, names, source, "label"))
    if text is not None and text in split_names(label, names):
        raise TableError(
            f"Column {text!r} of {source} cannot be both the text and the label; choose another with label=."
        )
    notes = []
    text, label = _with_usual(names, text, label, usual)
    if text is None:
        text = _text_column(rows, names, split_names(label, names))
        if text is None:
            raise TableError(_which(source, names, "text", _likely_text(rows, names)))
        notes.append(f"text: column {text!r}")
    others = [name for name in names if name != text]
    if labels == "ignored":
        label, other = None, label or _telling_name(others, LABEL_NAMES)
        notes += [] if other is None else [f"column {other!r} is not looked at"]
    elif label is None:
        known = [name for name in likely or () if name != text]
        label = known[0] if len(known) == 1 else _telling_name(others, LABEL_NAMES)
        if label is None and likely is None:
            label = _label_column(rows, others)
        if label is None and (likely is None or known):
            raise LabelError(
                _which(source, names, "label", _likely_label(rows, others)) + _flags_hint(rows, others)
            )
        notes.append(
            _no_label(_with_few_values(rows, others)) if label is None else f"label: column {label!r}"
        )
        if label == LABEL and {GUESS, SCORE} <= set(names):
            notes.append(
                f"it stands beside {GUESS!r} and {SCORE!r}: learnt from a model's decisions, a model "
                "agrees with itself"
            )
    return ColumnNames(text, label, notes, split_names(label, names))


def columns_with(
    columns: Mapping[str, Iterable[Any]], labels: Collection[Any], label_separator: str | None = None
) -> list[str]:
    """The columns in which some of these labels stand, and few other values; how often these occur does not
    matter.
    """
    wanted = {str(name).casefold() for name in labels}
    return [
        name
        for name, column in columns.items()
        if len(values := _label_values(column, label_separator)) <= _MAX_LABELS and values & wanted
    ]


def split_names(label: str | None, names: Collection[str]) -> tuple[str, ...]:
    """The columns that a label stands in: one of that name, else those with commas between them."""
    if label is None:
        return ()
    return (
        (label,) if label in names or "," not in label else tuple(name.strip() for name in label.split(","))
    )


def spread(rows: Sequence[Item], n: int = N_SAMPLE) -> list[Item]:
    """Rows from the beginning to the end of a file, which may be sorted by its labels."""
    n = min(n, len(rows))
    return [rows[k * len(rows) // n] for k in range(n)]


def columns_of(rows: Sequence[Row], names: Iterable[str]) -> dict[str, list[Any]]:
    """The values of rows by column."""
    return {name: [row.values.get(name) for row in rows] for name in names}


def n_words(text: str) -> int:
    """Words, about: in scripts without blanks a word is two characters."""
    return len(text.split()) + len(_WITHOUT_BLANKS.findall(text)) // 2


def column_on_arrival(
    row: Row, source: Any, text: str | None = None, usual: str | None = None
) -> ColumnNames:
    """The column of the texts from the first row alone, for rows that are still to come.

    The one given, else the usual one, else one with a telling name, else the only one. What the values look
    like does not matter: that would change with the row that happens to come first.
    """
    names = list(row.values)
    if text is not None:
        if text not in names:
            raise TableError(no_column(text, names, source, "text"))
        return ColumnNames(text, None, [])
    if usual in row.values:
        return ColumnNames(usual, None, [])
    guess = next((name for telling in TEXT_NAMES for name in names if name.lower() == telling), None)
    if guess is None and len(names) == 1:
        guess = names[0]
    if guess is None:
        raise TableError(_which(source, names, "text", _likely_text([row], names)))
    return ColumnNames(guess, None, [] if names == ["text"] else [f"text: column {guess!r}"])


@contextmanager
def reading_notes(notes: Sequence[str]) -> Iterator[None]:
    """Errors of the block say how the file was read, as far as that was found out: a wrong guess may be what
    is behind them.
    """
    try:
        yield
    except TableError as error:
        if not notes:
            raise
        raise type(error)(f"{error} (Read so: {'; '.join(notes)}.)") from error


def no_column(name: str, names: Collection[str], source: Any, parameter: str = "") -> str:
    """What to say of a column that is not there."""
    choose = f" Choose one with {parameter}=." if parameter else ""
    near = nearest(name, names)
    meant = "." if near is None else f"; did you mean {near!r}?"
    return f"{source} has no column {name!r}{meant} It has {_enumerate(list(names))}.{choose}"


def check_labels(
    counts: Mapping[str, int], n_texts: int, column: str, source: str, *, is_guess: bool
) -> None:
    """That there are some, and, where the column is a guess, that texts share them."""
    if not counts:
        raise LabelError(
            f"No text of {source} has a label in column {column!r}. Choose another with label=, or say with "
            f"missing_labels= which values mean that there is none."
        )
    once = sum(n == 1 for n in counts.values())
    if is_guess and n_texts >= _MIN_TEXTS and once > n_texts / 2:
        raise TableError(
            f"{source} has {len(counts):,} values in column {column!r} for {n_texts:,} texts, {once:,} of "
            "them once; are "
            f"they labels? Choose the column with label=."
        )


def _with_usual(
    names: list[str], text: str | None, label: str | None, usual: Sequence[str | None]
) -> tuple[str | None, str | None]:
    """The columns of text and label: as given, else the usual ones, where they are there and not taken."""
    if text is None and usual[0] in names and usual[0] not in split_names(label, names):
        text = usual[0]
    earlier = split_names(usual[1], names)
    if label is None and earlier and all(name in names and name != text for name in earlier):
        label = usual[1]
    return text, label


def _text_column(rows: Sequence[Row], names: list[str], labels: Collection[str]) -> str | None:
    """The one with a telling name, else the only one whose values are long."""
    others = [name for name in names if name not in labels]
    if (telling := _telling_name(others, TEXT_NAMES)) is not None:
        return telling
    strings = [
        name
        for name in others
        if all(isinstance(row, SheetRow) or isinstance(row.values.get(name), str) for row in rows)
    ]
    long = [name for name, words in _mean_words(rows, strings).items() if words >= _MIN_WORDS]
    return long[0] if len(long) == 1 else None


def _mean_words(rows: Sequence[Row], names: Sequence[str]) -> dict[str, float]:
    """How many words a value of each column has."""
    columns = columns_of(rows, names)
    return {
        name: sum(n_words(one) for one in own if isinstance(one, str)) / len(rows)
        for name, own in columns.items()
    }


def _label_column(rows: Sequence[Row], names: list[str]) -> str | None:
    """The only one with few values, each of them more than once."""
    few = _with_few_values(rows, names)
    return few[0] if len(few) == 1 else None


def _telling_name(names: Sequence[str], telling: Sequence[str]) -> str | None:
    """Of the names there are the first of those that tell what a column holds."""
    return next((name for usual in telling for name in names if name.lower() == usual), None)


def _label_values(column: Iterable[Any], label_separator: str | None) -> set[str]:
    """The values of a column as labels would be written, whatever their case; where they are many, not all of
    them.
    """
    found: set[str] = set()
    for value in column:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict | list | bytes):
                continue
            text = (label_name(one) or "").casefold()
            found.update([text] if label_separator is None else map(str.strip, text.split(label_separator)))
        if len(found) > _MAX_LABELS + 1:
            break
    return found - {""}


def _with_few_values(rows: Sequence[Row], names: list[str]) -> list[str]:
    n_values = {name: len({str(row.values.get(name)) for row in rows}) for name in names}
    return [name for name in names if 1 < n_values[name] <= min(_MAX_LABELS, len(rows) / 2)]


def _likely_text(rows: Sequence[Row], names: list[str]) -> str | None:
    """The column with the longest values, where these are texts."""
    words = _mean_words(rows, names)
    longest = max(names, key=words.__getitem__)
    return longest if words[longest] >= _MIN_WORDS else None


def _likely_label(rows: Sequence[Row], names: list[str]) -> str | None:
    """The first with a likely name, else the first with few values."""
    few = _with_few_values(rows, names)
    return next(
        (name for likely in _LIKELY_LABELS for name in few if name.lower() == likely), few[0] if few else None
    )


def _which(source: Any, names: list[str], parameter: str, likely: str | None) -> str:
    """What to say where a column must be chosen."""
    meant = "" if likely is None else f", perhaps {parameter}={likely!r}"
    return (
        f"{source} has the columns {_enumerate(names)}; which one holds the {parameter}? Choose it "
        f"with {parameter}={meant}."
    )


def _no_label(few: list[str]) -> str:
    """What to say where no column holds labels that are known, though some look like columns of labels."""
    return "label: no column" + (
        f" ({_enumerate(few)}: not the labels that are known; label= chooses)" if few else ""
    )


def _flags_hint(rows: Sequence[Row], names: list[str]) -> str:
    """Columns that together may be the labels."""
    flags = list(find_flags(columns_of(rows, names), MISSING_LABELS))
    if len(flags) < 2:
        return ""
    return (
        f" {_enumerate(flags)} hold 0 and 1: label='{','.join(flags)}' takes them for several labels "
        "of a text."
    )


def _enumerate(names: list[str]) -> str:
    first = ", ".join(map(repr, names[:10]))
    return first + (f" and {len(names) - 10} more" if len(names) > 10 else "")
