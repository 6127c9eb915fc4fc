"""Whether a prior is to be believed: from how texts fare that the model has not seen, and from how the other classes' priors do.

For a class, let dᵢ be what text i loses less with the prior than without, each time by a model that was trained without it. Its
*evidence* is Σdᵢ/√Σdᵢ², positive where the prior helps, and of size √m where m texts say so alike. With few examples it is near
0: the words that a person named need not occur in the one text at hand. But who knew the words of other classes may be believed
here, and who named wrong words there may not. So, with H other classes where the same prior clearly helps (evidence ≥ 1) and D
where it clearly does not (≤ −1), a prior is believed where

    log((H + ½)/(D + ½)) + 1.5 · evidence > 0

the logarithm being held within ±4. That is the posterior log-odds of a prior that is right or wrong as often as the others are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats

_CLEAR = 1.0
_WEIGHT = 1.5
_MOST_LOG_ODDS = 4.0


@dataclass(frozen=True)
class Verdict:
    """What the training data say of one prior of one class.

    Attributes
    ----------
    target : the class.
    prior : int, which of its priors.
    word : str
        `helped`: used, and the texts of the class clearly speak for it; `believed`: used, though these alone do not say so
        clearly (they lean towards it, or the priors of other classes helped); `contradicted`: left out, and the texts clearly
        speak against it; `ignored`: left out, though these alone do not say so clearly.
    evidence : float
        Positive where texts left out fare better with the prior; beyond ±1 it is clear.
    gain : float
        The share of the loss on texts left out that the prior saves (or adds, if negative).
    """

    target: Any
    prior: int
    word: str
    evidence: float
    gain: float


@dataclass(frozen=True)
class Disagreement:
    """A term of which a prior and the data say the opposite: the weight it has in the prior, and what the data add to that."""

    target: Any
    prior: int
    term: Any
    known: float
    data: float


def evidence_of(gains: Floats) -> float:
    """The evidence for a prior from what each text gains."""
    size = float(np.linalg.norm(gains))
    return float(gains.sum()) / size if size > 0 else 0.0


def select_priors(evidence: Floats) -> NDArray[np.bool_]:
    """Which priors are believed, by the evidence of each class (row) and prior (column); NaN where there is no prior."""
    helps, harms = evidence >= _CLEAR, evidence <= -_CLEAR
    others_help, others_harm = (clear.sum(axis=0) - clear for clear in (helps, harms))
    log_odds = np.clip(np.log((others_help + 0.5) / (others_harm + 0.5)), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
    return np.asarray(log_odds + _WEIGHT * evidence > 0)


def verdict(target: Any, prior: int, evidence: float, gain: float, *, trusted: bool) -> Verdict:
    """In words."""
    clear = abs(evidence) >= _CLEAR
    word = (
        ("helped" if evidence >= _CLEAR else "believed") if trusted else ("contradicted" if clear and evidence < 0 else "ignored")
    )
    return Verdict(target, prior, word, evidence, gain)
