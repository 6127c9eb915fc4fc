"""What may go wrong with a GPU, on an emulated one: clear words, no numbers, and the processor as before."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import emulated_gpu
import numpy as np
import pytest
from emulated_gpu import DeviceFailure, close, texts

from textmargin import SubsequenceKernel
from textmargin.errors import DeviceError, TooLargeError
from textmargin.representations import _backends, _cuda, _packing


def test_blocks_that_do_not_fit_after_all_are_halved(gpu, monkeypatch):
    monkeypatch.setattr(_cuda, "_room", lambda device: 100)  # others took the memory since it was asked for
    X, Y = texts(*range(5, 45)), texts(9, 70, 31)
    gpu.n_bytes = 12_000
    kernel = SubsequenceKernel(3, backend="cuda")
    close(kernel(X), SubsequenceKernel(3, backend="cpu")(X))
    close(kernel(X, Y), SubsequenceKernel(3, backend="cpu")(X, Y))


def test_what_did_not_fit_is_let_go_before_half_of_it_is_tried(gpu, monkeypatch):
    held = []
    monkeypatch.setattr(_cuda, "make_room", lambda make=_cuda.make_room: make() or held.append(gpu.in_use))
    monkeypatch.setattr(_cuda, "_room", lambda device: 100)
    gpu.n_bytes = 12_000
    kernel = SubsequenceKernel(3, backend="cuda").fit(texts(*range(5, 45)))
    kernel.transform(texts(9, 70, 31))
    assert len(held) > 2
    assert set(held) == {0}


def test_memory_for_not_even_two_texts(gpu):
    gpu.n_bytes = 40
    with pytest.raises(DeviceError, match=r"memory is too small even for two texts.*backend='cpu'"):
        SubsequenceKernel(3, backend="cuda")(texts(50, 60))


def test_one_of_several_gpus_that_is_lost_stops_the_others(gpu, monkeypatch):
    monkeypatch.setattr(_cuda, "_SHARED_CELLS", 0)
    gpu.n_devices, others_begun = 2, []

    def block(work, rows, columns):
        import cupy

        if cupy.cuda.Device().id == 1:
            raise DeviceFailure("cudaErrorDeviceUnavailable")
        others_begun.append(rows)
        assert work.stop.wait(10)  # until the first is told

    monkeypatch.setattr(_cuda._Work, "_block", block)
    with pytest.raises(DeviceError, match="cudaErrorDeviceUnavailable"):
        SubsequenceKernel(3, backend="cuda", normalize=False)(texts(*range(5, 45)))
    assert len(others_begun) <= 1


def test_ctrl_c_stops_several_gpus(gpu, monkeypatch):
    monkeypatch.setattr(_cuda, "_SHARED_CELLS", 0)
    gpu.n_devices, stopped = 2, []

    def block(work, rows, columns):
        if rows.start == columns.start == 0:  # one of them
            os.kill(os.getpid(), signal.SIGINT)
        stopped.append(work.stop.wait(10))

    monkeypatch.setattr(_cuda._Work, "_block", block)
    with pytest.raises(KeyboardInterrupt):
        SubsequenceKernel(3, backend="cuda", normalize=False)(texts(*range(5, 45)))
    assert all(stopped)


@pytest.mark.parametrize("n_devices", [1, 2])
def test_a_gpu_that_is_lost_returns_no_numbers_and_leaves_the_processor_alone(gpu, monkeypatch, n_devices):
    monkeypatch.setattr(_cuda, "_SHARED_CELLS", 0)
    gpu.n_devices = n_devices
    gpu.failure = DeviceFailure("cudaErrorDeviceUnavailable: the device fell off the bus")
    X = texts(50, 60)
    with pytest.raises(
        DeviceError, match=r"The GPU failed .cudaErrorDeviceUnavailable.*nothing was returned.*backend='cpu'"
    ):
        SubsequenceKernel(3, backend="cuda")(X)
    assert np.isfinite(SubsequenceKernel(3, backend="cpu")(X)).all()


def test_an_interruption_is_not_swallowed(gpu):
    def interrupted(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SubsequenceKernel(3, backend="cuda", progress=interrupted)(texts(50, 60))


@pytest.mark.parametrize("n_devices", [1, 2])
def test_an_interruption_while_it_computes_takes_the_jobs_away(gpu, monkeypatch, n_devices):
    import cupy

    def interrupted(share):
        raise KeyboardInterrupt

    taken = []
    set_array = type(cupy.zeros(1)).set
    monkeypatch.setattr(
        type(cupy.zeros(1)), "set", lambda self, *a, **k: taken.append(a[0][0]) or set_array(self, *a, **k)
    )
    monkeypatch.setattr(_cuda, "_SHARED_CELLS", 0)
    gpu.n_devices, gpu.n_questions = n_devices, 20
    with pytest.raises(KeyboardInterrupt):
        SubsequenceKernel(3, backend="cuda", normalize=False, progress=interrupted)(texts(*range(5, 45)))
    assert min(taken) > 1e9


def test_more_symbols_than_ints_can_number(gpu, monkeypatch):
    monkeypatch.setattr(_packing, "MOST_PLACES", 100)
    with pytest.raises(
        TooLargeError, match=r"2 texts with 250 symbols are more than a GPU can number; compare fewer"
    ):
        SubsequenceKernel(3, backend="cuda")(texts(100, 150))


def test_an_older_gpu_beside_it_is_left_alone(gpu, monkeypatch):
    import cupy

    gpu.n_devices = 2
    monkeypatch.setattr(
        cupy.cuda.Device, "compute_capability", property(lambda device: ["61", "90"][device.id])
    )
    SubsequenceKernel(3, backend="cuda")(texts(20, 30))
    assert gpu.devices_used == {1}


def test_subsequences_longer_than_it_can(gpu):
    with pytest.raises(DeviceError, match=r"at most 32 symbols, not 40.*backend='cpu'"):
        SubsequenceKernel(40, backend="cuda")(texts(50, 60))


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ({"cupy": None}, "needs CuPy, which is not installed: pip install 'textmargin.cuda.'"),
        ({"n_devices": 0}, "needs an NVIDIA GPU, and this machine has none"),
        (
            {"error": "cudaErrorNoDevice: no CUDA-capable device is detected"},
            "none can be used here .*nvidia-smi",
        ),
        (
            {"error": "cudaErrorInsufficientDriver: driver version is insufficient"},
            "driver, and this machine's is too old or not",
        ),
        ({"capability": "75"}, "compute capability 8.0 or more; this machine has one of 7.5"),
        (
            {"nvrtc": "CuPy failed to load libnvrtc.so.12"},
            "needs NVRTC of CUDA, which CuPy cannot load .*libnvrtc",
        ),
    ],
    ids=str,
)
def test_what_is_missing_is_named_and_auto_does_without(gpu, monkeypatch, trouble, words):
    import cupy

    def failing():
        raise DeviceFailure(trouble.get("error") or trouble["nvrtc"])

    if "cupy" in trouble:
        monkeypatch.setitem(sys.modules, "cupy", None)
    if "error" in trouble:
        monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", failing)
    if "nvrtc" in trouble:
        monkeypatch.setattr(cupy.cuda.nvrtc, "getVersion", failing)
    if "capability" in trouble:
        monkeypatch.setattr(cupy.cuda.Device, "compute_capability", trouble["capability"])
    gpu.n_devices = trouble.get("n_devices", 1)
    X = texts(20, 30)
    with pytest.raises(DeviceError, match=words + ".*backend='cpu'"):
        SubsequenceKernel(3, backend="cuda")(X)
    monkeypatch.setattr(_backends, "AUTO_CELLS", 0)
    np.testing.assert_array_equal(SubsequenceKernel(3)(X), SubsequenceKernel(3, backend="cpu")(X))


def test_a_cupy_that_fails_while_it_is_loaded_is_named_and_auto_does_without(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("raise ValueError('numpy.dtype size changed')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(_backends, "AUTO_CELLS", 0)
    _cuda.missing.cache_clear()
    try:
        with pytest.raises(
            DeviceError, match=r"CuPy, which cannot be loaded .*numpy.dtype size changed.*backend='cpu'"
        ):
            SubsequenceKernel(3, backend="cuda")(["car", "cat"])
        assert SubsequenceKernel(2)(["car", "cat"]).shape == (2, 2)
    finally:
        _cuda.missing.cache_clear()


def test_it_does_without_the_compiled_core(compiled):
    """Which is then missed by name, and only where it is asked for."""
    script = f"""
import sys
sys.modules["textmargin.core"] = None
sys.path.append({str(Path(emulated_gpu.__file__).parent)!r})
from emulated_gpu import EmulatedGpu
sys.modules.update(EmulatedGpu({str(compiled)!r}).module())
from textmargin import SubsequenceKernel
print([round(float(SubsequenceKernel(2, backend=name)(["car"], ["cat"])[0, 0]), 4)
       for name in ("cuda", "auto")])
try:
    SubsequenceKernel(2, backend="cpu")(["car", "cat"])
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "[0.4444, 0.4444]\n" in found
    assert "backend='cpu' needs the compiled core" in found
    assert "backend='cuda'" in found
