"""Options of commands that work on a cluster, and the cluster itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from ._console import remark

Cluster = Annotated[str | None, typer.Option(help="Work on a running Dask cluster, such as tcp://host:8786; see docs/scale.md.")]
Workers = Annotated[int | None, typer.Option(help="Work on a local cluster of so many processes.")]


def wanted(cluster: str | None, workers: int | None) -> bool:
    """Whether a cluster is asked for."""
    if cluster is not None and workers is not None:
        raise ValueError("--cluster and --workers are both given; one is for a running cluster, the other starts one here.")
    if workers is not None and workers < 1:
        raise ValueError(f"--workers {workers}: at least one.")
    return cluster is not None or workers is not None


def require(name: str) -> None:
    """That what a name of `scale` needs is installed."""
    from .. import scale

    try:
        getattr(scale, name)
    except ImportError as error:
        raise ValueError(str(error)) from error


@contextmanager
def at_work(cluster: str | None, workers: int | None) -> Iterator[None]:
    """The cluster that was asked for; says where to watch it, and in one line that it broke."""
    require("connect")
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    from ..errors import ClusterError
    from ..scale import connect

    try:
        with connect(cluster, workers=workers) as client:
            if cluster is None:  # its workers write to this terminal; what went wrong is told once, by the command
                client.run(_quiet)
            _quiet()
            n_workers = len(client.scheduler_info(n_workers=-1)["workers"])
            remark(f"{n_workers} {'worker' if n_workers == 1 else 'workers'}; watch at {client.dashboard_link}")
            yield
    except KilledWorker as error:
        raise ClusterError(f"Workers died again and again, most often of too little memory: {error}") from error
    except CancelledError as error:
        raise ClusterError(f"The cluster ended before the work did: {error}") from error


def _quiet() -> None:
    """Leave out what Dask logs."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
