"""Kernel matrices on a cluster are those of the store, whatever happens to the workers."""

import os
import signal
import sqlite3
from contextlib import closing

import dask.bag as db
import numpy as np
import pytest
from distributed import Client, LocalCluster
from samples import corpus

from textmargin import KernelStore, KernelSVC, SpectrumKernel, SubsequenceKernel, scale
from textmargin.errors import ClusterError, NotTextError, StoreError
from textmargin.gram.tiles import Tiles

KERNEL = SubsequenceKernel(3, n_jobs=1, progress=False)


def many(n):
    return [f"{text} {i}" for i, text in enumerate(corpus(n)[0])]


@pytest.mark.parametrize(
    "kernel", [KERNEL, SpectrumKernel(2, progress=False), SubsequenceKernel(2, tokens="word")]
)
def test_the_matrix_is_that_of_the_store(client, tmp_path, kernel):
    texts = many(200)
    with_itself = scale.gram(tmp_path / "cluster", kernel, texts)
    with_others = scale.gram(tmp_path / "cluster", kernel, texts[:90], texts[60:])
    here = KernelStore(tmp_path / "here")
    np.testing.assert_allclose(with_itself, here.gram(kernel, texts), atol=1e-6)
    np.testing.assert_allclose(with_others, here.gram(kernel, texts[:90], texts[60:]), atol=1e-6)


def test_each_pair_is_computed_once_and_found_again(client, tmp_path):
    texts, topics = corpus(200)
    texts[7] = texts[8]  # equal texts are one
    store = KernelStore(tmp_path)
    store.gram(KERNEL, texts[:50])
    summary = scale.fill(store, KERNEL, db.from_sequence(texts, npartitions=3))
    assert (summary.n_pairs, summary.n_computed) == (199 * 200 // 2, 199 * 200 // 2 - 49 * 50 // 2)
    assert summary.n_tasks == 10
    assert scale.fill(store, KERNEL, texts[::-1]).n_computed == 0
    assert KernelSVC(KERNEL, cache=store).fit(texts, topics).n_kernel_evaluations_ == 0


def test_many_texts_make_no_more_than_so_many_tasks(client, tmp_path, monkeypatch):
    monkeypatch.setattr("textmargin.scale.tiles._MAX_STRIPES", 2)
    texts = many(300)
    assert scale.fill(tmp_path, KERNEL, texts).n_tasks == 3
    np.testing.assert_allclose(KernelStore(tmp_path).gram(KERNEL, texts), KERNEL(texts), atol=1e-6)


@pytest.fixture
def mortal():
    """A cluster of its own: the others are not to miss a worker."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        LocalCluster(**settings) as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):
        yield client


def test_a_worker_is_killed_in_the_middle(mortal, tmp_path):
    """What was kept is not computed again, what was not is, and nothing is half there."""
    texts = [" ".join([text] * 4) for text in many(220)]
    store, shares, tiles = KernelStore(tmp_path), [], {}
    victim = next(iter(mortal.run(os.getpid).values()))

    def kill(share):
        shares.append(share)
        if len(shares) == 2:
            tiles.update(tiles_of(tmp_path))
            os.kill(victim, signal.SIGKILL)

    summary = scale.fill(store, KERNEL, texts, progress=kill)
    assert 2 <= len(tiles) < summary.n_tasks == len(shares)
    assert shares[-1] == pytest.approx(1)
    assert tiles.items() <= tiles_of(tmp_path).items()  # a tile that is written anew gets another number
    assert summary.n_computed <= summary.n_pairs
    assert scale.fill(store, KERNEL, texts).n_computed == 0
    np.testing.assert_allclose(store.gram(KERNEL, texts)[::10], KERNEL(texts[::10], texts), atol=1e-6)
    assert victim not in mortal.run(os.getpid).values()


def test_texts_that_kill_every_worker_are_given_up(mortal, tmp_path):
    mortal.cluster.scheduler.allowed_failures = 0
    here = os.getpid()
    deadly = SubsequenceKernel(2, tokens=lambda text: text if os.getpid() == here else os._exit(1))
    with pytest.raises(ClusterError, match=r"cost every worker .* its life"):
        scale.fill(tmp_path, deadly, many(10))


def tiles_of(folder):
    """The tiles that are there, and when each was written, as SQLite numbers its rows."""
    with closing(sqlite3.connect(Tiles(folder, 10**9).path, timeout=60)) as file:
        return {tuple(key): number for number, *key in file.execute("SELECT rowid, kernel, i, j FROM tiles")}


def test_a_store_that_workers_do_not_see(client, tmp_path):
    store = KernelStore(tmp_path)

    def lost(share):
        store.clear()  # to a worker it looks as if the folder were another one there

    with pytest.raises(StoreError, match=r"does not see the store in .*file system that all workers share"):
        scale.fill(store, KERNEL, many(300), progress=lost)


def test_bad_input_says_what_is_wrong(client, tmp_path):
    with pytest.raises(
        StoreError, match="max_bytes=1,000,000 is too small for all kernel values of 600 texts"
    ):
        scale.fill(KernelStore(tmp_path, max_bytes=1_000_000), KERNEL, many(600))
    with pytest.raises(NotTextError, match="no texts"):
        scale.fill(tmp_path, KERNEL, [])
    with pytest.raises(NotTextError, match="Y is empty"):
        scale.fill(tmp_path, KERNEL, ["a"], [])
    with pytest.raises(NotTextError, match="number 1 is missing"):
        scale.fill(tmp_path, KERNEL, ["a", None])
