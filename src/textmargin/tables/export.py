"""A corpus as CSV files, one per part, for the command line and for other tools."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from .._system.writing import write_whole
from ..datasets.corpus import Corpus
from ..errors import DatasetError

SEPARATOR = ";"  # between several labels of one text


def export_csv(corpus: Corpus, folder: str | os.PathLike[str]) -> list[Path]:
    """Write `<name>-<part>.csv` with the columns id, text, label and those of `fields`, and, if it has
    keywords, `<name>-keywords.toml` and `<name>-unlabelled.csv`, the training texts without labels.

    Values that are no strings are JSON; several labels are joined by ";". All files are written, or none.
    """
    folder = Path(folder)
    if not corpus.texts:
        raise DatasetError(
            f"{corpus.name} has no texts to export; its tables are in load_dataset({corpus.name!r}).tables."
        )
    contents = {}
    for part in corpus.splits:
        some = corpus.part(part)
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(["id", "text", "label", *some.fields])
        labels = (SEPARATOR.join(own) if isinstance(own, tuple) else own for own in some.labels)
        writer.writerows(
            [*row[:3], *map(_cell, row[3:])]
            for row in zip(some.ids, some.texts, labels, *some.fields.values(), strict=True)
        )
        contents[folder / f"{corpus.name}-{part}.csv"] = lines.getvalue().encode()
    if corpus.keywords:
        some = corpus.part("train") if "train" in corpus.splits else corpus
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows(
            [["id", "text"], *zip(some.ids, some.texts, strict=True)]
        )
        contents[folder / f"{corpus.name}-unlabelled.csv"] = lines.getvalue().encode()
        words = "".join(
            f"{json.dumps(label)} = {json.dumps(own, ensure_ascii=False)}\n"
            for label, own in corpus.keywords.items()
        )
        contents[folder / f"{corpus.name}-keywords.toml"] = f"[keywords]\n{words}".encode()
    if "costs" in corpus.tables:
        costs = corpus.tables["costs"]
        rows = zip(*(costs[name] for name in ("topic", "hit", "false_alarm", "miss")), strict=True)
        lines_ = "".join(
            f"{json.dumps(t)} = {{ hit = {h:g}, false_alarm = {f:g}, miss = {m:g} }}\n" for t, h, f, m in rows
        )
        contents[folder / f"{corpus.name}-costs.toml"] = f"[costs]\n{lines_}".encode()
    try:
        write_whole(contents)
    except OSError as error:
        raise DatasetError(
            f"{folder} cannot be written: {error.strerror or error}. Nothing was left behind."
        ) from error
    return list(contents)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
