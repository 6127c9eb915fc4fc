"""What a project holds, as files for other tools and for commands: labels, keywords, costs, and all that was
done.

| kind       | file                 | content                                                      |
|------------|----------------------|--------------------------------------------------------------|
| `csv`      | `NAME.csv`           | id, text, label, marks if any; texts whose labels are in use |
| `jsonl`    | `NAME.jsonl`         | the same as JSON lines, exactly: several labels are a list   |
| `keywords` | `NAME-keywords.toml` | as `KeywordPrior.from_file` reads it                         |
| `costs`    | `NAME-costs.toml`    | as `read_costs` reads it                                     |
| `acts`     | `NAME-acts.jsonl`    | every act in its order, undone ones too                      |

In CSV several labels have a semicolon between them (another sign where a class has one in its name), and what
a spreadsheet would run as a formula has an apostrophe before it; marks count it. `id` is the place of the
text in the table, from 1 on.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .._system.writing import write_whole
from ..errors import DeskError, nearest
from ..tables.writer import open_writer
from .project import Project
from .rows import MARKS, label_value, usable_marks

_SEPARATORS = (";", "|", "\t", "\x1f")


def export(project: Project, kind: str) -> tuple[str, bytes]:
    """The name of a file, and what it holds; DeskError where there is nothing of the kind."""
    if kind not in EXPORTS:
        near = nearest(kind, EXPORTS)
        meant = "" if near is None else f" Did you mean {near!r}?"
        raise DeskError(
            f"{kind!r:.60} is nothing that a project is exported as; choose one of "
            f"{', '.join(EXPORTS)}.{meant}"
        )
    ending, write = EXPORTS[kind]
    return f"{project.path.stem}{ending}", write(project)


def export_all(project: Project, folder: str | os.PathLike[str]) -> list[Path]:
    """Write all kinds of which there is something to a folder; all files, or none."""
    contents: dict[Path, bytes] = {}
    for kind in EXPORTS:
        if has_export(project, kind):
            name, content = export(project, kind)
            contents[Path(folder) / name] = content
    write_whole(contents)
    return list(contents)


def has_export(project: Project, kind: str) -> bool:
    """Whether there is something to export as this kind."""
    state = project.state
    there = {
        "csv": state.answers(),
        "jsonl": state.answers(),
        "keywords": state.keywords,
        "costs": state.costs,
    }
    return bool(there.get(kind, state.n_acts))


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
    marks = [usable_marks(state, text) for text in texts]
    if any(marks):
        shifts = [_shift(project.texts[text]) if own else 0 for text, own in zip(texts, marks, strict=True)]
        columns[MARKS] = [
            json.dumps([[start + shift, end + shift, label] for start, end, label in own], ensure_ascii=False)
            if own
            else ""
            for own, shift in zip(marks, shifts, strict=True)
        ]
    return _written("csv", columns).encode("utf-8", "backslashreplace")


def _shift(text: str) -> int:
    """By how many characters a text begins later in CSV: the apostrophe before what a spreadsheet would
    run.
    """
    return int(
        _written("csv", {"text": [text]}).startswith(("text\n'", "text\n\"'")) and not text.startswith("'")
    )


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
    return _json_lines(act.to_dict() for act in project.acts())


EXPORTS: dict[str, tuple[str, Callable[[Project], bytes]]] = {
    "csv": (".csv", _csv),
    "jsonl": (".jsonl", _jsonl),
    "keywords": ("-keywords.toml", _keywords),
    "costs": ("-costs.toml", _costs),
    "acts": ("-acts.jsonl", _acts),
}


def _written(file_format: str, columns: dict[str, list[Any]]) -> str:
    lines = io.StringIO()
    with open_writer(lines, file_format) as writer:
        writer.write(columns)
    return lines.getvalue()


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
