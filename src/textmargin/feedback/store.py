"""Feedback on decisions, in an SQLite file or a PostgreSQL database.

`record` returns once the feedback is on the disk: whoever heard that may kill the process, or pull the plug.
A client that heard nothing sends the same again under the same id, and it is there once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Self
from uuid import uuid4

from .._system.json import read_json
from ..errors import DuplicateFeedbackIdError, FeedbackError
from ._databases import Database, PostgreSQL, SQLite

_INSERT = "INSERT INTO textmargin_feedback (id, content) VALUES (:id, :content) ON CONFLICT (id) DO NOTHING"
_FIND = "SELECT content FROM textmargin_feedback WHERE id = :id"
_NEXT = "SELECT number, content FROM textmargin_feedback WHERE number > :last ORDER BY number LIMIT 1000"
_COUNT = "SELECT count(*) FROM textmargin_feedback"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Feedback:
    """What was predicted on a text, and what would have been correct.

    Attributes
    ----------
    text : str
    predicted : tuple of str, the labels that the model gave
    correct : tuple of str, or bool
        The correct labels; or only whether the decision was correct.
    scores : dict label → score, empty where nobody kept them
    id : str, a new one by default
    time : str, when it was judged, in UTC; now by default
    """

    text: str
    predicted: tuple[str, ...]
    correct: tuple[str, ...] | bool
    scores: dict[str, float] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid4().hex)
    time: str = field(default_factory=_now)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """What `to_dict` gave."""
        correct = data["correct"]
        return cls(
            **{
                **data,
                "predicted": tuple(data["predicted"]),
                "correct": correct if isinstance(correct, bool) else tuple(correct),
            }
        )

    def says(self) -> dict[str, Any]:
        """What is judged, whenever that was."""
        return {
            name: value for name, value in json.loads(json.dumps(self.to_dict())).items() if name != "time"
        }


class FeedbackStore:
    """Feedback in the order in which they came; for any number of threads and processes at a time.

    Parameters
    ----------
    where : path or URL
        An SQLite file, or `postgresql://user@host/database` (extra `serve`).
    create : bool, default=True
        Whether a file that is not there is made.
    timeout : float, default=60.0
        Seconds to wait for others that write at the time; then it is a FeedbackError.

    Examples
    --------
    >>> import tempfile
    >>> from textmargin.feedback.store import FeedbackStore, Feedback
    >>> with tempfile.TemporaryDirectory() as folder, FeedbackStore(f"{folder}/judged.sqlite") as store:
    ...     one = Feedback("no paper", ("network",), ("printer",), id="7")
    ...     store.record(one), store.record(one), len(store)
    (True, False, 1)
    """

    def __init__(self, where: str | os.PathLike[str], create: bool = True, timeout: float = 60.0) -> None:
        remote = "://" in str(where)
        self._database: Database = (
            PostgreSQL(str(where), timeout) if remote else SQLite(where, create, timeout)
        )

    def record(self, feedback: Feedback) -> bool:
        """Store it durably; False where it was there already.

        Raises DuplicateFeedbackIdError where another feedback has its id.
        """
        # in ASCII: any text, NUL and lone surrogates too, comes back as it was
        content = json.dumps(feedback.to_dict())
        if self._database.change(_INSERT, id=feedback.id, content=content):
            return True
        ((kept,),) = self._database.rows(_FIND, id=feedback.id)
        if _read(kept).says() != feedback.says():
            raise DuplicateFeedbackIdError(
                f"id {feedback.id!r} belongs to another feedback; choose a new id for each."
            )
        return False

    def __iter__(self) -> Iterator[Feedback]:
        last = 0
        while found := self._database.rows(_NEXT, last=last):
            yield from (_read(content) for _, content in found)
            last = found[-1][0]

    def __len__(self) -> int:
        ((n,),) = self._database.rows(_COUNT)
        return int(n)

    def close(self) -> None:
        """Let go of the file or the connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read(content: Any) -> Feedback:
    """What was stored; of a damaged database, which gives anything, an error."""
    try:
        return Feedback.from_dict(read_json(content))
    except (ValueError, TypeError, KeyError) as error:
        what = (
            f"of {len(content):,} characters"
            if isinstance(content, str)
            else f"that is a {type(content).__name__}"
        )
        raise FeedbackError(f"a stored feedback {what} cannot be read ({type(error).__name__}).") from error
