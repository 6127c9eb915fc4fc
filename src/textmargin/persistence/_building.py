"""Values back to a model: each is checked, then built from those before it. `_encoding.py` tells what they
look like.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import scalar_type
from ._encoding import DEEPEST, SPARSE, in_place
from ._foreign import check_decides
from ._known import METHODS, check_names, class_name, known_class, known_function
from ._making import made
from ._seal import Refused
from ._sharing import unfolds_too_far


def _natural(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise Refused(f"has {number!r:.40} where a number that counts should be")
    return number


def _float(name: Any) -> float:
    if name not in ("inf", "-inf", "nan"):
        raise Refused(f"has a number {name!r:.40}")
    return float(name)


def _object_array(items: list[Any], shape: Any) -> NDArray[Any]:
    if math.prod(shape) != len(items):
        raise Refused(f"has an array of {len(items)} values and shape {shape!r:.60}")
    array = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):  # one by one: NumPy would look into lists
        array[k] = item
    return array.reshape(shape)


class Builder:
    """From values and arrays to a model, each checked before it is built."""

    def __init__(self, values: list[Any], arrays: list[NDArray[Any]], versions: Mapping[str, str]) -> None:
        self._values = values
        self._arrays = arrays
        self._versions = versions
        self._built: list[Any] = []
        self._depths: list[int] = []
        self._deepest = 0  # of what the current value refers to

    def model(self) -> Any:
        """Build everything; the model comes last."""
        self._check_names()
        if unfolds_too_far(self._values):
            raise Refused(
                "holds the same parts in one another so often that they would never end", "do not trust it"
            )
        for entry in self._values:
            self._deepest = 0
            self._built.append(self._part(entry))
            self._depths.append(self._deepest + 1)
            if self._depths[-1] > DEEPEST:
                raise Refused("is nested deeper than any model")
        return self._finish(self._built[-1])

    def _finish(self, model: Any) -> Any:
        check_decides(model, self._built)
        return model

    def _check_names(self) -> None:
        """All classes and attributes, before anything is built."""
        if not self._values or not all(isinstance(entry, dict) and entry for entry in self._values):
            raise Refused("has no model in it")
        if "object" not in self._values[-1]:
            raise Refused("ends in something that is not a model")
        for entry in self._values:
            if "object" in entry:
                if set(entry) != {"object", "state"} or not isinstance(entry["state"], dict):
                    raise Refused(f"has an object {entry['object']!r:.60} without attributes")
                self._check_object(entry["object"], entry["state"])

    def _check_object(self, name: Any, state: dict[str, Any]) -> None:
        check_names(known_class(name), state)

    def _object(self, name: str, state: dict[str, Any]) -> Any:
        return made(known_class(name), state, self._versions)

    def _part(self, entry: dict[str, Any]) -> Any:
        if "object" in entry:
            state = {name: self._value(value) for name, value in entry["state"].items()}
            return self._object(entry["object"], state)
        kind, content = next(iter(entry.items()))
        shape = [_natural(n) for n in entry["shape"]] if "shape" in entry else None
        if set(entry) - {kind, "shape"} or (shape is None) == (kind in SPARSE or kind == "objects"):
            raise Refused(f"has a value of a kind that is not known: {sorted(entry)!r:.80}")
        if kind in SPARSE:
            return self._sparse(kind, content, shape)
        if kind == "objects":
            return _object_array(self._each(content), shape)
        if kind not in self._builders:
            raise Refused(f"has a value of a kind that is not known: {kind!r:.60}")
        return self._builders[kind](self, content)

    def _value(self, written: Any) -> Any:
        if not isinstance(written, dict):
            if isinstance(written, list):
                raise Refused("has a list where a value should be")
            return written
        if len(written) != 1:
            raise Refused(f"has a value of a kind that is not known: {sorted(written)!r:.80}")
        kind, content = next(iter(written.items()))
        if kind == "at":
            return self._at(content)
        if kind == "tuple":
            return tuple(self._each(content))
        if kind == "numpy":
            dtype, value = content
            return scalar_type(dtype).type(self._value(value))
        if kind not in self._scalars:
            raise Refused(f"has a value of a kind that is not known: {kind!r:.60}")
        return self._scalars[kind](content)

    def _at(self, number: Any) -> Any:
        if _natural(number) >= len(self._built):
            raise Refused(f"has a value that refers to number {number!r:.30}, which is not before it")
        self._deepest = max(self._deepest, self._depths[number])
        return self._built[number]

    def _each(self, items: Any) -> list[Any]:
        if not isinstance(items, list):
            raise Refused(f"has {items!r:.40} where a list should be")
        return [self._value(item) for item in items]

    def _key(self, written: Any) -> Any:
        if not in_place(written):
            raise Refused("has a key that is not a string, a number or a tuple of these")
        return self._value(written)

    def _dict(self, content: dict[str, Any]) -> dict[str, Any]:
        return {key: self._value(value) for key, value in content.items()}

    def _pairs(self, content: list[list[Any]]) -> dict[Any, Any]:
        found = {self._key(key): self._value(value) for key, value in content}
        if len(found) < len(content):
            raise Refused("has a mapping with the same key twice")
        return found

    def _array(self, number: Any) -> NDArray[Any]:
        return self._arrays[_natural(number)]

    def _sparse(self, kind: str, content: Any, shape: Any) -> Any:
        data, indices, indptr = self._each(content)
        if (
            data.dtype.kind not in "biuf"
            or indices.dtype.kind != "i"
            or indptr.dtype.kind != "i"
            or len(shape) != 2
        ):
            raise Refused("has a sparse matrix of something else than numbers")
        if (indptr[1:] < indptr[:-1]).any():  # which scipy does not look at where the last one is 0
            raise Refused("has a sparse matrix whose rows end before they begin")
        matrix = getattr(import_module("scipy.sparse"), kind)((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)  # products go by its indices without looking
        return matrix

    def _method(self, content: Any) -> Any:
        part, name = content
        if name not in METHODS or not isinstance(part, dict) or "at" not in part:
            raise Refused(f"names a method {name!r:.60}, which models do not ask for", "do not trust it")
        part = self._value(part)
        if class_name(type(part)) is None:
            raise Refused(f"asks for {name!r:.60} of something that is not an estimator", "do not trust it")
        return getattr(part, name)

    def _analyzer(self, content: Any) -> Any:
        vectoriser = self._value(content)
        if class_name(type(vectoriser)) is None or not hasattr(vectoriser, "build_analyzer"):
            raise Refused("has an analyzer of something that is not a vectoriser")
        return vectoriser.build_analyzer()

    _builders: Mapping[str, Callable[[Builder, Any], Any]] = {
        "list": _each,
        "dict": _dict,
        "pairs": _pairs,
        "set": lambda self, content: {self._key(key) for key in content},
        "frozenset": lambda self, content: frozenset(self._key(key) for key in content),
        "array": _array,
        "method": _method,
        "analyzer": _analyzer,
    }
    _scalars: Mapping[str, Callable[[Any], Any]] = {
        "float": _float,
        "bytes": lambda content: base64.b64decode(content, validate=True),
        "path": Path,
        "type": lambda name: scalar_type(name).type,
        "dtype": scalar_type,
        "function": known_function,
    }
