"""What each act changed, newest last, so that it can be taken back without doing all others again.

Changes are taken back in the reverse of their order alone. A container that is found again thus holds, in the
same order, what it held then, also where it was changed in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MISSING: Any = object()


class Journal:
    """Changes to dicts, lists and attributes, by the place of the act that made them."""

    def __init__(self) -> None:
        self._acts: list[tuple[int, list[Callable[[], Any]]]] = []

    def begin(self, place: int) -> None:
        """What follows is changed by the act of this place, which lies behind all others."""
        self._acts.append((place, []))

    def put(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        """mapping[key] = value."""
        old = mapping.get(key, _MISSING)
        mapping[key] = value
        self._note((lambda: mapping.pop(key)) if old is _MISSING else (lambda: mapping.__setitem__(key, old)))

    def assign(self, owner: object, name: str, value: Any) -> None:
        """owner.name = value."""
        old = getattr(owner, name)
        setattr(owner, name, value)
        self._note(lambda: setattr(owner, name, old))

    def append(self, values: list[Any], value: Any) -> None:
        """values.append(value)."""
        values.append(value)
        self._note(values.pop)

    def also(self, undo: Callable[[], Any]) -> None:
        """Something else to do when the act is taken back."""
        self._note(undo)

    def roll_back(self, place: int) -> None:
        """Take back what the acts from this place on changed."""
        while self._acts and self._acts[-1][0] >= place:
            for undo in reversed(self._acts.pop()[1]):
                undo()

    def _note(self, undo: Callable[[], Any]) -> None:
        self._acts[-1][1].append(undo)
