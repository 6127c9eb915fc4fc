"""Running a table: what every experiment is given, and what becomes of what it returns."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._system.progress import progress_of
from ..learners.kernel_matrix import KernelMatrix
from .result import Result, conditions
from .table import Table, published

_T = TypeVar("_T")


@dataclass(frozen=True)
class Experiment:
    """A table of a paper, by a name to call it.

    `function` is where it is computed, "module:function" of this folder; it takes a `Run` and gives a
    `Table`.
    """

    name: str
    paper: str
    title: str
    function: str
    minutes: float  # on two cores, kernel matrices not at hand
    data: tuple[str, ...]  # datasets

    def run(self, run: Run) -> Result:
        """Compute it."""
        module, name = self.function.split(":")
        start = time.perf_counter()
        table: Table = getattr(import_module(f".{module}", __package__), name)(run)
        seconds = time.perf_counter() - start
        return Result(
            name=self.name,
            title=self.title,
            paper=published(self.paper)["paper"],
            quick=run.quick,
            parameters=run.parameters,
            seeds=run.seeds,
            seconds=round(seconds, 2),
            n_kernel_evaluations=run.n_kernel_evaluations,
            table=table,
            **conditions(self.data),
        )


@dataclass
class Run:
    """What an experiment needs to know of the run it is part of, and what it notes down for the stored
    result.

    Parameters
    ----------
    quick : bool
        Whether a small part of the work will do, to see that everything works; the numbers then mean little.
    kernels : folder
        Where kernel values are kept, so that the next table, or an interrupted run, does not compute them
        again.
    results : folder
        Where results are stored.
    progress : bool
        Whether to show bars.
    """

    quick: bool = False
    kernels: str | os.PathLike[str] = "kernels"
    results: str | os.PathLike[str] = "results"
    progress: bool = True
    parameters: dict[str, Any] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)
    n_kernel_evaluations: int | None = None  # so far; None where no kernel matrix was asked for

    @property
    def folder(self) -> Path:
        """Of results."""
        return Path(self.results)

    def gram(self, kernel: Any, texts: list[str]) -> NDArray[np.float64]:
        """The kernel matrix of some texts, from a file that all orders of them share and that an interrupted
        run goes on with.
        """
        distinct = sorted(set(texts), key=lambda text: (len(text), text))  # alike in length: compared faster
        found = KernelMatrix.stored(kernel.over(distinct), self.kernels)
        found.compute(np.arange(len(distinct)))
        self.count_evaluations(found.n_evaluations)
        number = {text: i for i, text in enumerate(distinct)}
        places = [number[text] for text in texts]
        return np.asarray(found.K[np.ix_(places, places)], dtype=np.float64)

    def count_evaluations(self, n: int) -> None:
        """Add to the kernel evaluations of this run; that there were none is a count too."""
        self.n_kernel_evaluations = (self.n_kernel_evaluations or 0) + n

    def log_parameters(self, **parameters: Any) -> None:
        """Note parameters down."""
        self.parameters.update(parameters)

    def draw_seeds(self, n: int) -> list[int]:
        """The seeds of so many draws, noted down."""
        self.seeds[:] = range(n)
        return list(self.seeds)

    def track(self, steps: Sequence[_T] | Iterable[_T], what: str) -> Iterator[_T]:
        """The steps one after the other, under a bar."""
        steps = list(steps)
        with progress_of(what, self.progress) as report:
            for done, step in enumerate(steps):
                if report is not None:
                    report(done / len(steps))
                yield step
