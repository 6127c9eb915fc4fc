"""Feedback on decisions, in an SQLite file or a PostgreSQL database, through SQLAlchemy (extra `serve`).

    textmargin_feedback(number, id, content)      content is JSON in ASCII, number the order of arrival

`record` returns once the feedback is on the disk: after that, you may kill the process or pull the plug.
A client that gets no answer sends the same feedback again under the same id; it is stored once.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from .._system.json import read_json
from ..errors import DuplicateFeedbackIdError, FeedbackError, install_hint

if TYPE_CHECKING:
    from sqlalchemy import CursorResult, Engine

_TABLE = "textmargin_feedback"
_INSERT = "INSERT INTO textmargin_feedback (id, content) VALUES (:id, :content) ON CONFLICT (id) DO NOTHING"
_FIND = "SELECT content FROM textmargin_feedback WHERE id = :id"
_ALL = "SELECT content FROM textmargin_feedback ORDER BY number"
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


class FeedbackStore:
    """Feedback in the order in which it came, for any number of threads and processes.

    Parameters
    ----------
    where : path or URL
        An SQLite file, or `postgresql://user@host/database`.
    create : bool, default=True
        Whether to create a file that does not exist.
    timeout : float, default=60.0
        Seconds to wait for other writers before a FeedbackError.

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
        if not create and "://" not in str(where) and not Path(where).is_file():
            raise FeedbackError(f"{where} does not exist; `textmargin feedback add` creates it.")
        self._engine = _engine(where, timeout)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def record(self, feedback: Feedback) -> bool:
        """Store it durably; False if it was stored before.

        Raises DuplicateFeedbackIdError if another feedback has its id.
        """
        # in ASCII: any text, NUL and lone surrogates too, comes back as it was
        content = json.dumps(feedback.to_dict())
        with self._execute(_INSERT, id=feedback.id, content=content) as inserted:
            if inserted.rowcount:
                return True
        with self._execute(_FIND, id=feedback.id) as found:
            stored = _read(found.scalar_one())
        if replace(stored, time=feedback.time) != _read(content):
            raise DuplicateFeedbackIdError(
                f"id {feedback.id!r} belongs to another feedback; choose a new id for each."
            )
        return False

    def __iter__(self) -> Iterator[Feedback]:
        with self._execute(_ALL) as found:
            contents = found.scalars().all()
        return map(_read, contents)

    def __len__(self) -> int:
        with self._execute(_COUNT) as found:
            return int(found.scalar_one())

    def close(self) -> None:
        """Close the file or the connection."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        """Create the table, unless it is there."""
        from sqlalchemy import Column, Integer, MetaData, Table, Text, inspect

        with self._errors():
            tables = inspect(self._engine).get_table_names()
        if tables and _TABLE not in tables and self._engine.dialect.name == "sqlite":
            raise FeedbackError(f"{self._engine.url.database} is another program's database; choose another.")
        number = Column("number", Integer, primary_key=True)
        own_id = Column("id", Text, nullable=False, unique=True)
        table = Table(_TABLE, MetaData(), number, own_id, Column("content", Text, nullable=False))
        with suppress(FeedbackError), self._errors():  # another process may create it at the same time
            table.create(self._engine, checkfirst=True)
        len(self)  # it is there, or this says why not

    @contextmanager
    def _execute(self, statement: str, **values: Any) -> Iterator[CursorResult[Any]]:
        """The result of a statement, in a transaction of its own."""
        from sqlalchemy import text

        with self._errors(), self._engine.begin() as connection:
            yield connection.execute(text(statement), values)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What a database raises, as FeedbackError without a password."""
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:  # the last two: a damaged file
            where = self._engine.url.set(query={}).render_as_string()
            why = " ".join(str(getattr(error, "orig", None) or error).split())
            raise FeedbackError(f"{where} cannot hold feedback: {why:.200}.") from error


def _engine(where: str | os.PathLike[str], timeout: float) -> Engine:
    """One connection, for which threads wait in turn; every commit is synchronised to the disk."""
    try:
        from sqlalchemy import URL, create_engine, event, make_url
        from sqlalchemy.exc import SQLAlchemyError
    except ModuleNotFoundError as error:
        raise FeedbackError(
            f"A store of feedback needs SQLAlchemy, which is not installed: {install_hint('serve')}"
        ) from error
    scheme, remote, rest = str(where).partition("://")
    if not remote:
        url = URL.create("sqlite", database=str(where))
        options: dict[str, Any] = {"timeout": timeout}
    else:
        try:
            url = make_url({"postgresql": "postgresql+psycopg://"}[scheme] + rest)
        except (SQLAlchemyError, KeyError, ValueError) as error:
            raise FeedbackError(
                f"Feedback is stored in a file or in postgresql://user@host/database. Got {scheme}://…"
            ) from error
        wait = f"-c synchronous_commit=on -c lock_timeout={max(1, round(1000 * timeout))}"
        options = {"options": wait, "connect_timeout": 10}
    engine = create_engine(
        url, connect_args=options, pool_size=1, max_overflow=0, pool_timeout=timeout, pool_pre_ping=True
    )
    if not remote:
        # EXTRA: a power failure right after a commit cannot bring the rollback journal back
        event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous = EXTRA").close())
    return engine


def _read(content: Any) -> Feedback:
    """A stored feedback; a damaged database may hold anything."""
    try:
        return Feedback.from_dict(read_json(content))
    except (ValueError, TypeError, KeyError) as error:
        raise FeedbackError(f"A stored feedback cannot be read ({type(error).__name__}).") from error
