"""The file of a project: how it is opened, and how a new one is made."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from .._system.wording import quantity
from ..errors import DeskError
from .acts import OTHERS

APPLICATION = 0x746D646B  # "tmdk", in the header of the file: whose it is
VERSION = 1
_TEXTS_A_BLOCK = 512
_SCHEMA = (
    "CREATE TABLE header (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE texts (block INTEGER PRIMARY KEY, content BLOB NOT NULL)",
    "CREATE TABLE acts (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, annotator TEXT NOT NULL, "
    "kind TEXT NOT NULL, "
    "content TEXT NOT NULL, time TEXT NOT NULL)",
)
Given = Sequence[tuple[str, ...] | None]


def connect(path: Path) -> sqlite3.Connection:
    """A connection that writes ahead and synchronises at every commit; one that only reads where the file
    cannot be written.
    """
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        immutable = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro{immutable}", uri=True, check_same_thread=False
        )
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    try:
        ((application,),) = connection.execute("SELECT application_id FROM pragma_application_id").fetchall()
        if application == APPLICATION:  # another's file stays as it is
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def write_new(path: Path, header: dict[str, Any], texts: Sequence[str], given: Given) -> None:
    """All of a new project but its acts."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN")
        for statement in (*_SCHEMA, f"PRAGMA application_id = {APPLICATION}"):
            connection.execute(statement)
        rows = [(name, json.dumps(value)) for name, value in header.items()]
        connection.executemany("INSERT INTO header (name, value) VALUES (?, ?)", rows)
        for block, start in enumerate(range(0, len(texts), _TEXTS_A_BLOCK)):
            end = start + _TEXTS_A_BLOCK
            content = json.dumps({"texts": list(texts[start:end]), "given": list(given[start:end])})
            blob = zlib.compress(content.encode(), 1)
            connection.execute("INSERT INTO texts (block, content) VALUES (?, ?)", (block, blob))
        connection.execute("COMMIT")


def sync_folder(folder: Path) -> None:
    """See that the name of a new file survives a power cut as well as its content."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def class_names(classes: Sequence[str], given: Given, multilabel: bool, n_texts: int) -> list[str]:
    """Those that are named, and behind them those of the given labels."""
    if given and len(given) != n_texts:
        raise DeskError(
            f"there are {quantity(n_texts, 'text')} and labels of {len(given):,}; give each text its own, "
            "or None."
        )
    several = next((own for own in given if own is not None and len(own) != 1), None)
    if several is not None and not multilabel:
        own = f"the labels {', '.join(several)}" if several else "no label"
        raise DeskError(
            f"a text has {own}; where texts may have several labels, or none, say multilabel=True."
        )
    names = dict.fromkeys([*classes, *sorted({name for own in given for name in own or ()} - {*classes})])
    for name in classes:
        twin = next((one for one in names if one != name and one.casefold() == name.casefold()), None)
        if twin is not None:
            raise DeskError(
                f"{name!r} and {twin!r} differ in capitals alone; name the class as it is called already."
            )
    wrong = next((name for name in names if not _usable(name)), None)
    if wrong is not None:
        raise DeskError(f"a class cannot be called {wrong!r}; choose another name.")
    return list(names)


def _usable(name: str) -> bool:
    """Whether a class can be called so: not "*", which costs have for all others, nor what a file cannot
    hold.
    """
    whole = name.encode("utf-8", "replace").decode() == name
    return whole and bool(name) and name == name.strip() and name != OTHERS


def digest_of(texts: Sequence[str]) -> str:
    found = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        found.update(len(content).to_bytes(8, "little") + content)
    return found.hexdigest()
