"""Corpora for benchmarks and tests, read from the folder that TEXTMARGIN_DATA names."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Topics:
    """Texts with any number of topics each, as an indicator matrix."""

    texts: list[str]
    Y: np.ndarray  # (n_texts, n_topics) of 0 and 1
    topics: list[str]


def reuters(split: str = "train") -> Topics:
    """Reuters-21578, ModApte split: title and body, and the 90 topics with a training and a test text."""
    rows = _rows("reuters21578.jsonl.gz")
    topics = sorted(set.intersection(*({t for r in rows if r["split"] == s for t in r["topics"]} for s in ("train", "test"))))
    chosen = [row for row in rows if row["split"] == split]
    Y = np.array([[topic in row["topics"] for topic in topics] for row in chosen], dtype=int)
    return Topics([f"{row['title'] or ''} {row['body'] or ''}" for row in chosen], Y, topics)


def _rows(name: str) -> list[dict]:
    folder = os.environ.get("TEXTMARGIN_DATA")
    if not folder:
        raise SystemExit(f"Set TEXTMARGIN_DATA to the folder that holds {name}.")
    path = Path(folder) / name
    if not path.exists():
        raise SystemExit(f"{path} does not exist; TEXTMARGIN_DATA must name the folder that holds {name}.")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
