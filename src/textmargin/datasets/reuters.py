"""Reuters-21578 in the ModApte split (Lewis; Apté, Damerau and Weiss 1994).

A text is its title and its body with a space between; titles only ("BRIEF") have no body, texts without
mark-up ("UNPROC") no title. Texts of `train` and `test` without a topic belong to the split: they are
examples of no topic.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .corpus import Corpus
from .files import json_rows

# Of a row, in this order; title and body make the text, topics the labels.
FIELDS = (
    *("id", "oldid", "split", "lewissplit", "cgisplit", "topics_attr", "text_type", "date"),
    *("topics", "places", "people", "orgs", "exchanges", "title", "dateline", "body", "apte90"),
)


def read(path: Path) -> Corpus:
    """The 21,578 texts."""
    rows = json_rows(path)
    return Corpus(
        "reuters21578",
        texts=[f"{row['title'] or ''} {row['body'] or ''}" for row in rows],
        labels=[tuple(row["topics"]) for row in rows],
        split=[row["split"] for row in rows],
        ids=[str(row["id"]) for row in rows],
        fields={
            name: [row[name] for row in rows] for name in FIELDS if name not in ("id", "split", "topics")
        },
    )


def modapte_topics(corpus: Corpus) -> list[str]:
    """The 90 topics with at least one training and one test text, in order.

    Parameters
    ----------
    corpus : Corpus, the whole of `load_dataset("reuters21578")`
    """
    return shared_topics(zip(corpus.split, corpus.labels, strict=True))


def shared_topics(labelled: Any) -> list[str]:
    """Topics that occur both in train and in test, from pairs of a split and topics."""
    seen: dict[str, set[str]] = {"train": set(), "test": set()}
    for split, topics in labelled:
        if split in seen:
            seen[split].update(topics)
    return sorted(seen["train"] & seen["test"])
