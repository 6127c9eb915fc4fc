"""As much of CuPy as is used here, with ssk.cu compiled for the processor: its logic, and what goes wrong,
without a GPU.
"""

import ctypes
import hashlib
import mmap
import subprocess
import sys
import threading
import types
import weakref
from contextlib import nullcontext
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
_COMPARE = """
extern "C" void emulated_compare(int n_blocks, const Constants* constants, const int* symbols, const Real* c,
    const Real* inverse, const Real* past, const int2* lanes, const Row* rows, Real* K, long long stride,
    int wanted, const Job* jobs, int n_jobs, int* next_job, Edge* edges, long long edge_size) {
    for (blockIdx.x = 0; blockIdx.x < n_blocks; ++blockIdx.x)
        warp::run([&] {
            compare(*constants, symbols, c, inverse, past, lanes, rows, K, stride, wanted, jobs, n_jobs,
                    next_job, edges, edge_size);
        });
}
extern "C" void emulated_arrange(const Real* K, long long stride, int symmetric, const int* row_rank,
    const int* column_rank, long long n_rows, long long n_columns, const double* row_fraction,
    const long long* row_exponent, const double* column_fraction, const long long* column_exponent,
    double factor, long long exponent, double* out) {
    threadIdx.x = blockIdx.x = 0, blockDim.x = gridDim.x = 1;
    arrange(K, stride, symmetric, row_rank, column_rank, n_rows, n_columns, row_fraction, row_exponent,
            column_fraction, column_exponent, factor, exponent, out);
}
"""


class DeviceFailure(RuntimeError):
    """Of the runtime or the driver."""


class MemoryFull(MemoryError):
    """Of the device."""


class OnDevice(np.ndarray):
    """An array that says that it is on the device."""

    device = nullcontext()

    def get(self, stream=None):
        return np.asarray(self).copy()

    def set(self, values, stream=None):
        if (values.dtype, values.shape) != (self.dtype, self.shape):
            raise TypeError("CuPy sets arrays of the same type and shape only")
        self[...] = values


class EmulatedGpu:
    """One GPU, or several.

    Parameters
    ----------
    folder : where compiled code goes
    n_bytes : what the device's memory holds
    n_devices : how many there are
    """

    def __init__(self, folder, n_bytes=1 << 30, n_devices=1):
        self.folder = Path(folder)
        self.n_bytes = n_bytes
        self.n_devices = n_devices
        self.n_warps = 3  # few enough that each has several jobs
        self.failure = None  # what a launch raises
        self.n_questions = 0  # how often a launch that is asked for its end has not come to it
        self.launches = 0
        self.in_use = 0
        self.devices_used = set()
        self.one_at_a_time = threading.Lock()  # lanes are kept in one place

    def module(self):
        """What stands for `cupy`."""
        gpu, here = self, threading.local()

        class Device:
            compute_capability = "90"
            attributes = {"MultiProcessorCount": 1}

            def __init__(self, number=None):
                self.id = getattr(here, "device", 0) if number is None else number

            def __enter__(self):
                here.device = self.id
                gpu.devices_used.add(self.id)
                return self

            def __exit__(self, *error):
                return False

        class Stream:
            def __init__(self, non_blocking=False): ...
            def __enter__(self):
                return self

            def __exit__(self, *error):
                return False

            def synchronize(self): ...

        class Event:
            def __init__(self, disable_timing=False): ...
            def record(self):
                self.asked = 0

            @property
            def done(self):
                self.asked += 1
                return self.asked > gpu.n_questions

        class Pool:
            def free_bytes(self):
                return 0

            def free_all_blocks(self): ...

        class RawModule:
            def __init__(self, code, options):
                self.library = gpu._compiled(code, options)
                self.real = np.float64 if "-DREAL=double" in options else np.float32

            def get_function(self, name):
                return lambda grid, block, arguments: gpu._launch(self.library, name, grid, arguments)

        def array(make):
            def made(*arguments, **options):
                found = make(*arguments, **options)
                if gpu.in_use + found.nbytes > gpu.n_bytes:
                    raise MemoryFull(f"out of memory allocating {found.nbytes:,} bytes")
                found = _with_nothing_after(found).view(OnDevice)
                gpu.in_use += found.nbytes
                weakref.finalize(found, gpu._freed, found.nbytes).atexit = False
                return found

            return made

        cupy, cuda = types.ModuleType("cupy"), types.ModuleType("cupy.cuda")
        compiler, nvrtc = (
            types.ModuleType("cupy.cuda.compiler"),
            types.SimpleNamespace(
                NVRTCError=type("NVRTCError", (RuntimeError,), {}), getVersion=lambda: (12, 8)
            ),
        )
        compiler.CompileException = type("CompileException", (Exception,), {})
        cuda.Device, cuda.Stream, cuda.Event, cuda.nvrtc, cuda.compiler = (
            Device,
            Stream,
            Event,
            nvrtc,
            compiler,
        )
        cuda.get_current_stream = Stream
        cuda.memory = types.SimpleNamespace(OutOfMemoryError=MemoryFull)
        cuda.driver = types.SimpleNamespace(CUDADriverError=DeviceFailure)
        cuda.runtime = types.SimpleNamespace(
            CUDARuntimeError=DeviceFailure,
            getDeviceCount=lambda: gpu.n_devices,
            memGetInfo=lambda: (gpu.n_bytes - gpu.in_use, gpu.n_bytes),
        )
        cupy.cuda, cupy.RawModule, cupy.get_default_memory_pool = cuda, RawModule, Pool
        cupy.zeros, cupy.empty, cupy.asarray, cupy.ascontiguousarray, cupy.triu = map(
            array, (np.zeros, np.empty, np.array, np.ascontiguousarray, np.triu)
        )
        cupy.__getattr__ = lambda name: getattr(np, name)  # all that is called as NumPy calls it
        return {"cupy": cupy, "cupy.cuda": cuda, "cupy.cuda.compiler": compiler}

    def _freed(self, n_bytes):
        self.in_use -= n_bytes

    def _compiled(self, code, options):
        name = hashlib.sha256(repr(options).encode()).hexdigest()[:16]
        library = self.folder / f"{name}.so"
        with self.one_at_a_time:
            self._compile(code, options, library)
        return ctypes.CDLL(str(library))

    def _compile(self, code, options, library):
        if not library.exists():
            source = library.with_suffix(".cpp")
            source.write_text(f'#include "{HERE / "warp.hpp"}"\n{code}\n{_COMPARE}', encoding="utf-8")
            wanted = [option for option in options if option.startswith("-D")]
            subprocess.run(
                [
                    "g++",
                    "-std=c++20",
                    "-O1",
                    "-mfma",
                    "-w",
                    "-shared",
                    "-fPIC",
                    *wanted,
                    str(source),
                    "-o",
                    str(library),
                ],
                check=True,
            )

    def _launch(self, library, name, grid, arguments):
        self.launches += 1
        if self.failure is not None:
            raise self.failure
        plain = [_argument(value) for value in arguments]
        with self.one_at_a_time:
            if name == "compare":
                library.emulated_compare(ctypes.c_int(min(grid[0], self.n_warps)), *plain)
            else:
                library.emulated_arrange(*plain)

    def install(self, monkeypatch):
        """Instead of CuPy, whether that is there or not."""
        from textmargin.representations import _cuda, _device

        for name, module in self.module().items():
            monkeypatch.setitem(sys.modules, name, module)
        for cached in (_cuda.missing, _device._module):
            cached.cache_clear()
        _device._resident.clear()
        return self


def _with_nothing_after(values):
    """A copy that ends where memory does, so that code that reads or writes beyond it is stopped (by a
    segmentation fault).
    """
    n_bytes = -(-max(values.nbytes, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, n_bytes + mmap.PAGESIZE)
    after = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(pages)) + n_bytes)
    assert ctypes.CDLL(None).mprotect(after, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    copy = np.frombuffer(pages, values.dtype, values.size, n_bytes - values.nbytes).reshape(values.shape)
    copy[...] = values
    return copy


def _argument(value):
    if value is None:
        return ctypes.c_void_p(None)
    if isinstance(value, np.ndarray):
        return value.ctypes.data_as(ctypes.c_void_p)
    return {np.int32: ctypes.c_int, np.int64: ctypes.c_longlong, np.float64: ctypes.c_double}[type(value)](
        value
    )


def texts(*lengths, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abcde "), n)) for n in lengths]


def close(K, exact, double=False):
    np.testing.assert_allclose(K, exact, rtol=1e-12 if double else 1e-5, atol=1e-30)
