"""KernelStore: the right values, whatever happens to the processes that fill it."""

import multiprocessing
import os
import pickle
import random
import resource
import signal
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from samples import corpus
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from textmargin import KernelStore, KernelSVC, SpectrumKernel, SubsequenceKernel
from textmargin._system import locks
from textmargin.errors import NotTextError, StoreError
from textmargin.gram.tiles import SIDE, Tiles

FORK = multiprocessing.get_context("fork")
KERNEL = SubsequenceKernel(3, n_jobs=1, progress=False)


def many(n):
    return [f"{text} {i}" for i, text in enumerate(corpus(n)[0])]


class Silent:
    """Stands for a kernel of which everything is stored already."""

    def __init__(self, pairs):
        self.pairs = pairs

    def __getattr__(self, name):
        return getattr(self.pairs, name)

    def __len__(self):
        return len(self.pairs)

    def block(self, rows, columns=None):
        raise AssertionError("computed again")


@pytest.mark.parametrize(
    "kernel", [KERNEL, SpectrumKernel(2), SubsequenceKernel(2, tokens="word", normalize=False)]
)
def test_values_are_those_of_the_kernel(kernel, tmp_path):
    texts = many(150)
    store = KernelStore(tmp_path)
    for _ in range(2):
        np.testing.assert_allclose(store.gram(kernel, texts), kernel(texts), atol=1e-6)
    np.testing.assert_allclose(
        store.gram(kernel, texts[:90], texts[60:]), kernel(texts[:90], texts[60:]), atol=1e-6
    )


def test_order_subsets_and_repetitions_do_not_matter(tmp_path):
    texts = many(200)
    K = KERNEL(texts)
    store = KernelStore(tmp_path)
    rng = np.random.default_rng(0)
    for n in (70, 1, 150, 200):
        rows, columns = rng.integers(0, 200, n), rng.permutation(200)[:n]
        found = store.gram(KERNEL, [texts[i] for i in rows], [texts[j] for j in columns])
        np.testing.assert_allclose(found, K[np.ix_(rows, columns)], atol=1e-6)
        np.testing.assert_allclose(
            store.gram(KERNEL, [texts[i] for i in rows]), K[np.ix_(rows, rows)], atol=1e-6
        )
    order = rng.permutation(200)
    store.gram(KERNEL, texts)
    cached = store.over(Silent(KERNEL.over([texts[i] for i in order])))
    np.testing.assert_allclose(cached.block(np.arange(200)), K[np.ix_(order, order)], atol=1e-6)


def test_pairs_are_counted_and_computed_once(tmp_path):
    texts = many(150)
    store = KernelStore(tmp_path)
    pairs = store.over(KERNEL.over(texts))
    pairs.block(np.arange(40))
    assert pairs.n_computed == 40 * 41 // 2
    pairs.block(np.arange(40, 150), np.arange(40))
    assert pairs.n_computed == 40 * 41 // 2 + 110 * 40
    pairs.block(np.arange(150))
    assert pairs.n_computed == 150 * 151 // 2
    assert store.over(KERNEL.over(texts)).block(np.arange(150)).shape == (150, 150)


def test_settings_are_told_apart_and_threads_are_not(tmp_path):
    texts = many(20)
    store = KernelStore(tmp_path)
    different = [
        KERNEL,
        SubsequenceKernel(2),
        SubsequenceKernel(3, decay=0.3),
        SubsequenceKernel(3, gap_decay=np.float32(0.1)),
        SubsequenceKernel(3, gap_decay={"a": 0.1}),
        SubsequenceKernel(3, weights=[1, 1, 1]),
        SubsequenceKernel(3, normalize=False),
        SubsequenceKernel(3, precision="double"),
        SubsequenceKernel(3, tokens="word"),
        SpectrumKernel(3),
    ]
    for kernel in different * 2:
        np.testing.assert_allclose(store.gram(kernel, texts), kernel(texts), atol=1e-6)
    same = store.over(Silent(clone(KERNEL).set_params(n_jobs=2, progress=True).over(texts)))
    np.testing.assert_allclose(same.block(np.arange(20)), KERNEL(texts), atol=1e-6)


def test_texts_are_known_by_their_symbols(tmp_path):
    """What a function makes of a text counts, not the function's name; lists of tokens are not strings."""
    store = KernelStore(tmp_path)
    texts = ["New York", "new york city", "yorkshire"]
    for tokens in (str.lower, str.swapcase, str.split):
        kernel = SubsequenceKernel(2, tokens=tokens)
        np.testing.assert_allclose(store.gram(kernel, texts), kernel(texts), atol=1e-6)
    assert (
        len(
            {
                KERNEL.over([text]).digests()[0]
                for text in (["a", "b"], ["ab"], "ab", [1, 2], [12], ["1", "2"])
            }
        )
        == 6
    )
    assert KERNEL.over([np.array([1, 2])]).digests() == KERNEL.over([[1, 2]]).digests()
    with pytest.raises(NotTextError, match="no name that lasts"):
        store.gram(KERNEL, [[object()], [object()]])


def fill(folder, texts, ready=None, computed=None):
    pairs = KernelStore(folder).over(KERNEL.over(texts))
    if ready:
        ready.wait()
    pairs.block(np.arange(len(texts)))
    if computed:
        computed.send(pairs.n_computed)


def test_killed_at_any_moment_the_next_run_is_right(tmp_path):
    texts = many(400)
    K = KERNEL(texts)
    start = time.monotonic()
    fill(tmp_path / "whole", texts)
    whole = time.monotonic() - start
    found = []
    for k in range(10):
        process = FORK.Process(target=fill, args=(tmp_path / str(k), texts))
        process.start()
        time.sleep(random.Random(k).uniform(0, 1.5 * whole))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        pairs = KernelStore(tmp_path / str(k)).over(KERNEL.over(texts))
        np.testing.assert_allclose(pairs.block(np.arange(400)), K, atol=1e-6)
        found.append(pairs.n_computed)
        with sqlite3.connect(tmp_path / str(k) / "kernels.sqlite") as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert min(found) < 400 * 401 // 2  # what the killed ones had done was there


def test_two_processes_share_the_work(tmp_path):
    texts = many(400)
    ready = FORK.Event()
    ends = [FORK.Pipe(duplex=False) for _ in range(2)]
    processes = [FORK.Process(target=fill, args=(tmp_path, texts, ready, send)) for _, send in ends]
    for process in processes:
        process.start()
    time.sleep(0.2)
    ready.set()
    computed = [receive.recv() for receive, _ in ends]
    for process in processes:
        process.join()
    n_pairs = 400 * 401 // 2
    assert n_pairs <= sum(computed) <= n_pairs + SIDE * SIDE
    assert min(computed) > 0
    np.testing.assert_allclose(
        KernelStore(tmp_path).over(Silent(KERNEL.over(texts))).block(np.arange(400)), KERNEL(texts), atol=1e-6
    )


def in_child(function):
    """What a forked process sends, within a while; and the process."""
    receive, send = FORK.Pipe(duplex=False)
    process = FORK.Process(target=function, args=(send,))
    process.start()
    assert receive.poll(30)
    return receive.recv(), process


def test_a_lock_ends_with_its_process(tmp_path):
    tiles, key = Tiles(tmp_path, 10**9), (7, 0, 3)
    tiles.numbers("any", [b"x"])

    def hold(send):
        with tiles.lock([key]) as locked:
            send.send(locked)
            time.sleep(60)

    locked, process = in_child(hold)
    assert locked == {key}
    with tiles.lock([key, (7, 0, 4)]) as others:
        assert others == {(7, 0, 4)}
    process.kill()
    process.join()
    tiles.wait_for(key)
    with tiles.lock([key]) as mine, tiles.lock([key]) as twice:
        assert (mine, twice) == ({key}, set())


def test_a_process_forked_meanwhile_does_not_keep_a_lock(tmp_path):
    tiles, key = Tiles(tmp_path, 10**9), (7, 0, 3)
    tiles.numbers("any", [b"x"])
    with tiles.lock([key]) as mine:
        process = FORK.Process(target=time.sleep, args=(60,))
        process.start()
        assert mine == {key}
    with tiles.lock([key]) as again:
        assert again == {key}
    process.kill()
    process.join()


def test_without_fcntl_there_was_no_store(tmp_path, monkeypatch):
    """As on Windows: locks are then those of the library filelock."""
    monkeypatch.setattr(locks, "_fcntl", lambda: None)
    texts = many(40)
    K = KernelStore(tmp_path).gram(KERNEL, texts)
    np.testing.assert_allclose(K, KERNEL(texts), atol=1e-6)
    pairs = KernelStore(tmp_path).over(KERNEL.over(texts))
    np.testing.assert_array_equal(pairs.block(np.arange(40)), K)
    assert pairs.n_computed == 0


def test_a_pair_asked_for_both_ways_is_computed_once(tmp_path):
    pairs = KernelStore(tmp_path).over(KERNEL.over(many(20)))
    first, second = np.arange(5), np.arange(5, 10)
    pairs.block(first, second)
    pairs.block(second, first)
    assert pairs.n_computed == 25
    found = pairs.block(np.arange(10, 15), np.arange(10, 20))
    assert pairs.n_computed == 25 + 15 + 25
    K = KERNEL(many(20))
    np.testing.assert_allclose(found, K[10:15, 10:], atol=1e-6)
    np.testing.assert_allclose(pairs.block(np.arange(20)), K, atol=1e-6)
    assert pairs.n_computed == 20 * 21 // 2


def test_a_matrix_that_others_fill_at_the_same_time_has_no_holes(tmp_path):
    """Half a tile of the diagonal, put there between reading and locking, left NaN behind."""
    texts = many(40)
    pairs, other = (KernelStore(tmp_path).over(KERNEL.over(texts)) for _ in range(2))
    finish = pairs._finish

    def meanwhile(request, batch):
        other.block(np.array([5, 6, 30]), np.array([1, 2, 20]))
        return finish(request, batch)

    pairs._finish = meanwhile
    np.testing.assert_allclose(pairs.block(np.arange(40)), KERNEL(texts), atol=1e-6)


def test_a_grid_search_in_several_processes(tmp_path):
    texts, topics = corpus(150)
    model = KernelSVC(SubsequenceKernel(2, progress=False), cache=tmp_path)
    search = GridSearchCV(
        model, {"kernel__decay": [0.2, 0.8], "C": [0.1, 10]}, cv=3, n_jobs=2, error_score="raise"
    ).fit(texts, topics)
    assert search.best_score_ > 0.8


def test_few_files_are_open_at_a_time(tmp_path):
    store = KernelStore(tmp_path)
    texts = [str(i) for i in range(64 * 60)]
    store.over(KERNEL.over(texts))

    def scattered(send):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        open_before = max(int(file.name) for file in Path("/proc/self/fd").iterdir())  # by other tests
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_before + 50, hard))
        send.send(store.gram(KERNEL, texts[::64]).shape)

    shape, process = in_child(scattered)
    assert shape == (60, 60)
    process.join()


def test_a_full_store_makes_room_for_new_texts(tmp_path):
    store = KernelStore(tmp_path, max_bytes=2_000_000)
    for seed in range(3):
        store.gram(KERNEL, [f"{text} {seed}" for text in many(400)])
    for start in range(0, 20_000, 2_500):
        store.over(KERNEL.over([str(i) for i in range(start, start + 2_500)]))
    np.testing.assert_allclose(store.gram(KERNEL, many(70)), KERNEL(many(70)), atol=1e-6)
    assert store.n_bytes <= 2_000_000


def test_the_size_bound_holds(tmp_path):
    store = KernelStore(tmp_path, max_bytes=1_000_000)
    sizes = []
    for seed in range(5):
        texts = [f"{text} {seed}" for text in many(300)]
        np.testing.assert_allclose(store.gram(KERNEL, texts), KERNEL(texts), atol=1e-6)
        sizes.append(sum(path.stat().st_size for path in Path(tmp_path).iterdir()))
    assert 500_000 < max(sizes) <= 1_000_000
    # What was used last is still there.
    assert store.over(Silent(KERNEL.over(texts[-64:]))).block(np.arange(64)).shape == (64, 64)
    larger = KernelStore(tmp_path)
    larger.gram(KERNEL, many(400))
    assert larger.n_bytes > 1_000_000
    store.gram(KERNEL, many(401)[-1:])
    assert store.n_bytes <= 1_000_000


def test_a_full_disk_says_so_and_what_was_kept_is_intact(tmp_path, monkeypatch):
    """SQLite reports the end of the disk and the end of the pages it may use as one and the same error."""
    store = KernelStore(tmp_path, max_bytes=1_000_000)
    texts = many(64)
    K = store.gram(KERNEL, texts)
    monkeypatch.setattr(Tiles, "_make_room", lambda *_: None)
    with pytest.raises(StoreError, match=r"disk is full.* make room, choose another folder"):
        store.gram(KERNEL, [f"{text} again" for text in many(500)])
    np.testing.assert_array_equal(store.over(Silent(KERNEL.over(texts))).block(np.arange(64)), K)
    with pytest.raises(StoreError, match="too small for 30,000 texts"):
        store.over(KERNEL.over([str(i) for i in range(30_000)]))


@pytest.mark.parametrize("folder", ["a\0b", "\ud800"])
def test_a_name_that_no_folder_can_have_ended_in_a_traceback(folder):
    with pytest.raises(StoreError, match=r"is no name that a folder can have; choose another"):
        KernelStore(folder).gram(KERNEL, many(5))


def test_a_read_only_folder_says_so():
    with tempfile.TemporaryDirectory(suffix="fulltext") as folder:  # the name is not what it is about
        Path(folder).chmod(0o755)
        KernelStore(folder).gram(KERNEL, many(5))

        def as_nobody(send):
            if os.getuid() == 0:
                os.setuid(65534)
            else:
                Path(folder).chmod(0o555)
                (Path(folder) / "kernels.sqlite").chmod(0o444)
            for place in (folder, f"{folder}/new"):
                try:
                    KernelStore(place).gram(KERNEL, many(6))
                except StoreError as error:
                    send.send(str(error))

        receive, send = FORK.Pipe(duplex=False)
        process = FORK.Process(target=as_nobody, args=(send,))
        process.start()
        for _ in range(2):
            assert receive.poll(20)
            assert "make the folder writable" in receive.recv()
        process.join()
        Path(folder).chmod(0o755)


def test_damage_is_noticed(tmp_path):
    texts = many(100)
    store = KernelStore(tmp_path)
    K = store.gram(KERNEL, texts)
    with sqlite3.connect(tmp_path / "kernels.sqlite") as file:
        file.execute("UPDATE tiles SET content = zeroblob(length(content)) WHERE i = 0 AND j = 0")
        file.execute("UPDATE tiles SET content = x'00' WHERE i = 1")
    np.testing.assert_allclose(store.gram(KERNEL, texts), K, atol=1e-6)
    (tmp_path / "kernels.sqlite").write_bytes(b"not what it was" * 1000)
    with pytest.raises(StoreError, match="damaged; delete it"):
        store.gram(KERNEL, texts)


def test_one_who_still_holds_old_numbers_harms_nobody(tmp_path):
    store = KernelStore(tmp_path)
    old = store.over(KERNEL.over(many(80)))
    store.clear()
    others = [text[::-1] for text in many(80)]
    expected = store.gram(KERNEL, others[:10])
    old.block(np.arange(80))
    (tmp_path / "kernels.sqlite").unlink()
    new = store.over(KERNEL.over(others))
    np.testing.assert_allclose(old.block(np.arange(80)), KERNEL(many(80)), atol=1e-6)
    np.testing.assert_allclose(new.block(np.arange(80)), KERNEL(others), atol=1e-6)
    np.testing.assert_allclose(new.block(np.arange(10)), expected, atol=1e-6)


def test_a_file_of_a_later_version_is_left_alone(tmp_path):
    KernelStore(tmp_path).gram(KERNEL, many(3))
    with sqlite3.connect(tmp_path / "kernels.sqlite") as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="later version"):
        KernelStore(tmp_path).gram(KERNEL, many(3))


def test_travels_and_tells_its_size(tmp_path):
    store = pickle.loads(pickle.dumps(KernelStore(tmp_path / "new", max_bytes=2_000_000)))
    assert repr(store) == f"KernelStore({str(tmp_path / 'new')!r}, max_bytes=2000000)"
    assert store.n_bytes == 0
    store.gram(KERNEL, many(70))
    full = store.n_bytes
    store.clear()
    assert 0 < store.n_bytes < full
    with pytest.raises(ValueError, match="max_bytes must be at least"):
        KernelStore(tmp_path, max_bytes=10)
