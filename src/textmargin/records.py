"""Objects as records, and back: a document that JSON can hold, and named arrays.

A class whose objects can be saved says so itself:

    @record()                                    a dataclass: its parameters
    @record("classes_ coef_ intercept_")         an estimator: its parameters, and what `fit` left

One that needs other fields has `to_record(self)`, which gives them, or a class method `from_record(fields)`,
which makes an object of them. Objects are made by their constructor, which says what is wrong with values.

    in place      null, true, 1, 0.5, "text", [list], {"dict": with keys that are strings}
    {"$": kind}   float (NaN, infinity) · tuple, set, frozenset · map (other keys) · array, text, texts
                  (tensors) · objects (an array of labels) · sparse · record

Numbers of NumPy become plain ones, and paths strings. Arrays that are the same memory are one tensor, named
after the place where it was met first: `decider_.scorer.coef`. Arrays keep their order, so that products stay
the same to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from pathlib import PurePath
from sys import getsizeof
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
_Class = TypeVar("_Class", bound=type)

_DEEPEST = 40
_MANY = 256  # strings of a list that are tensors
_SPARE = 40_000_000  # bytes that texts may take beyond those in the file
_SCALARS = (np.bool_, np.integer, np.floating, np.str_)
_SPARSE = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")
_COLLECTIONS: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}

_classes: dict[str, type] = {}
_fitted: dict[type, tuple[str, ...]] = {}


class RecordError(ValueError):
    """Something that has no record, or a record of which no object can be made."""


def record(fitted: str = "") -> Callable[[_Class], _Class]:
    """Class decorator: its objects can be saved; `fitted` names the attributes that `fit` leaves."""

    def register(cls: _Class) -> _Class:
        _classes[cls.__name__] = cls
        _fitted[cls] = tuple(fitted.split())
        return cls

    return register


def fields_of(x: Any) -> dict[str, Any]:
    """The parameters of an object, and what `fit` left in it."""
    parameters = {name: getattr(x, name) for name in signature(type(x)).parameters}
    return parameters | {name: vars(x)[name] for name in _fitted[type(x)] if name in vars(x)}


def made_of(cls: Any, fields: Mapping[str, Any]) -> Any:
    """The object that has these fields."""
    parameters, fitted = signature(cls).parameters, _fitted[cls]
    unknown = sorted(fields.keys() - parameters.keys() - set(fitted))
    required = {name for name, own in parameters.items() if own.default is Parameter.empty}
    if unknown or required - fields.keys():
        wrong = f"has {unknown[0]!r:.60}" if unknown else f"lacks {min(required - fields.keys())!r}"
        raise RecordError(f"its {cls.__name__} {wrong}; another version of textmargin may have written it")
    own = cls(**{name: value for name, value in fields.items() if name in parameters})
    vars(own).update({name: fields[name] for name in fitted if name in fields})
    return own


def write_record(x: Any) -> tuple[Any, Arrays]:
    """The document and the arrays of an object."""
    writer = _Writer()
    return writer.value(x, ()), writer.arrays


def read_record(document: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The object of a document and arrays that `write_record` gave, or that somebody made up."""
    return _Reader(arrays).value(document)


class _Writer:
    """From objects to a document; `arrays` are those met so far."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self._names: dict[Any, str] = {}  # by the memory, which `arrays` keeps alive

    def value(self, x: Any, at: tuple[str, ...]) -> Any:
        """What stands for a value in the document."""
        if len(at) > _DEEPEST:
            raise RecordError(f"{_place(at):.100} is nested more than {_DEEPEST} deep, or contains itself")
        if isinstance(x, _SCALARS):
            x = x.item()
        kind = type(x)
        if x is None or kind in (bool, int, str):
            return x
        if kind is float:
            return x if math.isfinite(x) else {"$": "float", "value": repr(x)}
        if kind is list:
            return self._texts(x, at) if len(x) >= _MANY and {*map(type, x)} == {str} else self._each(x, at)
        if kind.__name__ in _COLLECTIONS:
            items = self._each(x, at)
            return {"$": kind.__name__, "items": items if kind is tuple else sorted(items, key=repr)}
        if isinstance(x, Mapping):
            return self._mapping(x, at)
        if isinstance(x, np.ndarray):
            return self._array(x, at)
        if isinstance(x, PurePath):
            return str(x)
        if kind.__name__ in _SPARSE and hasattr(x, "indptr"):
            parts = {name: getattr(x, name) for name in ("data", "indices", "indptr")}
            return {"$": "sparse", "format": kind.__name__, "shape": [*x.shape], **self._fields(parts, at)}
        if _classes.get(kind.__name__) is not kind:
            raise RecordError(f"{_place(at)} is {_described(x)}; model files hold textmargin's own classes")
        fields = x.to_record() if hasattr(x, "to_record") else fields_of(x)
        return {"$": "record", "class": kind.__name__, "fields": self._fields(fields, at)}

    def _each(self, items: Any, at: tuple[str, ...]) -> list[Any]:
        return [self.value(item, (*at, str(i))) for i, item in enumerate(items)]

    def _fields(self, fields: Mapping[Any, Any], at: tuple[str, ...]) -> dict[Any, Any]:
        return {key: self.value(value, (*at, str(key))) for key, value in fields.items()}

    def _mapping(self, x: Mapping[Any, Any], at: tuple[str, ...]) -> Any:
        own = self._fields(x, at)
        if all(type(key) is str for key in own) and "$" not in own:
            return own
        return {"$": "map", "items": [[self.value(key, (*at, "key")), value] for key, value in own.items()]}

    def _texts(self, x: list[str], at: tuple[str, ...]) -> Any:
        encoded = [text.encode("utf-8", "surrogatepass") for text in x]
        block = self._tensor(np.frombuffer(b"".join(encoded), np.uint8), (*at, "block"))
        ends = self._tensor(np.cumsum([*map(len, encoded)], dtype=np.int64), (*at, "ends"))
        return {"$": "texts", "block": block, "ends": ends}

    def _array(self, x: NDArray[Any], at: tuple[str, ...]) -> Any:
        if x.dtype == object:
            return {"$": "objects", "shape": [*x.shape], "items": self.value(x.ravel().tolist(), at)}
        if x.dtype.kind == "U" and x.itemsize:
            points = np.asarray(x, x.dtype.newbyteorder("<"), order="C")[..., None].view(np.uint32)
            return {"$": "text", "of": self._tensor(points, at)}
        if x.dtype.kind not in "biuf" or x.itemsize > 8:
            raise RecordError(f"{_place(at)} is an array of {x.dtype}; convert it to numbers or strings")
        turned = x.ndim > 1 and x.flags.f_contiguous and not x.flags.c_contiguous
        return {"$": "array", "of": self._tensor(x.T if turned else x, at), "turned": turned}

    def _tensor(self, x: NDArray[Any], at: tuple[str, ...]) -> str:
        x = np.asarray(x, dtype=x.dtype.newbyteorder("<"), order="C")
        memory = (x.ctypes.data, x.shape, x.dtype.str) if x.size else len(self.arrays)
        if memory in self._names:
            return self._names[memory]
        name = _place(at)
        while name in self.arrays:  # of keys that look alike
            name += "'"
        self._names[memory], self.arrays[name] = name, x
        return name


def _place(at: tuple[str, ...]) -> str:
    return ".".join(at).encode("ascii", "backslashreplace").decode() or "the model"


def _described(x: Any) -> str:
    if hasattr(x, "__name__"):
        return f"the {'class' if isinstance(x, type) else 'function'} {x.__name__}"
    return f"a {type(x).__module__}.{type(x).__qualname__}".replace("builtins.", "")


class _Reader:
    """From a document to objects. Each tensor of texts is read once, so that the file bounds the memory."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = dict(arrays)

    def value(self, document: Any) -> Any:
        """The object that stands in the document."""
        if isinstance(document, list):
            return [self.value(item) for item in document]
        if not isinstance(document, dict):
            return document
        kind = document.get("$")
        if kind is None:
            return {key: self.value(value) for key, value in document.items()}
        if kind in _COLLECTIONS:
            return _COLLECTIONS[kind](map(self.value, document["items"]))
        if kind not in ("float", "map", "array", "text", "texts", "objects", "sparse", "record"):
            raise RecordError(f"it has a value of an unknown kind, {kind!r:.40}")
        return getattr(self, f"_{kind}")(document)

    def _record(self, document: dict[str, Any]) -> Any:
        name = document["class"]
        if name not in _classes:
            getattr(import_module(__package__), name, None)  # which imports the module of a public class
        if name not in _classes:
            raise RecordError(f"it has an object of class {name!r:.60}, which textmargin does not have")
        cls: Any = _classes[name]
        fields = {key: self.value(value) for key, value in document["fields"].items()}
        return cls.from_record(fields) if hasattr(cls, "from_record") else made_of(cls, fields)

    def _float(self, document: dict[str, Any]) -> float:
        return float(document["value"])

    def _map(self, document: dict[str, Any]) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in document["items"]}

    def _array(self, document: dict[str, Any]) -> NDArray[Any]:
        found = self._arrays[document["of"]]
        return found.T if document["turned"] else found

    def _text(self, document: dict[str, Any]) -> NDArray[Any]:
        points = self._arrays[document["of"]]
        if points.dtype != np.uint32 or points.max(initial=0) > 0x10FFFF:
            raise RecordError("it has an array of strings that are none")
        return points.view(f"<U{points.shape[-1]}")[..., 0]

    def _texts(self, document: dict[str, Any]) -> list[str]:
        block, ends = (self._arrays.pop(document[name]) for name in ("block", "ends"))
        texts: list[str] = []
        start, room = 0, block.size + _SPARE
        for end in ends:
            texts.append(str(block[start:end].data, "utf-8", "surrogatepass"))
            start, room = end, room - getsizeof(texts[-1])
            if room < 0:
                raise RecordError("it has texts that take much more memory than room in the file")
        return texts

    def _objects(self, document: dict[str, Any]) -> NDArray[Any]:
        items = self.value(document["items"])
        found = np.empty(len(items), dtype=object)
        found[:] = items
        return found.reshape(document["shape"])

    def _sparse(self, document: dict[str, Any]) -> Any:
        from scipy import sparse  # which `load_decider` does without

        data, indices, indptr = (self.value(document[name]) for name in ("data", "indices", "indptr"))
        if document["format"] not in _SPARSE or data.dtype.kind not in "biuf" or (np.diff(indptr) < 0).any():
            raise RecordError("it has a sparse matrix that is none")
        matrix = getattr(sparse, document["format"])((data, indices, indptr), shape=tuple(document["shape"]))
        matrix.check_format(full_check=True)  # products go by its indices unchecked
        return matrix
