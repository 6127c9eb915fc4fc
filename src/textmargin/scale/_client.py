"""The one Dask client that everything here goes through, and a cluster where there is none yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cloudpickle
import dask
import distributed
from distributed import get_client

from .. import __version__
from .._system.stages import log
from ..errors import ClusterError

# Dask carries no types of its own.
_client_of: Any = distributed.Client
_cluster: Any = distributed.LocalCluster

PATIENCE = 5.0  # seconds to wait for a scheduler
_FIRST_WORKER = 60.0  # seconds to wait for a worker of it

# Threads of workers are those of the compiled core; more of them inside numeric libraries would only wait for
# one another. Dask's own MALLOC_TRIM_THRESHOLD_ is left out: with it every vector of a pass gets new pages.
# One of 4 MB takes 3 ms, not 0.2.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def client() -> Any:
    """The client in use."""
    try:
        return get_client()
    except ValueError as error:
        raise ClusterError(
            "No Dask cluster is in use; start one first: dask.distributed.Client() for this machine, or "
            "Client('tcp://host:8786')."
        ) from error


@contextmanager
def connect(
    address: str | None = None,
    *,
    workers: int | None = None,
    threads_per_worker: int = 1,
    memory_limit: str | float = "auto",
    security: Any = None,
    direct: bool = True,
) -> Iterator[Any]:
    """A client of a running cluster, or of a local one that ends with the block.

    Parameters
    ----------
    address : str, default=None
        Where the scheduler listens, such as `tcp://host:8786`.
    workers : int, default=None
        Without an address, how many worker processes to start here; default: one for so many cores as it has
        threads.
    threads_per_worker : int, default=1
        Of each local worker.
    memory_limit : str or float, default="auto"
        Of each local worker, such as "2GB"; "auto" shares out the memory of the machine.
    security : distributed.Security, default=None
        Certificates and keys for TLS, where the address is tls://...; None: those of Dask's configuration.
    direct : bool, default=True
        Send vectors straight to the workers. Where only the scheduler can be reached from here, False sends
        them through it, at half the speed.
    """
    if address is not None:
        with _attach(address, security, direct) as connection:
            yield connection
        return
    for name, number in (("workers", workers), ("threads_per_worker", threads_per_worker)):
        if number is not None and number < 1:
            raise ClusterError(f"{name} must be 1 or more. Got {number!r} instead.")
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": _ENVIRONMENT}),
        _cluster(
            n_workers=workers,
            threads_per_worker=threads_per_worker,
            processes=True,
            memory_limit=memory_limit,
            dashboard_address=":0",
        ) as cluster,
        _client_of(cluster, direct_to_workers=direct) as connection,
    ):
        yield connection


@contextmanager
def _attach(address: str, security: Any, direct: bool) -> Iterator[Any]:
    try:
        connection = _client_of(address, timeout=PATIENCE, security=security, direct_to_workers=direct)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address!r}; check that it runs (dask scheduler) and can be "
            "reached from here."
        ) from error
    with connection:
        worker_threads(connection)
        _require_the_package(connection)
        yield connection


def _require_the_package(client: Any) -> None:
    """That all have this version: a worker that cannot read a task it is sent ends, and so would one after
    another.
    """
    try:
        versions = {client.run_on_scheduler(_version), *client.run(_version).values()}
    except Exception as error:  # Dask has no kind of its own for what goes wrong there
        versions = {str(error)}
    if versions != {__version__}:
        raise ClusterError(
            f"Scheduler and workers of {client.scheduler.address} need textmargin {__version__}, as here; "
            "they have: "
            f"{', '.join(sorted(versions))}. Install it where they run: pip install "
            f"'textmargin[scale]=={__version__}'."
        )


def _version() -> str:
    return __version__


def broadcast(value: Any) -> Any:
    """A future of a value that many tasks need: it goes out once, and the scheduler can send it again where
    it was lost.
    """
    with large_tasks():
        return client().submit(_identity, value, pure=False)


def broadcast_pickled(value: Any) -> Any:
    """`broadcast`, for what users have made: code that is not where a worker runs is an error, and not the
    end of the worker.

    Dask reads the arguments of a task as it reads the message, and a worker that cannot read a message
    closes. Without workers everybody waits.
    """
    with large_tasks():
        return client().submit(_unpickle, cloudpickle.dumps(value), type(value).__name__, pure=False)


def large_tasks() -> Any:
    """A block in which large arguments of tasks are meant: as such they outlive the workers."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})


def _identity(value: Any) -> Any:
    return value


def _unpickle(content: bytes, name: str) -> Any:
    try:
        return cloudpickle.loads(content)
    except (ImportError, AttributeError) as error:
        raise ClusterError(
            f"A worker cannot read the {name} it was sent: {error}. Install the module where workers run, "
            "or send it to them: "
            f"client.upload_file('module.py')."
        ) from error


class AnyHome(distributed.SchedulerPlugin):
    """Lets tasks whose homes are all gone go to a worker that comes.

    Where some worker is left, Dask sees to that by itself (`allow_other_workers`). Where none is, as after
    the death of the only one, it would wait for the old addresses for ever.
    """

    idempotent = True

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Before the scheduler looks for what a new worker may do."""
        for task in scheduler.unrunnable:
            if task.loose_restrictions:
                task.worker_restrictions = None


def homes(client: Any) -> list[str]:
    """`worker_threads`, to place tasks on."""
    client.register_plugin(AnyHome(), name="textmargin-any-home")
    return worker_threads(client)


def worker_threads(client: Any, patience: float = _FIRST_WORKER) -> list[str]:
    """The addresses of the workers, each as often as it has threads, in a fixed order."""
    threads = client.nthreads()
    if not threads:
        log.warning(
            f"The cluster at {client.scheduler.address} has no workers; waiting up to {patience:.0f} s "
            "for one."
        )
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError as error:
            raise ClusterError(
                f"The cluster at {client.scheduler.address} has no workers; start some (dask worker)."
            ) from error
        threads = client.nthreads()
    return [address for address, n in sorted(threads.items()) for _ in range(n)]
