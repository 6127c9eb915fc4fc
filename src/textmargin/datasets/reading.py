"""Texts with recordings of how they were read, for `GazePrior`.

`tables["words"]` has a row per word as it was read, with the text's id in `doc_id`, the `word`, and its
measures. A text that nobody read has no rows there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .corpus import Corpus
from .files import csv_columns, json_rows


def read_webqamgaze(texts: Path, words: Path, readers: Path) -> Corpus:
    """Paragraphs of nine topics: those that were read train, the others test; four without a topic are
    unused.

    `tables["words"]`: a row per reader and word; the word is "" in 865 rows, where the text behind a box is
    not known. `tables["readers"]`: how each was recruited and recorded, to weigh or drop poor recordings.
    """
    rows = json_rows(texts)
    return Corpus(
        "webqamgaze",
        texts=[row["text"] for row in rows],
        labels=[row["topic"] or "" for row in rows],
        split=["unused" if row["topic"] is None else "train" if row["has_gaze"] else "test" for row in rows],
        ids=[row["doc_id"] for row in rows],
        fields=_columns(rows, "source", "article", "has_gaze", "n_readers", "webqamgaze_id", "questions"),
        tables={"words": csv_columns(words), "readers": csv_columns(readers)},
    )


def read_zuco(texts: Path, words: Path) -> Corpus:
    """Sentences in four sets, which are the parts: Z1NR, Z1SR (sentiment), Z2NR (no labels), Z2TSR (nobody's
    reading).

    `tables["words"]`: a row per word, averaged over readers. Texts of Z2TSR with `also_in_gaze_set` occur in
    another set too: leave them out where that one trains and this one tests.
    """
    rows = json_rows(texts)
    return Corpus(
        "zuco",
        texts=[row["text"] for row in rows],
        labels=[tuple(row["labels"]) for row in rows],
        split=[row["doc_id"].partition("/")[0] for row in rows],
        ids=[row["doc_id"] for row in rows],
        fields=_columns(rows, "corpus", "task", "kind", "has_gaze", "also_in_gaze_set"),
        tables={"words": csv_columns(words)},
    )


def read_eye_movements(words: Path) -> Corpus:
    """No texts: `tables["words"]` alone, 22 measures and the `label` 0 (irrelevant), 1 (relevant) or 2 (the
    answer).
    """
    return Corpus("eye_movements", texts=[], labels=[], tables={"words": csv_columns(words)})


def _columns(rows: list[dict[str, Any]], *names: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}
