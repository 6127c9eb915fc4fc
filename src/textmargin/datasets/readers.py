"""Corpora as they are published, each from its files.

If texts come with recordings of how they were read, for `GazePrior`, `tables["words"]` has a row per word
that was read, with the text's id in `doc_id`, the `word`, and its measures. A text that nobody read has none.
"""

from __future__ import annotations

import tomllib
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DatasetError
from .corpus import Corpus
from .files import csv_columns, json_rows


def read_desk() -> Corpus:
    """Messages by topic.

    `fields["marks"]` has the spans [start, end) marked as the reason when a message was written, None where
    none were; `tables["costs"]` what a hit, a false alarm and a miss are worth in each topic.
    """
    folder = files(__package__)
    with as_file(folder / "desk.jsonl") as texts, as_file(folder / "desk_keywords.toml") as knowledge:
        rows, known = json_rows(texts), tomllib.loads(knowledge.read_text(encoding="utf-8"))
    return Corpus(
        "desk",
        texts=[row["text"] for row in rows],
        labels=[row["topic"] for row in rows],
        split=[row["split"] for row in rows],
        ids=[str(row["id"]) for row in rows],
        fields={"marks": [row["marks"] and [tuple(span) for span in row["marks"]] for row in rows]},
        tables={"costs": _costs(known["costs"])},
        keywords=known["keywords"],
    )


def _costs(costs: dict[str, dict[str, float]]) -> dict[str, Any]:
    """A row per topic."""
    values = {
        name: np.array([float(cost[name]) for cost in costs.values()])
        for name in ("hit", "false_alarm", "miss")
    }
    return {"topic": np.array(list(costs), dtype=object), **values}


def read_medline(texts: Path, queries: Path) -> Corpus:
    """1,033 abstracts of the Glasgow IR collections, labelled with the number of the query that they answer;
    337 answer none. The queries are in `tables["queries"]`: id, text, n_relevant.
    """
    rows, asked = json_rows(texts), json_rows(queries)
    return Corpus(
        "medline",
        texts=[row["text"] for row in rows],
        labels=[tuple(map(str, row["relevant_to"])) for row in rows],
        ids=[str(row["id"]) for row in rows],
        tables={
            "queries": {
                "id": np.array([str(row["id"]) for row in asked], dtype=object),
                "text": np.array([row["text"] for row in asked], dtype=object),
                "n_relevant": np.array([row["n_relevant"] for row in asked]),
            }
        },
    )


def read_sms(path: Path) -> Corpus:
    """5,574 messages, ham or spam; 403 repeat an earlier one, so drop repeats before you split."""
    rows = json_rows(path)
    return Corpus("sms_spam", texts=[row["text"] for row in rows], labels=[row["label"] for row in rows])


def read_wikipedia(texts: Path, keywords: Path) -> Corpus:
    """First paragraphs of articles in 25 categories, in the parts train, test and extra; the keywords were
    written down before any result was seen.
    """
    rows = json_rows(texts)
    try:
        known = tomllib.loads(keywords.read_text(encoding="utf-8"))["keywords"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise DatasetError(
            f"{keywords} should hold a table [keywords] with a list of words per category: {error}."
        ) from error
    return Corpus(
        "wikipedia25",
        texts=[row["text"] for row in rows],
        labels=[row["category"] for row in rows],
        split=[row["split"] for row in rows],
        ids=[str(row["oldid"]) for row in rows],
        fields={
            name: [row[name] for row in rows]
            for name in ("title", "oldid", "in_seed", "wikipedia_categories")
        },
        keywords=known,
    )


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
        fields=_fields(rows, "source", "article", "has_gaze", "n_readers", "webqamgaze_id", "questions"),
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
        fields=_fields(rows, "corpus", "task", "kind", "has_gaze", "also_in_gaze_set"),
        tables={"words": csv_columns(words)},
    )


def read_eye_movements(words: Path) -> Corpus:
    """No texts: `tables["words"]` alone, 22 measures and the `label` 0 (irrelevant), 1 (relevant) or 2 (the
    answer).
    """
    return Corpus("eye_movements", texts=[], labels=[], tables={"words": csv_columns(words)})


def _fields(rows: list[dict[str, Any]], *names: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}
