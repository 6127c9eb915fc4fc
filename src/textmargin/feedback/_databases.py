"""Two databases that speak the same few sentences; a change is on the disk when it returns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from ..errors import FeedbackError, install_hint

_APPLICATION = 0x746D6662  # "tmfb", in the header of the file: whose it is
_COLUMNS = "id TEXT NOT NULL UNIQUE, content TEXT NOT NULL"


class Database(Protocol):
    """A table `textmargin_feedback` of number, id and content."""

    def change(self, statement: str, **values: Any) -> int:
        """How many rows a statement changed."""

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """What a query gives."""

    def close(self) -> None:
        """Let go of it."""


class SQLite:
    """A file, written ahead (WAL) and synchronised at every commit."""

    def __init__(self, path: str | os.PathLike[str], create: bool, timeout: float) -> None:
        self.path, self._timeout = Path(path), timeout
        if not create and not self.path.is_file():
            raise FeedbackError(
                f"{path} is not there; a service that keeps feedback makes it, or `textmargin feedback add`."
            )
        self._lock = Lock()
        with self._told():
            self._connection = sqlite3.connect(
                self.path, timeout=timeout, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        if not self._is_ours():
            self.rows("PRAGMA journal_mode = WAL")
            self.change("BEGIN IMMEDIATE")  # whole or not at all, and by one process
            if not self._is_ours():
                self.change(
                    f"CREATE TABLE textmargin_feedback (number INTEGER PRIMARY KEY AUTOINCREMENT, {_COLUMNS})"
                )
                self.change(f"PRAGMA application_id = {_APPLICATION}")
            self.change("COMMIT")
        self.change("PRAGMA synchronous = FULL")

    def _is_ours(self) -> bool:
        """Whether the table is there; an empty file is to be ours."""
        ((application, n_tables),) = self.rows(
            "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"
        )
        if application != _APPLICATION and (application or n_tables):
            raise FeedbackError(f"{self.path} is another program's database; choose another file.")
        return bool(application == _APPLICATION)

    def change(self, statement: str, **values: Any) -> int:
        with self._told(), self._turn():
            return self._connection.execute(statement, values).rowcount

    def rows(self, statement: str, **values: Any) -> list[Any]:
        with self._told(), self._turn():
            return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """The connection for oneself; one thread that waits for another process must not hold up the next for
        as long again.
        """
        if not self._lock.acquire(timeout=self._timeout):
            raise FeedbackError(
                f"{self.path} cannot hold feedback: it was busy for {self._timeout:g} seconds."
            )
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged file, also in what SQLite says of it
            raise FeedbackError(f"{self.path} cannot hold feedback: {error}.") from error


class PostgreSQL:
    """A server's database, through SQLAlchemy."""

    def __init__(self, url: str, timeout: float) -> None:
        try:
            import sqlalchemy
        except ImportError as error:
            raise FeedbackError(
                "feedback in PostgreSQL needs SQLAlchemy and psycopg, which are not installed: "
                f"{install_hint('serve')}"
            ) from error
        scheme, _, rest = url.partition("://")
        if scheme not in ("postgres", "postgresql", "postgresql+psycopg"):
            raise FeedbackError(
                f"{scheme}:// is not a place for feedback; give a file, or postgresql://user@host/database."
            )
        self._text, self._error = sqlalchemy.text, sqlalchemy.exc.SQLAlchemyError
        try:
            self._engine = sqlalchemy.create_engine(
                f"postgresql+psycopg://{rest}",
                pool_pre_ping=True,  # a server that was started again is found again
                pool_timeout=timeout,
                connect_args={
                    "options": f"-c synchronous_commit=on -c lock_timeout={max(1, round(1000 * timeout))}",
                    "connect_timeout": 10,
                },
            )
        except (sqlalchemy.exc.SQLAlchemyError, ValueError, ImportError) as error:
            raise FeedbackError(
                f"this is not a URL of a PostgreSQL database: {type(error).__name__}."
            ) from error
        self._prepare()

    def _prepare(self) -> None:
        if not self.rows("SELECT to_regclass('textmargin_feedback')")[0][0]:
            number = "number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
            create = f"CREATE TABLE IF NOT EXISTS textmargin_feedback ({number}, {_COLUMNS})"
            # two that start at once collide otherwise
            self.change(f"SELECT pg_advisory_xact_lock({_APPLICATION}); {create}")

    def change(self, statement: str, **values: Any) -> int:
        with self._told(), self._engine.begin() as connection:
            return int(connection.execute(self._text(statement), values).rowcount)

    def rows(self, statement: str, **values: Any) -> list[Any]:
        with self._told(), self._engine.connect() as connection:
            return list(connection.execute(self._text(statement), values).fetchall())

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            # a password may stand in the query
            where = self._engine.url.set(query={}).render_as_string(hide_password=True)
            why = " ".join(str(getattr(error, "orig", None) or error).split())
            raise FeedbackError(f"{where} cannot hold feedback: {why:.200}.") from error
