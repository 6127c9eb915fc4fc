"""What `train` says of how good a model will be on new texts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ._console import amount, with_options

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..datasets.corpus import Corpus

_MOST_TEXTS = 20_000  # that are trained on once more without knowledge, to tell what it adds
_MOST = 0.5  # of the texts
_SCORES = {
    "loo": "leave-one-out scores",
    "cv": "scores of five folds, each by a model without it",
    "mixed": "leave-one-out scores, and of five folds for classes with many texts inside the margin",
}


def estimate_facts(
    model: TextClassifier, config: ModelConfig, corpus: Corpus | None
) -> tuple[dict[str, Any] | None, str | None]:
    """The estimate as plain data, or why there is none; without a corpus, of texts in parts, not what
    knowledge adds.
    """
    from ..errors import ScoreError

    # nothing was held out but guesses
    if model.shares_ and not any(one.target is None for one in model.verdict_):
        return (
            None,
            "Not every label has a text: how often it is right, and its confidence, are guesses. Label "
            "some, and evaluate it.",
        )
    try:
        # Without unlabelled texts it would be of other texts; and of those in parts the work would be done
        # twice.
        other = None if model.shares_ or corpus is None else _without_knowledge(config, corpus)
        return model.estimate(without=other).to_dict(), None
    except ScoreError as error:
        return None, with_options(error)


def _without_knowledge(config: ModelConfig, corpus: Corpus) -> TextClassifier | None:
    """A model of the same texts without keywords, rationales or earlier model; None where there are none, or
    texts are many.
    """
    from ..config import KNOWLEDGE

    given = config.present(KNOWLEDGE)
    if not given or len(corpus) > _MOST_TEXTS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the model itself was trained
        plain: dict[str, Any] = dict.fromkeys((*given, "trust"))
        return replace(config, **plain).fit(corpus)


def estimate_lines(
    estimate: dict[str, Any] | None, reason: str | None, label_counts: Mapping[str, int] | None = None
) -> list[str]:
    """What there is to say of new texts; where most have one label, that is also what always saying so would
    be worth.
    """
    if estimate is None:
        return [f"On new texts: no estimate. {reason}"]
    parts = []
    if estimate["multilabel"]:
        macro, micro = (_shares(estimate[name], 3) for name in ("macro_f1", "micro_f1"))
        parts.append(f"F1 {macro} macro, {micro} micro")
    else:
        parts.append(_percent(estimate["accuracy"]).replace(" (", " right (", 1))
        if estimate["answered"]["value"] < 1 and estimate["accuracy_answered"] is not None:
            parts.append(
                f"{estimate['accuracy_answered']['value']:.1%} of the {estimate['answered']['value']:.0%} "
                "answered"
            )
    per = " per 1,000 texts" if estimate["per_1000"] else ""
    if estimate["utility"] is not None:
        parts.append(f"utility {_worth(estimate['utility'], estimate['per_1000'])}{per}")
    lines = [f"On new texts: {', '.join(parts)}; 90% intervals, from {_SCORES[estimate['method']]}"]
    if label_counts and not estimate["multilabel"]:
        label, share = (
            max(label_counts, key=label_counts.__getitem__),
            max(label_counts.values()) / sum(label_counts.values()),
        )
        if share >= _MOST:
            lines.append(
                f"To compare: always saying {label!r} is {share:.1%} right; evaluate tells what is found "
                "of each label"
            )
    for name, what in (("by_thresholds", "moved thresholds"), ("by_knowledge", "knowledge")):
        gain = estimate[name]
        if gain is not None:
            lines.append(
                f"Beside a model without {what}: "
                f"{_gain(gain, estimate['multilabel'], estimate['per_1000'], per)}"
            )
    return lines


def _gain(gain: dict[str, Any], multilabel: bool, per_1000: bool, per: str) -> str:
    if gain["utility"] is not None:
        return f"utility {_worth(gain['utility'], per_1000, sign='+')}{per}"
    if multilabel:
        return f"macro F1 {_shares(gain['macro_f1'], 3, '+')}"
    value, low, high = (f"{100 * gain['accuracy'][end]:+.1f}" for end in ("value", "low", "high"))
    return f"{value} points right ({low} to {high})"


def _percent(figure: dict[str, float]) -> str:
    return f"{figure['value']:.1%} ({figure['low']:.1%} to {figure['high']:.1%})"


def _shares(figure: dict[str, float], digits: int, sign: str = "") -> str:
    value, low, high = (f"{figure[end]:{sign}.{digits}f}" for end in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _worth(figure: dict[str, float], per_1000: bool, sign: str = "") -> str:
    if not per_1000:
        return _shares(figure, 3, sign)
    ends = (figure[end] for end in ("value", "low", "high"))
    value, low, high = (
        f"{'+' if sign and end > 0 else ''}{amount(round(end) + 0.0 if abs(end) >= 10 else end)}"
        for end in ends
    )
    return f"{value} ({low} to {high})"
