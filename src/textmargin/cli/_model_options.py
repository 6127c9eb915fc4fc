"""Groups of options about the model: what decisions are worth, what they must keep, what a model is made of,
what is kept out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import OptionError

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..datasets.corpus import Corpus
    from ..decisions.utility import Measure


@dataclass(frozen=True)
class UtilityOptions:
    """What decisions are worth."""

    hit: Annotated[
        float | None,
        typer.Option(
            help="What a text is worth that is accepted and right.", show_default="2 beside other costs"
        ),
    ] = None
    false_alarm: Annotated[
        float | None, typer.Option(help="What one is worth that is accepted and wrong: a negative number.")
    ] = None
    miss: Annotated[
        float | None, typer.Option(help="What one is worth that should have been accepted: 0 or less.")
    ] = None
    ask: Annotated[
        float | None,
        typer.Option(
            help="What a person's look is worth, who then decides rightly: 0 or less.",
            show_default="nobody looks",
        ),
    ] = None
    utility: Annotated[
        str | None,
        typer.Option(
            help="In place of costs: t10u (2 a hit, -1 a false alarm), t11su or t10su (the same, scaled), "
            "or f1."
        ),
    ] = None
    costs: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with costs by label: label = { hit = 5, false_alarm = -1, miss = 0, ask = "
            "-0.5 }. --hit, "
            "--false-alarm and --miss, or --utility, are then for the labels that it does not name, and "
            "--ask alone for all."
        ),
    ] = None

    def measure(
        self, usual: Measure | Mapping[Any, Measure] | None = None
    ) -> Measure | Mapping[Any, Measure] | None:
        """As the library takes it; None where nothing is said. A price for asking alone goes with the usual
        costs, a model's.
        """
        from ..config import UTILITIES, read_costs
        from ..decisions.class_utilities import OTHERS
        from ..decisions.utility import Utility

        one: Measure | None = None
        priced = any(value is not None for value in (self.hit, self.false_alarm, self.miss, self.ask))
        if self.utility is not None:
            if priced:
                raise OptionError(
                    "--utility and --hit, --false-alarm, --miss or --ask both say what decisions are "
                    "worth; choose one."
                )
            if self.utility.lower() not in UTILITIES:
                raise OptionError(f"--utility {self.utility} is none of {', '.join(UTILITIES)}.")
            one = UTILITIES[self.utility.lower()]
        elif self._asks_only and (usual is not None or self.costs is not None):
            return self._with_price(read_costs(self.costs) if self.costs is not None else usual)
        elif priced:
            values = (
                2.0 if self.hit is None else self.hit,
                -1.0 if self.false_alarm is None else self.false_alarm,
            )
            if self.ask is not None and not -math.inf < self.ask <= 0:
                raise OptionError(
                    f"--ask {self.ask:g}: a person's look costs something, or nothing; give a number of 0 "
                    "or less."
                )
            try:
                one = Utility(*values, 0.0 if self.miss is None else self.miss, ask=self.ask)
            except ValueError as error:
                raise OptionError(
                    f"--hit {values[0]:g}, --false-alarm {values[1]:g} and --miss {self.miss or 0:g} make "
                    "no sense together: a "
                    "right decision must be worth more than a wrong one. What costs is below 0, as in "
                    "--false-alarm -1 "
                    f"--miss -20; a hit is worth 2 where nothing is said, --hit 0 makes it nothing."
                ) from error
        if self.costs is None:
            return one
        by_label: dict[str, Measure] = dict(read_costs(self.costs))
        if one is None:
            return by_label
        if OTHERS in by_label:
            raise OptionError(
                f"{self.costs} has costs for all other labels, {OTHERS!r}, and the options give others; "
                "choose."
            )
        return {**by_label, OTHERS: one}

    @property
    def _asks_only(self) -> bool:
        return self.ask is not None and self.hit is None and self.false_alarm is None and self.miss is None

    def _with_price(self, costs: Any) -> Any:
        """Costs with this price for asking."""
        from ..decisions.utility import Utility

        if isinstance(costs, Mapping):
            return {label: self._with_price(own) for label, own in costs.items()}
        if not isinstance(costs, Utility):
            raise OptionError(
                f"--ask is a price beside costs; {costs} has none. Give --hit and --false-alarm as well."
            )
        if not -math.inf < (self.ask or 0.0) <= 0:
            raise OptionError(
                f"--ask {self.ask:g}: a person's look costs something, or nothing; give a number of 0 or "
                "less."
            )
        return replace(costs, ask=self.ask)


def usual_costs(model: TextClassifier) -> Any:
    """What decisions are worth to a model that was trained with costs, labels as text."""
    if model.decision is None or not hasattr(model.model_, "utility"):
        return None
    utility = model.model_.utility
    return {str(label): own for label, own in utility.items()} if isinstance(utility, Mapping) else utility


@dataclass(frozen=True)
class FloorOptions:
    """What decisions must keep."""

    min_recall: Annotated[float | None, typer.Option(help="Floor for recall, 0 to 1.")] = None
    min_precision: Annotated[float | None, typer.Option(help="Floor for precision, 0 to 1.")] = None
    always_answer: Annotated[
        bool | None,
        typer.Option(
            "--always-answer/--may-be-unsure",
            help="Whether every text gets a label, or some are left to a person.",
            show_default=False,
        ),
    ] = None

    @property
    def given(self) -> bool:
        """Whether there is any."""
        return any(value is not None for value in vars(self).values())

    def check(self) -> None:
        """That they are shares."""
        from ..config import ModelConfig

        ModelConfig(min_recall=self.min_recall, min_precision=self.min_precision).check()


@dataclass(frozen=True)
class ModelOptions:
    """What a model is made of, beside costs and floors."""

    features: Annotated[
        str,
        typer.Option(
            help="words; or texts compared as they are, by subsequence (with gaps) or ngrams of characters."
        ),
    ] = "words"
    length: Annotated[
        int | None, typer.Option(help="Characters of subsequences and n-grams.", show_default="5")
    ] = None
    decay: Annotated[
        float | None,
        typer.Option(help="0 to 1: what each skipped character multiplies a match by.", show_default="0.5"),
    ] = None
    C: Annotated[float, typer.Option("--C", help="Cost of missing the margin.")] = 1.0
    tokens: Annotated[
        str | None,
        typer.Option(
            help="What columns are made of: words; letters, the papers' words without digits; or "
            "characters inside words.",
            show_default="words",
        ),
    ] = None
    ngrams: Annotated[
        str | None,
        typer.Option(
            help="How many tokens make a term, as in 1-2.", show_default="1 of words, 2-4 of characters"
        ),
    ] = None
    stop_words: Annotated[
        str | None,
        typer.Option(
            help="Words to leave out: none, a language, or a file of words.",
            show_default="of the language found",
        ),
    ] = None
    numbers: Annotated[
        str | None,
        typer.Option(
            help="shape: a number is how many digits it has; exact: what it is.", show_default="shape"
        ),
    ] = None
    keywords: Annotated[Path | None, typer.Option(help="File of keywords by label: TOML, JSON or CSV.")] = (
        None
    )
    word_vectors: Annotated[
        Path | None,
        typer.Option(
            help="File of word vectors (GloVe or word2vec, as text), by which keywords spread over texts "
            "without labels.",
            show_default="of the texts at hand",
        ),
    ] = None
    rationales: Annotated[
        str | None,
        typer.Option(
            help=r"Column of marked passages, \[\[start, end], …] in characters of the text; \[start, "
            r"end, label] for one of "
            r"several labels."
        ),
    ] = None
    prior_model: Annotated[
        Path | None, typer.Option(help="An earlier model on words, as prior knowledge.")
    ] = None
    trust: Annotated[
        str | None,
        typer.Option(
            help="How far prior knowledge is trusted: auto, free, nonneg, ridge or fixed.",
            show_default="auto",
        ),
    ] = None
    positive: Annotated[
        str | None,
        typer.Option(
            help="Of two labels the one that is looked for; costs and floors speak of it.",
            show_default="the rarer",
        ),
    ] = None
    threshold_scores: Annotated[
        str | None,
        typer.Option(
            help="What thresholds are set on: loo (leave-one-out), cv (folds) or train.",
            show_default="loo for words, else cv",
        ),
    ] = None

    def config(
        self, utility: UtilityOptions, floors: FloorOptions, shares: Mapping[str, float] | None = None
    ) -> ModelConfig:
        """As the library takes it."""
        from ..config import ModelConfig

        kept = {**vars(floors), "always_answer": bool(floors.always_answer)}
        config = ModelConfig(**vars(self), utility=utility.measure(), shares=shares, **kept)
        config.check()
        return config


@dataclass(frozen=True)
class HoldoutOptions:
    """What is kept out of training."""

    holdout: Annotated[
        float | None,
        typer.Option(
            help="Share of the texts, such as 0.2, to keep out of training and to say on how good the "
            "model is."
        ),
    ] = None
    split_by: Annotated[
        str | None,
        typer.Option(
            help="Column of dates or numbers: --holdout keeps out the last texts by it.",
            show_default="at random",
        ),
    ] = None

    def check(self) -> None:
        """That they make sense, before texts are read."""
        from ..tables.holdout import check_share

        if self.holdout is not None:
            check_share(self.holdout)
        elif self.split_by is not None:
            raise OptionError(
                "--split-by says which texts --holdout keeps out; say how many with it: --holdout 0.2."
            )

    def split(self, corpus: Corpus) -> tuple[Corpus, Corpus | None, str | None]:
        """The texts to train on; those held out, if there are to be any; and the value of the column that
        these start with.
        """
        from ..tables.holdout import split_at_random, split_by

        if self.holdout is None:
            return corpus, None, None
        if self.split_by is None:
            return *split_at_random(corpus, self.holdout), None
        train, held_out, start = split_by(corpus, self.split_by, self.holdout)
        return train, held_out, str(start)
