"""What is known of each of many texts, in a few bytes: its label and a digest; and of lines that are no
texts, how many.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..representations.digests import Digests, text_digests
from ..tables.rows import InvalidLine

_N_SHOWN = 5  # lines that could not be read, of how many there may be


class LabelCodes(Sequence[Any]):
    """A label per text, a name or a tuple of names, as a number into the list of those that there are.

    Examples
    --------
    >>> from textmargin.scale.facts import LabelCodes
    >>> labels = LabelCodes.of(["corn", ("corn", "oil"), "corn"])
    >>> list(labels), labels.names, labels.codes.tolist()
    (['corn', ('corn', 'oil'), 'corn'], ['corn', ('corn', 'oil')], [0, 1, 0])
    """

    def __init__(self, codes: NDArray[np.int32], names: list[Any]) -> None:
        self.codes, self.names = codes, names

    @classmethod
    def of(cls, labels: Iterable[Any]) -> LabelCodes:
        """From labels one by one."""
        places: dict[Any, int] = {}
        codes = np.fromiter((places.setdefault(label, len(places)) for label in labels), dtype=np.int32)
        return cls(codes, list(places))

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int | np.integer):
            return self.names[self.codes[place]]
        return LabelCodes(self.codes[place], self.names)

    def __iter__(self) -> Iterator[Any]:
        return map(self.names.__getitem__, self.codes)


@dataclass(frozen=True)
class TextFacts:
    """Of the texts of a part, or of all.

    Parameters
    ----------
    digests : array (n_texts,)
    labels : LabelCodes or None
    invalid : list of InvalidLine
        The first lines that could not be read, of `n_invalid`.
    missing : Counter of str
        What stands in place of the labels of texts that have none, and are left out.
    """

    digests: Digests
    labels: LabelCodes | None = None
    invalid: list[InvalidLine] = field(default_factory=list)
    n_invalid: int = 0
    missing: Counter[str] = field(default_factory=Counter)

    @property
    def n_texts(self) -> int:
        """How many there are."""
        return self.digests.size

    @classmethod
    def of(
        cls,
        texts: list[str],
        labels: Iterable[Any] | None = None,
        invalid: Sequence[InvalidLine] = (),
        missing: Iterable[str] = (),
    ) -> TextFacts:
        """From one part."""
        codes = None if labels is None else LabelCodes.of(labels)
        return cls(text_digests(texts), codes, list(invalid[:_N_SHOWN]), len(invalid), Counter(missing))

    @classmethod
    def join(cls, parts: Sequence[TextFacts]) -> TextFacts:
        """From all parts."""
        places: dict[Any, int] = {}
        codes = [np.zeros(0, np.int32)]
        for part in parts:
            if part.labels is not None:
                number = np.array(
                    [places.setdefault(name, len(places)) for name in part.labels.names], dtype=np.int32
                )
                codes.append(number[part.labels.codes])
        missing: Counter[str] = Counter()
        for part in parts:
            missing.update(part.missing)
        return cls(
            np.concatenate([np.zeros(0, np.uint64), *(part.digests for part in parts)]),
            LabelCodes(np.concatenate(codes), list(places))
            if any(part.labels is not None for part in parts)
            else None,
            [line for part in parts for line in part.invalid][:_N_SHOWN],
            sum(part.n_invalid for part in parts),
            missing,
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As a file of arrays has them."""
        rest = {
            "names": None if self.labels is None else self.labels.names,
            "invalid": self.invalid,
            "n_invalid": self.n_invalid,
            "missing": self.missing,
        }
        codes = np.zeros(0, np.int32) if self.labels is None else self.labels.codes
        return {"digests": self.digests, "codes": codes, "facts": pack_json(rest)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TextFacts:
        """The same again."""
        rest = unpack_json(arrays["facts"])
        names = (
            None
            if rest["names"] is None
            else [tuple(name) if isinstance(name, list) else name for name in rest["names"]]
        )
        labels = None if names is None else LabelCodes(arrays["codes"], names)
        invalid = [InvalidLine(*line) for line in rest["invalid"]]
        return cls(arrays["digests"], labels, invalid, rest["n_invalid"], Counter(rest["missing"]))


def pack_json(value: Any) -> NDArray[np.uint8]:
    """Plain values among arrays; lone surrogates are written as JSON has them."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def unpack_json(array: NDArray[Any]) -> Any:
    """The values again."""
    return json.loads(array.tobytes())
