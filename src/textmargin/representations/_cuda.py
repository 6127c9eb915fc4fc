"""The subsequence kernel on GPUs, through CuPy: blocks of the matrix, computed in ssk.cu and brought to the host one by one.

Needs neither the compiled core nor CUDA's compiler; ssk.cu is compiled when it is first used, which takes seconds, and kept by CuPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..errors import DeviceError
from ._backends import Diagonal, Floats, Recipe, Report, check_result_size
from ._encode import Sequences
from ._layout import LANES, Layout
from ._packing import Columns, Rows, jobs

MOST_LENGTH = 32
_TILES_OF_RUN = (1, 4, 32)
_JOBS_OF_WARP = 8
_STEPS_OF_JOB = 4096
_LARGEST_BLOCK = 16384  # texts of either side
_WANTED = {"all": 0, "half": 1, "same": 2}
_ADVICE = "or use backend='cpu', which computes the same"


@cache
def missing() -> str | None:
    """What is missing for a GPU to be used, in words; None: nothing."""
    try:
        import cupy
    except ImportError as error:
        if getattr(error, "name", None) == "cupy":
            return "backend='cuda' needs CuPy, which is not installed: pip install 'textmargin[cuda]'"
        return f"backend='cuda' needs CuPy, which cannot be loaded ({error}); install the one for this driver's CUDA"
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
        version = min((cupy.cuda.Device(k).compute_capability for k in range(n_devices)), key=int, default="")
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "InsufficientDriver" in str(error):
            return f"backend='cuda' needs a newer NVIDIA driver than the one of this machine ({error}); update it"
        return f"backend='cuda' needs an NVIDIA GPU, and none can be used here ({error}); see what nvidia-smi says"
    if not n_devices:
        return "backend='cuda' needs an NVIDIA GPU, and this machine has none"
    if int(version) < 80:
        return f"backend='cuda' needs GPUs of compute capability 8.0 or more; this machine has one of {int(version) / 10}"
    return None


@dataclass(frozen=True)
class Cuda:
    """GPUs.

    Parameters
    ----------
    double : bool, whether states are kept in double precision
    devices : tuple of int, the GPUs that share the work; None: all
    """

    double: bool = False
    devices: tuple[int, ...] | None = None

    def diagonal(self, recipe: Recipe, X: Sequences, report: Report = None) -> Diagonal:
        """K of each text with itself."""
        layout = self._layout(recipe)
        with _explained(), _device(self._devices()[0]):
            import cupy

            longest = int(X.lengths.max(initial=0))
            halve = layout.halvings(recipe, longest, longest)
            rows, columns = Rows.of(X, recipe, layout, halve), Columns.of(X, recipe, layout, 1)
            K = cupy.zeros(len(X), layout.real)
            run = _Run(layout, recipe, halve, _OnDevice(rows), _OnDevice(columns))
            run.compare(K, "same", len(X), _share(report))
            values = recipe.match * K.get().astype(np.float64)[rows.rank]
        fraction, exponent = np.frexp(values)
        shift = halve * (recipe.length - 1)
        return Diagonal(fraction, np.where(fraction == 0, 0, exponent.astype(np.int64) + shift))

    def gram(
        self,
        recipe: Recipe,
        X: Sequences,
        Y: Sequences | None,
        diagonals: tuple[Diagonal, Diagonal],
        factor: float,
        report: Report = None,
    ) -> Floats:
        """K of all pairs times a factor, normalised where there are diagonals."""
        other = X if Y is None else Y
        check_result_size(len(X), len(other))
        layout, devices = self._layout(recipe), self._devices()
        K = np.empty((len(X), len(other)))
        with _explained():
            side = min(_LARGEST_BLOCK, min(_room(device) for device in devices))
            if len(devices) > 1:  # some blocks for each
                side = max(1, min(side, -(-max(len(X), len(other)) // (2 * len(devices)))))
            work = _Work(recipe, layout, X, Y, diagonals, factor, K, report)
            work.share(devices, side)
        return K

    def _layout(self, recipe: Recipe) -> Layout:
        if why := missing():
            raise DeviceError(f"{why}, {_ADVICE}.")
        if recipe.length > MOST_LENGTH:
            raise DeviceError(f"backend='cuda' compares subsequences of at most {MOST_LENGTH} symbols, not {recipe.length}; {_ADVICE}.")
        return Layout.of(recipe, self.double)

    def _devices(self) -> tuple[int, ...]:
        import cupy

        return self.devices or tuple(range(cupy.cuda.runtime.getDeviceCount()))


@dataclass
class _Work:
    """One matrix, block by block."""

    recipe: Recipe
    layout: Layout
    X: Sequences
    Y: Sequences | None
    diagonals: tuple[Diagonal, Diagonal]
    factor: float
    K: Floats
    report: Report

    def __post_init__(self) -> None:
        self.stop, self.lock, self.done = Event(), Lock(), 0.0
        self.total = float(self.K.size) * (0.5 if self.Y is None else 1.0)

    def share(self, devices: tuple[int, ...], side: int) -> None:
        """Blocks of at most so many texts to a side, each to the next GPU that is free."""
        blocks: SimpleQueue[tuple[slice, slice]] = SimpleQueue()
        n_rows, n_columns = self.K.shape
        for row in range(0, n_rows, side):
            for column in range(row if self.Y is None else 0, n_columns, side):
                blocks.put((slice(row, min(row + side, n_rows)), slice(column, min(column + side, n_columns))))
        if len(devices) == 1:
            return self._drain(devices[0], blocks)
        with ThreadPoolExecutor(len(devices)) as pool:
            tasks = [pool.submit(self._drain, device, blocks) for device in devices]
            try:
                for task in tasks:
                    task.result()
            except BaseException:
                self.stop.set()
                raise
        return None

    def _drain(self, device: int, blocks: SimpleQueue[tuple[slice, slice]]) -> None:
        with _device(device):
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
            found = self._compute(rows, columns)
            self.K[rows, columns] = found.get()
            if self.Y is None and rows != columns:
                self.K[columns, rows] = cupy.ascontiguousarray(found.T).get()
            return
        except cupy.cuda.memory.OutOfMemoryError:
            n_rows, n_columns = rows.stop - rows.start, columns.stop - columns.start
            if n_rows * n_columns <= LANES:
                raise
            cupy.get_default_memory_pool().free_all_blocks()
        if self.Y is None and rows == columns:
            first, second = _halves(rows)
            parts = [(first, first), (first, second), (second, second)]
        elif n_rows >= n_columns:
            parts = [(half, columns) for half in _halves(rows)]
        else:
            parts = [(rows, half) for half in _halves(columns)]
        for part in parts:
            self._block(*part)

    def _compute(self, rows: slice, columns: slice) -> Any:
        """A block, on the GPU, normalised and in the caller's order."""
        import cupy

        symmetric = self.Y is None and rows == columns
        X, Y = _part(self.X, rows), _part(self.X if self.Y is None else self.Y, columns)
        halve = self.layout.halvings(self.recipe, int(X.lengths.max(initial=0)), int(Y.lengths.max(initial=0)))
        rows_there = _OnDevice(Rows.of(X, self.recipe, self.layout, halve))
        columns_there = _resident(Y, self.recipe, self.layout, len(rows_there.host.stream))
        run = _Run(self.layout, self.recipe, halve, rows_there, columns_there)
        K = cupy.zeros((len(X), len(Y)), self.layout.real)
        weight = K.size * (0.5 if symmetric else 1.0) / self.total
        run.compare(K, "half" if symmetric else "all", len(Y), self._progress(weight))
        diagonals = [diagonal.take(part) for diagonal, part in zip(self.diagonals, (rows, columns), strict=True)]
        return run.arrange(K, symmetric, diagonals, self.factor)

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


@dataclass
class _Run:
    """Rows and columns on the current GPU, and what is made of them."""

    layout: Layout
    recipe: Recipe
    halve: int
    rows: _OnDevice
    columns: _OnDevice

    def compare(self, K: Any, wanted: str, stride: int, note: Callable[[float], None]) -> None:
        """K of all jobs, in the order of lengths."""
        import cupy

        rows, columns = self.rows.host, self.columns.host
        todo, work = jobs(rows, columns, wanted, max(_STEPS_OF_JOB, rows.longest))
        if not len(todo):
            return
        edge_size = int((todo["last_step"] - todo["first_step"]).max()) + 2 * LANES  # with room at both ends
        n_warps = min(len(todo), cupy.cuda.Device().attributes["MultiProcessorCount"] * self.layout.warps)
        n_warps = max(1, min(n_warps, cupy.cuda.runtime.memGetInfo()[0] // 4 // (edge_size * self.layout.edge_bytes)))
        edges = cupy.empty(n_warps * edge_size * self.layout.edge_bytes, np.uint8)
        on_device, next_job = cupy.asarray(_plain(todo)), cupy.zeros(1, np.int32)
        c, r = self.columns, self.rows
        arguments = (
            self.layout.constants(self.recipe, self.halve),
            *(c["symbol"], c["c"], c["inverse"], c["past"], c["lane"], r["stream"]),
            *(K, np.int64(stride), np.int32(_WANTED[wanted])),
            *(on_device, np.int32(len(todo)), next_job, edges, np.int64(edge_size)),
        )
        cupy.cuda.get_current_stream().synchronize()
        working, asking = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
        with working:
            self._function("compare")((n_warps,), (LANES,), arguments)
            finished = cupy.cuda.Event(disable_timing=True)
            finished.record()
        try:
            pause = 2e-5
            while not finished.done:
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
                if pause > 0.01:
                    at = int(next_job.get(stream=asking)[0]) - n_warps
                    note(work[at] / work[-1] if 0 <= at < len(work) else 0.0 if at < 0 else 1.0)
        except BaseException:
            with asking:
                next_job.fill(np.iinfo(np.int32).max // 2)  # nobody takes another job
            working.synchronize()
            raise
        working.synchronize()
        note(1.0)

    def arrange(self, K: Any, symmetric: bool, diagonals: list[Diagonal], factor: float) -> Any:
        """From the order of lengths to the caller's, normalised where there are diagonals."""
        import cupy

        out = cupy.empty(K.shape)
        scales: list[Any] = [None] * 4
        if diagonals[0].fraction.size:
            scales = [part for diagonal in diagonals for part in map(cupy.asarray, _inverse_root(diagonal))]
        arguments = (
            *(K, np.int64(K.shape[1]), np.int32(symmetric), self.rows["rank"], self.columns["rank"]),
            *(np.int64(K.shape[0]), np.int64(K.shape[1]), *scales, np.float64(factor * self.recipe.match)),
            *(np.int64(self.halve * (self.recipe.length - 1)), out),
        )
        self._function("arrange")((min(65535, -(-K.size // 256)),), (256,), arguments)
        return out

    def _function(self, name: str) -> Any:
        import cupy

        options = self.layout.options + self.layout.compiled_in(self.recipe, self.halve)
        return _module(options, cupy.cuda.Device().id).get_function(name)


class _OnDevice:
    """The arrays of Rows or Columns on the current GPU."""

    def __init__(self, host: Any) -> None:
        import cupy

        self.host = host
        self.arrays = {name: cupy.asarray(_plain(value)) for name, value in vars(host).items() if isinstance(value, np.ndarray)}

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]


_kept: WeakKeyDictionary[Sequences, dict[Any, _OnDevice]] = WeakKeyDictionary()
_kept_lock = Lock()


def _resident(Y: Sequences, recipe: Recipe, layout: Layout, n_steps: int) -> _OnDevice:
    """Columns stay on the GPU as long as their texts are kept: those that new texts are compared with again and again.

    Long runs of tiles leave fewer lanes empty at their ends; short ones are more jobs, where there is little to do.
    """
    import cupy

    n_tiles = -(-Y.lengths // layout.columns).sum() / LANES
    n_jobs = n_tiles * max(1.0, n_steps / _STEPS_OF_JOB) / (cupy.cuda.Device().attributes["MultiProcessorCount"] * layout.warps)
    tiles_of_run = max((n for n in _TILES_OF_RUN if n_jobs >= _JOBS_OF_WARP * n), default=1)
    key = cupy.cuda.Device().id, layout, tiles_of_run, b"" if layout.uniform else recipe.gap.tobytes()
    with _kept_lock:
        kept = _kept.setdefault(Y, {})
    if key not in kept:
        for other in [other for other in kept if other[1:2] != key[1:2] or other[3:] != key[3:]]:
            kept.pop(other, None)  # under other settings they are packed anew
        kept[key] = _OnDevice(Columns.of(Y, recipe, layout, tiles_of_run))
    return kept[key]


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Records as bytes, which CuPy can hold."""
    return values.view(np.uint8) if values.dtype.names else values


def _part(X: Sequences, rows: slice) -> Sequences:
    """Some of the texts; all of them are X itself."""
    return X if (rows.start, rows.stop) == (0, len(X)) else X.take(range(rows.start, rows.stop))


def _halves(texts: slice) -> tuple[slice, slice]:
    middle = (texts.start + texts.stop) // 2
    return slice(texts.start, middle), slice(middle, texts.stop)


def _inverse_root(K: Diagonal) -> tuple[Floats, Any]:
    """1/√K in the same form; 0 where K is 0, so that such a text is like no other."""
    odd = K.exponent % 2
    with np.errstate(divide="ignore"):
        fraction, exponent = np.frexp(1 / np.sqrt(K.fraction * (1 + odd)))
    zero = K.fraction == 0
    return np.where(zero, 0.0, fraction), np.where(zero, 0, exponent - (K.exponent - odd) // 2)


def _share(report: Report) -> Callable[[float], None]:
    def note(share: float) -> None:
        if report is not None:
            report(share)

    return note


def _room(device: int) -> int:
    """Texts to a side of the largest block, its values in both precisions and as much again for the texts themselves."""
    import cupy

    with _device(device):
        free, _ = cupy.cuda.runtime.memGetInfo()
        free += cupy.get_default_memory_pool().free_bytes()
    return max(1, int(np.sqrt(free / 32)))


@cache
def _module(options: tuple[str, ...], device: int) -> Any:
    """ssk.cu, compiled for a GPU."""
    import cupy

    source = files("textmargin.representations").joinpath("ssk.cu").read_text(encoding="utf-8")
    return cupy.RawModule(code=source, options=options)


@contextmanager
def _device(number: int) -> Iterator[None]:
    import cupy

    with cupy.cuda.Device(number):
        yield


@contextmanager
def _explained() -> Iterator[None]:
    """CuPy's errors, in words that help."""
    import cupy
    from cupy.cuda.compiler import CompileException

    try:
        yield
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise DeviceError(f"The GPU's memory is too small even for a few texts at a time ({error}); free some, {_ADVICE}.") from error
    except (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError) as error:
        raise DeviceError(
            f"The GPU failed ({error}), and nothing was returned. Start a new process, see what nvidia-smi says, {_ADVICE}."
        ) from error
    except (CompileException, cupy.cuda.nvrtc.NVRTCError) as error:
        raise DeviceError(f"ssk.cu cannot be compiled for this GPU ({str(error)[:500]}); update CuPy and the driver, {_ADVICE}.") from error
