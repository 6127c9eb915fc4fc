"""Parquet files before their rows are read: which there are, whether they are whole, and whether they have
the columns.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import TableError


@dataclass(frozen=True)
class ParquetFile:
    """A file, its name below the folder that all have in common, and what its footer says."""

    path: Path
    name: str
    n_rows: int
    n_bytes: int
    mtime_ns: int
    columns: tuple[str, ...]


def check_parts(paths: Sequence[Path], text: str, keep: Sequence[str] | None) -> list[ParquetFile]:
    """The files with the columns to take over; each must have a text column."""
    common = Path(os.path.commonpath([path.parent for path in paths]))
    return [_check(path, path.relative_to(common).as_posix(), text, keep) for path in paths]


def column_names(path: Path) -> list[str]:
    """The columns of a file."""
    return list(_footer(path)[0].names)


def _check(path: Path, name: str, text: str, keep: Sequence[str] | None) -> ParquetFile:
    schema, n_rows = _footer(path)
    columns = tuple(column for column in schema.names if column != text) if keep is None else tuple(keep)
    for column in (text, *columns):
        if column not in schema.names:
            raise TableError(
                f"{path} has no column {column!r}. It has {', '.join(map(repr, schema.names[:10]))}."
            )
    kind = schema.field(text).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise TableError(f"{path}: column {text!r} holds {kind}, not texts.")
    facts = path.stat()
    return ParquetFile(path, name, n_rows, facts.st_size, facts.st_mtime_ns, columns)


def _footer(path: Path) -> tuple[pa.Schema, int]:
    try:
        with pq.ParquetFile(path) as file:
            return file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as Parquet, so nothing was begun: {error}.") from error
