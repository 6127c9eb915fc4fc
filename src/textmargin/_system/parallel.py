"""Independent pieces of work through joblib, so that `joblib.parallel_config` says where they are done.

What is handed over is small and comes back as a value: a worker may be a thread, a process or another
machine. Matrices that all pieces share are arguments of their own, which Dask's backend sends to each worker
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from joblib import Parallel


def run_jobs(jobs: Iterable[Any], n_jobs: int | None = None, *, prefer: str = "threads") -> Iterator[Any]:
    """What jobs give, in their order, each as soon as it is there; all at the end where the backend gives
    them together.

    Parameters
    ----------
    jobs : of `joblib.delayed`
    n_jobs : int, default=None
        How many at a time; None: one, or what `joblib.parallel_config` says.
    prefer : {"threads", "processes"}, what to take where nobody says otherwise
    """
    try:
        parallel = Parallel(n_jobs, prefer=prefer, return_as="generator")
    except ValueError:  # Dask's backend has no generators
        parallel = Parallel(n_jobs, prefer=prefer)
    yield from parallel(jobs)
