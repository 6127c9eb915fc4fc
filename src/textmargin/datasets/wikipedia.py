"""First paragraphs of Wikipedia articles in 25 categories, with keywords written down before any result was
seen.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from ..errors import DatasetError
from .corpus import Corpus
from .files import json_rows


def read(texts: Path, keywords: Path) -> Corpus:
    """Articles in the parts train, test and extra."""
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
