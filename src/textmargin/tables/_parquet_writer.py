"""Rows into a Parquet file, a group of some thousand at a time."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ..errors import TableError, install_hint
from ._cells import MISSING
from .writer import TableWriter

_GROUP = 10_000  # rows that are held until they are written together


class ParquetTableWriter(TableWriter):
    """A type per column: that of another file, else what the first group of rows holds."""

    def __init__(self, file: IO[bytes], path: Path, like: str | os.PathLike[str] | None = None) -> None:
        super().__init__(path)
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise TableError(
                f"{path} needs PyArrow, which is not installed: {install_hint('parquet')}."
            ) from error
        self.pa, self.pq = pa, pq
        self.file = file
        self.types: dict[str, Any] = {}
        # what is wrong with that file is for those to say who read it
        with suppress(pa.ArrowException, OSError):
            self.types = {} if like is None else {field.name: field.type for field in pq.read_schema(like)}
        self.parquet: Any = None
        self.rows: dict[str, list[Any]] = {}
        self.n_rows = 0  # of earlier groups

    def declare(self, example: Mapping[str, Sequence[Any]]) -> None:
        """What columns would hold; see `TableWriter`."""
        self.types |= {name: self._array(name, list(column)).type for name, column in example.items()}

    def _begin(self, names: list[str], trusted: Collection[str]) -> None:
        self.rows = {name: [] for name in names}

    def _write(self, columns: Mapping[str, Sequence[Any]], trusted: Collection[str]) -> None:
        for name, column in columns.items():
            self.rows[name] += [None if value is MISSING else value for value in column]
        if len(next(iter(self.rows.values()), ())) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        arrays = {name: self._array(name, column) for name, column in self.rows.items()}
        table = self.pa.table(arrays)
        if self.parquet is None:
            self.types = {name: array.type for name, array in arrays.items()}
            self.parquet = self.pq.ParquetWriter(self.file, table.schema)
        self.parquet.write_table(table)
        self.n_rows += table.num_rows
        self.rows = {name: [] for name in self.rows}

    def _array(self, name: str, column: list[Any]) -> Any:
        pa, kind = self.pa, self.types.get(name)
        strings = {value for value in column if isinstance(value, str)} if "" in column else set()
        others = any(value is not None and not isinstance(value, str) for value in column)
        if strings == {""} and (others if kind is None else not pa.types.is_string(kind)):
            # an empty cell of a sheet, among numbers or dates
            column = [None if value == "" else value for value in column]
        try:
            if kind is not None:
                return pa.array(column, kind)
            array = pa.array(column)
            return array.cast(_with_strings(pa, array.type))
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise TableError(
                f"{self.path}: column {name!r} has values of several types, from row {self.n_rows + 1:,} "
                "on; Parquet takes one "
                f"({error}); write JSON lines, .jsonl, instead."
            ) from error

    def close(self) -> None:
        """All is written."""
        if self.parquet is None or any(self.rows.values()):
            self._flush()
        self.parquet.close()

    def discard(self) -> None:
        """Let go of what is open."""
        if self.parquet is not None:
            self.parquet.close()


def _with_strings(pa: Any, kind: Any) -> Any:
    """A type with text where nothing is known of the values yet, for all of them are null, or lists without
    any.
    """
    if pa.types.is_null(kind):
        return pa.string()
    return pa.list_(_with_strings(pa, kind.value_type)) if pa.types.is_list(kind) else kind
