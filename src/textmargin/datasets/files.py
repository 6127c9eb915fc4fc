"""Which corpora there are (`catalogue.toml`), where their files lie, whether they are right; reading them.

Looked for in the folder that `TEXTMARGIN_DATA` names, then in the user's cache. A file is right if its
SHA-256 is that of the catalogue, or the one in the side file `<name>.sha256` (as `sha256sum` writes it): that
vouches for a file of one's own making.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import math
import os
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DatasetError

BROKEN = (EOFError, OSError, zlib.error, UnicodeDecodeError)


@dataclass(frozen=True)
class File:
    """A file as every number of this project was computed from it."""

    name: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Entry:
    """A dataset: what it is, whose it is, and which files hold it (none if it comes with the package)."""

    name: str
    about: str
    licence: str
    source: str
    counts: Mapping[str, int]
    files: tuple[File, ...]

    @property
    def how_to_obtain(self) -> str:
        """The next step for somebody without the files."""
        if not self.files:
            return "It comes with the package."
        return (
            f"Get it from its public source ({self.source}) and write the files that docs/datasets.md "
            "describes."
        )


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every dataset by name, in the order of the file."""
    read = tomllib.loads(files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: Entry(
                name,
                about=facts["about"],
                licence=facts["licence"],
                source=facts["source"],
                counts=facts.get("counts", {}),
                files=tuple(
                    File(file["name"], file["bytes"], file["sha256"]) for file in facts.get("files", ())
                ),
            )
            for name, facts in read.items()
        }
    )


def cache_folder() -> Path:
    """The user's own folder for corpora."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "textmargin"


def folders() -> list[Path]:
    """Where files are looked for, in order."""
    named = os.environ.get("TEXTMARGIN_DATA")
    return [*([Path(named)] if named else []), cache_folder()]


def find(name: str) -> Path | None:
    """The first file of that name."""
    return next((folder / name for folder in folders() if (folder / name).is_file()), None)


def right_path(entry: Entry, file: File) -> Path:
    """The path of a file of a dataset, once its digest is known to be right."""
    path = find(file.name)
    if path is None:
        looked = " or ".join(map(str, folders()))
        hint = (
            "" if "TEXTMARGIN_DATA" in os.environ else " If you have it, let TEXTMARGIN_DATA name its folder."
        )
        raise DatasetError(
            f"{entry.name} needs {file.name}, which is not in {looked}. {entry.how_to_obtain}{hint}"
        )
    try:
        found, vouched = digest_of(path), vouched_for(path)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from error
    if found not in (file.sha256, vouched):
        size = path.stat().st_size
        cut = f" It has {size:,} bytes instead of {file.n_bytes:,}." if size != file.n_bytes else ""
        raise DatasetError(
            f"{path} is not the file it should be: its SHA-256 is {found}, expected {file.sha256}.{cut} "
            "Remove it and get it anew, or, if you wrote it yourself, vouch for it: sha256sum "
            f"{file.name} > {file.name}.sha256"
        )
    return path


def digest_of(path: Path) -> str:
    """SHA-256 of a file, computed once while the file stays as it is."""
    status = path.stat()
    return _digest(path, status.st_size, status.st_mtime_ns)


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def vouched_for(path: Path) -> str | None:
    """The digest in the side file, if there is one."""
    try:
        return (
            path.with_name(f"{path.name}.sha256")
            .read_text(encoding="ascii", errors="replace")
            .split()[0]
            .lower()
        )
    except (FileNotFoundError, IndexError):
        return None


def state_of(file: File) -> str:
    """right: as in the catalogue; own: as its side file says; wrong: neither; missing."""
    path = find(file.name)
    if path is None:
        return "missing"
    digest = digest_of(path)
    return "right" if digest == file.sha256 else "own" if digest == vouched_for(path) else "wrong"


def is_ready(entry: Entry) -> bool:
    """Whether `load_dataset` will find it."""
    return all(state_of(file) in ("right", "own") for file in entry.files)


def json_rows(path: Path) -> list[dict[str, Any]]:
    """JSON lines: an object per line."""
    rows: list[dict[str, Any]] = []
    for number, line in _numbered_lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DatasetError(f"Line {number:,} of {path} is not JSON: {error}. {_AGAIN}") from error
        if not isinstance(row, dict) or (rows and row.keys() != rows[0].keys()):
            wanted = f"the keys {', '.join(rows[0])}" if rows else "an object"
            raise DatasetError(
                f"Line {number:,} of {path} should hold {wanted}; it begins {line[:60]!r}. {_AGAIN}"
            )
        rows.append(row)
    return rows


def csv_columns(path: Path) -> dict[str, NDArray[Any]]:
    """A table with a line of names: whole numbers, numbers (NaN where empty) or else strings, as the values
    of a column allow.
    """
    lines = (line for _, line in _numbered_lines(path))
    reader = csv.reader(lines)
    names = next(reader, [])
    rows = []
    for row in reader:
        if len(row) != len(names):
            message = f"Line {reader.line_num:,} of {path} has {len(row)} values for {len(names)} columns."
            raise DatasetError(f"{message} {_AGAIN}")
        rows.append(row)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: _typed(values) for name, values in zip(names, columns, strict=True)}


_AGAIN = "Write the file anew."


def _numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a text file, gzipped or not, counted from 1."""
    number = 0
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8") as lines
        ):
            for number, line in enumerate(lines, start=1):
                yield number, line
    except BROKEN as error:
        raise DatasetError(
            f"{path} breaks off or is damaged after line {number:,} ({error}). {_AGAIN}"
        ) from error


def _typed(values: tuple[str, ...]) -> NDArray[Any]:
    try:
        return np.array([int(value) for value in values], dtype=np.int64)
    except ValueError:
        pass
    try:
        return np.array([float(value) if value else math.nan for value in values])
    except ValueError:
        return np.array(values, dtype=object)
