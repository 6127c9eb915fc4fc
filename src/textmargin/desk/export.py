"""What a project holds, as files for other tools and for commands: labels, keywords, costs, and all that was
done.

| kind       | file                 | content                                                      |
|------------|----------------------|--------------------------------------------------------------|
| `csv`      | `NAME.csv`           | id, text, label; texts whose labels are in use               |
| `jsonl`    | `NAME.jsonl`         | the same exactly, with marks if any: several labels a list   |
| `keywords` | `NAME-keywords.toml` | as `KeywordPrior.from_file` reads it                         |
| `costs`    | `NAME-costs.toml`    | as `read_costs` reads it                                     |
| `acts`     | `NAME-acts.jsonl`    | every act in its order, undone ones too                      |

In CSV several labels have a semicolon between them (another sign where a class has one in its name), and what
a spreadsheet would run as a formula has an apostrophe before it. `id` is the place of the text in the table,
from 1 on. A project is a table of these itself, of all its texts (`project_rows`).
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._system.writing import write_whole
from ..errors import DeskError, TableError
from ..tables.rows import Read, Row
from ..tables.writer import open_writer
from .project import Project
from .state import State

MARKS = "marks"  # the column of passages
_ROWS_AT_ONCE = 2000
_SEPARATORS = (";", "|", "\t", "\x1f")


def export(project: Project, kind: str) -> tuple[str, bytes]:
    """The name of a file, and what it holds; DeskError where there is nothing of the kind."""
    if kind not in EXPORTS:
        raise DeskError(f"There is no export {kind!r:.60}; choose one of {', '.join(EXPORTS)}.")
    ending, write = EXPORTS[kind]
    return f"{project.path.stem}{ending}", write(project)


def export_all(project: Project, folder: str | os.PathLike[str]) -> list[Path]:
    """Write all kinds of which there is something to a folder; all files, or none."""
    contents: dict[Path, bytes] = {}
    for kind in EXPORTS:
        with suppress(DeskError):  # nothing of the kind
            name, content = export(project, kind)
            contents[Path(folder) / name] = content
    write_whole(contents)
    return list(contents)


def label_separator(classes: Iterable[str]) -> str:
    """What stands between several labels in CSV: a semicolon, or the first sign that no class has in its
    name.
    """
    names = list(classes)
    return next((sign for sign in _SEPARATORS if not any(sign in name for name in names)), _SEPARATORS[-1])


def _labelled(project: Project) -> list[int]:
    texts = sorted(project.state.answers())
    if not texts:
        raise DeskError(
            f"No text of {project.path} has a label that is in use; label some, or settle conflicts."
        )
    return texts


def _csv(project: Project) -> bytes:
    state, texts = project.state, _labelled(project)
    separator = label_separator(state.classes)
    columns: dict[str, list[Any]] = {
        "id": [text + 1 for text in texts],
        "text": [project.texts[text] for text in texts],
        "label": [separator.join(state.answer(text) or ()) for text in texts],
    }
    lines = io.StringIO()
    with open_writer(lines, "csv") as writer:
        writer.write(columns)
    return lines.getvalue().encode("utf-8", "backslashreplace")


def _jsonl(project: Project) -> bytes:
    state = project.state
    rows = []
    for text in _labelled(project):
        values: dict[str, Any] = {
            "id": text + 1,
            "text": project.texts[text],
            "label": label_value(state, text),
        }
        if marks := usable_marks(state, text):
            values[MARKS] = [list(mark) for mark in marks]
        rows.append(values)
    return _json_lines(rows)


def _keywords(project: Project) -> bytes:
    keywords = project.state.keywords
    if not keywords:
        raise DeskError(f"{project.path} has no keywords yet; name some.")
    return toml_table("keywords", keywords)


def _costs(project: Project) -> bytes:
    state = project.state
    if not state.costs:
        raise DeskError(
            f"{project.path} has no costs yet; say what a hit, a false alarm and a miss are worth."
        )
    reader = {"minute": state.minute, "currency": state.currency, "budget": state.budget}
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in reader.items()
        if value is not None
    ]
    return toml_table("costs", state.costs) + "\n".join(["", "[reader]", *lines, ""]).encode()


def _acts(project: Project) -> bytes:
    if not project.state.acts:
        raise DeskError(f"Nothing was done in {project.path} yet.")
    return _json_lines(act.to_dict() for act in project.state.acts)


EXPORTS: dict[str, tuple[str, Callable[[Project], bytes]]] = {
    "csv": (".csv", _csv),
    "jsonl": (".jsonl", _jsonl),
    "keywords": ("-keywords.toml", _keywords),
    "costs": ("-costs.toml", _costs),
    "acts": ("-acts.jsonl", _acts),
}


def _json_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    # in ASCII: lone surrogates come back as they were
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def toml_table(table: str, content: Mapping[str, Mapping[str, float]]) -> bytes:
    """Keywords or costs by class, as files hold them."""
    lines = [f"[{table}]"]
    for name, own in content.items():
        values = ", ".join(f"{_quoted(key)} = {value!r}" for key, value in own.items())
        lines.append(f"{_quoted(name)} = {{ {values} }}")
    return "\n".join([*lines, ""]).encode()


def _quoted(name: str) -> str:
    """A string of TOML: as JSON has it, but for a character that TOML wants escaped."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


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
