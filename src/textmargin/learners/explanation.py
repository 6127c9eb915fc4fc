"""Where a score comes from, term by term or text by text; printed as a small table."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ties import descending_order
from .._typing import Floats

_N_SHOWN = 10


@dataclass(frozen=True)
class Contribution:
    """What a feature of a text (a term, or a subsequence that it shares with training texts) adds to a score.

    Attributes
    ----------
    feature : str
    contribution : float
    from_prior : float, what of that comes from prior knowledge.
    from_knowledge : dict, what of that comes from each kind of knowledge, by its name, where several are
        known.
    """

    feature: str
    contribution: float
    from_prior: float = 0.0
    from_knowledge: dict[str, float] = field(default_factory=dict)

    @property
    def prior_note(self) -> str:
        """What comes from prior knowledge in words: empty if nothing does, and with the kinds where there are
        several.
        """
        if not self.from_prior and not any(self.from_knowledge.values()):
            return ""
        kinds = ", ".join(f"{name} {value:+.3f}" for name, value in self.from_knowledge.items() if value)
        return f"{self.from_prior:+.3f} ({kinds})" if kinds else f"{self.from_prior:+.3f}"


@dataclass(frozen=True, repr=False)
class BaseExplanation:
    """One score and the features that moved it.

    Attributes
    ----------
    target : the class whose score this is.
    score, intercept : float, as `decision_function` has them: of a `TextClassifier` less the threshold, 0
        being the decision.
    labels : tuple, what the text was given; empty where only a score was asked for.
    """

    target: Any
    score: float
    intercept: float

    @abstractmethod
    def _features(self) -> list[Contribution]:
        """All of them."""

    def contributions(self, n: int = _N_SHOWN) -> list[Contribution]:
        """The n features that move the score most, either way."""
        features = self._features()
        return [features[k] for k in descending_order([abs(one.contribution) for one in features])[:n]]

    def to_dict(self, n: int = _N_SHOWN) -> dict[str, Any]:
        """Plain data for JSON; contributions and the rest add up to the score."""
        found = self.contributions(n)
        return {
            "labels": [str(name) for name in getattr(self, "labels", ())],
            "label": str(self.target),
            "score": float(self.score),
            "contributions": [asdict(one) for one in found],
            "rest": float(self.score - sum(one.contribution for one in found)),
        }

    def __repr__(self) -> str:
        rows = [(one.feature, one.contribution, one.prior_note) for one in self.contributions()]
        rows.append(("the rest, intercept and threshold", self.to_dict()["rest"], ""))
        width = max(len(name) for name, _, _ in rows)
        lines = [
            f"  {name:<{width}}  {value:>+8.3f}" + f"  prior {note}" * bool(note)
            for name, value, note in rows
        ]
        return "\n".join([f"score of {self.target}: {self.score:+.3f}", *lines])


@dataclass(frozen=True, repr=False)
class Explanation(BaseExplanation):
    """One score, taken apart: score = intercept + Σ data + Σ priors.

    Attributes
    ----------
    target : the class whose score this is.
    score, intercept : float, as `decision_function` has them: of a `TextClassifier` less the threshold, 0
        being the decision.
    terms : array (n_terms,), the terms of the text (names, or column numbers where the names are not known).
    data : array (n_terms,), what each term adds through the weights learnt from the data.
    priors : array (n_priors, n_terms), what each term adds through each prior, as far as it is trusted.
    labels : tuple, what the text was given; empty where only a score was asked for.
    knowledge : tuple of str, which knowledge each prior comes from; empty where that is not known.
    """

    terms: NDArray[Any]
    data: Floats
    priors: Floats
    labels: tuple[Any, ...] = ()
    knowledge: tuple[str, ...] = ()

    @property
    def total(self) -> Floats:
        """What each term adds in all."""
        return self.data + self.priors.sum(axis=0)

    def _features(self) -> list[Contribution]:
        parts = zip(
            self.terms.tolist(),
            self.total.tolist(),
            self.priors.sum(axis=0).tolist(),
            self._by_knowledge(),
            strict=True,
        )
        return [Contribution(str(term), total, prior, kinds) for term, total, prior, kinds in parts]

    def _by_knowledge(self) -> list[dict[str, float]]:
        """Per term what it adds through each kind of knowledge; empty unless there are several."""
        names = dict.fromkeys(self.knowledge)
        if len(names) < 2:
            return [{} for _ in self.terms]
        rows = {name: self.priors[[own == name for own in self.knowledge]].sum(axis=0) for name in names}
        return [{name: float(row[j]) for name, row in rows.items()} for j in range(len(self.terms))]


@dataclass(frozen=True, repr=False)
class KernelExplanation(BaseExplanation):
    """One score of a kernel machine, taken apart: score = intercept + prior + Σ data, and Σ data = Σ matches
    + rest.

    Attributes
    ----------
    target : the class whose score this is.
    score, intercept : float, as `decision_function` has them: of a `TextClassifier` less the threshold, 0
        being the decision.
    prior : float, what the prior score adds.
    support : array (n_support,), numbers of the training texts that support the class.
    similarities : array (n_support,), the kernel of the text with each.
    data : array (n_support,), what each adds.
    matches : list, what shared subsequences add through all support vectors together, the largest first;
        empty for kernels that
        cannot tell.
    rest : float, what all other subsequences add; None where there are no matches.
    labels : tuple, what the text was given; empty where only a score was asked for.
    """

    prior: float
    support: NDArray[np.intp]
    similarities: Floats
    data: Floats
    matches: list[Any]
    rest: float | None
    labels: tuple[Any, ...] = ()

    def _features(self) -> list[Contribution]:
        if self.matches:
            return [
                Contribution(f"“{one.shown}” as in “{one.other_shown}”", float(one.value))
                for one in self.matches
            ]
        return [
            Contribution(f"training text {number}", value)
            for number, value in zip(self.support.tolist(), self.data.tolist(), strict=True)
        ]

    def support_texts(self, n: int = _N_SHOWN) -> list[tuple[int, float]]:
        """The n support vectors that move the score most, either way: their numbers, and what they add."""
        order = descending_order(np.abs(self.data))[:n]
        return [(int(self.support[j]), float(self.data[j])) for j in order]
