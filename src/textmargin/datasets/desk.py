"""Helpdesk messages that come with the package: few, skewed, badly typed, with marked passages, keywords and
costs.
"""

from __future__ import annotations

import tomllib
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DatasetError
from .corpus import Corpus
from .files import json_rows


def read() -> Corpus:
    """Messages by topic.

    `fields["marks"]` has the spans [start, end) marked as the reason when a message was written, None where
    none were; `tables["costs"]` what a hit, a false alarm and a miss are worth in each topic.
    """
    folder = files(__package__)
    with as_file(folder / "desk.jsonl") as texts, as_file(folder / "desk_keywords.toml") as knowledge:
        missing = [path.name for path in (texts, knowledge) if not Path(path).is_file()]
        if missing:
            raise DatasetError(f"{' and '.join(missing)} should have come with textmargin; install it again.")
        rows, known = json_rows(texts), tomllib.loads(knowledge.read_text(encoding="utf-8"))
    return Corpus(
        "desk",
        texts=[row["text"] for row in rows],
        labels=[row["topic"] for row in rows],
        split=[row["split"] for row in rows],
        ids=[str(row["id"]) for row in rows],
        fields={"marks": [row["marks"] and [tuple(span) for span in row["marks"]] for row in rows]},
        tables={"costs": _table(known["costs"])},
        keywords=known["keywords"],
    )


def _table(costs: dict[str, dict[str, float]]) -> dict[str, Any]:
    """A row per topic."""
    values = {
        name: np.array([float(cost[name]) for cost in costs.values()])
        for name in ("hit", "false_alarm", "miss")
    }
    return {"topic": np.array(list(costs), dtype=object), **values}
