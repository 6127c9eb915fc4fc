"""Texts in parts on this machine: lists that are in memory already, or a user's files."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from .. import core
from .._system.progress import Report
from .._typing import Bools
from ..errors import TableError
from ..representations.texts import as_texts
from ..tables.parts import PartedTable
from ._local import DiskTexts
from .facts import LabelCodes, TextFacts


class TextLists(DiskTexts):
    """Lists of texts.

    Parameters
    ----------
    parts : sequence of lists of texts
    labels : sequence, default=None
        A name, or a tuple of names, for each text of all lists.
    folder, progress : as of `DiskTexts`

    Examples
    --------
    >>> from textmargin import BagOfWords
    >>> from textmargin.scale import TextLists
    >>> words = BagOfWords(weight="count", norm=None)
    >>> X = words.fit_transform(TextLists([["Wheat, wheat and corn!"], ["Corn prices rose 3%"]]))
    >>> X.shape, X.take([0]).toarray()
    ((2, 5), array([[0., 1., 0., 0., 2.]]))
    """

    def __init__(
        self,
        parts: Sequence[Any],
        labels: Sequence[Any] | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        progress: bool | Report = False,
    ) -> None:
        super().__init__("texts", folder, progress)
        self._parts = [as_texts(texts) for texts in parts]
        n_texts = sum(map(len, self._parts))
        if labels is not None and len(labels) != n_texts:
            raise ValueError(f"labels has {len(labels)} values, but parts have {n_texts} texts.")
        self._starts = [sum(map(len, self._parts[:number])) for number in range(len(self._parts))]
        # Python's values, which files can hold
        plain_labels = labels.tolist() if isinstance(labels, np.ndarray) else labels
        self._labels = None if plain_labels is None else LabelCodes.of(plain_labels)

    def __len__(self) -> int:
        return len(self._parts)

    def read_part(self, number: int) -> tuple[list[str], TextFacts]:
        """The texts of one list."""
        texts, start = self._parts[number], self._starts[number]
        return texts, TextFacts.of(
            texts, None if self._labels is None else self._labels[start : start + len(texts)]
        )

    def source(self) -> dict[str, Any]:
        """Checksums of the texts, and of their labels."""
        own = self._labels
        labels = None if own is None else [own.names, zlib.crc32(own.codes.tobytes())]
        return {
            "texts": [zlib.crc32(core.text_keys(texts).tobytes()) for texts in self._parts],
            "labels": labels,
        }


class TextFiles(DiskTexts):
    """The texts of files, read a part at a time; rows without a label are left out.

    Parameters
    ----------
    table : PartedTable
        What `tables.parts.open_parts` gives.
    unlabelled : bool, default=False
        The rows without a label, instead of the others.
    folder, progress : as of `DiskTexts`
    """

    def __init__(
        self,
        table: PartedTable,
        *,
        unlabelled: bool = False,
        folder: str | os.PathLike[str] | None = None,
        progress: bool | Report = False,
    ) -> None:
        if not isinstance(table, PartedTable):
            raise TypeError(
                f"table is {table!r:.80}; TextFiles takes what tables.parts.open_parts gives for a path."
            )
        super().__init__(table.name, folder, progress)
        self.table, self.unlabelled = table, unlabelled

    def __len__(self) -> int:
        return len(self.table.parts)

    def read_part(self, number: int) -> tuple[list[str], TextFacts]:
        """The texts of one part."""
        table = self.table.read(self.table.parts[number])
        if self.unlabelled:
            texts = list(table.unlabelled.texts)
            return texts, TextFacts.of(texts, None, table.invalid, table.missing)
        labels = table.corpus.labels if self.table.columns.labels else None
        return table.corpus.texts, TextFacts.of(table.corpus.texts, labels, table.invalid, table.missing)

    def source(self) -> dict[str, Any]:
        """Where the parts are, how they are read, and when the files were written."""
        reader, files = self.table.reader, {part.path: part.path.stat() for part in self.table.parts}
        return {
            "files": [[str(path.resolve()), stat.st_size, stat.st_mtime_ns] for path, stat in files.items()],
            "parts": [[str(part.path), part.start, part.end] for part in self.table.parts],
            "dialects": [
                list(astuple(dialect)) for dialect in dict.fromkeys(part.dialect for part in self.table.parts)
            ],
            "columns": [reader.columns.text, *reader.columns.labels],
            "labels": [
                reader.label_separator,
                sorted(reader.missing_labels),
                dict(reader.flags),
                self.unlabelled,
            ],
            "skip_invalid": self.table.skip_invalid,
        }


class TextRows(DiskTexts):
    """Some of the texts of others, in the same parts.

    Parameters
    ----------
    texts : DiskTexts
    rows : a bool array for each part, which of its texts
    """

    def __init__(self, texts: DiskTexts, rows: Sequence[Bools]) -> None:
        super().__init__(texts.name, texts.folder, texts.progress)
        self._texts, self._rows, self.memory = texts, rows, texts.memory

    def __len__(self) -> int:
        return len(self._texts)

    def read_part(self, number: int) -> tuple[list[str], TextFacts]:
        """Those of one part."""
        (texts, facts), rows = self._texts.read_part(number), np.flatnonzero(self._rows[number])
        if len(texts) != len(self._rows[number]):
            raise TableError(f"{self.name} has changed since it was looked at; start again.")
        labels = None if facts.labels is None else facts.labels[rows]
        return [texts[row] for row in rows.tolist()], replace(
            facts, digests=facts.digests[rows], labels=labels
        )

    def source(self) -> dict[str, Any]:
        """Of all texts, and a checksum of which they are."""
        return {
            **self._texts.source(),
            "rows": [zlib.crc32(np.packbits(rows).tobytes()) for rows in self._rows],
        }
