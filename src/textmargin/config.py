"""What a command line, or a file, says of a model, turned into a `TextClassifier`.

`ModelConfig().build()` is `TextClassifier()`: there is one default. A setting that does not apply to the
others is an error that names it, not something that is passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from ._sklearn import term_names
from ._system.json import read_json
from ._system.toml import quotes_hint, read_toml
from .classifier import TextClassifier
from .datasets.corpus import Corpus, field_values
from .decisions.threshold import ThresholdClassifier
from .decisions.utility import F1, T10SU, T10U, T11SU, Measure, Utility
from .errors import SettingError, TableError, nearest
from .knowledge.contrasts import RationaleContrasts
from .knowledge.keywords import KeywordPrior
from .knowledge.passages import RationalePrior
from .knowledge.transfer import ModelPrior
from .learners.kernel import KernelSVC
from .learners.primal import PriorSVC
from .persistence import load_classifier
from .representations.bow import BagOfWords
from .representations.languages import LANGUAGES, function_words
from .representations.spectrum import SpectrumKernel
from .representations.strings import SubsequenceKernel
from .representations.text_parts import TextParts

TOKENS = ("words", "letters", "characters")
FEATURES = ("words", "subsequence", "ngrams")
THRESHOLD_SCORES = ("auto", "loo", "cv", "train")
TRUST = ("auto", "free", "nonneg", "ridge", "fixed")
WORD_SETTINGS = ("tokens", "ngrams", "stop_words", "numbers")
KNOWLEDGE = ("keywords", "rationales", "prior_model")
UTILITIES: dict[str, Measure] = {"t10u": T10U, "t11su": T11SU, "t10su": T10SU, "f1": F1}


@dataclass(frozen=True)
class ModelConfig:
    """What a model is made of.

    Parameters
    ----------
    features : {"words", "subsequence", "ngrams"}, default="words"
        Words in columns, or texts compared as they are, by subsequences with gaps or by n-grams of
        characters.
    length : int, default=None
        Of subsequences and n-grams; 5 by default.
    decay : float, default=None
        What a gap in a subsequence costs; 0.5 by default.
    C : float, default=1.0
    tokens : {"words", "letters", "characters"}, default=None
        What columns are made of: words with digits and symbols ("words", the default), the papers' words of
        letters alone, or sequences of characters inside words.
    ngrams : str, default=None
        How many tokens make a term, such as "1-2"; by default 1 of words, and 2-4 of characters.
    stop_words : str or path, default=None
        "none", a language, or a file with a word a line; by default the function words of the language that
        is found.
    language : str, default=None
        Of the texts; found out by default. See `BagOfWords`.
    numbers : {"shape", "exact"}, default=None
        Whether a number is how many digits it has ("shape", the default), or what it is.
    keywords : path, default=None
        A file that `KeywordPrior.from_file` reads.
    word_vectors : path, default=None
        A file of word vectors by which keywords spread where there are texts without labels; see
        `KeywordPrior`.
    rationales : str, default=None
        The column of marked passages: per text a list of [start, end] in characters, marked for all labels of
        the text, or of [start, end, label], marked for this one.
    prior_model : path, default=None
        An earlier model on words, whose weights are the prior. Keywords, rationales and an earlier model may
        be given together.
    trust : str, default=None
        How far keywords, rationales and the earlier model are trusted, "auto" by default; see `PriorSVC`.
    utility : measure, or mapping label → measure, default=None
        What decisions are worth; with it, or with a floor, thresholds are set by it.
    min_precision, min_recall : float, default=None
        Floors.
    always_answer : bool, default=False
        Whether every text gets a label, where costs or floors would rather leave it to a person.
    positive : str, default=None
        Of two labels the one that is looked for, and that utility and floors speak of; the rarer one by
        default.
    threshold_scores : {"auto", "loo", "cv", "train"}, default=None
        Which scores thresholds are set on (see `ThresholdClassifier`), "auto" by default.
    shares : mapping label → share, default=None
        How frequent labels are among unlabelled texts; guessed by default. See `TextClassifier`.
    multilabel : bool, default=None
        Whether a text may have any number of labels, where no label tells.

    Examples
    --------
    >>> from textmargin import ModelConfig, Utility
    >>> ModelConfig(utility=Utility(tp=5)).build().decision.utility.tp
    5
    >>> ModelConfig(decay=0.3).build()
    Traceback (most recent call last):
    ...
    textmargin.errors.SettingError: decay is for features='subsequence'; these are 'words'. Leave it out.
    """

    features: str = "words"
    length: int | None = None
    decay: float | None = None
    C: float = 1.0
    tokens: str | None = None
    ngrams: str | None = None
    stop_words: str | Path | None = None
    numbers: str | None = None
    keywords: str | Path | None = None
    word_vectors: str | Path | None = None
    rationales: str | None = None
    prior_model: str | Path | None = None
    trust: str | None = None
    utility: Measure | Mapping[Any, Measure] | None = None
    min_precision: float | None = None
    min_recall: float | None = None
    always_answer: bool = False
    positive: Any = None
    threshold_scores: str | None = None
    shares: Mapping[str, float] | None = None
    multilabel: bool | None = None

    def check(self) -> None:
        """An error for a setting that is out of range, or does not apply to the others."""
        _require_one_of("features", self.features, FEATURES)
        _require_one_of("tokens", self.tokens, TOKENS)
        _require_one_of("numbers", self.numbers, ("shape", "exact"))
        _require_one_of("trust", self.trust, TRUST)
        _require_one_of("threshold_scores", self.threshold_scores, THRESHOLD_SCORES)
        _require_range("C", self.C, 0, None, open_low=True)
        _require_range("length", self.length, 1, None, whole=True)
        _require_range("decay", self.decay, 0, 1, open_low=True)
        _require_range("min_precision", self.min_precision, 0, 1)
        _require_range("min_recall", self.min_recall, 0, 1)
        if self.decay is not None and self.features != "subsequence":
            raise SettingError(
                "decay", f"is for features='subsequence'; these are {self.features!r}. Leave it out."
            )
        if self.length is not None and self.features == "words":
            raise SettingError(
                "length", "is for features='subsequence' or 'ngrams'; these are 'words'. Leave it out."
            )
        of_words = self.present(WORD_SETTINGS)
        if of_words and self.features != "words":
            raise SettingError(
                of_words[0], f"is for features='words'; these are {self.features!r}. Leave it out."
            )
        if of_words:
            self.words()
        knowledge = self.present(KNOWLEDGE)
        if knowledge and self.features != "words":
            raise SettingError(
                knowledge[0], f"is about words; features={self.features!r} has none. Leave one of them out."
            )
        if self.word_vectors is not None and self.keywords is None:
            raise SettingError(
                "word_vectors", "says which words are near the keywords; there are no keywords. Leave it out."
            )
        if self.trust is not None and not knowledge:
            raise SettingError(
                "trust",
                "says how far keywords, rationales or prior_model are trusted; none of them is given.",
            )
        if self.threshold_scores is not None and not self._decides:
            raise SettingError(
                "threshold_scores", "is for models with costs, a utility or floors; none of them is given."
            )
        for label, share in (self.shares or {}).items():
            if not isinstance(share, Real) or isinstance(share, bool) or not 0 < share < 1:
                raise SettingError(
                    "shares", f"must be numbers between 0 and 1; that of {label!r} is {share!r}."
                )
        if self.shares is not None and self.features != "words":
            raise SettingError(
                "shares", f"is for features='words'; these are {self.features!r}. Leave it out."
            )
        if self.always_answer and not self._decides:
            raise SettingError(
                "always_answer", "is for models with costs, a utility or floors; without, it is so."
            )

    def build(self, corpus: Corpus | None = None) -> TextClassifier:
        """The classifier, not fitted yet.

        Parameters
        ----------
        corpus : Corpus, default=None
            The texts to train on, whose column `rationales` is part of the model; needed for these only.
        """
        self.check()
        decision = None
        if self._decides:
            decision = ThresholdClassifier(
                utility=T10U if self.utility is None else self.utility,
                scores=self.threshold_scores or "auto",
                min_precision=self.min_precision,
                min_recall=self.min_recall,
                always_answer=self.always_answer,
            )
        if self.features == "words":
            learner: Any = PriorSVC(C=self.C, trust=self.trust or "auto")
            return TextClassifier(
                self.words() if self.present(WORD_SETTINGS) else None,
                knowledge=self._knowledge(corpus),
                learner=learner,
                decision=decision,
                positive=self.positive,
                shares=self.shares,
                multilabel=self.multilabel,
            )
        length = 5 if self.length is None else self.length
        kernel: Any = SpectrumKernel(length)
        if self.features == "subsequence":
            kernel = SubsequenceKernel(length, 0.5 if self.decay is None else self.decay)
        return TextClassifier(kernel, learner=KernelSVC(C=self.C), decision=decision, positive=self.positive)

    def present(self, names: Iterable[str]) -> list[str]:
        """Those of some settings that are not None."""
        return [name for name in names if getattr(self, name) is not None]

    def words(self) -> BagOfWords:
        """How texts are turned into columns."""
        characters = self.tokens == "characters"
        if characters:
            refused = self.present(("stop_words", "numbers"))
            if refused:
                raise SettingError(
                    refused[0], "is about words; tokens='characters' are not. Leave one of them out."
                )
        return BagOfWords(
            analyzer={"letters": "letters", "characters": "char_wb"}.get(self.tokens or "", "word"),
            ngram_range=_read_ngrams(self.ngrams or ("2-4" if characters else "1")),
            stop_words=_read_stop_words(self.stop_words),
            numbers=self.numbers or "shape",
        )

    def fit(self, corpus: Corpus, unlabelled: Sequence[str] = ()) -> TextClassifier:
        """The classifier, fitted to a corpus.

        Parameters
        ----------
        corpus : Corpus
            Without any text where labels are known from knowledge alone.
        unlabelled : list of str, default=()
            Texts without a label.
        """
        model = self.build(corpus)
        if not corpus.texts:
            # one that is named without a word is a label too
            model.set_params(classes=self.known_labels() or None)
        return model.fit(corpus.texts, corpus.labels, unlabelled=list(unlabelled) or None)

    def fit_parts(
        self, texts: TextParts, unlabelled: Any = None, marked: Corpus | None = None
    ) -> TextClassifier:
        """The classifier, fitted to texts in parts.

        Parameters
        ----------
        texts : TextParts, with their labels
        unlabelled : list of str or TextParts, default=None
            Texts without a label.
        marked : Corpus, default=None
            The texts whose column `rationales` has passages; needed for these only.
        """
        model = self.build(marked)
        if unlabelled is not None and not texts.n_texts:
            model.set_params(classes=self.known_labels() or None)
        return model.fit(texts, unlabelled=unlabelled)

    def known_labels(self) -> list[Any]:
        """The labels that keywords and the earlier model name, which texts may have though none is labelled
        so.
        """
        names = [] if self.keywords is None else list(KeywordPrior.from_file(self.keywords).keywords)
        names += [] if self.prior_model is None else load_classifier(self.prior_model).classes_.tolist()
        return list({str(name): name for name in reversed(names)}.values())[::-1]

    @property
    def _decides(self) -> bool:
        return self.utility is not None or self.min_precision is not None or self.min_recall is not None

    def _knowledge(self, corpus: Corpus | None) -> Any:
        """All that is known: nothing, one kind, or a list of kinds."""
        kinds: list[Any] = []
        if self.keywords is not None:
            kinds.append(
                KeywordPrior.from_file(
                    self.keywords, word_vectors=self.word_vectors and str(self.word_vectors)
                )
            )
        if self.rationales is not None:
            if corpus is None:
                raise SettingError("rationales", "needs the corpus that has them: build(corpus).")
            analyzer = self.words().set_params(stop_words=None)
            rationales = read_rationales(corpus, self.rationales)
            kinds += [RationalePrior(rationales, analyzer=analyzer), RationaleContrasts(rationales)]
        if self.prior_model is not None:
            earlier = load_classifier(self.prior_model)
            if term_names(earlier.representation_) is None:
                columns = f"the columns of its {type(earlier.representation_).__name__}"
                raise SettingError(
                    "prior_model", f"{self.prior_model} knows no words: {columns} have no names."
                )
            kinds.append(ModelPrior(earlier, file_name=Path(self.prior_model).name))
        return kinds if len(kinds) > 1 else next(iter(kinds), None)


def _read_ngrams(ngrams: str) -> tuple[int, int]:
    """The shortest and the longest, of "1-2" or "2"."""
    found = re.fullmatch(r"([1-9]\d?)(?:\s*[-–,:]\s*([1-9]\d?))?", str(ngrams).strip())
    if found is None or int(found[1]) > int(found[2] or found[1]):
        raise SettingError(
            "ngrams", f"is how many tokens make a term, such as 1-2 for words and pairs; got {ngrams!r}."
        )
    return int(found[1]), int(found[2] or found[1])


def _read_stop_words(stop_words: str | Path | None) -> str | list[str] | None:
    """As `BagOfWords` takes them; the English ones are function words, as those of other languages."""
    name = str("auto" if stop_words is None else stop_words).lower()
    if name in ("auto", "none"):
        return None if name == "none" else name
    if name in LANGUAGES:
        return sorted(function_words(name))
    try:
        words = Path(str(stop_words)).read_text(encoding="utf-8-sig").lower().split()
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(LANGUAGES)
        raise SettingError(
            "stop_words", f"is none, a language ({known}) or a file of words; got {stop_words!s}."
        ) from error
    if not words:
        raise SettingError("stop_words", f"names {stop_words}, which has no words; none leaves no word out.")
    return words


def read_rationales(corpus: Corpus, column: str) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Texts with the passages that were marked: [start, end] for every label of the text, [start, end, label]
    for this one.
    """
    found = []
    marks = field_values(corpus, column, "rationales")
    for number, text, own, spans in zip(corpus.ids, corpus.texts, corpus.labels, marks, strict=True):
        if not spans:
            continue
        try:
            labels = (own,) if isinstance(own, str) else own
            passages = read_json(spans) if isinstance(spans, str) else spans
            marked = [
                (int(start), int(end), str(name)) for start, end, *only in passages for name in only or labels
            ]
        except (ValueError, TypeError, IndexError) as error:
            wanted = "[[start, end], …] or [[start, end, label], …]"
            raise TableError(
                f"Line {number}: {column!r} should hold passages {wanted}; it is {spans!r:.60}."
            ) from error
        stranger = next((name for _, _, name in marked if name not in labels), None)
        if stranger is not None:
            near = nearest(stranger, labels)
            raise TableError(
                f"Line {number}: a passage in {column!r} is marked for {stranger!r}, which is not a label "
                "of this text: "
                f"{', '.join(map(repr, labels)) or 'it has none'}."
                f"{'' if near is None else f' Did you mean {near!r}?'}"
            )
        found.append((text, marked))
    if not found:
        raise TableError(f"No text has a passage in column {column!r}.")
    return found


def read_costs(path: str | Path) -> dict[str, Utility]:
    """Utilities by label from a TOML file: `[costs]`, label = { hit = …, false_alarm = …, miss = …, ask = …
    }; "*" for others.
    """
    try:
        table = read_toml(path)
        return {label: _utility(label, own) for label, own in table.get("costs", table).items()}
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, AttributeError) as error:
        wanted = "[costs] with a line label = { hit = 5, false_alarm = -1, miss = 0, ask = -0.5 } per label"
        raise TableError(f"{path} should hold {wanted}: {str(error).rstrip('.')}.") from error


def _utility(label: str, costs: Mapping[str, float]) -> Utility:
    unknown = [name for name in costs if name not in ("hit", "false_alarm", "miss", "ask")]
    if unknown and isinstance(costs[unknown[0]], Mapping):  # what a point in a name means in TOML
        raise ValueError(quotes_hint(f"{label}.{unknown[0]}"))
    if unknown:
        raise ValueError(f"{label!r} has {unknown[0]!r}, which is none of hit, false_alarm, miss, ask")
    hit, false_alarm, miss = (
        costs.get(name, usual) for name, usual in (("hit", 2.0), ("false_alarm", -1.0), ("miss", 0.0))
    )
    ask = costs.get("ask")
    for name, value in (
        ("hit", hit),
        ("false_alarm", false_alarm),
        ("miss", miss),
        ("ask", 0.0 if ask is None else ask),
    ):
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            raise ValueError(f"{name} of {label!r} is {value!r}, which is not a number")
    if hit <= miss or false_alarm >= 0:
        raise ValueError(
            f"hit = {hit:g}, false_alarm = {false_alarm:g} and miss = {miss:g} of {label!r} make no sense "
            "together: a right "
            "decision must be worth more than a wrong one. What costs is below 0, and a hit is worth 2 "
            "where nothing is said"
        )
    if ask is not None and ask > 0:
        raise ValueError(
            f"ask of {label!r} is {ask:g}; a person's look costs something, or nothing: 0 or less"
        )
    return Utility(hit, false_alarm, miss, ask=ask)


def _require_one_of(name: str, value: Any, known: Iterable[str]) -> None:
    if value is not None and value not in known:
        raise SettingError(name, f"must be one of {', '.join(known)}; got {value!r}.")


def _require_range(
    name: str, value: Any, low: float, high: float | None, *, open_low: bool = False, whole: bool = False
) -> None:
    if value is None:
        return
    right = (
        isinstance(value, Real)
        and not isinstance(value, bool)
        and (not whole or value == round(float(value)))
    )
    if not right or value < low or (open_low and value == low) or (high is not None and value > high):
        span = f"{'more than' if open_low else 'at least'} {low}" + (
            f" and at most {high}" if high is not None else ""
        )
        raise SettingError(name, f"must be a {'whole ' if whole else ''}number of {span}; got {value!r}.")
