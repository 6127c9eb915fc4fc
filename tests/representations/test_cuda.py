"""ssk.cu and what drives it, on an emulated GPU: the values of the compiled core."""

import threading

import numpy as np
import pytest
from emulated_gpu import close, texts
from hypothesis import given
from hypothesis import strategies as st

from textmargin import KernelSVC, SubsequenceKernel, load, save
from textmargin.representations import _backends, _cuda
from textmargin.representations._backends import KernelSpec
from textmargin.representations._layout import LANES, Layout
from textmargin.representations._packing import PackedColumns, PackedRows, jobs
from textmargin.representations.encode import encode

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


@pytest.mark.parametrize(
    ("options", "normalize"),
    [*((one, True) for one in SETTINGS), *((one, False) for one in SETTINGS[:3])],
    ids=str,
)
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
    assert gpu.launches > 2 * 6
    close(kernel(X, Y), exact(X, Y))


@pytest.mark.parametrize(
    "options",
    [
        {"length": 4, "decay": 0.001},
        {"length": 3, "decay": 0.3},
        {"length": 3, "decay": 0.1, "weights": [0, 100.0, 1.0]},
        {"length": 14, "decay": 0.04, "weights": [*[0.0] * 12, 1.0, 1.0]},
        {"length": 3, "gap_decay": {"a": 0.9, "-": 0.1}},
    ],
    ids=str,
)
@pytest.mark.parametrize("normalize", [True, False])
def test_pairs_with_many_gaps_were_lost_in_single_precision(gpu, monkeypatch, options, normalize):
    """K of the first two is 9e-40, and of those with a hundred dashes far less; beside them are pairs that
    are sound, and 0.
    """
    X = [
        "ffccacbbdgf",
        "faeedaeadcf",
        "a" + "-" * 110 + "bcab",
        "abc" + "+" * 120 + "c",
        *texts(0, 2, 3, 40, 300),
    ]
    Y = ["abcaxb", "x" * 90 + "abc", *texts(30, seed=1)]
    there = SubsequenceKernel(**options, normalize=normalize, backend="cuda")
    exact = SubsequenceKernel(**options, normalize=normalize, backend="cpu", precision="double")
    np.testing.assert_allclose(there(X, Y), exact(X, Y), rtol=1e-5, atol=1e-290)
    K = there(X)
    np.testing.assert_allclose(K, exact(X), rtol=1e-5, atol=1e-290)
    assert np.array_equal(K, K.T)
    assert ((K > 0) & (K < 1e-38)).any() or options["length"] == 14
    monkeypatch.setattr(_cuda, "_LARGEST_BLOCK", 4)
    np.testing.assert_allclose(there(X), K, rtol=1e-5, atol=1e-290)


def test_several_gpus_share_the_blocks(gpu, monkeypatch):
    monkeypatch.setattr(_cuda, "_SHARED_CELLS", 0)
    gpu.n_devices = 3
    X = texts(*range(5, 45))
    shares = []
    kernel = SubsequenceKernel(3, backend="cuda", normalize=False, progress=shares.append)
    close(kernel(X), SubsequenceKernel(3, backend="cpu", normalize=False)(X))
    assert shares[-1] == pytest.approx(1)
    assert shares == sorted(shares)
    assert gpu.devices_used == {0, 1, 2}


@pytest.mark.parametrize("gap_decay", [None, {"a": 0.9}])
@pytest.mark.parametrize("n_devices", [1, 2])
def test_texts_compared_with_again_and_again_stay_on_the_gpu(gpu, monkeypatch, n_devices, gap_decay):
    gpu.n_devices, packed = n_devices, []
    monkeypatch.setattr(
        PackedColumns, "of", lambda *a, of=PackedColumns.of: packed.append(len(a[0])) or of(*a)
    )
    kernel = SubsequenceKernel(3, backend="cuda", gap_decay=gap_decay).fit(texts(40, 50, 60))
    new = [[*texts(30, seed=seed), "new symbols: " + "xyz"[seed:]] for seed in range(3)]
    there = [kernel.transform(X) for X in new]
    assert packed.count(3) == 2  # once with themselves, for normalising, and once for all that came
    exact = SubsequenceKernel(3, backend="cpu", gap_decay=gap_decay).fit(kernel.texts_)
    close(np.vstack(there), np.vstack([exact.transform(X) for X in new]))


def test_texts_that_are_kept_no_more_leave_the_gpu(gpu):
    kernel = SubsequenceKernel(3, backend="cuda").fit(texts(40, 50, 60))
    kernel.transform(texts(30))
    assert gpu.in_use > 0
    kernel.fit(texts(10))
    assert gpu.in_use == 0


def test_one_text_that_fills_several_tiles(gpu):
    """Edges are fetched ahead of the last step as well; nothing may be read there that is not theirs."""
    X, Y = texts(2000), texts(1500, seed=1)
    close(
        SubsequenceKernel(3, backend="cuda")(X, Y),
        SubsequenceKernel(3, backend="cpu", precision="double")(X, Y),
    )


def test_texts_that_are_all_empty(gpu):
    shares = []
    kernel = SubsequenceKernel(3, backend="cuda", normalize=False, progress=shares.append)
    assert not kernel(["", ""]).any()
    assert not kernel(["abc"], ["", ""]).any()
    assert shares == [1, 1]


def test_symbols_that_only_new_texts_have(gpu):
    kernel = SubsequenceKernel(2, backend="cuda", normalize=False).fit(["abc", "cab"])
    close(kernel.transform(["xaxbx", "ぬa"]), kernel(["xaxbx", "ぬa"], ["abc", "cab"]))


def test_a_machine_learns_on_it(gpu):
    X, y = texts(*[30] * 16), [0, 1] * 8
    fits = [KernelSVC(SubsequenceKernel(2, backend=backend), C=10).fit(X, y) for backend in ("cpu", "cuda")]
    np.testing.assert_allclose(fits[0].decision_function(X), fits[1].decision_function(X), atol=1e-4)


def test_a_model_saved_with_it_predicts_on_the_processor(gpu, tmp_path):
    X, y = texts(*[30] * 16), [0, 1] * 8
    save(KernelSVC(SubsequenceKernel(2, backend="cuda")).fit(X, y), tmp_path / "model")
    model = load(tmp_path / "model")
    model.kernel_.set_params(backend="cpu")
    gpu.launches = 0
    assert model.predict(X).shape == (16,)
    assert not gpu.launches


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


@given(
    lengths=st.lists(st.integers(0, 300), min_size=1, max_size=30),
    others=st.lists(st.integers(0, 300), min_size=1, max_size=30),
    tiles_of_run=st.sampled_from([1, 4]),
    steps=st.sampled_from([16, 4096]),
)
def test_jobs_meet_every_pair_once(lengths, others, tiles_of_run, steps):
    (X, Y), symbols = encode("char", texts(*lengths), texts(*others, seed=1))
    spec = KernelSpec(9, np.full(len(symbols) or 1, 0.5), 1.0, np.empty(0))
    layout = Layout.of(spec, True)  # few columns to a lane, so that many tiles are needed
    rows, columns = PackedRows.of(X, spec, layout, 0), PackedColumns.of(Y, spec, layout, tiles_of_run)
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
    layout = Layout.of(KernelSpec(3, np.array([gap]), 1.0, np.empty(0)), False)
    drift = np.cumsum(np.log(layout.round_gaps(np.array([gap]), n).astype(float)) - np.log(gap))
    assert np.abs(drift).max() < 3e-7


def test_every_layout_has_whole_groups_and_as_many_columns_as_lanes_at_most():
    for length in range(1, _cuda.MOST_LENGTH + 1):
        for double in (False, True):
            for gaps in ([0.5], [0.01], [0.5, 0.9]):
                layout = Layout.of(KernelSpec(length, np.array(gaps), 1.0, np.empty(0)), double)
                assert layout.columns % layout.group == 0
                assert 2 <= layout.columns <= LANES


def test_threads_may_use_it_at_once(gpu):
    X, kernel, found = texts(*range(5, 25)), SubsequenceKernel(3, backend="cuda"), []
    threads = [threading.Thread(target=lambda: found.append(kernel(X))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(threads)
    for K in found:
        close(K, SubsequenceKernel(3, backend="cpu")(X))
