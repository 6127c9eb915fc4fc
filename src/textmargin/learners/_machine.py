"""What a kernel machine is learnt from, what it is, and who learns it from a kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .._typing import Floats, Indices
from ._hinge import KernelTrustSetting, MachineSettings


class GramColumns(Protocol):
    """A kernel matrix over a list of texts."""

    n_evaluations: int  # pairs of texts that were compared; (i, j) and (j, i) are one pair

    def __len__(self) -> int: ...

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """K between the texts of these numbers, (n_rows, n_columns)."""
        ...

    def times(self, columns: Indices, weights: Floats) -> Floats:
        """Σ weights·K over some columns, for all texts."""
        ...


@dataclass(frozen=True)
class KernelProblem:
    """One class against the rest, by its number among the classes."""

    number: int
    y: Floats  # ±1
    costs: Floats  # 0: not there
    z: Floats  # prior scores, centred; 0 where there are none


@dataclass(frozen=True)
class Machine:
    """What was learnt: f(x) = Σ βᵢ K(x, xᵢ) + ηz(x) + b, over the support vectors."""

    support: Indices
    beta: Floats
    intercept: float
    eta: float

    def scores(self, gram: GramColumns, rows: Indices, z: Floats) -> Floats:
        """f of some of the texts."""
        return gram.times(self.support, self.beta)[rows] + self.eta * z[rows] + self.intercept


@dataclass(frozen=True)
class Round:
    """How far one problem has come, for those who watch."""

    problem: int
    number: int
    n_chunk: int
    n_support: int
    n_missing: int  # texts outside the chunk that miss their margin
    n_evaluations: int


class MachineLearner(Protocol):
    """Learns machines of many problems over one kernel matrix."""

    @property
    def settings(self) -> MachineSettings: ...

    @property
    def watch(self) -> Callable[[Round], None] | None: ...

    def learn(
        self,
        gram: Any,
        problems: list[KernelProblem],
        trust: list[KernelTrustSetting],
        starts: list[Machine] | None = None,
    ) -> list[Machine]:
        """A machine for each problem; `starts` are machines of problems that are alike."""
        ...

    def quiet(self) -> MachineLearner:
        """The same without anybody who watches."""
        ...
