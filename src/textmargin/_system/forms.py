"""What the attributes of an object are, said beside its class, and checked when one comes out of a file.

    _forms = {"coef_": Array("n_problems n_features"), "intercept_": Array("n_problems")}

Sides of arrays have names: those of one name are equally long. Numbers are finite, and so small that what is
computed from a few of them is finite too: a model that was loaded never raises because of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._typing import LARGEST

Sizes = dict[str, int]


class FormError(ValueError):
    """An attribute is not what it must be: the end of a sentence that begins with a class, and goes on with
    "whose".
    """


@dataclass(frozen=True, kw_only=True)
class Form:
    """What one attribute must be.

    Attributes
    ----------
    none : bool
        Whether it may be None.
    optional : bool
        Whether it may be missing where others are there.
    """

    none: bool = False
    optional: bool = False

    def check(self, value: Any, sizes: Sizes) -> None:
        """Raise FormError unless a value is so; sides that are met for the first time are put into
        `sizes`.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Array(Form):
    """An array of numbers.

    Attributes
    ----------
    sides : str
        Names of its sides, such as "n_problems n_features"; "n_problems+1" is one longer, and a number is
        itself.
    kinds : str
        Of its dtype, as NumPy has them.
    least, most : float
    gaps : bool
        Whether NaN may stand for a number that there is none of.
    rising : bool
        Whether none is smaller than the one before it.
    sparse : bool
        Whether it may be a sparse matrix as well.
    """

    sides: str
    kinds: str = "f"
    least: float = field(default=-LARGEST, kw_only=True)
    most: float = field(default=LARGEST, kw_only=True)
    gaps: bool = field(default=False, kw_only=True)
    rising: bool = field(default=False, kw_only=True)
    sparse: bool = field(default=False, kw_only=True)

    def check(self, value: Any, sizes: Sizes) -> None:
        entries = value.data if self.sparse and hasattr(value, "indptr") else value
        if not isinstance(entries, np.ndarray):
            raise FormError(f"is a {type(value).__name__}")
        if entries.dtype.kind not in self.kinds:
            raise FormError(f"is an array of {entries.dtype}")
        _check_sides(value.shape, self.sides.split(), sizes)
        if entries.dtype.kind in "fiu":
            self._check_numbers(entries)

    def _check_numbers(self, entries: Any) -> None:
        if not entries.size:
            return
        low, high = (
            (np.nanmin(entries), np.nanmax(entries))
            if self.gaps and not np.isnan(entries).all()
            else (0.0, 0.0)
        )
        if not self.gaps:
            low, high = entries.min(), entries.max()  # NaN where one is
        low, high = float(low), float(high)  # single precision has no number as large as the bounds
        if not (np.isfinite(low) and np.isfinite(high)):
            raise FormError("holds NaN or infinity")
        if low < self.least or high > self.most:
            raise FormError(
                f"holds {low if low < self.least else high:g}, where numbers from {self.least:g} to "
                f"{self.most:g} are"
            )
        if self.rising and (np.diff(entries) < 0).any():
            raise FormError("does not rise")


def _check_sides(shape: tuple[int, ...], names: list[str], sizes: Sizes) -> None:
    if len(shape) != len(names):
        raise FormError(f"has {len(shape)} sides, not {len(names)}")
    for length, name in zip(shape, names, strict=True):
        base, _, more = name.partition("+")
        own = length - int(more or 0)
        expected = int(base) if base.isdecimal() else sizes.setdefault(base, own)
        if own != expected or own < 0:
            raise FormError(f"has shape {shape!r:.60}, where {name} is {expected + int(more or 0)}")


@dataclass(frozen=True)
class Size(Form):
    """A count that names a side."""

    name: str

    def check(self, value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise FormError(f"is {value!r:.40}, not a count")
        if sizes.setdefault(self.name, int(value)) != value:
            raise FormError(f"is {value}, where {self.name} is {sizes[self.name]}")


@dataclass(frozen=True)
class Classes(Form):
    """The names of classes, each once: `n_classes`, and with `sizes["multilabel"]` the `n_problems` they come
    to.
    """

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray):
            raise FormError(f"is a {type(value).__name__}")
        names = value.tolist()
        plain = value.dtype.kind in "Ubiuf" or (
            value.dtype == object and all(type(name) in (str, int, float, bool) for name in names)
        )
        if value.ndim != 1 or not plain:
            raise FormError("is no list of names")
        if len(set(names)) < len(names) or any(name != name for name in names):
            raise FormError("holds a name twice")
        n, multilabel = len(names), bool(sizes.get("multilabel"))
        if n < (1 if multilabel else 2):
            raise FormError(f"holds {n} names")
        if sizes.setdefault("n_classes", n) != n:
            raise FormError(f"holds {n} names, where n_classes is {sizes['n_classes']}")
        sizes["n_problems"] = 1 if n == 2 and not multilabel else n


@dataclass(frozen=True)
class Flag(Form):
    """Yes or no; one called `name` is remembered under it."""

    name: str = ""

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, bool | np.bool_):
            raise FormError(f"is a {type(value).__name__}")
        if self.name:
            sizes[self.name] = int(value)


@dataclass(frozen=True)
class Number(Form):
    """A finite number from `least` to `most`; a whole one is an integer, as places in a list are."""

    least: float = -LARGEST
    most: float = LARGEST
    whole: bool = False

    def check(self, value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral if self.whole else Real):
            raise FormError(f"is a {type(value).__name__}")
        if not self.least <= float(value) <= self.most:
            raise FormError(f"is {value!r:.40}, not a number from {self.least:g} to {self.most:g}")


@dataclass(frozen=True)
class String(Form):
    """A string, one of `options` where there are any."""

    options: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes) -> None:
        if type(value) is not str:
            raise FormError(f"is a {type(value).__name__}")
        if self.options and value not in self.options:
            raise FormError(f"is {value!r:.40}, none of {', '.join(self.options)}")


@dataclass(frozen=True)
class Instance(Form):
    """An object of one of these classes, or of any that has these methods."""

    classes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes) -> None:
        wrong_class = self.classes and type(value).__name__ not in self.classes
        if (
            wrong_class
            or isinstance(value, type)
            or not all(callable(getattr(type(value), name, None)) for name in self.methods)
        ):
            raise FormError(f"is a {type(value).__name__}")


@dataclass(frozen=True)
class Each(Form):
    """A list or tuple, each item of one form."""

    item: Form
    side: str = ""

    def check(self, value: Any, sizes: Sizes) -> None:
        if type(value) not in (list, tuple):
            raise FormError(f"is a {type(value).__name__}")
        if self.side:
            _check_sides((len(value),), [self.side], sizes)
        for item in value:
            try:
                check_value(self.item, item, sizes)
            except FormError as error:
                raise FormError(f"has an item that {error}") from None


@dataclass(frozen=True)
class AnyOf(Form):
    """One of several forms."""

    forms: tuple[Form, ...]

    def check(self, value: Any, sizes: Sizes) -> None:
        errors = []
        for form in self.forms:
            own = dict(sizes)
            try:
                form.check(value, own)
            except FormError as error:
                errors.append(error)
            else:
                sizes.update(own)
                return
        raise errors[0]


@dataclass(frozen=True)
class Nothing(Form):
    """None, which has to be there."""

    def check(self, value: Any, sizes: Sizes) -> None:
        if value is not None:
            raise FormError(f"is a {type(value).__name__}")


@dataclass(frozen=True)
class Anything(Form):
    """Whatever it is."""

    def check(self, value: Any, sizes: Sizes) -> None:
        pass


@dataclass(frozen=True)
class Such(Form):
    """Whatever a function of the value does not raise FormError for."""

    function: Callable[[Any], None]

    def check(self, value: Any, sizes: Sizes) -> None:
        self.function(value)


def check_value(form: Form, value: Any, sizes: Sizes) -> None:
    """Raise FormError unless a value is of a form."""
    if value is None and form.none:
        return
    form.check(value, sizes)


def check_state(forms: Mapping[str, Form], state: Mapping[str, Any]) -> Sizes:
    """Raise FormError unless attributes are of their forms; the sides of their arrays.

    All that are not optional must be there, or none: an estimator that is not fitted has none. A count alone,
    as a fit that failed leaves behind, is none.
    """
    sizes: Sizes = {}
    learnt = [name for name, form in forms.items() if not form.optional and not isinstance(form, Size)]
    fitted = any(name in state for name in learnt)
    for name, form in forms.items():
        if name in state:
            try:
                check_value(form, state[name], sizes)
            except FormError as error:
                raise FormError(f"{name} {error}") from None
        elif fitted and not form.optional:
            raise FormError(f"{name} is missing")
    return sizes
