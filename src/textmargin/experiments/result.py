"""One run of a table as it is stored: the numbers, and all they depend on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from .._system.writing import write_whole
from ..datasets.loading import dataset_digest
from ..errors import OutputError
from .table import Table

_PACKAGES = ("textmargin", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Result:
    """A table with its parameters, seeds, versions and time."""

    name: str
    title: str
    paper: str
    quick: bool
    parameters: dict[str, Any]
    seeds: list[int]
    versions: dict[str, str]
    machine: str
    when: str
    seconds: float
    # of the subsequence kernel, those looked up not included; None: not counted
    n_kernel_evaluations: int | None
    table: Table

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write it as JSON into a folder, whole or not at all; the result of an earlier run is replaced."""
        path = Path(folder) / file_name(self.name, self.quick)
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        try:
            write_whole({path: text.encode()})
        except OSError as error:
            raise OutputError(
                f"The result of {self.name} could not be written to {path}: {error.strerror}. Nothing was "
                "changed there; "
                f"choose another folder for results."
            ) from error
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(**{**data, "table": Table.from_dict(data["table"])})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OutputError(f"{path} is not a whole result ({error}); run the table again.") from error

    def differences(self, other: Result) -> list[str]:
        """What is not the same in another run: parameters, seeds and numbers, to the last digit.

        Columns in `details["measured"]` of a table, such as seconds, are never the same and are left out.
        """
        old, new = self._numbers(), other._numbers()
        changed = [key for key in old | new if old.get(key) != new.get(key)]
        return [f"{key}: {old.get(key)} → {new.get(key)}" for key in changed]

    def _numbers(self) -> dict[str, str]:
        numbers: dict[str, Any] = {**self.parameters, "seeds": self.seeds}
        for row, values in self.table.rows.items():
            for column, value in values.items():
                if column not in self.table.details.get("measured", []):
                    numbers[f"{row}, {column}"] = (value.ours, value.spread, value.published)
        return {key: repr(value) for key, value in numbers.items()}  # NaN is itself


def conditions(data: Sequence[str] = ()) -> dict[str, Any]:
    """The versions of packages, of textmargin's own code and of the data, the machine and the moment."""
    digests = {f"data {name}": _short(dataset_digest(name)) for name in data}
    return {
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in _PACKAGES},
            "code": _short(_code()),
            **digests,
        },
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def file_name(name: str, quick: bool) -> str:
    """Of a stored result; a quick run does not replace a full one."""
    return f"{name}.quick.json" if quick else f"{name}.json"


@cache
def _code() -> str:
    """A digest of textmargin's own Python code."""
    digest = sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _short(digest: str) -> str:
    return digest[:12]
