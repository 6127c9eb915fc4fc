"""Names of a package that are imported from its modules when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package, given the module below it that each of its names lives in.

    Examples
    --------
    >>> from textmargin._system.lazy_names import lazy_names
    >>> find, names = lazy_names("textmargin.tables", {"read_rows": "formats"})
    >>> find("read_rows").__module__
    'textmargin.tables.formats'
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{homes[name]}", package), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, names
