"""From what a user says on one line to a classifier: representation, knowledge, learner and decision."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .classifier import TextClassifier
from .datasets.corpus import Corpus
from .decisions.threshold import ThresholdClassifier
from .decisions.utility import F1, T10SU, T10U, T11SU, Measure, Utility
from .errors import PriorError, TableError
from .knowledge.keywords import KeywordPrior
from .knowledge.named import ByName
from .knowledge.rationales import RationalePrior
from .knowledge.transfer import ModelPrior
from .labelling import Labelling
from .learners.kernel import KernelSVC
from .learners.primal import PriorSVC
from .representations.bow import BagOfWords
from .representations.spectrum import SpectrumKernel
from .representations.strings import SubsequenceKernel
from .trained import Trained

KERNELS = ("words", "subsequence", "ngrams")
SCORES = ("loo", "cv", "train")
UTILITIES: dict[str, Measure] = {"t10u": T10U, "t11su": T11SU, "t10su": T10SU, "f1": F1}


@dataclass(frozen=True)
class Recipe:
    """What a model is made of.

    Parameters
    ----------
    kernel : {"words", "subsequence", "ngrams"}, default="words"
        Words in columns, or texts compared as they are, by subsequences with gaps or by n-grams of characters.
    length, decay : of the string kernels
    C : float, default=1.0
    keywords : path, default=None
        A file that `KeywordPrior.from_file` reads.
    marks : str, default=None
        The column of marked passages: a list of [start, end] in characters per text.
    prior : path, default=None
        An earlier model on words, whose weights are the prior.
    trust : str, default="auto"
        How far keywords, marks or the earlier model are believed; see `PriorSVC`.
    utility : measure, or mapping label → measure, default=None
        What decisions are worth; with it, or with a floor, thresholds are moved.
    positive : str, default=None
        Of two labels the one that is looked for, and that costs and floors speak of; the rarer one by default.
    min_precision, min_recall : float, default=None
        Floors.
    scores : {"loo", "cv", "train"}, default=None
        Which scores thresholds are set on (see `ThresholdClassifier`): by default leave-one-out scores for words, else folds.
    """

    kernel: str = "words"
    length: int = 5
    decay: float = 0.5
    C: float = 1.0
    keywords: str | Path | None = None
    marks: str | None = None
    prior: str | Path | None = None
    trust: str = "auto"
    utility: Measure | Mapping[Any, Measure] | None = None
    min_precision: float | None = None
    min_recall: float | None = None
    positive: str | None = None
    scores: str | None = None

    def train(self, corpus: Corpus, about: dict[str, Any] | None = None) -> Trained:
        """Fit it to a corpus."""
        labels = Labelling.of(corpus, self.positive)
        trained = Trained.on(self.classifier(corpus, labels), corpus, labels, about or {})
        return replace(trained, worth=self.utility)

    def classifier(self, corpus: Corpus, labels: Labelling) -> TextClassifier:
        """The classifier, not fitted yet; what the corpus holds of marks goes into it."""
        known = self._knowledge(corpus)
        if known is not None and labels.numbered:
            known = ByName(known, labels.names)
        if self.kernel == "words":
            decision = self._decision(labels, self.scores or "loo")
            learner = PriorSVC(C=self.C, trust=self.trust)
            return TextClassifier(BagOfWords("log-tf-idf"), knowledge=known, learner=learner, decision=decision)
        if known is not None:
            raise PriorError(
                f"Keywords, marks and earlier models are about words; --kernel {self.kernel} has none. Leave one of them out."
            )
        compare = SubsequenceKernel(self.length, self.decay) if self.kernel == "subsequence" else SpectrumKernel(self.length)
        return TextClassifier(compare, learner=KernelSVC(C=self.C), decision=self._decision(labels, self.scores or "cv"))

    def _knowledge(self, corpus: Corpus) -> Any:
        given = [name for name in ("keywords", "marks", "prior") if getattr(self, name) is not None]
        if len(given) > 1:
            raise PriorError(f"--{given[0]} and --{given[1]} are both given; a model takes one kind of knowledge.")
        if self.keywords is not None:
            return KeywordPrior.from_file(self.keywords)
        if self.marks is not None:
            return RationalePrior(marked(corpus, self.marks), analyzer=None)
        return _earlier(self.prior) if self.prior is not None else None

    def _decision(self, labels: Labelling, scores: str) -> ThresholdClassifier | None:
        if self.utility is None and self.min_precision is None and self.min_recall is None:
            return None
        utility = labels.measures(T10U if self.utility is None else self.utility)
        return ThresholdClassifier(utility=utility, scores=scores, min_precision=self.min_precision, min_recall=self.min_recall)


def _earlier(path: str | Path) -> Any:
    """What an earlier model knows of each label's words, by name."""
    earlier = Trained.load(path)
    if not hasattr(earlier.model.representation_, "get_feature_names_out"):
        raise PriorError(f"{path} compares texts as they are and knows no words; an earlier model must be one on words.")
    prior = ModelPrior(earlier.model)
    if not Labelling(earlier.classes, earlier.multilabel).numbered:
        return prior
    names = earlier.classes
    if len(names) == 1:
        return {names[0]: prior.known()[1]}
    entries = {names[int(number)]: words for number, words in prior.known().items()}
    if not earlier.multilabel:  # what speaks for one of two speaks against the other
        entries[names[0]] = {word: -weight for word, weight in entries[names[1]].items()}
    return entries


def marked(corpus: Corpus, column: str) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Texts with the passages that were marked for their label."""
    found = []
    for number, text, own, spans in zip(corpus.ids, corpus.texts, corpus.labels, corpus.fields[column], strict=True):
        if not spans:
            continue
        try:
            labels = (own,) if isinstance(own, str) else own
            found.append((text, [(int(start), int(end), label) for start, end in _as_list(spans) for label in labels]))
        except (ValueError, TypeError, IndexError) as error:
            raise TableError(f"Line {number}: {column!r} should hold passages [[start, end], …]; it is {spans!r:.60}.") from error
    if not found:
        raise TableError(f"No text has a passage in column {column!r}.")
    return found


def read_costs(path: str | Path) -> dict[str, Utility]:
    """Utilities by label from a TOML file: `[costs]`, label = { hit = …, false_alarm = …, miss = … }."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        return {label: _utility(own) for label, own in table.get("costs", table).items()}
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, AttributeError) as error:
        wanted = "[costs] with a line label = { hit = 5, false_alarm = -1, miss = 0 } per label"
        raise TableError(f"{path} should hold {wanted}: {error}.") from error


def _utility(costs: Mapping[str, float]) -> Utility:
    unknown = [name for name in costs if name not in ("hit", "false_alarm", "miss")]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is none of hit, false_alarm, miss")
    return Utility(tp=costs.get("hit", 2.0), fp=costs.get("false_alarm", -1.0), fn=costs.get("miss", 0.0))


def _as_list(spans: Any) -> Any:
    return json.loads(spans) if isinstance(spans, str) else spans
