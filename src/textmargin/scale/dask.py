"""Work on parts with a Dask cluster: a `map` over parts, and a tree that merges what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import ClusterError, NotTextError, install_hint
from ..representations.digests import Digests, text_digests
from ..representations.texts import as_texts
from .store import Store
from .texts import StoredTexts, Submit, Work

try:
    import cloudpickle
    import dask
    import dask.bag
    import distributed
    from dask.delayed import Delayed, delayed
except ImportError as error:
    raise ImportError(f"scale needs Dask, which is not installed: {install_hint('scale')}.") from error

# Dask carries no types of its own.
_client_of: Any = distributed.Client
_cluster: Any = distributed.LocalCluster
_bag: Any = dask.bag.Bag

PATIENCE = 5.0  # seconds to wait for a scheduler
_FIRST_WORKER = 60.0  # seconds to wait for a worker of it
_AT_ONCE = 8  # results that a task merges

# Threads of workers are those of the compiled core; more of them inside numeric libraries would only wait.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@contextmanager
def connect(address: str | None = None, *, workers: int | None = None, **settings: Any) -> Iterator[Any]:
    """A client of a running cluster, or of a local one that ends with the block.

    Parameters
    ----------
    address : str, default=None
        Where the scheduler listens, such as `tcp://host:8786`.
    workers : int, default=None
        Without an address, how many worker processes to start here; default: one per core.
    **settings : of Dask's `Client` (such as `security`) with an address; else of its `LocalCluster` (such as
        `memory_limit="2GB"`)
    """
    if address is None:
        local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0", **settings}
        with (
            dask.config.set({"distributed.nanny.pre-spawn-environ": _ENVIRONMENT}),
            _cluster(**local) as cluster,
            _client_of(cluster) as connection,
        ):
            yield connection
        return
    try:
        connection = _client_of(address, timeout=PATIENCE, **settings)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address!r}; check that it runs (dask scheduler) and can be "
            "reached from here."
        ) from error
    with connection:
        try:
            connection.wait_for_workers(1, timeout=_FIRST_WORKER)
        except TimeoutError as error:
            raise ClusterError(
                f"The cluster at {address} has no workers; start some (dask worker)."
            ) from error
        yield connection


def current_client() -> Any:
    """The client in use."""
    try:
        return distributed.get_client()
    except ValueError as error:
        raise ClusterError(
            "No Dask cluster is in use; start one first: textmargin.scale.connect(), or "
            "dask.distributed.Client('tcp://host:8786')."
        ) from error


def share(client: Any, value: Any) -> Any:
    """A future of a value that many tasks need. It goes out once, as bytes: code which is not where a worker
    runs is then an error, and not the end of the worker.
    """
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(cloudpickle.loads, cloudpickle.dumps(value), pure=False)


class DaskTexts(StoredTexts):
    """The texts of a Dask collection, whose workers read, count and transform them.

    The estimators make one of a collection that they are given.

    Parameters
    ----------
    collection : Dask bag, series, or dataframe with one column
    stay : bool, default=False
        Whether the matrix stays with the workers; else it is put on this machine's disk, which is faster.

    Examples
    --------
    >>> import dask.bag as db
    >>> from distributed import Client
    >>> from textmargin import BagOfWords
    >>> from textmargin.scale import DaskTexts
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     texts = DaskTexts(db.from_sequence(["Wheat and corn!", "Corn prices rose"], npartitions=2))
    ...     print(BagOfWords().fit_transform(texts).shape)
    (2, 4)
    """

    def __init__(self, collection: Any, *, stay: bool = False) -> None:
        self.name, self.stay, self._parts = "texts", stay, _delayed_parts(collection)
        self.client, self.store = current_client(), Store(None)
        self._digests: Digests | None = None

    def __len__(self) -> int:
        return len(self._parts)

    def reader(self, number: int) -> Delayed:
        """The texts of one part."""
        return delayed(_check_texts, pure=False)(self._parts[number], number)

    def source(self) -> None:
        """Nobody can tell whether a collection changes."""

    @property
    def n_texts(self) -> int:
        """Of all parts."""
        return self.digests.size

    @property
    def labels(self) -> None:
        """They are given beside the collection."""

    @property
    def digests(self) -> Digests:
        """Of each text; they are read for these."""
        if self._digests is None:
            found = self.each(lambda texts, _: text_digests(texts), f"reading {self.name}")
            self._digests = np.concatenate([*found])
        return self._digests


def submitter(client: Any, work: Work, reader: Callable[[int], Any]) -> tuple[Submit, int]:
    """What submits work on the texts of a part, and how many parts to have at a time; work goes out once."""
    shared = share(client, work)
    task, n_threads = delayed(_apply, pure=False), sum(client.nthreads().values())
    return lambda number: client.compute(task(shared, reader(number), number)), 2 * n_threads


def tree_reduce(client: Any, function: Callable[..., Any], futures: Sequence[Any]) -> Any:
    """`function(results)` of a few neighbours at a time, and again of what these give."""
    while len(futures) > 1:
        some = [futures[k : k + _AT_ONCE] for k in range(0, len(futures), _AT_ONCE)]
        futures = [client.submit(function, own, pure=False) for own in some]
    return futures[0].result()


def _apply(work: Work, texts: Any, number: int) -> Any:
    return work(texts() if callable(texts) else texts, number)


def _check_texts(part: Any, number: int) -> list[str]:
    try:
        return as_texts(part)
    except NotTextError as error:
        raise NotTextError(f"Part {number}: {error}") from error


def _delayed_parts(texts: Any) -> list[Delayed]:
    """One task per part of a collection of texts."""
    if isinstance(texts, _bag):
        return list(texts.to_delayed())
    if getattr(texts, "ndim", 0) == 2 and len(texts.columns) == 1:
        texts = texts[texts.columns[0]]
    if getattr(texts, "ndim", 0) != 1 or not hasattr(texts, "simplify"):
        raise NotTextError(
            f"Expected a Dask bag or a text column of a Dask dataframe, got {type(texts).__name__}; "
            "make one with dask.bag.from_sequence, or choose a column."
        )
    # The parts as they are: Dask's optimiser would join the small parts of narrow columns.
    return list(texts.simplify().to_delayed(optimize_graph=False))
