"""ssk.cu and what drives it, on an emulated GPU: the same values as the compiled core, and clear words where something lacks."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from emulated_gpu import DeviceFailure, EmulatedGpu
from hypothesis import given
from hypothesis import strategies as st

from textmargin import KernelSVC, SubsequenceKernel
from textmargin.errors import DeviceError
from textmargin.representations import _backends, _cuda, _device
from textmargin.representations._backends import Recipe
from textmargin.representations._encode import encode
from textmargin.representations._layout import LANES, Layout
from textmargin.representations._packing import Columns, Rows, jobs

SETTINGS = [
    {"length": 5},
    {"length": 1},
    {"length": 5, "decay": 0.01},  # c starts anew within a lane
    {"length": 3, "decay": 1.0},
    {"length": 3, "weights": [1, 0.5, 2.0]},
    {"length": 5, "gap_decay": {"a": 0.9, "b": 0.1, "c": 0.01}},
    {"length": 2, "decay": 0.97},
    {"length": 4, "decay": 0.3, "weights": [0, 1, 0, 1], "precision": "double", "gap_decay": {" ": 1.0}},
    {"length": 9, "decay": 0.99},  # which takes double precision
]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    return tmp_path_factory.mktemp("emulated")


@pytest.fixture
def gpu(compiled, monkeypatch):
    yield EmulatedGpu(compiled).install(monkeypatch)
    for cached in (_cuda.missing, _device._module):
        cached.cache_clear()


def texts(*lengths, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abcde "), n)) for n in lengths]


def close(K, exact, double=False):
    np.testing.assert_allclose(K, exact, rtol=1e-12 if double else 1e-5, atol=1e-30)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_equals_the_compiled_core(gpu, options, normalize):
    """Empty texts, texts of a lane or less, texts that fill a tile and go on in the next."""
    X, Y = texts(0, 3, 22, 23, 90, 900), texts(30, 1, 0, 720, 23, seed=1)
    there = SubsequenceKernel(**options, backend="cuda", normalize=normalize)
    here = SubsequenceKernel(**{**options, "precision": "double"}, backend="cpu", normalize=normalize)
    double = options.get("precision") == "double" or options["length"] == 9
    close(there(X), here(X), double)
    close(there(X, Y), here(X, Y), double)
    close(there.diag(X), here.diag(X), double)
    assert gpu.launches


def test_a_matrix_larger_than_the_gpus_memory_comes_in_blocks(gpu):
    X, Y = texts(*range(5, 65)), texts(9, 70, 31)
    exact = SubsequenceKernel(3, backend="cpu")
    gpu.n_bytes = 32 * 24**2  # blocks of 24 × 24 texts
    kernel = SubsequenceKernel(3, backend="cuda")
    close(kernel(X), exact(X))
    close(kernel(X, Y), exact(X, Y))
    assert max(gpu.allocated) <= gpu.n_bytes


def test_blocks_that_do_not_fit_after_all_are_halved(gpu, monkeypatch):
    monkeypatch.setattr(_cuda, "_room", lambda device: 100)  # others took the memory since it was asked for
    X, Y = texts(*range(5, 45)), texts(9, 70, 31)
    gpu.n_bytes = 9_000
    kernel = SubsequenceKernel(3, backend="cuda")
    close(kernel(X), SubsequenceKernel(3, backend="cpu")(X))
    close(kernel(X, Y), SubsequenceKernel(3, backend="cpu")(X, Y))


def test_memory_for_not_even_a_few_texts(gpu):
    gpu.n_bytes = 40
    with pytest.raises(DeviceError, match=r"memory is too small even for a few texts.*backend='cpu'"):
        SubsequenceKernel(3, backend="cuda")(texts(50, 60))


def test_several_gpus_share_the_blocks(gpu):
    gpu.n_devices = 3
    X = texts(*range(5, 45))
    shares = []
    kernel = SubsequenceKernel(3, backend="cuda", normalize=False, progress=shares.append)
    close(kernel(X), SubsequenceKernel(3, backend="cpu", normalize=False)(X))
    assert shares[-1] == pytest.approx(1)
    assert shares == sorted(shares)
    assert gpu.devices_used == {0, 1, 2}


@pytest.mark.parametrize("n_devices", [1, 2])
def test_a_gpu_that_is_lost_returns_no_numbers_and_leaves_the_processor_alone(gpu, n_devices):
    gpu.n_devices = n_devices
    gpu.failure = DeviceFailure("cudaErrorDeviceUnavailable: the device fell off the bus")
    X = texts(50, 60)
    with pytest.raises(DeviceError, match=r"The GPU failed .cudaErrorDeviceUnavailable.*nothing was returned.*backend='cpu'"):
        SubsequenceKernel(3, backend="cuda")(X)
    assert np.isfinite(SubsequenceKernel(3, backend="cpu")(X)).all()


def test_an_interruption_is_not_swallowed(gpu):
    def interrupted(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SubsequenceKernel(3, backend="cuda", progress=interrupted)(texts(50, 60))


def test_texts_compared_with_again_and_again_stay_on_the_gpu(gpu, monkeypatch):
    packed = []
    monkeypatch.setattr(Columns, "of", lambda *a, of=Columns.of: packed.append(len(a[0])) or of(*a))
    kernel = SubsequenceKernel(3, backend="cuda").fit(texts(40, 50, 60))
    there = [kernel.transform(texts(30, seed=seed)) for seed in range(3)]
    assert packed.count(3) == 2  # once with themselves, for normalising, and once for all that came
    exact = SubsequenceKernel(3, backend="cpu").fit(kernel.texts_)
    close(np.vstack(there), np.vstack([exact.transform(texts(30, seed=seed)) for seed in range(3)]))


def test_symbols_that_only_new_texts_have(gpu):
    kernel = SubsequenceKernel(2, backend="cuda", normalize=False).fit(["abc", "cab"])
    close(kernel.transform(["xaxbx", "ぬa"]), kernel(["xaxbx", "ぬa"], ["abc", "cab"]))


def test_a_machine_learns_on_it(gpu):
    X, y = texts(*[30] * 16), [0, 1] * 8
    fits = [KernelSVC(SubsequenceKernel(2, backend=backend), C=10).fit(X, y) for backend in ("cpu", "cuda")]
    np.testing.assert_allclose(fits[0].decision_function(X), fits[1].decision_function(X), atol=1e-4)


def test_auto_takes_it_for_large_work_alone(gpu, monkeypatch):
    X = texts(50, 60)
    SubsequenceKernel(3)(X)
    assert not gpu.launches
    monkeypatch.setattr(_backends, "AUTO_CELLS", 1000)
    SubsequenceKernel(3)(X)
    assert gpu.launches
    gpu.launches = 0
    SubsequenceKernel(40)(X)  # longer than it can
    assert not gpu.launches


def test_subsequences_longer_than_it_can(gpu):
    with pytest.raises(DeviceError, match=r"at most 32 symbols, not 40.*backend='cpu'"):
        SubsequenceKernel(40, backend="cuda")(texts(50, 60))


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ({"cupy": None}, "needs CuPy, which is not installed: pip install 'textmargin.cuda.'"),
        ({"n_devices": 0}, "needs an NVIDIA GPU, and this machine has none"),
        ({"error": "cudaErrorNoDevice: no CUDA-capable device is detected"}, "none can be used here .*nvidia-smi"),
        ({"error": "cudaErrorInsufficientDriver: driver version is insufficient"}, "needs a newer NVIDIA driver"),
        ({"capability": "75"}, "compute capability 8.0 or more; this machine has one of 7.5"),
    ],
    ids=str,
)
def test_what_is_missing_is_named_and_auto_does_without(gpu, monkeypatch, trouble, words):
    import cupy

    def failing():
        raise DeviceFailure(trouble["error"])

    if "cupy" in trouble:
        monkeypatch.setitem(sys.modules, "cupy", None)
    if "error" in trouble:
        monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", failing)
    if "capability" in trouble:
        monkeypatch.setattr(cupy.cuda.Device, "compute_capability", trouble["capability"])
    gpu.n_devices = trouble.get("n_devices", 1)
    X = texts(20, 30)
    with pytest.raises(DeviceError, match=words + ".*backend='cpu'"):
        SubsequenceKernel(3, backend="cuda")(X)
    monkeypatch.setattr(_backends, "AUTO_CELLS", 0)
    np.testing.assert_array_equal(SubsequenceKernel(3)(X), SubsequenceKernel(3, backend="cpu")(X))


def test_it_does_without_the_compiled_core():
    """Which is then missed by name, and only where it is asked for."""
    script = """
import sys
sys.modules["textmargin.core"] = None
from textmargin.representations import _cuda
from textmargin import SubsequenceKernel
try:
    SubsequenceKernel(2, backend="cpu")(["car", "cat"])
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "backend='cpu' needs the compiled core" in found
    assert "backend='cuda'" in found


@given(
    lengths=st.lists(st.integers(0, 300), min_size=1, max_size=30),
    others=st.lists(st.integers(0, 300), min_size=1, max_size=30),
    tiles_of_run=st.sampled_from([1, 4]),
    steps=st.sampled_from([16, 4096]),
)
def test_jobs_meet_every_pair_once(lengths, others, tiles_of_run, steps):
    (X, Y), symbols = encode("char", texts(*lengths), texts(*others, seed=1))
    recipe = Recipe(9, np.full(len(symbols) or 1, 0.5), 1.0, np.empty(0))
    layout = Layout.of(recipe, True)  # few columns to a lane, so that many tiles are needed
    rows, columns = Rows.of(X, recipe, layout, 0), Columns.of(Y, recipe, layout, tiles_of_run)
    met = np.zeros((len(X), len(Y)), dtype=int)
    for job in jobs(rows, columns, "all", steps)[0]:
        run = int(np.flatnonzero(columns.runs[:-1] == job["first_tile"])[-1])
        met[job["first_text"] : job["last_text"], columns.ranks[run] : columns.ranks[run + 1]] += 1
    filled = np.sort(Y.lengths) > 0
    assert (met[:, filled] == 1).all()

    in_lanes = columns.symbol.transpose(0, 2, 1).reshape(-1, layout.columns)
    for text, rank in enumerate(columns.rank):
        assert np.array_equal(in_lanes[columns.lane[:, 0] == rank].ravel()[: Y.lengths[text]], Y.text(text))
    stream = rows.stream["symbol"].ravel()
    for text, rank in enumerate(rows.rank):
        first = 2 * rows.starts[rank]
        assert np.array_equal(stream[first : first + X.lengths[text]], X.text(text))
        assert stream[2 * rows.starts[rank + 1] - 1] == -2 - rank


@given(gap=st.floats(0.01, 1.0), n=st.integers(1, 3000))
def test_rounded_gaps_stay_near_the_power_they_stand_for(gap, n):
    layout = Layout.of(Recipe(3, np.array([gap]), 1.0, np.empty(0)), False)
    drift = np.cumsum(np.log(layout.rounded(np.array([gap]), n).astype(float)) - np.log(gap))
    assert np.abs(drift).max() < 3e-7


def test_every_layout_fits_a_multiprocessor():
    for length in range(1, _cuda.MOST_LENGTH + 1):
        for double in (False, True):
            for gaps in ([0.5], [0.01], [0.5, 0.9]):
                layout = Layout.of(Recipe(length, np.array(gaps), 1.0, np.empty(0)), double)
                assert layout.columns % layout.group == 0
                assert 2 <= layout.columns <= LANES


def test_threads_may_use_it_at_once(gpu):
    X, kernel, found = texts(*range(5, 25)), SubsequenceKernel(3, backend="cuda"), []
    threads = [threading.Thread(target=lambda: found.append(kernel(X))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for K in found:
        close(K, SubsequenceKernel(3, backend="cpu")(X))
