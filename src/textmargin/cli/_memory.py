"""The option that keeps to so much memory, and where `train` works then: in parts, in a folder beside the
model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import OptionError, remark, resumable

if TYPE_CHECKING:
    from ..scale import TextFiles
    from ._options import ReadingOptions

_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
# Training in memory takes 14 times the bytes of a CSV file, and 0.2 GB: 200,000 texts of 60 words, 53 MB,
# take 0.95 GB.
_PER_BYTE, _PROGRAM = 15, 200_000_000
_PER_PACKED_BYTE = 4 * _PER_BYTE
_MOST_OF_MACHINE = 0.7
_LEAST_PART, _MOST_PART = 100_000, 32_000_000
_PART_COPIES = 30  # that a thread's part, its words and its rows take, with room for all that is not a part


@dataclass(frozen=True)
class WorkFolder:
    """Where texts in parts are worked on, and how much memory that may take."""

    folder: Path
    memory: int

    @property
    def part_bytes(self) -> int:
        """How large a part of a file is: as many as there are threads are in memory at a time."""
        from .._system.threads import n_threads

        return min(max(self.memory // (_PART_COPIES * (n_threads(None) + 1)), _LEAST_PART), _MOST_PART)

    @contextmanager
    def open(
        self, data: str, reading: ReadingOptions, known_labels: list[Any], fields: list[str]
    ) -> Iterator[TextFiles]:
        """The texts of a file. What is made of them stays here if work is interrupted or fails, and goes "
        "when it
        is done.
        """
        from ..errors import ClusterError, StoreError, TextmarginError
        from ..scale import TextFiles

        with resumable(f"what is done is in {self.folder}, and the same command goes on from there."):
            texts = TextFiles(
                data,
                folder=self.folder,
                memory=self.memory,
                progress=True,
                part_bytes=self.part_bytes,
                known_labels=known_labels,
                fields=fields,
                **reading.table_options,
            )
            try:
                yield texts
            except (StoreError, ClusterError):
                texts.store.close()
                raise
            except TextmarginError:  # what a user has to change: nothing of it stays
                texts.store.delete()
                raise
            except BaseException:
                texts.store.close()
                raise
        texts.store.delete()


@dataclass(frozen=True)
class MemoryOptions:
    """Files that are larger than memory."""

    memory: Annotated[
        str | None,
        typer.Option(
            help="Keep to about so much memory, as in 4GB: texts are learnt from in parts, on disk beside "
            "the model.",
            show_default="in parts where a file would not fit",
        ),
    ] = None

    def folder(self, data: str, output: Path, on_cluster: bool) -> WorkFolder | None:
        """Where to work in parts; None where all texts fit into memory, or cannot be read in parts."""
        from .._system.memory import machine_memory

        place = output.with_name(f"{output.name}.parts")
        if self.memory is not None:
            return WorkFolder(place, read_bytes(self.memory))
        needed, there = _needed_bytes(data), machine_memory()
        if on_cluster:
            return WorkFolder(place, there // 2)
        if needed <= _MOST_OF_MACHINE * there:
            return None
        remark(
            f"{data} would take about {_gigabytes(needed)} of memory, of {_gigabytes(there)}: learnt from "
            f"in parts, in {place} "
            f"(--memory says with how much)"
        )
        return WorkFolder(place, there // 2)


def read_bytes(size: str) -> int:
    """A number of bytes, such as 4GB, 500 MB or 2GiB."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?)B?\s*", size, re.IGNORECASE)
    if found is None or not float(found[1]):
        raise OptionError(f"--memory {size}: a number of bytes with its unit, as in 4GB or 500MB.")
    unit = found[2][:1].upper() + found[2][1:].lower()
    return int(float(found[1]) * _UNITS[unit])


def _needed_bytes(data: str) -> int:
    """Memory to train on files that could be read in parts, about; 0 where they cannot, or it is not
    known.
    """
    from ..errors import TableError
    from ..tables.paths import PACKED_SUFFIXES, files_of, suffix_of

    suffixes = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet")
    if data == "-":
        return 0
    try:
        files = files_of(data, suffixes)
    except TableError:  # which the reader says better
        return 0
    packed = {path for path in files if path.suffix.lower() in (*PACKED_SUFFIXES, ".parquet")}
    if not all(suffix_of(path) in suffixes for path in files):
        return 0
    return _PROGRAM + sum(
        (_PER_PACKED_BYTE if path in packed else _PER_BYTE) * path.stat().st_size for path in files
    )


def _gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB"
