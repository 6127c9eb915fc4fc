"""Medline: 1,033 abstracts and 30 queries of the Glasgow IR collections.

The labels of a text are the numbers of the queries it is relevant to, as strings. As published no text has
more than one and 337 have none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .corpus import Corpus
from .files import json_rows


def read(texts: Path, queries: Path) -> Corpus:
    """Abstracts, and the queries in `tables["queries"]`: id, text, n_relevant."""
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
