"""How many rows are done, and how many a second, on a terminal: from two seconds on, and gone when all are
done.
"""

from __future__ import annotations

import time
from typing import Any

from .progress import PATIENCE


class RowCounter:
    """Counts rows, and shows it where standard error is a terminal; for a `with` block.

    Parameters
    ----------
    enabled : bool, default=True
        Whether to show anything at all.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.n_rows = 0
        self.started = time.monotonic()
        self.enabled = enabled
        self.bar: Any = None

    def add(self, n_rows: int) -> None:
        """So many more are done."""
        self.n_rows += n_rows
        seconds = time.monotonic() - self.started
        if not self.enabled or seconds < PATIENCE:
            return
        if self.bar is None:
            self._open()
        if self.bar is not None:
            self.bar.update(
                self.task, description=f"{self.n_rows:,} rows, {self.n_rows / seconds:,.0f} a second"
            )

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn

        console = Console(stderr=True)
        self.enabled = console.is_terminal
        if self.enabled:
            self.bar = Progress(
                SpinnerColumn(), TextColumn("{task.description}"), console=console, transient=True
            )
            self.task = self.bar.add_task("", total=None)
            self.bar.start()

    def __enter__(self) -> RowCounter:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
