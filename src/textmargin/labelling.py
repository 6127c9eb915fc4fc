"""What the labels of a user's texts are to a classifier, and what decisions on them are worth.

With two labels one of them is what is looked for, and stands second: a decision is for it or against it. Costs speak of it unless
they name both labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .datasets.corpus import Corpus
from .decisions.utility import T10U, Measure, Utility
from .errors import LabelError

_NOTHING = Utility(tp=1e-300, fp=-1e-300)  # of a label that costs say nothing about


@dataclass(frozen=True)
class Labelling:
    """Names of labels in the order of the classifier's classes.

    Parameters
    ----------
    names : list of str
        Of two labels the one that is looked for second.
    multilabel : bool
        Whether a text may have any number of them.
    """

    names: list[str]
    multilabel: bool

    @classmethod
    def of(cls, corpus: Corpus, positive: str | None = None) -> Self:
        """Of a corpus; of two labels `positive`, or else the rarer one, is looked for."""
        multilabel = any(isinstance(own, tuple) for own in corpus.labels)
        sizes = Counter(label for own in corpus.labels for label in (own if isinstance(own, tuple) else (own,) if own else ()))
        return cls.of_counts(sizes, len(corpus), multilabel, positive)

    @classmethod
    def of_counts(cls, sizes: Mapping[str, int], n_texts: int, multilabel: bool, positive: str | None = None) -> Self:
        """Of a corpus of which only the number of texts is known, and that of each label."""
        names = sorted(sizes)
        if not names or (len(names) < 2 and not multilabel):
            only = f"All {n_texts} texts have the label {names[0]!r}" if names else f"None of {n_texts} texts has a label"
            raise LabelError(f"{only}; a classifier needs texts of two classes at least.")
        if positive is not None and (multilabel or len(names) != 2):
            raise LabelError(f"{positive!r} is to be looked for, but that is for texts of two labels; here are {len(names)}.")
        if positive is not None and positive not in names:
            raise LabelError(f"{positive!r} is to be looked for, but the labels are {names[0]!r} and {names[1]!r}.")
        if len(names) == 2 and not multilabel:
            wanted = positive or min(reversed(names), key=lambda name: sizes[name])
            names = [*(name for name in names if name != wanted), wanted]
        return cls(names, multilabel)

    @property
    def numbered(self) -> bool:
        """Whether the classifier knows its classes by number."""
        return self.multilabel or len(self.names) == 2

    def targets(self, corpus: Corpus) -> Any:
        """What the classifier learns: labels, or 0 and 1 in a vector or, with several labels a text, in columns."""
        if self.multilabel:
            Y, _ = corpus.indicator(self.names)
            return Y if len(self.names) > 1 else Y[:, 0]
        if self.numbered:
            return np.array([label == self.names[1] for label in corpus.labels], dtype=int)
        return np.array(corpus.labels)

    def measures(self, utility: Measure | Mapping[str, Measure]) -> Any:
        """What a `ThresholdClassifier` wants: a measure, or one per class."""
        if not isinstance(utility, Mapping):
            return utility
        self.check(utility)
        if self.multilabel or len(self.names) > 2:
            return [utility.get(name, T10U) for name in self.names]
        first, second = (utility.get(name, _NOTHING) for name in self.names)
        if isinstance(first, Utility) and isinstance(second, Utility):  # who is not accepted for the second is for the first
            return [Utility(second.tp + first.tn, second.fp + first.fn, second.fn + first.fp, second.tn + first.tp)]
        return [second if self.names[1] in utility else first]

    def worth(self, utility: Measure | Mapping[str, Measure] | None) -> dict[str, Measure | None]:
        """What decisions on each label are worth; None where nothing is said of it."""
        if isinstance(utility, Mapping):
            self.check(utility)
            others = None if len(self.names) == 2 and not self.multilabel else T10U
            return {name: utility.get(name, others) for name in self.names}
        both = dict.fromkeys(self.names, utility or T10U)
        return {**both, self.names[0]: None} if len(self.names) == 2 and not self.multilabel else dict(both)

    def check(self, utility: Mapping[str, Measure]) -> None:
        """Whether all labels that costs name are there."""
        unknown = [label for label in utility if label not in self.names]
        if unknown:
            raise LabelError(f"The costs name {unknown[0]!r}, which is not among the labels: {', '.join(self.names[:10])}.")
