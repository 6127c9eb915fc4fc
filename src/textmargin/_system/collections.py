"""Collections of other libraries that have a number or a name per text."""

from __future__ import annotations

from typing import Any


def in_memory(values: Any) -> Any:
    """What a Dask series, array or bag holds, of labels or weights; anything else as it is."""
    return values.compute() if hasattr(values, "__dask_graph__") else values
