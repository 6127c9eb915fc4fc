"""Kernel matrices on a cluster: squares of tiles as tasks, whose values go into a `KernelStore` that all
workers see.

Values never travel: a task gets the texts of its rows and columns, and gives a count. Each tile is in the
store as soon as it is computed, so that a task whose worker is lost goes on, elsewhere, from where that
worker was; and so does the next run.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from distributed import as_completed
from distributed.scheduler import KilledWorker
from sklearn.base import clone

from .._system.progress import Report, progress_of
from .._typing import Floats, Indices
from ..errors import ClusterError, NotTextError, StoreError
from ..gram.cached import CachedPairs
from ..gram.store import KernelStore
from ..gram.tiles import SIDE, Tiles
from ._client import broadcast_pickled, client, worker_threads

_MAX_STRIPES = 64  # of texts, in each direction: some 2,000 tasks, of one tile each up to 4,096 texts


@dataclass(frozen=True)
class FillSummary:
    """What was done for a matrix: how many pairs it has, how many of them were not in the store yet, and the
    number of tasks.
    """

    n_pairs: int
    n_computed: int
    n_tasks: int


def fill(store: Any, kernel: Any, X: Any, Y: Any = None, *, progress: bool | Report = True) -> FillSummary:
    """Compute the kernel matrix of X with itself or with Y on the cluster, into a store.

    Afterwards `store.gram(kernel, X, Y)` and `KernelSVC(kernel, cache=store)` find everything there.

    Parameters
    ----------
    store : KernelStore, or a folder
        It must be on a file system that this process and all workers see under the same path, with locks that
        work across machines (NFS 4 has them). Its `max_bytes` must have room for the matrix.
    kernel : SubsequenceKernel or SpectrumKernel
    X, Y : lists of texts, as the kernel takes them, or Dask collections of texts
    progress : bool or callable, default=True
        Show a bar on standard error when it takes long; or a function that is told the share done.

    Examples
    --------
    >>> import tempfile
    >>> from distributed import Client
    >>> from textmargin import KernelStore, SubsequenceKernel, scale
    >>> texts, kernel = ["car", "cat", "cart"], SubsequenceKernel(2)
    >>> settings = {"n_workers": 1, "processes": False, "dashboard_address": None}
    >>> with tempfile.TemporaryDirectory() as folder, Client(**settings):
    ...     store = KernelStore(folder)
    ...     print(scale.fill(store, kernel, texts))
    ...     print(scale.fill(store, kernel, texts).n_computed)
    FillSummary(n_pairs=6, n_computed=6, n_tasks=1)
    0
    """
    at = client()
    n_threads = len(worker_threads(at))
    kernel = clone(kernel).set_params(progress=False)
    down, across = kernel.items(_in_memory(X)), [] if Y is None else kernel.items(_in_memory(Y))
    if Y is not None and not across:
        raise NotTextError("There are no texts to compare with: Y is empty.")
    texts = down + across
    tiles = _absolute_tiles(KernelStore.at(store))
    number, numbers = _numbers(tiles, kernel.over(texts))
    rows = _stripes(numbers[: len(down)])
    columns = rows if Y is None else [len(down) + stripe for stripe in _stripes(numbers[len(down) :])]
    squares = list(combinations_with_replacement(rows, 2) if Y is None else product(rows, columns))
    tiles.check_room(_n_tiles(numbers[: len(down)], numbers[len(down) :] if across else None), len(texts))

    # Texts are tasks, not scattered data, which would be lost with the worker that has them.
    stripes = {
        stripe[0]: at.submit(_Stripe, numbers[stripe], [texts[i] for i in stripe], pure=False)
        for stripe in (rows if Y is None else rows + columns)
    }
    shared = broadcast_pickled(kernel)
    tasks = {
        at.submit(
            _fill, tiles, shared, number, stripes[a[0]], None if a is b else stripes[b[0]], pure=False
        ): _n_pairs(a, b)
        for a, b in squares
    }
    n_done, n_pairs, n_computed = 0, sum(tasks.values()), 0
    with progress_of(f"Comparing {len(texts):,} texts on {n_threads} workers", progress) as report:
        try:
            for task, n_new in as_completed(tasks, with_results=True):  # type: ignore[no-untyped-call]
                n_done, n_computed = n_done + tasks[task], n_computed + n_new
                task.release()  # what was counted need not be known again when its worker is lost
                if report:
                    report(n_done / n_pairs)
        except KilledWorker as error:
            raise ClusterError(
                f"Some kernel values cost every worker that was to compute them its life ({error}). Do "
                "workers have too little "
                f"memory? What was computed is in {tiles.folder}."
            ) from error
        finally:
            at.cancel(list(tasks))
    return FillSummary(n_pairs, n_computed, len(tasks))


def gram(store: Any, kernel: Any, X: Any, Y: Any = None, *, progress: bool | Report = True) -> Floats:
    """The kernel matrix of X with itself or with Y, as `store.gram`, of which the cluster computes what is
    not kept yet.

    The matrix itself is put together here, so that it must fit into memory. Parameters as in `fill`.
    """
    X, Y = _in_memory(X), None if Y is None else _in_memory(Y)
    fill(store, kernel, X, Y, progress=progress)
    return KernelStore.at(store).gram(clone(kernel).set_params(progress=False), X, Y, n_jobs=1)


@dataclass(frozen=True)
class _Stripe:
    """Texts, and their numbers in the store."""

    numbers: Indices
    texts: list[Any]


def _fill(tiles: Tiles, kernel: Any, number: int, rows: _Stripe, columns: _Stripe | None) -> int:
    """See that the values of one square are in the store; how many were not. Runs on a worker."""
    if not tiles.knows(number):
        raise StoreError(
            f"{socket.gethostname()} does not see the store in {tiles.folder} (or it was cleared "
            "meanwhile): the folder must be "
            f"on a file system that all workers share."
        )
    others = _Stripe(np.empty(0, np.intp), []) if columns is None else columns
    numbers = number, np.concatenate([rows.numbers, others.numbers])
    pairs = CachedPairs(tiles, kernel.over(rows.texts + others.texts), n_jobs=1, numbers=numbers)
    n = len(rows.texts)
    pairs.block(np.arange(n), None if columns is None else n + np.arange(len(others.texts)))
    return pairs.n_computed


def _in_memory(texts: Any) -> Any:
    return texts.compute() if hasattr(texts, "__dask_graph__") else texts


def _absolute_tiles(store: KernelStore) -> Tiles:
    """The store's file by a path that does not depend on where a process was started."""
    return Tiles(store.folder.resolve(), store.max_bytes)


def _numbers(tiles: Tiles, pairs: Any) -> tuple[int, Indices]:
    """The numbers of kernel and texts; new texts get theirs by length, so that those compared at a time are
    alike.
    """
    order, digests = np.argsort(pairs.encoded.lengths, kind="stable"), pairs.digests()
    number, in_order = tiles.numbers(pairs.identity(), [digests[i] for i in order])
    numbers = np.empty_like(in_order)
    numbers[order] = in_order
    return number, numbers


def _stripes(numbers: Indices) -> list[Indices]:
    """Texts whose tiles are neighbours, by their places in the list; of equal texts the first."""
    distinct, places = np.unique(numbers, return_index=True)
    tile = np.unique(distinct // SIDE, return_inverse=True)[1]
    n_tiles = int(tile[-1]) + 1
    stripe = tile * min(n_tiles, _MAX_STRIPES) // n_tiles
    return [places[stripe == i] for i in range(int(stripe[-1]) + 1)]


def _n_tiles(down: Indices, across: Indices | None) -> int:
    """How many tiles have the values; (I, J) and (J, I) are one."""
    rows = np.unique(down // SIDE)
    columns = rows if across is None else np.unique(across // SIDE)
    n_both = np.intersect1d(rows, columns).size
    return int(rows.size * columns.size - n_both * (n_both - 1) // 2)


def _n_pairs(rows: Indices, columns: Indices) -> int:
    return int(rows.size * (rows.size + 1) // 2 if rows is columns else rows.size * columns.size)
