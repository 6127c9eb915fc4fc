"""Which settings suit the texts at hand, by held-out scores: C, n-grams, stop words, and words or characters.

Each candidate is trained on all texts, and judged by what models without a text would have said of it. The
settings given stay unless another is ahead by more than a standard error of the difference on the same texts:
where it cannot be told, nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._system.progress import progress_of
from ._typing import Floats
from .classifier import TextClassifier
from .config import KNOWLEDGE, WORD_SETTINGS, ModelConfig
from .datasets.corpus import Corpus
from .errors import SettingError

COSTS = (0.1, 0.3, 1.0, 3.0, 10.0)  # values of C
_MOST_TEXTS = 20_000  # that settings are chosen on
_MOST_POSITIONS = 3e9  # pairs of characters that subsequences are compared at; more take minutes


@dataclass(frozen=True)
class Candidate:
    """Settings, what part of the texts they decide rightly, held out, and how far that is ahead of the
    settings given.

    Attributes
    ----------
    config : ModelConfig
    score : float
        The share of texts decided rightly; with several labels a text the mean F1 of the texts.
    lead, error : float
        How much more that is than with the settings given, and the standard error of it.
    """

    config: ModelConfig
    score: float
    lead: float
    error: float


@dataclass(frozen=True)
class Tuning:
    """What was tried, and what was chosen."""

    choice: Candidate
    candidates: list[Candidate]
    base: ModelConfig
    n_texts: int

    def __str__(self) -> str:
        n, start = len(self.candidates), self.candidates[0].score
        if self.choice.config == self.base:
            best = max(self.candidates, key=lambda one: one.score)
            return (
                f"tuned: of {n} settings none is clearly better than those given (right on {start:.1%} of "
                f"{self.n_texts:,} "
                f"held-out texts; best {best.score:.1%}, {_settings(best.config)}, {best.lead:+.1%} ± "
                f"{best.error:.1%}), so they "
                f"stay"
            )
        return (
            f"tuned: {_settings(self.choice.config)}, right on {self.choice.score:.1%} of "
            f"{self.n_texts:,} held-out texts "
            f"({self.choice.lead:+.1%} ± {self.choice.error:.1%} against the settings given), of {n} settings"
        )


def tune(config: ModelConfig, corpus: Corpus, progress: bool | Callable[[float], object] = False) -> Tuning:
    """Choose C, n-grams and features; what the settings given name outright stays.

    Parameters
    ----------
    config : ModelConfig
    corpus : Corpus, with labels
    progress : bool or function of the share done, default=False

    Examples
    --------
    >>> from textmargin import ModelConfig, load_dataset
    >>> from textmargin.tuning import tune
    >>> tuning = tune(ModelConfig(stop_words="none"), load_dataset("desk").part("train"))
    >>> tuning.choice.score >= tuning.candidates[0].score
    True
    """
    config.check()
    some = (
        corpus
        if len(corpus) <= _MOST_TEXTS
        else corpus.take(np.linspace(0, len(corpus) - 1, _MOST_TEXTS).astype(int).tolist())
    )
    plans = _plans(config, some)
    right: list[Floats] = []
    with progress_of("choosing settings", progress) as report:
        for number, plan in enumerate(plans):
            right.append(_rightness(plan, some))
            if report is not None:
                report((number + 1) / len(plans))
    candidates = [_candidate(plan, own, right[0]) for plan, own in zip(plans, right, strict=True)]
    best = max(candidates, key=lambda one: one.score)
    return Tuning(best if best.lead > best.error else candidates[0], candidates, config, len(some))


def _plans(config: ModelConfig, corpus: Corpus) -> list[ModelConfig]:
    """The settings to try, those given first."""
    if config.features != "words":
        return _with_costs([config])
    kinds = [config]
    if config.ngrams is None and config.tokens != "characters":
        kinds.append(replace(config, ngrams="1-2"))
    if config.stop_words is None and config.tokens in (None, "words"):
        # what is liked or not is said by "not" and "too" as well
        kinds.append(replace(config, stop_words="none"))
    if not config.present((*WORD_SETTINGS, *KNOWLEDGE)):
        kinds.append(replace(config, tokens="characters"))
        positions = sum(map(len, corpus.texts)) ** 2 / 2
        if positions <= _MOST_POSITIONS:
            kinds.append(replace(config, features="subsequence"))
    return _with_costs(kinds)


def _with_costs(kinds: list[ModelConfig]) -> list[ModelConfig]:
    given = kinds[0]
    return [replace(kind, C=C) for kind in kinds for C in dict.fromkeys((given.C, *COSTS))]


def _rightness(config: ModelConfig, corpus: Corpus) -> Floats:
    """Per text how right the model without it is: 0 or 1, or of several labels the F1 of the text."""
    plain = replace(
        config, utility=None, min_precision=None, min_recall=None, always_answer=False, threshold_scores=None
    )
    model: TextClassifier = plain.fit(corpus)
    if not model.has_held_out:
        raise SettingError("tune", "needs held-out scores, and these settings have none.")
    held_out, labels = model.held_out_, model.labels_
    scores = held_out.complete()
    if labels.kind == "multiclass":
        own = scores[np.arange(len(scores)), held_out.truth]
        return np.asarray(own >= scores.max(axis=1), dtype=float)
    accepted: Any = scores > 0
    if labels.kind == "binary":
        return np.asarray((accepted == held_out.positive)[:, 0], dtype=float)
    both = (accepted & held_out.positive).sum(axis=1)
    total = accepted.sum(axis=1) + held_out.positive.sum(axis=1)
    return np.where(total == 0, 1.0, 2 * both / np.maximum(total, 1))


def _candidate(config: ModelConfig, right: Floats, start: Floats) -> Candidate:
    lead = right - start
    return Candidate(
        config, float(right.mean()), float(lead.mean()), float(lead.std(ddof=1) / np.sqrt(len(lead)))
    )


def _settings(config: ModelConfig) -> str:
    kind = config.features if config.features != "words" else (config.tokens or "words")
    ngrams = f" {config.ngrams}" if config.ngrams else ""
    stop_words = f", stop words {config.stop_words}" if config.stop_words else ""
    return f"{kind}{ngrams}{stop_words}, C = {config.C:g}"
