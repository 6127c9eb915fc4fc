"""TOML files that people write, with names of labels in them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

_NAME = re.compile(r"^\s*([^\s\"'#=\[\]{}][^\"'#=\[\]{}]*?)\s*=", re.MULTILINE)


class TomlError(ValueError):
    """A file is not TOML."""


def read_toml(path: str | Path) -> dict[str, Any]:
    """What a file says; where it is not TOML the error names what is most often the reason: a name that needs
    quotes.
    """
    text = Path(path).read_text(encoding="utf-8-sig")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TomlError("its brackets are nested too deep") from None
    except ValueError as error:  # not TOML, or a number of thousands of digits
        odd = next((name for name in _NAME.findall(text) if not re.fullmatch(r"[A-Za-z0-9_.-]+", name)), None)
        hint = "" if odd is None else f"; {quotes_hint(odd)}"
        raise TomlError(f"{error}{hint}") from error


def quotes_hint(name: str) -> str:
    """What to do about a name that TOML takes for something else."""
    return f'names with anything but a-z, A-Z, digits, - and _ stand in quotes: "{name}" = …'
