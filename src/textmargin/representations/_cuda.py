"""The subsequence kernel on GPUs, through CuPy: blocks of the matrix, computed in ssk.cu, and brought to the
host one by one.

Needs neither the compiled core nor nvcc. ssk.cu is compiled by NVRTC when it is first used, in a second, and
kept by CuPy.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any

import numpy as np

from .._typing import Floats
from ..errors import DeviceError, install_hint
from ._backends import Diagonal, KernelSpec, Report, check_result_size
from ._device import (
    ADVICE,
    Comparison,
    OnDevice,
    explain_errors,
    free_memory,
    make_room,
    on_device,
    resident_columns,
)
from ._doubt import Doubt
from ._layout import Layout
from ._packing import PackedColumns, PackedRows, by_length
from .encode import Sequences

MOST_LENGTH = 32
_LEAST_CAPABILITY = 80
_LARGEST_BLOCK = 16384  # texts of either side
# several GPUs share from so many on: less is done sooner by one
_SHARED_CELLS = 1e11


@cache
def missing() -> str | None:
    """What is missing for a GPU to be used, in words; None: nothing."""
    try:
        import cupy
    except ImportError as error:
        if getattr(error, "name", None) == "cupy":
            return f"backend='cuda' needs CuPy, which is not installed: {install_hint('cuda')}"
        return (
            f"backend='cuda' needs CuPy, which cannot be loaded ({error}); install the one for this "
            "driver's CUDA"
        )
    except Exception as error:  # built for another NumPy, say, which is nothing to those who do without a GPU
        return f"backend='cuda' needs CuPy, which cannot be loaded ({error!r}); install it anew"
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
        version = max((cupy.cuda.Device(k).compute_capability for k in range(n_devices)), key=int, default="")
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "InsufficientDriver" in str(error):
            return (
                "backend='cuda' needs an NVIDIA driver, and this machine's is too old or not there "
                f"({error}); update it"
            )
        return (
            f"backend='cuda' needs an NVIDIA GPU, and none can be used here ({error}); see what "
            "nvidia-smi says"
        )
    if not n_devices:
        return "backend='cuda' needs an NVIDIA GPU, and this machine has none"
    if int(version) < _LEAST_CAPABILITY:
        return (
            "backend='cuda' needs a GPU of compute capability 8.0 or more; this machine has one of "
            f"{int(version) / 10}"
        )
    try:
        cupy.cuda.nvrtc.getVersion()
    except RuntimeError as error:
        return (
            f"backend='cuda' needs NVRTC of CUDA, which CuPy cannot load ({error}); install CUDA's "
            "toolkit or its nvrtc package"
        )
    return None


@dataclass(frozen=True)
class Cuda:
    """GPUs.

    Parameters
    ----------
    double : bool, whether states are kept in double precision
    devices : tuple of int, the GPUs that share the work; None: all that can
    """

    double: bool = False
    devices: tuple[int, ...] | None = None

    def diagonal(self, spec: KernelSpec, X: Sequences, report: Report = None) -> Diagonal:
        """K of each text with itself."""
        layout = self._layout(spec)
        with explain_errors(), on_device(self._devices()[0]):
            return _with_themselves(spec, layout, X, report)

    def gram(
        self,
        spec: KernelSpec,
        X: Sequences,
        Y: Sequences | None,
        diagonals: tuple[Diagonal, Diagonal],
        factor: float,
        report: Report = None,
    ) -> Floats:
        """K of all pairs times a factor, normalised where there are diagonals."""
        other = X if Y is None else Y
        check_result_size(len(X), len(other))
        K = np.empty((len(X), len(other)))
        self._run(_Work(spec, self._layout(spec), X, Y, diagonals, factor, K, report))
        return K

    def _run(self, work: _Work) -> None:
        n_rows, n_columns = work.shape
        with explain_errors():
            devices = self._devices()
            if float(work.X.codes.size) * work.other.codes.size < _SHARED_CELLS:
                devices = devices[:1]
            side = min(_LARGEST_BLOCK, min(_room(device) for device in devices))
            if len(devices) > 1:  # some blocks for each
                side = max(1, min(side, -(-max(n_rows, n_columns) // (2 * len(devices)))))
            work.share(devices, side)

    def _check(self) -> None:
        if why := missing():
            raise DeviceError(f"{why}, {ADVICE}.")

    def _layout(self, spec: KernelSpec) -> Layout:
        self._check()
        if spec.length > MOST_LENGTH:
            raise DeviceError(
                f"backend='cuda' compares subsequences of at most {MOST_LENGTH} symbols, not "
                f"{spec.length}; {ADVICE}."
            )
        return Layout.of(spec, self.double)

    def _devices(self) -> tuple[int, ...]:
        import cupy

        all_there = [cupy.cuda.Device(k) for k in range(cupy.cuda.runtime.getDeviceCount())]
        return self.devices or tuple(
            gpu.id for gpu in all_there if int(gpu.compute_capability) >= _LEAST_CAPABILITY
        )


@dataclass
class _Work:
    """One matrix, block by block."""

    spec: KernelSpec
    layout: Layout
    X: Sequences
    Y: Sequences | None
    diagonals: tuple[Diagonal, Diagonal]
    factor: float
    K: Floats  # to be filled, on the host
    report: Report

    def __post_init__(self) -> None:
        self.stop, self.lock, self.done = Event(), Lock(), 0.0
        self.other = self.X if self.Y is None else self.Y
        self.shape = len(self.X), len(self.other)
        self.total = float(len(self.X)) * len(self.other) * (0.5 if self.Y is None else 1.0)

    def share(self, devices: tuple[int, ...], side: int) -> None:
        """Blocks of at most so many texts to a side, each to the next GPU that is free."""
        blocks: SimpleQueue[tuple[slice, slice]] = SimpleQueue()
        n_rows, n_columns = self.shape
        for row in range(0, n_rows, side):
            for column in range(row if self.Y is None else 0, n_columns, side):
                blocks.put(
                    (slice(row, min(row + side, n_rows)), slice(column, min(column + side, n_columns)))
                )
        if len(devices) == 1:
            return self._drain(devices[0], blocks)
        with ThreadPoolExecutor(len(devices)) as pool:
            tasks = [pool.submit(self._drain, device, blocks) for device in devices]
            try:
                for task in wait(tasks, return_when=FIRST_EXCEPTION).done:
                    task.result()
            except BaseException:
                self.stop.set()
                raise
        return None

    def _drain(self, device: int, blocks: SimpleQueue[tuple[slice, slice]]) -> None:
        with on_device(device):
            while not self.stop.is_set():
                try:
                    rows, columns = blocks.get_nowait()
                except Empty:
                    return
                self._block(rows, columns)

    def _block(self, rows: slice, columns: slice) -> None:
        """Some of the matrix; in parts where the GPU's memory is too small for all of it."""
        import cupy

        try:
            return self._fill(rows, columns)
        except cupy.cuda.memory.OutOfMemoryError:
            n_rows, n_columns = rows.stop - rows.start, columns.stop - columns.start
            if n_rows * n_columns == 1:
                raise
        make_room()  # here, where nothing holds what was tried any more
        if self.Y is None and rows == columns:
            first, second = _halves(rows)
            parts = [(first, first), (first, second), (second, second)]
        elif n_rows >= n_columns:
            parts = [(half, columns) for half in _halves(rows)]
        else:
            parts = [(rows, half) for half in _halves(columns)]
        for part in parts:
            self._block(*part)
        return None

    def _fill(self, rows: slice, columns: slice) -> None:
        found = self._compute(rows, columns)
        self.K[rows, columns] = found.get()
        if self.Y is None and rows != columns:
            self.K[columns, rows] = self.K[rows, columns].T

    def _compute(self, rows: slice, columns: slice) -> Any:
        """A block, on the GPU, normalised and in the caller's order."""
        symmetric = self.Y is None and rows == columns
        X, Y = _part(self.X, rows), _part(self.other, columns)
        weight = len(X) * len(Y) * (0.5 if symmetric else 1.0) / self.total
        diagonals = [
            diagonal.take(part) for diagonal, part in zip(self.diagonals, (rows, columns), strict=True)
        ]
        run, K = self._compare(X, Y, self.layout, symmetric, weight)
        found = run.arrange(K, symmetric, diagonals, self.factor)
        if self.layout.real is np.float32 and self.spec.length > 1:
            self._compute_again(X, Y, diagonals, run, K, symmetric, found)
        return found

    def _compare(
        self, X: Sequences, Y: Sequences, layout: Layout, symmetric: bool, weight: float
    ) -> tuple[Comparison, Any]:
        """K of two corpora in the order of lengths, of which the work is such a share of all."""
        import cupy

        halve = layout.halvings(self.spec, int(X.lengths.max(initial=0)), int(Y.lengths.max(initial=0)))
        rows = OnDevice(PackedRows.of(X, self.spec, layout, halve))
        run = Comparison(
            layout, self.spec, halve, rows, resident_columns(Y, self.spec, layout, len(rows.host.stream))
        )
        K = cupy.zeros((len(X), len(Y)), layout.real)
        run.compare(K, "half" if symmetric else "all", len(Y), self._progress(weight))
        return run, K

    def _compute_again(
        self,
        X: Sequences,
        Y: Sequences,
        diagonals: list[Diagonal],
        run: Comparison,
        K: Any,
        symmetric: bool,
        found: Any,
    ) -> None:
        """In double precision, of a block, what single has not the range of: of all rows and columns that
        have any of it.
        """
        import cupy

        (row_order, _), (column_order, _) = by_length(X), by_length(Y)
        doubt = Doubt.of(self.spec, run.exponent)
        doubtful = doubt.about(K, X.lengths[row_order], Y.lengths[column_order], symmetric)
        in_rows, in_columns = (np.flatnonzero(doubtful.any(axis=axis).get()) for axis in (1, 0))
        if not in_rows.size:
            return
        doubtful = doubtful[cupy.ix_(cupy.asarray(in_rows), cupy.asarray(in_columns))]
        i, j = row_order[in_rows], column_order[in_columns]
        careful, exact = self._compare(X.take(i), Y.take(j), Layout.of(self.spec, double=True), False, 0.0)
        if self.diagonals[0].fraction.size:
            diagonals = [diagonal.take(at) for diagonal, at in zip(diagonals, (i, j), strict=True)]
        values = careful.arrange(exact, False, diagonals, self.factor)
        at = cupy.ix_(cupy.asarray(i), cupy.asarray(j))
        found[at] = cupy.where(doubtful, values, found[at])
        if symmetric:
            at = cupy.ix_(cupy.asarray(j), cupy.asarray(i))
            found[at] = cupy.where(doubtful.T, values.T, found[at])

    def _progress(self, weight: float) -> Callable[[float], None]:
        """Takes the share of a block that is done; raises where the work is to stop."""
        before = 0.0

        def note(share: float) -> None:
            nonlocal before
            if self.stop.is_set():
                raise KeyboardInterrupt
            with self.lock:
                self.done += weight * (share - before)
                before = share
                if self.report is not None:
                    self.report(min(self.done, 1.0))

        return note


def _with_themselves(spec: KernelSpec, layout: Layout, X: Sequences, report: Report) -> Diagonal:
    """K of each text with itself; in two halves where the GPU's memory is too small for all."""
    import cupy

    try:
        return _all_with_themselves(spec, layout, X, report)
    except cupy.cuda.memory.OutOfMemoryError:
        if len(X) == 1:
            raise
    make_room()  # here, where nothing holds what was tried any more
    found = [_with_themselves(spec, layout, _part(X, half), None) for half in _halves(slice(0, len(X)))]
    return Diagonal(
        np.concatenate([part.fraction for part in found]), np.concatenate([part.exponent for part in found])
    )


def _all_with_themselves(spec: KernelSpec, layout: Layout, X: Sequences, report: Report) -> Diagonal:
    import cupy

    longest = int(X.lengths.max(initial=0))
    halve = layout.halvings(spec, longest, longest)
    rows, columns = PackedRows.of(X, spec, layout, halve), PackedColumns.of(X, spec, layout, 1)
    K = cupy.zeros(len(X), layout.real)
    Comparison(layout, spec, halve, OnDevice(rows), OnDevice(columns)).compare(
        K, "same", len(X), report or (lambda share: None)
    )
    fraction, exponent = np.frexp(spec.match * K.get().astype(np.float64)[rows.rank])
    shift = halve * (spec.length - 1)
    return Diagonal(fraction, np.where(fraction == 0, 0, exponent.astype(np.int64) + shift))


def _part(X: Sequences, rows: slice) -> Sequences:
    """Some of the texts; all of them are X itself."""
    return X if (rows.start, rows.stop) == (0, len(X)) else X.take(range(rows.start, rows.stop))


def _halves(texts: slice) -> tuple[slice, slice]:
    middle = (texts.start + texts.stop) // 2
    return slice(texts.start, middle), slice(middle, texts.stop)


def _room(device: int) -> int:
    """Texts to a side of the largest block, its values in both precisions and as much again for the texts
    themselves.
    """
    with on_device(device):
        return max(1, int(np.sqrt(free_memory() / 32)))
