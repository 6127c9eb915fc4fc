"""Options of commands that work on a cluster, and the cluster itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ._console import OptionError, remark


@dataclass(frozen=True)
class ClusterOptions:
    """Where texts in parts are worked on."""

    cluster: Annotated[
        str | None,
        typer.Option(help="Work on a running Dask cluster, such as tcp://host:8786; see docs/scale.md."),
    ] = None
    workers: Annotated[int | None, typer.Option(help="Work on a local cluster of so many processes.")] = None

    @property
    def wanted(self) -> bool:
        """Whether a cluster is asked for."""
        if self.cluster is not None and self.workers is not None:
            raise OptionError(
                "--cluster and --workers are both given; one is for a running cluster, the other starts "
                "one here."
            )
        if self.workers is not None and self.workers < 1:
            raise OptionError(f"--workers {self.workers}: at least one.")
        return self.cluster is not None or self.workers is not None

    @contextmanager
    def connect(self) -> Iterator[Any]:
        """The cluster that was asked for; says where to watch it, and in one line that it broke."""
        require("connect")
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        from ..errors import ClusterError
        from ..scale import connect

        try:
            with connect(self.cluster, workers=self.workers) as client:
                # its workers write to this terminal; what went wrong is told once, by the command
                if self.cluster is None:
                    client.run(_quiet)
                _quiet()
                n_workers = len(client.scheduler_info(n_workers=-1)["workers"])
                remark(
                    f"{n_workers} {'worker' if n_workers == 1 else 'workers'}; watch at "
                    f"{client.dashboard_link}"
                )
                yield client
        except KilledWorker as error:
            raise ClusterError(
                f"Workers died again and again, most often of too little memory: {error}"
            ) from error
        except CancelledError as error:
            raise ClusterError(f"The cluster ended before the work did: {error}") from error


def require(name: str) -> None:
    """That what a name of `scale` needs is installed."""
    from .. import scale

    try:
        getattr(scale, name)
    except ImportError as error:
        raise OptionError(str(error)) from error


def _quiet() -> None:
    """Leave out what Dask logs."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
