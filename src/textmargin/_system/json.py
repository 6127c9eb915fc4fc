"""Plain data that JSON can say."""

from __future__ import annotations

from typing import Any


def jsonable(data: Any) -> Any:
    """The same with None for NaN, such as the F1 of a topic without texts."""
    if isinstance(data, dict):
        return {key: jsonable(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [jsonable(value) for value in data]
    return None if isinstance(data, float) and data != data else data
