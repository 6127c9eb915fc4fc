"""The reading desk: people read, label, mark and name words, and see what the model makes of it at once.

All that people do is a list of acts (`acts.py`) in one file (`project.py`); what holds now is their fold
(`state.py`). The file is a table of labelled texts for every command (`export.py`), once this package
is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import lazy_loader

from ..tables.formats import register_reader

if TYPE_CHECKING:
    from ..tables.rows import Read

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _rows(path: Path) -> Iterator[list[Read]]:
    from .export import project_rows  # which needs a database and the texts, and is rarely asked for

    return project_rows(path)


register_reader("desk", _rows)
