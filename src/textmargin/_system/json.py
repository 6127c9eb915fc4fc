"""Plain data that JSON can say, and JSON that others have written."""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes) -> Any:
    """What a text from elsewhere says; ValueError where it is not JSON, or nested deeper than can be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its brackets are nested too deep") from None


def jsonable(data: Any) -> Any:
    """The same with None for NaN, such as the F1 of a topic without texts."""
    if isinstance(data, dict):
        return {key: jsonable(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [jsonable(value) for value in data]
    return None if isinstance(data, float) and data != data else data
