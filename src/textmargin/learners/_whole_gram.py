"""A kernel matrix that is there as a whole, and the machines of all classes learnt from it at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._system.memory import machine_memory
from .._typing import Floats, Indices
from ..errors import TooLargeError
from ..gram.protocol import Pairs
from ._device_dual import DeviceDual
from ._dual import DualProblems, DualSolution
from ._gram_dual import solve_dual, warn_if_unsolved
from ._hinge import Chunk, KernelTrustSetting, MachineSettings, offset_of
from ._machine import KernelProblem, Machine, Round

_ROWS_AT_ONCE = 1024
_DOUBLE = 3000  # texts up to which double precision alone is fast enough
AUTO_BYTES = 2 << 30  # that chunk_size="auto" spends on a matrix


@dataclass(frozen=True)
class WholeGram:
    """K in single precision for the steps, and in double where it is at hand."""

    K: Any  # (n, n), float32 or float64
    exact: Floats | None
    n_evaluations: int

    @classmethod
    def of(cls, pairs: Pairs) -> WholeGram:
        """All values of a kernel, computed row by row."""
        n = len(pairs)
        K = _empty(
            n,
            np.float64 if n <= _DOUBLE else np.float32,
            "use chunk_size=50, which computes the values that it needs.",
        )
        numbers = np.arange(n)
        for first in range(0, n, _ROWS_AT_ONCE):
            rows = numbers[first : first + _ROWS_AT_ONCE]
            own = pairs.block(rows)
            K[rows[0] : rows[-1] + 1, rows[0] : rows[-1] + 1] = own
            rest = numbers[rows[-1] + 1 :]
            if rest.size:
                K[rows[0] : rows[-1] + 1, rest[0] :] = pairs.block(rows, rest)
                K[rest[0] :, rows[0] : rows[-1] + 1] = K[rows[0] : rows[-1] + 1, rest[0] :].T
        return cls(_finite(K), None, n * (n + 1) // 2)

    @classmethod
    def given(cls, K: Any) -> WholeGram:
        """A matrix that somebody has computed, of finite values."""
        if len(K) <= _DOUBLE:
            return cls(np.ascontiguousarray(K, dtype=np.float64), None, 0)
        if K.dtype == np.float32:
            return cls(np.ascontiguousarray(K), None, 0)
        single = _empty(len(K), np.float32, "give it as float32, of which no copy is made.")
        single[:] = K
        return cls(single, np.ascontiguousarray(K), 0)

    def __len__(self) -> int:
        return len(self.K)

    @property
    def best(self) -> Any:
        """The values in the higher precision."""
        return self.K if self.exact is None else self.exact

    def solve(
        self, problems: DualProblems, settings: MachineSettings, start: Floats | None, n_jobs: int | None
    ) -> DualSolution:
        """All problems at once."""
        return solve_dual(self.K, problems, settings.fit_intercept, settings.tol, start, n_jobs, self.exact)

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """K between the texts of these numbers, (n_rows, n_columns)."""
        return np.asarray(self.best[np.ix_(rows, columns)], dtype=np.float64)

    def times(self, columns: Indices, weights: Floats) -> Floats:
        """Σ weights·K over some columns, for all texts."""
        total = np.zeros(len(self))
        for first in range(0, columns.size, _ROWS_AT_ONCE):
            some = slice(first, first + _ROWS_AT_ONCE)
            total += weights[some] @ self.best[columns[some]]
        return total


class DeviceGram:
    """K in single precision on a GPU, where all problems are solved; it comes to the host if a trust is to be
    found.
    """

    exact: None = None

    def __init__(self, K: Any, fit_intercept: bool) -> None:
        self._machine = DeviceDual(K, fit_intercept, np if isinstance(K, np.ndarray) else None)
        self.n_evaluations = len(K) * (len(K) + 1) // 2

    def __len__(self) -> int:
        return len(self._machine.K)

    @cached_property
    def K(self) -> Any:  # noqa: N802
        """The values on the host."""
        numbers = np.arange(len(self))
        return self._machine.block(numbers, numbers).astype(np.float32)

    def solve(
        self, problems: DualProblems, settings: MachineSettings, start: Floats | None, n_jobs: int | None
    ) -> DualSolution:
        """All problems at once."""
        return self._machine.solve(problems, settings.tol, start)

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """K between the texts of these numbers, (n_rows, n_columns)."""
        return self._machine.block(rows, columns)

    def times(self, columns: Indices, weights: Floats) -> Floats:
        """Σ weights·K over some columns, for all texts."""
        return self._machine.block(np.arange(len(self)), columns) @ weights


@dataclass(frozen=True)
class WholeLearner:
    """Learns all problems over a whole matrix at once; those whose trust is to be found, one by one."""

    settings: MachineSettings
    watch: Callable[[Round], None] | None = None
    n_jobs: int | None = None

    def quiet(self) -> WholeLearner:
        """The same without anybody who watches."""
        return replace(self, watch=None)

    def learn(
        self,
        gram: WholeGram | DeviceGram,
        problems: list[KernelProblem],
        trust: list[KernelTrustSetting],
        starts: list[Machine] | None = None,
    ) -> list[Machine]:
        """A machine for each problem."""
        machines: dict[int, Machine] = {}
        begin = None if starts is None else np.array([_dense(machine, len(gram)) for machine in starts])
        held = [k for k, setting in enumerate(trust) if setting.held]
        if held:
            y, costs = (np.array([getattr(problems[k], name) for k in held]) for name in ("y", "costs"))
            offset = np.array([offset_of(problems[k].z, trust[k].target) for k in held])
            posed = DualProblems.of(y, costs, offset, self.settings.loss)
            first = None if begin is None else begin[held]
            found = gram.solve(posed, self.settings, first, self.n_jobs)
            warn_if_unsolved(float(found.violation.max()), self.settings.tol)
            for j, k in enumerate(held):
                machines[k] = _machine(found.beta[j], float(found.intercept[j]), trust[k].target)
        for k in range(len(problems)):
            if k not in machines:
                chunk = Chunk(
                    gram.K, problems[k].y, problems[k].costs, problems[k].z, self.settings, gram.exact
                )
                machines[k] = _machine(*chunk.solve(trust[k], None if begin is None else begin[k]))
            if self.watch:
                self.watch(
                    Round(problems[k].number, 1, len(gram), machines[k].support.size, 0, gram.n_evaluations)
                )
        return [machines[k] for k in range(len(problems))]


def _require_room(n: int, n_bytes: int, advice: str) -> None:
    """Whether this machine could hold so much at all."""
    memory = machine_memory()
    if n_bytes > 0.8 * memory:
        raise TooLargeError(
            f"The kernel matrix of {n:,} texts takes {n_bytes / 2**30:.1f} GiB more, and this machine has "
            f"{memory / 2**30:.1f} GiB in all; {advice}"
        )


def _empty(n: int, dtype: Any, advice: str) -> Any:
    _require_room(n, n * n * np.dtype(dtype).itemsize, advice)
    return np.empty((n, n), dtype=dtype)


def _finite(K: Any) -> Any:
    for first in range(0, len(K), _ROWS_AT_ONCE):
        rows = K[first : first + _ROWS_AT_ONCE]
        if not np.isfinite(rows).all():
            i, j = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(
                f"The kernel of texts number {first + i} and {j} is {rows[i, j]}; it must be finite."
            )
    return K


def _dense(machine: Machine, n: int) -> Floats:
    beta = np.zeros(n)
    beta[machine.support] = machine.beta
    return beta


def _machine(beta: Floats, b: float, eta: float) -> Machine:
    support = np.flatnonzero(beta)
    return Machine(support, beta[support], b, eta)
