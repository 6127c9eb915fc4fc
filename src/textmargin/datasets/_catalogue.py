"""What can be loaded by name: `catalogue.toml` as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True)
class File:
    """A file as every number of this project was computed from it."""

    name: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Entry:
    """A dataset: what it is, whose it is, and which files hold it (none if it comes with the package)."""

    name: str
    about: str
    licence: str
    source: str
    counts: Mapping[str, int]
    files: tuple[File, ...]

    @property
    def how_to_obtain(self) -> str:
        """The next step for somebody without the files."""
        if not self.files:
            return "It comes with the package."
        return (
            f"Get it from its public source ({self.source}) and write the files that docs/datasets.md "
            "describes."
        )


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every dataset by name, in the order of the file."""
    read = tomllib.loads(files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: Entry(
                name,
                about=facts["about"],
                licence=facts["licence"],
                source=facts["source"],
                counts=facts.get("counts", {}),
                files=tuple(
                    File(file["name"], file["bytes"], file["sha256"]) for file in facts.get("files", ())
                ),
            )
            for name, facts in read.items()
        }
    )
