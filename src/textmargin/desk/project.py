"""A project of the reading desk: one SQLite file with the texts and all acts.

`record` returns once the act is on the disk: whoever heard that may kill the process, or pull the plug. Who
heard nothing sends the same act again under the same id, and it is there once. Any number of processes may
read a project; one at a time writes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any, Self

from filelock import FileLock, Timeout

from .._system.json import read_json
from .._system.wording import quantity
from ..errors import ActError, DeskError
from ._project_file import (
    APPLICATION,
    VERSION,
    Given,
    class_names,
    connect,
    digest_of,
    sync_folder,
    write_new,
)
from .acts import Act, new_id
from .state import State

_COLUMNS = "id, annotator, kind, content, time, number"


class Project:
    """Texts, what people did with them, and what holds now; for any number of threads.

    Attributes
    ----------
    path : Path
    texts : list of str
    header : dict
        `classes` at the start, `multilabel`, `n_texts`, `source`, `created`, `given`: the labels that came
        with the texts.
    state : State

    Examples
    --------
    >>> import tempfile
    >>> from textmargin.desk.acts import Act
    >>> from textmargin.desk.project import Project
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = f"{folder.name}/work.desk"
    >>> with Project.create(
    ...     path, ["no paper", "no wifi"], None, classes=["network", "printing"], source="mails.csv"
    ... ) as project:
    ...     project.record(Act("7", "anna", "label", {"text": 0, "labels": ["printing"]})).number
    1
    >>> with Project.open(path) as project:
    ...     project.state.answers()
    {0: ('printing',)}
    >>> folder.cleanup()
    """

    texts: list[str]
    header: dict[str, Any]
    state: State

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = RLock()
        place = self.path.resolve()  # a link to a project is the same project
        self._writer = FileLock(place.with_name(f".{place.name}.lock"), thread_local=False)
        if not self.path.is_file():
            raise DeskError(f"There is no project {path}.")
        with self._explained("read"):
            self._connection = connect(self.path)
        try:
            with self._explained("read"):
                self._load()
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        texts: Sequence[str],
        given: Given | None = None,
        *,
        classes: Sequence[str] = (),
        multilabel: bool = False,
        source: str = "",
    ) -> Self:
        """A new project, whole or not at all; DeskError where a file is there already.

        Parameters
        ----------
        path : path
        texts : list of str
        given : list of tuple of str or None, default=None
            The labels that came with the texts.
        classes : list of str
            In the order of their keys; those of the given labels come behind.
        multilabel : bool
            Whether a text may have several labels, or none.
        source : str
            Where the texts came from, for people.
        """
        where = Path(path)
        if not texts:
            raise DeskError(f"{where} cannot be made: there is no text to read.")
        given = list(given or [])
        names = class_names(classes, given, multilabel, len(texts))
        header = {
            "version": VERSION,
            "classes": names,
            "multilabel": multilabel,
            "n_texts": len(texts),
            "source": source,
            "created": _now(),
            "digest": digest_of(texts),
        }
        if where.exists():
            raise DeskError(f"{where} is there already; open it, or choose another name.")
        try:
            temporary = where.with_name(f".{where.name}.{new_id()}.part")
            temporary.touch(exist_ok=False)  # readable to whom the user's other files are
            try:
                write_new(temporary, header, texts, given)
                os.link(temporary, where)  # unlike renaming, it fails where somebody else was faster
                sync_folder(where.parent)
            finally:
                temporary.unlink(missing_ok=True)
        except FileExistsError as error:
            raise DeskError(f"{where} is there already; open it, or choose another name.") from error
        except (OSError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or error
            raise DeskError(f"{where} cannot be made: {why}. Choose another place.") from error
        return cls(where)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """A project that is there."""
        return cls(path)

    def record(self, act: Act) -> Act:
        """Store an act durably, and take it into the state; the one that is there already where its id is.

        Raises ActError for an act that does not fit, and DeskError where it cannot be stored: then nothing of
        it is.
        """
        act = act.normal()
        with self._lock:
            self.claim()
            stored = self.state.act(act.id)
            if stored is not None:
                if replace(act, time=stored.time, number=stored.number) != stored:
                    raise ActError(f"id {act.id!r} belongs to another act; choose a new id for each.")
                return stored
            self.state.check(act)
            self._check_places(act)
            act = replace(act, time=_now(), number=self.state.version + 1)
            # in ASCII: any text, NUL and lone surrogates too, comes back as it was
            content = json.dumps(act.content)
            with self._explained("written; nothing of the act was stored"):
                self._connection.execute(  # a transaction, on the disk when it returns
                    f"INSERT INTO acts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
                    (act.id, act.annotator, act.kind, content, act.time, act.number),
                )
            self.state.apply(act)
            return act

    def claim(self, address: str = "") -> None:
        """Be the one who writes, until this is closed; DeskError where another process is.

        Parameters
        ----------
        address : str
            Where people can reach who writes, for the message that another one gets.
        """
        with self._lock:
            if not self._writer.is_locked:
                self._acquire()
            if address:
                with suppress(OSError):  # on a full disk only who writes is not said
                    address_file(self.path).write_text(address, encoding="utf-8")

    def _acquire(self) -> None:
        try:
            self._writer.acquire(timeout=0)
        except Timeout as error:
            where = last_address(self.path)
            raise DeskError(
                f"{self.path} is open at another desk{where and f', {where}'}. Work there, or stop it first."
            ) from error
        except OSError as error:
            raise DeskError(f"{self.path} cannot be written: {error.strerror}.") from error
        with self._explained("read"):
            for act in self._acts_behind(self.state.version):  # of who wrote before
                self.state.apply(act)

    def acts(self) -> Iterator[Act]:
        """All acts in their order, undone ones too."""
        with self._lock, self._explained("read"):
            return iter(self._acts_behind(0))

    def difference(self, texts: Sequence[str], given: Given | None = None) -> str | None:
        """How other texts and labels differ from those of the project, in words; None where they do not."""
        if len(texts) != len(self.texts):
            return f"it has {quantity(len(texts), 'text')}, the project {len(self.texts):,}"
        none = [None] * len(texts)
        rows = zip(texts, given or none, strict=True)
        own = zip(self.texts, self.header["given"] or none, strict=True)
        number = next((k for k, (a, b) in enumerate(zip(rows, own, strict=True), start=1) if a != b), None)
        return None if number is None else f"text {number:,} or its label is another one"

    @property
    def id(self) -> str:
        """What tells it from all others, whatever it is called; a copy of the file has the same."""
        return sha256(f"{self.header['created']} {self.header['digest']}".encode()).hexdigest()[:32]

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()
            self._writer.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self) -> None:
        ((application,),) = self._rows("SELECT application_id FROM pragma_application_id")
        if application != APPLICATION:
            raise DeskError(
                f"{self.path} is no project of the reading desk, but another program's file; choose another."
            )
        damage = self._rows("PRAGMA quick_check(1)")[0][0]
        if damage != "ok":
            raise DeskError(f"{self.path} is damaged ({damage}); take a copy that is whole.")
        self.header = {name: read_json(value) for name, value in self._rows("SELECT name, value FROM header")}
        version = self.header.get("version")
        if version != VERSION:
            raise DeskError(
                f"{self.path} is of version {version}, and this textmargin reads {VERSION}; use the one "
                "that made it."
            )
        self.texts, self.header["given"] = [], []
        for (block,) in self._rows("SELECT content FROM texts ORDER BY block"):
            content = read_json(zlib.decompress(block))
            self.texts += content["texts"]
            self.header["given"] += [None if own is None else tuple(own) for own in content["given"]]
        if len(self.texts) != self.header["n_texts"] or digest_of(self.texts) != self.header["digest"]:
            raise DeskError(
                f"{self.path} is damaged: its texts are not those it was made with; take a copy that is "
                "whole."
            )
        self.state = State.replay(self.header, self._acts_behind(0))

    def _acts_behind(self, number: int) -> list[Act]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM acts WHERE number > ? ORDER BY number", number)
        return [
            Act(own, who, kind, read_json(content), time, place)
            for own, who, kind, content, time, place in rows
        ]

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        return self._connection.execute(statement, values).fetchall()

    def _check_places(self, act: Act) -> None:
        """That passages lie within their text."""
        content = act.content
        if act.kind not in ("mark", "unmark"):
            return
        length = len(self.texts[content["text"]])
        if content["end"] > length:
            raise ActError(
                f"text {content['text']} has {quantity(length, 'character')}; a passage of it ends at "
                f"{content['end']}."
            )

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, zlib.error, ValueError, KeyError, TypeError) as error:
            if isinstance(error, DeskError):
                raise
            full = "full" in str(error) or "disk I/O" in str(error)
            next_step = "Make room on the disk, and do it again" if full else "Take a copy that is whole"
            if isinstance(error, sqlite3.OperationalError) and not full:
                next_step = "See that the file can be written and nobody else holds it, and do it again"
            raise DeskError(f"{self.path} cannot be {what}: {error}. {next_step}.") from error


def address_file(path: Path) -> Path:
    """Where a project says the address of its last desk; the token is not in it, and new at each start."""
    return path.with_name(f".{path.name}.address")


def last_address(path: Path) -> str:
    """The address of the last desk of a project, as far as it is known."""
    try:
        return address_file(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
