"""A corpus: texts, what they are about, and what else is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError

CorpusLabels: TypeAlias = list[str] | list[tuple[str, ...]]
ColumnArrays: TypeAlias = Mapping[str, NDArray[Any]]  # column → values, all of one length

UNDIVIDED = "all"  # the split of every text where a corpus has no parts


@dataclass(frozen=True, repr=False)
class Corpus:
    """Texts with their labels, in one order throughout.

    Parameters
    ----------
    name : str
    texts : list of str
    labels : list of str, or of tuples of str
        A label per text ("" for none), or, where a text may have any number, a tuple of them.
    split : list of str, default=None
        The part each text belongs to, as published; "all" for every text where nothing was published, and by
        default.
    ids : list of str, default=None
        By default the number of the text, from 0.
    fields : dict of lists
        Further columns with a value per text.
    tables : dict of dicts of arrays
        Further tables, which are not per text: of words, of readers, of queries.
    keywords : dict of lists of str
        Words that a person would expect under each label, as `KeywordPrior` takes them; empty if nobody wrote
        them down.
    source, licence, about : str

    Examples
    --------
    >>> from textmargin import Corpus
    >>> corpus = Corpus("desk", ["screen is dark", "no paper", "dark page"],
    ...                 [("screen",), ("printer",), ("screen", "printer")],
    ...                 split=["train", "train", "test"])
    >>> corpus
    Corpus('desk': 3 texts, 2 labels, train 2, test 1)
    >>> corpus.part("test").texts
    ['dark page']
    >>> Y, classes = corpus.indicator()
    >>> classes
    ['printer', 'screen']
    >>> Y
    array([[0, 1],
           [1, 0],
           [1, 1]])
    """

    name: str
    texts: list[str]
    labels: CorpusLabels
    split: list[str] = None  # type: ignore[assignment]  # filled in below
    ids: list[str] = None  # type: ignore[assignment]
    fields: Mapping[str, list[Any]] = field(default_factory=dict)
    tables: Mapping[str, ColumnArrays] = field(default_factory=dict)
    keywords: Mapping[str, list[str]] = field(default_factory=dict)
    source: str = ""
    licence: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        n_texts = len(self.texts)
        if self.split is None:
            object.__setattr__(self, "split", [UNDIVIDED] * n_texts)
        if self.ids is None:
            object.__setattr__(self, "ids", [str(row) for row in range(n_texts)])
        columns = {"labels": self.labels, "split": self.split, "ids": self.ids}
        columns |= {f"fields[{name!r}]": values for name, values in self.fields.items()}
        for name, values in columns.items():
            if len(values) != n_texts:
                raise ValueError(f"{self.name} has {n_texts:,} texts but {name} has {len(values):,} values.")
        for name, table in self.tables.items():
            lengths = {column: len(values) for column, values in table.items()}
            if len(set(lengths.values())) > 1:
                raise ValueError(
                    f"The columns of tables[{name!r}] of {self.name} differ in length: {lengths}."
                )

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def splits(self) -> dict[str, int]:
        """How many texts each part has."""
        return dict(Counter(self.split))

    @property
    def classes(self) -> list[str]:
        """Every label that occurs, in order."""
        return sorted({label for own in self._label_sets() for label in own})

    def part(self, split: str) -> Corpus:
        """The texts of one part; tables and keywords stay whole.

        Parameters
        ----------
        split : str, "train" for instance; `splits` has them all
        """
        if split not in self.splits:
            raise ValueError(
                f"{self.name} has no part {split!r}. It has "
                f"{', '.join(map(repr, self.splits)) or 'no texts'}."
            )
        return self.take([row for row, own in enumerate(self.split) if own == split])

    def take(self, rows: Sequence[int]) -> Corpus:
        """The texts of some rows, by their numbers, in their order; tables and keywords stay whole."""
        if any(isinstance(row, bool | np.bool_) for row in rows):
            raise ValueError(
                "take wants numbers of rows; of a Boolean mask they are numpy.flatnonzero(mask)."
            )

        def select(values: list[Any]) -> list[Any]:
            return [values[row] for row in rows]

        return replace(
            self,
            texts=select(self.texts),
            labels=select(self.labels),
            split=select(self.split),
            ids=select(self.ids),
            fields={name: select(values) for name, values in self.fields.items()},
        )

    def indicator(self, classes: Sequence[str] | None = None) -> tuple[NDArray[np.int_], list[str]]:
        """A 1 where a text has a label, as learners of many topics take it.

        Parameters
        ----------
        classes : list of str, default=None
            The columns; other labels are left out. By default every label that occurs, in order.

        Returns
        -------
        Y : array (n_texts, n_classes) of 0 and 1
        classes : list of str
        """
        if isinstance(classes, str):
            raise ValueError(
                f"classes must be a list of labels; got {classes!r}. For one column write [{classes!r}]."
            )
        names = self.classes if classes is None else list(classes)
        place = {label: column for column, label in enumerate(names)}
        Y = np.zeros((len(self), len(names)), dtype=int)
        for row, own in enumerate(self._label_sets()):
            for label in own:
                if label in place:
                    Y[row, place[label]] = 1
        return Y, names

    def _label_sets(self) -> list[tuple[str, ...]]:
        return [own if isinstance(own, tuple) else (own,) if own else () for own in self.labels]

    def __repr__(self) -> str:
        facts = [f"{len(self):,} texts", f"{len(self.classes)} labels"]
        facts += [f"{split} {n:,}" for split, n in self.splits.items() if split != UNDIVIDED]
        facts += [
            f"table of {len(next(iter(table.values()), ())):,} {name}" for name, table in self.tables.items()
        ]
        return f"Corpus({self.name!r}: {', '.join(facts)})"


def field_values(corpus: Corpus, column: str, setting: str) -> list[Any]:
    """The values of the field that a setting names."""
    if column not in corpus.fields:
        known = ", ".join(map(repr, corpus.fields)) or "none"
        raise SettingError(setting, f"names no field of {corpus.name}: {column!r}; there are {known}.")
    return corpus.fields[column]
