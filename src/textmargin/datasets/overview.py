"""What there is: every dataset with its licence, its source, and whether its files are here and right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._catalogue import Entry, File, catalogue
from .files import digest_of, find, vouched_for

State = Literal["right", "own", "wrong", "unreadable", "missing"]


@dataclass(frozen=True)
class FileOverview:
    """A file: where it is, and whether it is the one it should be.

    `right`: the catalogue's digest. `own`: that of its side file, so somebody wrote it
    himself. `wrong`: neither.
    """

    name: str
    n_bytes: int
    path: str | None
    state: State


@dataclass(frozen=True)
class Overview:
    """A dataset as a person would want it explained; `ready` if `load_dataset` will find it."""

    name: str
    about: str
    licence: str
    source: str
    how_to_obtain: str
    counts: dict[str, int]
    files: tuple[FileOverview, ...]
    ready: bool


def overview() -> list[Overview]:
    """Every dataset, the one inside the package first."""
    return [_of(entry) for entry in catalogue().values()]


def _of(entry: Entry) -> Overview:
    files = tuple(map(_of_file, entry.files))
    ready = all(file.state in ("right", "own") for file in files)
    return Overview(
        entry.name,
        entry.about,
        entry.licence,
        entry.source,
        entry.how_to_obtain,
        dict(entry.counts),
        files,
        ready,
    )


def _of_file(file: File) -> FileOverview:
    path = find(file.name)
    if path is None:
        return FileOverview(file.name, file.n_bytes, None, "missing")
    try:
        digest, vouched = digest_of(path), vouched_for(path)
    except OSError:
        return FileOverview(file.name, file.n_bytes, str(path), "unreadable")
    state: State = "right" if digest == file.sha256 else "own" if digest == vouched else "wrong"
    return FileOverview(file.name, path.stat().st_size, str(path), state)
