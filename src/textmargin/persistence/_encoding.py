"""A model as values, to be written as JSON.

Values are numbered, parts before the whole, and the last one is the model. Scalars stand where they are used;
all else has a number, {"at": number}, which must be lower than one's own: what was shared is shared again,
and a cycle cannot be written down.

    in place    null, true, 1, 0.5, "text"    {"float": "nan"}    {"bytes": base64}    {"numpy": ["<f8", 0.5]}
                {"tuple": […]}    {"path": "…"}    {"type": "<f8"}    {"dtype": "<f8"}    {"function": name}
    numbered    {"list": […]}    {"dict": {…}}    {"pairs": [[key, value], …]}    {"set": […]}
                {"frozenset": […]}    {"array": number}    {"objects": […], "shape": […]}
                {"csr_matrix": [data, indices, indptr], "shape": […]}    {"method": [value, name]}
                {"analyzer": vectoriser}    {"object": class, "state": {…}}
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import is_plain
from ._known import METHODS, class_name, function_name, state_of
from ._sharing import unfolds_too_far

DEEPEST = 50
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
SPARSE = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")  # of SciPy


class CannotSave(Exception):  # noqa: N818
    """A part of a model that has no place in a file: where it is, what it is, what to do."""


class Encoder:
    """From a model to values and arrays."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[int, int] = {}  # of what has one already, by address
        self._alive: list[Any] = []  # so that no address is used twice
        self._within: list[int] = []  # what is being written

    def model(self, model: Any) -> None:
        """Write the model itself."""
        if class_name(type(model)) is None:
            raise CannotSave(_told("the model", model))
        self._value(model, "")
        if unfolds_too_far(self.values):
            raise CannotSave("it holds the same parts in one another too often; take it apart.")

    def parts(self) -> Iterator[Any]:
        """What was written of classes that models consist of."""
        return (part for part in self._alive if class_name(type(part)) is not None)

    def _value(self, x: Any, at: str) -> Any:
        kind = type(x)
        if kind is str and not x.isascii() and _HALVES.search(x):
            raise CannotSave(
                f"{at:.200} has the two halves of a character apart, which JSON would join; decode it as "
                "UTF-16."
            )
        if x is None or kind in (bool, int, str):
            return x
        if kind is float:
            return x if math.isfinite(x) else {"float": repr(x)}
        if kind is bytes:
            return {"bytes": base64.b64encode(x).decode("ascii")}
        if isinstance(x, np.generic) and is_plain(x.dtype):
            return {"numpy": [x.dtype.str, self._value(x.item(), at)]}
        if kind is tuple:
            with self._inside(x, at):
                return {"tuple": self._each(x, at)}
        if isinstance(x, PurePath):
            return {"path": str(x)}
        if isinstance(x, type) and issubclass(x, np.generic) and is_plain(np.dtype(x)):
            return {"type": np.dtype(x).str}
        if isinstance(x, np.dtype) and is_plain(x):
            return {"dtype": x.str}
        if (name := function_name(x)) is not None:
            return {"function": name}
        return {"at": self._number(x, at)}

    def _number(self, x: Any, at: str) -> int:
        if id(x) in self._numbers:
            return self._numbers[id(x)]
        with self._inside(x, at):
            entry = self._entry(x, at)
        self.values.append(entry)
        self._alive.append(x)
        self._numbers[id(x)] = len(self.values) - 1
        return self._numbers[id(x)]

    @contextmanager
    def _inside(self, x: Any, at: str) -> Iterator[None]:
        if id(x) in self._within or len(self._within) >= DEEPEST:
            why = "contains itself" if id(x) in self._within else f"is nested more than {DEEPEST} deep"
            raise CannotSave(f"{at:.200} {why}; take it apart.")
        self._within.append(id(x))
        yield
        self._within.pop()

    def _entry(self, x: Any, at: str) -> dict[str, Any]:
        kind = type(x)
        if kind is list:
            return {"list": self._each(x, at)}
        if kind is dict:
            return self._dict(x, at)
        if kind in (set, frozenset):
            return {kind.__name__: sorted((self._key(key, at) for key in x), key=repr)}
        if kind in (np.ndarray, np.memmap):
            return self._array(x, at)
        if kind.__name__ in SPARSE and kind.__module__.startswith("scipy.sparse."):
            return {
                kind.__name__: self._each((x.data, x.indices, x.indptr), at),
                "shape": list(map(int, x.shape)),
            }
        if kind is MethodType and x.__name__ in METHODS and class_name(type(x.__self__)):
            return {"method": [self._value(x.__self__, at), x.__name__]}
        if (vectoriser := _analyzes_for(x)) is not None:
            return {"analyzer": self._value(vectoriser, at)}
        name = class_name(kind)
        if name is None:
            raise CannotSave(_told(at, x))
        path = f"{at}." if at else ""
        return {
            "object": name,
            "state": {key: self._value(value, f"{path}{key}") for key, value in state_of(x).items()},
        }

    def _each(self, items: Any, at: str) -> list[Any]:
        return [self._value(item, f"{at}[{i}]") for i, item in enumerate(items)]

    def _dict(self, x: dict[Any, Any], at: str) -> dict[str, Any]:
        if all(type(key) is str for key in x):
            return {
                "dict": {
                    self._value(key, at): self._value(value, f"{at}[{key!r}]") for key, value in x.items()
                }
            }
        return {
            "pairs": [[self._key(key, at), self._value(value, f"{at}[{key!r}]")] for key, value in x.items()]
        }

    def _key(self, key: Any, at: str) -> Any:
        """What is looked up by is written in place."""
        written = self._value(key, f"{at}, key {key!r:.40}")
        if not in_place(written):
            raise CannotSave(
                f"{at} has a key {key!r:.40} that is not a string, a number or a tuple of these; use one "
                "of them."
            )
        return written

    def _array(self, x: NDArray[Any], at: str) -> dict[str, Any]:
        if x.dtype == object:
            return {"objects": self._each(x.ravel().tolist(), at), "shape": list(x.shape)}
        if x.dtype.kind in "US" and x.dtype.itemsize == 0:
            x = x.astype(f"{x.dtype.kind}1")
        if not is_plain(x.dtype):
            raise CannotSave(
                f"{at} is an array of type {x.dtype}; only numbers, truth values and strings are saved: "
                "convert it."
            )
        self.arrays.append(np.asarray(x))
        return {"array": len(self.arrays) - 1}


def in_place(written: Any) -> bool:
    """Whether a value has no number, so that it can be looked up by."""
    if not isinstance(written, dict):
        return True
    return "at" not in written and all(map(in_place, written.get("tuple", [])))


def _analyzes_for(x: Any) -> Any:
    """The vectoriser whose `build_analyzer()` a function is."""
    vectoriser = getattr(x.keywords.get("decoder"), "__self__", None) if type(x) is partial else None
    if (
        vectoriser is None
        or class_name(type(vectoriser)) is None
        or not hasattr(vectoriser, "build_analyzer")
    ):
        return None
    same = vectoriser.build_analyzer()
    return vectoriser if same.func is x.func and same.keywords.keys() == x.keywords.keys() else None


def _told(at: str, x: Any) -> str:
    """Why something is not saved."""
    if hasattr(x, "__name__") or type(x) is partial:
        what = (
            f"a class ({x.__name__})"
            if isinstance(x, type)
            else f"a function ({getattr(x, '__name__', 'partial')})"
        )
        todo = (
            f"set it to {'False' if at.endswith('progress') else 'None'} before saving, and again "
            "after loading"
        )
    elif hasattr(x, "best_estimator_"):
        what, todo = f"a search ({type(x).__name__})", "save its best_estimator_"
    elif isinstance(x, np.random.RandomState | np.random.Generator):
        what, todo = "a random generator", "use a number"
    elif isinstance(x, Mapping):
        what, todo = f"a {type(x).__name__}", "convert it with dict()"
    elif hasattr(x, "to_numpy"):
        what, todo = f"a {type(x).__name__}", "convert it with .to_numpy(), or to a list"
    else:
        what = f"of class {type(x).__module__}.{type(x).__qualname__}"
        todo = "docs/persistence.md lists the classes that can be saved"
    return f"{at} is {what}, which cannot be saved without pickle; {todo}."
