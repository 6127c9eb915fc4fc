"""Texts on the current GPU, and ssk.cu run over them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..errors import DeviceError
from ._backends import Diagonal, KernelSpec
from ._layout import LANES, Layout
from ._packing import PackedColumns, jobs
from .encode import Sequences

ADVICE = "or use backend='cpu', which computes the same"

_TILES_OF_RUN = (1, 4, 32)
_JOBS_OF_WARP = 8
_STEPS_OF_JOB = 4096
_WANTED = {"all": 0, "half": 1, "same": 2}


class OnDevice:
    """The arrays of PackedRows or PackedColumns on the current GPU."""

    def __init__(self, host: Any) -> None:
        import cupy

        self.host = host
        self.arrays = {
            name: cupy.asarray(_plain(value))
            for name, value in vars(host).items()
            if isinstance(value, np.ndarray)
        }

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]


@dataclass
class Comparison:
    """Rows and columns on the current GPU, and what is made of them."""

    layout: Layout
    spec: KernelSpec
    halve: int
    rows: OnDevice
    columns: OnDevice

    @property
    def exponent(self) -> int:
        """Of what K stands for: 2^exponent times as much."""
        return self.halve * (self.spec.length - 1)

    def compare(self, K: Any, wanted: str, stride: int, note: Callable[[float], object]) -> None:
        """K of all jobs, in the order of lengths."""
        import cupy

        rows, columns = self.rows.host, self.columns.host
        todo, work = jobs(rows, columns, wanted, max(_STEPS_OF_JOB, rows.longest))
        if not len(todo):
            note(1.0)
            return
        # a tile's before, a tile's and kAhead after
        edge_size = int((todo["last_step"] - todo["first_step"]).max()) + 3 * LANES
        n_warps = min(len(todo), cupy.cuda.Device().attributes["MultiProcessorCount"] * self.layout.warps)
        n_warps = max(1, min(n_warps, free_memory() // 4 // (edge_size * self.layout.edge_bytes)))
        edges = cupy.empty(n_warps * edge_size * self.layout.edge_bytes, np.uint8)
        on_device, next_job = cupy.asarray(_plain(todo)), cupy.zeros(1, np.int32)
        c, r = self.columns, self.rows
        arguments = (
            self.layout.constants(self.spec, self.halve),
            *(c["symbol"], c["c"], c["inverse"], c["past"], c["lane"], r["stream"]),
            *(K, np.int64(stride), np.int32(_WANTED[wanted])),
            *(on_device, np.int32(len(todo)), next_job, edges, np.int64(edge_size)),
        )
        cupy.cuda.get_current_stream().synchronize()
        working, asking = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
        try:  # from here on: what it works with must not be freed before it has ended
            with working:
                self._function("compare")((n_warps,), (LANES,), arguments)
                finished = cupy.cuda.Event(disable_timing=True)
                finished.record()
            pause = 2e-5
            while not finished.done:
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
                if pause > 0.01:
                    at = int(next_job.get(stream=asking)[0]) - n_warps
                    note(work[at] / work[-1] if 0 <= at < len(work) else 0.0 if at < 0 else 1.0)
        except BaseException:
            # Nobody takes another job. Copied, not filled: a kernel of CuPy's would wait for registers, which
            # this one has all.
            next_job.set(np.array([np.iinfo(np.int32).max // 2], np.int32), stream=asking)
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
            *(np.int64(K.shape[0]), np.int64(K.shape[1]), *scales, np.float64(factor * self.spec.match)),
            *(np.int64(self.exponent), out),
        )
        self._function("arrange")((min(65535, -(-K.size // 256)),), (256,), arguments)
        return out

    def _function(self, name: str) -> Any:
        import cupy

        options = self.layout.options + self.layout.compiled_in(self.spec, self.halve)
        return _module(options, cupy.cuda.Device().id).get_function(name)


_resident: WeakKeyDictionary[Sequences, dict[Any, OnDevice]] = WeakKeyDictionary()
_kept_lock = Lock()


def resident_columns(Y: Sequences, spec: KernelSpec, layout: Layout, n_steps: int) -> OnDevice:
    """Columns stay on the GPU as long as their texts are kept: those that new texts are compared with again
    and again.

    Long runs of tiles leave fewer lanes empty at their ends; short ones are more jobs, where there is little
    to do.
    """
    import cupy

    n_tiles = -(-Y.lengths // layout.columns).sum() / LANES
    n_jobs = (
        n_tiles
        * max(1.0, n_steps / _STEPS_OF_JOB)
        / (cupy.cuda.Device().attributes["MultiProcessorCount"] * layout.warps)
    )
    tiles_of_run = max((n for n in _TILES_OF_RUN if n_jobs >= _JOBS_OF_WARP * n), default=1)
    # not of symbols that others have
    gaps = b"" if layout.uniform else spec.gap[: int(Y.codes.max(initial=-1)) + 1].tobytes()
    key = cupy.cuda.Device().id, layout, tiles_of_run, gaps
    with _kept_lock:
        kept = _resident.setdefault(Y, {})
        if key in kept:
            return kept[key]
        for other in [other for other in kept if other[1:2] != key[1:2] or other[3:] != key[3:]]:
            del kept[other]  # under other settings they are packed anew
    found = OnDevice(PackedColumns.of(Y, spec, layout, tiles_of_run))
    with _kept_lock:
        kept[key] = found
    return found


def make_room() -> None:
    """All that is kept goes from the GPU, where memory is wanted for other things."""
    import cupy

    with _kept_lock:
        _resident.clear()
    cupy.get_default_memory_pool().free_all_blocks()


def free_memory() -> int:
    """Bytes of the current GPU that are free, or kept by CuPy for the next to ask."""
    import cupy

    return int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Records as bytes, which CuPy can hold."""
    return values.view(np.uint8) if values.dtype.names else values


def _inverse_root(K: Diagonal) -> tuple[Floats, Any]:
    """1/√K in the same form; 0 where K is 0, so that such a text is like no other."""
    odd = K.exponent % 2
    with np.errstate(divide="ignore"):
        fraction, exponent = np.frexp(1 / np.sqrt(K.fraction * (1 + odd)))
    zero = K.fraction == 0
    return np.where(zero, 0.0, fraction), np.where(zero, 0, exponent - (K.exponent - odd) // 2)


@cache
def _module(options: tuple[str, ...], device: int) -> Any:
    """ssk.cu, compiled for a GPU."""
    import cupy

    source = files("textmargin.representations").joinpath("ssk.cu").read_text(encoding="utf-8")
    return cupy.RawModule(code=source, options=options)


@contextmanager
def on_device(number: int) -> Iterator[None]:
    import cupy

    with cupy.cuda.Device(number):
        yield


@contextmanager
def explain_errors() -> Iterator[None]:
    """CuPy's errors, in words that help."""
    import cupy
    from cupy.cuda.compiler import CompileException

    try:
        yield
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise DeviceError(
            f"The GPU's memory is too small even for two texts at a time ({error}); free some, {ADVICE}."
        ) from error
    except (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError) as error:
        raise DeviceError(
            f"The GPU failed ({error}), and nothing was returned. Start a new process, see what "
            f"nvidia-smi says, {ADVICE}."
        ) from error
    except (CompileException, cupy.cuda.nvrtc.NVRTCError) as error:
        raise DeviceError(
            f"ssk.cu cannot be compiled for this GPU ({str(error)[:500]}); update CuPy and the driver, "
            f"{ADVICE}."
        ) from error
