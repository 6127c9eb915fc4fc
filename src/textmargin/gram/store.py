"""Kernel values kept on disk, by what was compared and how: the same texts under the same settings are never
compared again.

A text is known by a digest of its symbols and a kernel by all settings its values depend on, so that order,
subsets, folds and processes do not matter.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self

import numpy as np

from .._typing import Floats
from .cached import CachedPairs
from .protocol import NamedPairs
from .tiles import LEAST_BYTES, Tiles


class KernelStore:
    """A folder of kernel values, for any number of kernels, corpora and processes at a time.

    A process may be killed at any moment: what it had finished is there, and nothing half-written is ever
    read. Processes that fill the same matrix share the work.

    Parameters
    ----------
    folder : str or path
        Made if it is not there.
    max_bytes : int, default=1_000_000_000
        How large it may get; the values that were not used for longest are forgotten first.

    Examples
    --------
    >>> import tempfile
    >>> from textmargin import KernelStore, SubsequenceKernel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = KernelStore(folder)
    ...     K = store.gram(SubsequenceKernel(2), ["car", "cat"])  # computed
    ...     K = store.gram(SubsequenceKernel(2), ["cat", "car"])  # looked up
    >>> K.round(3)
    array([[1.   , 0.444],
           [0.444, 1.   ]])
    """

    def __init__(self, folder: str | os.PathLike[str], max_bytes: int = 1_000_000_000) -> None:
        if max_bytes < LEAST_BYTES:
            raise ValueError(f"max_bytes must be at least {LEAST_BYTES:,}; got {max_bytes:,}.")
        self.folder = Path(folder)
        self.max_bytes = int(max_bytes)

    @classmethod
    def at(cls, folder: Any) -> Self:
        """The store itself, or the one in a folder."""
        return folder if isinstance(folder, cls) else cls(folder)

    def gram(self, kernel: Any, X: Any, Y: Any = None, *, n_jobs: int | None = None) -> Floats:
        """The kernel matrix of X with itself or with Y; what is not kept yet is computed and kept, a tile at
        a time.

        Parameters
        ----------
        kernel : SubsequenceKernel or SpectrumKernel
        X, Y : lists of texts, as the kernel takes them
        n_jobs : int, default=None
            Tiles at a time, through joblib. None: one after the other, each with the kernel's own threads,
            unless `joblib.parallel_config` says otherwise.
        """
        if Y is None:
            pairs = self.over(kernel.over(X), n_jobs)
            return pairs.block(np.arange(len(pairs)))
        columns = kernel.over(Y)
        pairs = self.over(columns.join(X), n_jobs)
        n_rows = len(pairs) - len(columns)
        return pairs.block(np.arange(n_rows), n_rows + np.arange(len(columns)))

    def over(self, pairs: NamedPairs, n_jobs: int | None = None) -> CachedPairs:
        """The same pairs, looked up here before they are computed."""
        return CachedPairs(self.tiles, pairs, n_jobs)

    def clear(self) -> None:
        """Forget everything."""
        self.tiles.clear()

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        return self.tiles.path.stat().st_size if self.tiles.path.exists() else 0

    @property
    def tiles(self) -> Tiles:
        """The file behind it."""
        return Tiles(self.folder, self.max_bytes)

    def __repr__(self) -> str:
        return f"KernelStore({str(self.folder)!r}, max_bytes={self.max_bytes})"
