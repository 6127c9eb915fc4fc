"""How large a model is when everything shared is counted each time it is met.

Lists that hold the list before them twice double with every line of a file: forty lines, and whoever walks
through the last one (to print it, to compare it) does not come back. Models share as well, but little.
"""

from __future__ import annotations

from typing import Any

_ALWAYS = 100_000
_TIMES = 20  # as much as is written; the models of tests/persistence come to twice at most


def unfolds_too_far(values: list[Any]) -> bool:
    """Whether some value holds far more than is written down. `_encoding.py` tells what values look like."""
    counted = [_counted(entry) for entry in values]
    bound = _ALWAYS + _TIMES * sum(n for n, _ in counted)
    sizes: list[int] = []
    for n, parts in counted:
        sizes.append(n + sum(sizes[k] for k in parts if k < len(sizes)))
        if sizes[-1] > bound:
            return True
    return False


def _counted(entry: Any) -> tuple[int, list[int]]:
    """How much is written in an entry, and the numbers of the values that it refers to, each as often as it
    does.
    """
    left = list(entry.values()) if isinstance(entry, dict) else []
    if left and ("dict" in entry or "object" in entry):  # whose keys are names, "at" perhaps among them
        left = [x for part in left for x in (part.values() if isinstance(part, dict) else [part])]
    n, parts = 1, []
    while left:
        x = left.pop()
        n += 1
        if isinstance(x, dict):
            number = x.get("at")
            if type(number) is int and number >= 0:
                parts.append(number)
            left.extend(x.values())
        elif isinstance(x, list):
            left.extend(x)
    return n, parts
