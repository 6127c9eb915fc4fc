"""SMS Spam Collection: text messages, ham or spam, in the order of the collection."""

from __future__ import annotations

from pathlib import Path

from .corpus import Corpus
from .files import json_rows


def read(path: Path) -> Corpus:
    """The 5,574 messages; 403 repeat an earlier one, so drop repeats before you split."""
    rows = json_rows(path)
    return Corpus("sms_spam", texts=[row["text"] for row in rows], labels=[row["label"] for row in rows])
