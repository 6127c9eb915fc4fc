"""Files in other places than this machine's folders (s3://, gs://, https://, memory://), through fsspec.

`RemotePath` has as much of `pathlib.Path` as the reading of files in parts needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, cast

from ..errors import TableError


class RemoteStat(NamedTuple):
    """Of a file; `st_mtime_ns` is a number that changes with it, which need not be a time."""

    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True, order=True)
class RemotePath(os.PathLike[str]):
    """A file by its address."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """After the last slash."""
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        """From the last dot of the name on."""
        return PurePosixPath(self.url).suffix

    def with_suffix(self, suffix: str) -> PurePosixPath:
        """The name with another one."""
        return PurePosixPath(self.name).with_suffix(suffix)

    def absolute(self) -> RemotePath:
        """Itself."""
        return self

    def resolve(self) -> RemotePath:
        """Itself."""
        return self

    def open(self, mode: str = "rb", buffering: int = -1) -> Any:
        """A stream of its bytes."""
        system, path = self._system()
        return system.open(path, mode)

    def exists(self) -> bool:
        """Whether there is such a file or folder."""
        system, path = self._system()
        return bool(system.exists(path))

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        system, path = self._system()
        return bool(system.isdir(path))

    def is_file(self) -> bool:
        """Whether it is a file."""
        system, path = self._system()
        return bool(system.isfile(path))

    def stat(self) -> RemoteStat:
        """Its size, and what tells that it has changed."""
        system, path = self._system()
        return RemoteStat(int(system.size(path)), int(system.ukey(path)[:15], 16))

    def files(self) -> list[str]:
        """The paths of all files below it, from there on."""
        system, path = self._system()
        return sorted(
            PurePosixPath(one).relative_to(path.rstrip("/")).as_posix() for one in system.find(path)
        )

    def glob(self) -> list[RemotePath]:
        """Those that fit it as a pattern."""
        system, path = self._system()
        return sorted(RemotePath(system.unstrip_protocol(one)) for one in system.glob(path))

    def _system(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise TableError(
                f"{self.url} needs fsspec, which is not installed: pip install fsspec."
            ) from error
        try:
            system, path = url_to_fs(self.url)
        except (
            ImportError,
            ValueError,
            OSError,
        ) as error:  # a package for this kind of store, or a kind that nobody knows
            raise TableError(f"{self.url} cannot be reached: {error}.") from error
        return system, path


def is_remote(source: str | os.PathLike[str]) -> bool:
    """Whether this is an address."""
    return isinstance(source, RemotePath) or (isinstance(source, str) and "://" in source)


def as_path(source: str | os.PathLike[str]) -> Path:
    """A path, or what answers as one."""
    if not is_remote(source):
        return Path(source)
    return cast("Path", source if isinstance(source, RemotePath) else RemotePath(str(source)))


def remote_files(source: str, suits: Callable[[PurePosixPath], bool]) -> list[Path]:
    """The files that an address, a folder or a pattern stands for, in order; of a folder those that suit,
    less hidden ones.
    """
    path = RemotePath(source)
    if path.is_dir():
        names = [PurePosixPath(one) for one in path.files()]
        shown = [one for one in names if not any(part.startswith(("_", ".")) for part in one.parts)]
        files = [RemotePath(f"{source.rstrip('/')}/{one}") for one in shown if suits(one)]
        if not files:
            raise TableError(f"{source} holds no files that can be read in parts.")
    elif path.exists():
        files = [path]
    else:
        files = path.glob() if has_magic(source) else []
        if not files:
            raise TableError(
                f"No file fits the pattern {source!r}."
                if has_magic(source)
                else f"There is no file {source}."
            )
    return [cast("Path", one) for one in files]
