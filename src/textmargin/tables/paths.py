"""The files that a path, a folder or a pattern stands for."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator
from pathlib import Path, PurePath

from ..errors import TableError

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xlsb": "xlsx",
    ".xls": "xlsx",
    ".parquet": "parquet",
    ".desk": "desk",
}
PACKED_SUFFIXES = (".gz", ".xz", ".bz2", ".zst")


def files_of(source: str | os.PathLike[str], suffixes: Collection[str]) -> list[Path]:
    """Absolute paths in order; of a folder the files with one of the suffixes, less those whose names begin
    with _ or a dot.
    """
    refuse_address(source)
    path = Path(source)
    if path.is_dir():
        files = sorted(
            one
            for one in files_below(path)
            if suffix_of(one) in suffixes and not _is_hidden(one.relative_to(path))
        )
        if not files:
            raise TableError(f"{path} holds no files {', '.join(sorted(suffixes))}.")
        return [one.absolute() for one in files]
    if path.exists():
        return [path.absolute()]
    if not glob.has_magic(str(source)):
        raise TableError(f"There is no file {source}.")
    files = sorted(Path(one) for one in glob.glob(str(source), recursive=True))  # noqa: PTH207  # a pattern may be absolute
    if not files:
        raise TableError(f"No file fits the pattern {str(source)!r}.")
    return [one.absolute() for one in files]


def refuse_address(place: str | os.PathLike[str]) -> None:
    """An error for s3://, https:// and the like."""
    if "://" in str(place):
        raise TableError(f"{place} is an address, not a file; download the file first, and name its path.")


def files_below(folder: Path) -> Iterator[Path]:
    """Files in a folder and in those inside it; what is gone by the time it is looked at, or closed to us, is
    passed over.
    """
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names if os.path.isfile(os.path.join(place, name)))  # noqa: PTH113, PTH118  # pathlib's raises


def name_of(source: str | os.PathLike[str]) -> str:
    """What to call a source in a message."""
    return "standard input" if source == "-" else str(source)


def suffix_of(path: PurePath) -> str:
    """What the name of a file ends with, in small letters, less .gz and the like."""
    return (path.with_suffix("") if path.suffix.lower() in PACKED_SUFFIXES else path).suffix.lower()


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)
