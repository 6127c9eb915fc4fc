"""Reuters-21578 in the ModApte split (Lewis; Apté, Damerau and Weiss 1994).

A text is its title and its body with a space between; titles only ("BRIEF") have no body, texts without
mark-up ("UNPROC") no title. Texts of `train` and `test` without a topic belong to the split: they are
examples of no topic.
"""

from __future__ import annotations

from pathlib import Path

from .corpus import Corpus
from .files import json_rows

# Of a row, beside its number, part and topics; title and body make the text.
FIELDS = (
    *("oldid", "lewissplit", "cgisplit", "topics_attr", "text_type", "date"),
    *("places", "people", "orgs", "exchanges", "title", "dateline", "body", "apte90"),
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
        fields={name: [row[name] for row in rows] for name in FIELDS},
    )


def modapte_topics(corpus: Corpus) -> list[str]:
    """The 90 topics with at least one training and one test text, in order.

    Parameters
    ----------
    corpus : Corpus, the whole of `load_dataset("reuters21578")`
    """
    seen: dict[str, set[str]] = {"train": set(), "test": set()}
    for split, topics in zip(corpus.split, corpus.labels, strict=True):
        if split in seen:
            seen[split].update(topics)
    return sorted(seen["train"] & seen["test"])
