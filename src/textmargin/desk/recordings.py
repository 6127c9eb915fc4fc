"""Recordings of eye trackers for the texts of a project, as `reading` acts of the source "tracker".

A file has a row for each fixation, in the columns

    id          the place of the text in the project, from 1, as exports have it
    word        the number of the word, from 0, as `split_words` counts them; −1 or nothing for none
    duration    milliseconds
    x           pixels
    onset       milliseconds; a reader's fixations on a text are put in its order
    word_start  pixels, where the word starts: not needed, but without it no measures of places in a word

in any format that tables of texts have. Who imports says that the reader agreed; that is recorded first, as
the reader's consent. An act's id is made of what it says, so that the same recording twice is stored once.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ActError, TableError
from ..knowledge.reading import fixations_from_events
from ..tables.formats import read_rows
from ..tables.rows import InvalidLine, Row
from .acts import Act, new_id
from .reading import check_reading, sentence_numbers, split_words

if TYPE_CHECKING:
    from .project import Project

_NEEDED = ("id", "word", "duration", "x", "onset")


def import_readings(project: Project, path: str | os.PathLike[str], annotator: str) -> int:
    """Store the fixations of one reader from a file; all of them, or where anything in it is wrong, none.

    Parameters
    ----------
    project : Project
    path : path, of a CSV or another table with the columns above
    annotator : str
        Who read, and agreed that it is stored.

    Returns
    -------
    int, how many texts have a reading from it
    """
    rows = list(_rows(path))
    if not rows:
        raise TableError(f"{path} has no fixations; each should be a row with {', '.join(_NEEDED)}.")
    by_text: dict[int, list[Row]] = {}
    for row in rows:
        by_text.setdefault(_whole(row, "id", path) - 1, []).append(row)
    return _record(
        project, annotator, [_from_rows(number, own, project.texts, path) for number, own in by_text.items()]
    )


def import_events(
    project: Project,
    events: Mapping[int, Any],
    annotator: str,
    *,
    word: str = "word_idx",
    word_starts: Mapping[int, Sequence[float]] | None = None,
) -> int:
    """Store the fixations that pymovements found.

    Parameters
    ----------
    project : Project
    events : mapping place in `project.texts` → events, as `fixations_from_events` takes them
    annotator : str
        Who read, and agreed that it is stored.
    word : str, default="word_idx"
        The column that numbers the words from 0, as `split_words` counts them.
    word_starts : mapping place in `project.texts` → pixels of each word, default=None
        Without it there are no measures of places in a word.

    Returns
    -------
    int, how many texts have a reading from it
    """
    contents = []
    for number, own in events.items():
        columns = {name: values.tolist() for name, values in fixations_from_events(own, word).items()}
        starts = [] if word_starts is None else [float(start) for start in word_starts[number]]
        contents.append(_content(number, columns, starts, project.texts, f"the events of text {number}"))
    return _record(project, annotator, contents)


def _record(project: Project, annotator: str, contents: list[dict[str, Any]]) -> int:
    """Consent first, where it is not stored yet; then a reading for each text."""
    consent = project.state.consent.get(annotator)
    if consent is False:
        raise ActError(
            f"{annotator} took back the consent that how they read is stored; nothing was stored. Ask "
            "them first."
        )
    if consent is None:
        project.record(Act(new_id(), annotator, "consent", {"reading": True}))
    for content in contents:
        key = json.dumps([annotator, content], sort_keys=True).encode()
        project.record(Act(hashlib.sha256(key).hexdigest()[:32], annotator, "reading", content))
    return len(contents)


def _rows(path: str | os.PathLike[str]) -> Iterable[Row]:
    for batch in read_rows(os.fspath(path), names=_NEEDED):
        for row in batch:
            if isinstance(row, InvalidLine):
                raise TableError(f"{path}, line {row.number}: {row.reason}.")
            if not isinstance(row, Row):
                continue
            missing = [name for name in _NEEDED if name not in row.values]
            if missing:
                raise TableError(
                    f"{path} has no column {missing[0]!r}; it has {', '.join(map(str, row.values))}. Name "
                    "it so."
                )
            yield row


def _from_rows(
    number: int, rows: list[Row], texts: Sequence[str], path: str | os.PathLike[str]
) -> dict[str, Any]:
    """The reading of one text."""
    where = f"{path}, line {rows[0].number}"
    if not 0 <= number < len(texts):
        raise TableError(
            f"{where}: there is no text with id {number + 1}; the project's are numbered 1 to {len(texts)}."
        )
    columns = {name: [_number(row, name, path) for row in rows] for name in ("duration", "x", "onset")}
    columns["word"] = [-1 if _is_empty(row.values["word"]) else _whole(row, "word", path) for row in rows]
    order = np.argsort(columns["onset"], kind="stable").tolist()
    columns = {name: [values[k] for k in order] for name, values in columns.items()}
    starts: list[float] = []
    if all("word_start" in row.values for row in rows):
        # of a word without fixations nobody asks where it starts
        starts = [0.0] * len(split_words(texts[number]))
        for row in rows:
            word = -1 if _is_empty(row.values["word"]) else _whole(row, "word", path)
            if 0 <= word < len(starts):
                starts[word] = _number(row, "word_start", path)
    return _content(number, columns, starts, texts, where)


def _content(
    number: int, columns: Mapping[str, list[float]], starts: list[float], texts: Sequence[str], where: str
) -> dict[str, Any]:
    """Of a `reading` act; errors name the place that it comes from."""
    words = split_words(texts[number])
    content = {
        "text": number,
        "fixations": {name: columns[name] for name in ("word", "duration", "x", "onset")},
        "word_starts": starts,
        "words": [list(span) for span in words],
        "sentences": sentence_numbers(texts[number], words),
        "source": "tracker",
    }
    try:
        check_reading(content)
    except ActError as error:
        raise TableError(f"{where}: {error}") from error
    return content


def _is_empty(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, float) and math.isnan(value))
    )


def _number(row: Row, name: str, path: str | os.PathLike[str]) -> float:
    value = row.values[name]
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise TableError(f"{path}, line {row.number}: {name} should be a number; it is {value!r:.60}.")
    return found


def _whole(row: Row, name: str, path: str | os.PathLike[str]) -> int:
    found = _number(row, name, path)
    if found != int(found):
        raise TableError(
            f"{path}, line {row.number}: {name} should be a whole number; it is {row.values[name]!r:.60}."
        )
    return int(found)
