"""Tables computed by name, stored, and compared with what was stored before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import OutputError
from .catalogue import EXPERIMENTS, experiment
from .result import Result, file_name
from .run import Run


@dataclass(frozen=True)
class Outcome:
    """A result, where it is stored, and in what it differs from the one that was stored there before.

    `differences` is None where there was none, and empty where every number is the same to the last digit.
    """

    result: Result
    path: Path
    differences: list[str] | None


def reproduce(names: Sequence[str], run: Run) -> Iterator[Outcome]:
    """Compute tables one after the other, each stored as soon as it is there; "all" stands for every one.

    An earlier result that cannot be read is replaced; there is nothing to compare with then.
    """
    chosen = {name: experiment(name) for name in names if name != "all"}
    if "all" in names:
        chosen = dict(EXPERIMENTS)
    for one in chosen.values():
        try:
            before = load_result(one.name, run.folder, run.quick)
        except OutputError:
            before = None
        result = one.run(replace(run, parameters={}, seeds=[], n_kernel_evaluations=None))
        yield Outcome(result, result.save(run.folder), None if before is None else before.differences(result))


def load_result(name: str, folder: str | os.PathLike[str], quick: bool = False) -> Result | None:
    """The result of an earlier run, if there is one."""
    path = Path(folder) / file_name(name, quick)
    return Result.load(path) if path.exists() else None


def load_results(folder: str | os.PathLike[str]) -> list[Result]:
    """Every full result in a folder, in the order of the papers."""
    results = (load_result(name, folder) for name in EXPERIMENTS)
    return [result for result in results if result is not None]
