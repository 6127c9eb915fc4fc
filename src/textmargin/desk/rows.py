"""A project as a table: a row a text with its labels in use, and the passages that are marked for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import DeskError, TableError
from ..tables.rows import Read, Row
from .project import Project
from .state import State

MARKS = "marks"  # the column of passages
_ROWS_AT_ONCE = 2000


def project_rows(path: Path) -> Iterator[list[Read]]:
    """The rows of a project in batches: text, label (a list where texts may have several; None without), and
    marks if any.
    """
    try:
        with Project.open(path) as project:
            texts, state = project.texts, project.state
    except DeskError as error:
        raise TableError(str(error)) from error
    marked = any(usable_marks(state, text) for text in state.marks)
    for start in range(0, len(texts), _ROWS_AT_ONCE):
        rows: list[Read] = []
        for number in range(start, min(start + _ROWS_AT_ONCE, len(texts))):
            values: dict[str, Any] = {"text": texts[number], "label": label_value(state, number)}
            if marked:
                values[MARKS] = usable_marks(state, number) or None
            rows.append(Row(number + 1, values))
        yield rows


def label_value(state: State, text: int) -> str | list[str] | None:
    """The labels of a text that are in use, as JSON has them."""
    answer = state.answer(text)
    if answer is None:
        return None
    return list(answer) if state.multilabel else answer[0]


def usable_marks(state: State, text: int) -> list[tuple[int, int, str]]:
    """The passages of a text that are marked for one of its labels in use, in their order."""
    answer = state.answer(text) or ()
    marks = [(one.start, one.end, one.label) for one in state.marks.get(text, []) if one.label in answer]
    return sorted(marks)
