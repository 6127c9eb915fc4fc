"""What `train` says of the texts and the words it learns from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._system.wording import quantity
from ._console import remark

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..datasets.corpus import Corpus

_FEW = 5  # texts: with fewer, one of five folds has none of the label
_MOST_LABELS = 20  # named in a line


def describe_counts(counts: Mapping[str, int]) -> str:
    """How many texts have each label; of many labels the most frequent ones."""
    frequent = sorted(counts.items(), key=lambda one: -one[1])
    named = counts.items() if len(counts) <= _MOST_LABELS else frequent[:_MOST_LABELS]
    shown = ", ".join(f"{name}: {n:,}" for name, n in named)
    others = frequent[_MOST_LABELS:]
    if not others:
        return shown
    least, most = others[-1][1], others[0][1]
    each = quantity(most, "text") if least == most else f"{least:,} to {quantity(most, 'text')}"
    return f"{shown}, and {len(others):,} more with {each} each"


def remark_on_corpus(corpus: Corpus) -> None:
    """Before training: what is learnt from."""
    single = all(isinstance(own, str) for own in corpus.labels)
    names = set(corpus.labels) if single else {name for own in corpus.labels for name in own}
    texts, labels = quantity(len(corpus), "text"), quantity(len(names), "label")
    remark(f"learning from {texts}, {labels}, {'one' if single else 'any number'} a text")


def remark_on_labels(corpus: Corpus, counts: Mapping[str, int], check_command: str) -> None:
    """After training: what speaks against it at a glance.

    Parameters
    ----------
    corpus : Corpus
    counts : texts of each label
    check_command : what shows more of it
    """
    few = {name: n for name, n in counts.items() if n < _FEW}
    if few:
        remark(
            f"few texts to learn from, fewer than {_FEW}: {describe_counts(few)}. What is said of how good these are decided is "
            f"little more than chance; label more, or join labels"
        )
    n_contradictions = _count_contradictions(corpus)
    if n_contradictions:
        texts = "text occurs" if n_contradictions == 1 else "texts occur"
        remark(f"{n_contradictions:,} {texts} more than once, with different labels; to see which: {check_command}")


def _count_contradictions(corpus: Corpus) -> int:
    """How many different texts occur with different labels."""
    from ..representations.digests import text_digests

    first: dict[int, Any] = {}
    contradictions = set()
    for digest, own in zip(text_digests(corpus.texts).tolist(), corpus.labels, strict=True):
        label = own if isinstance(own, str) else frozenset(own)
        if first.setdefault(digest, label) != label:
            contradictions.add(digest)
    return len(contradictions)


def words_line(model: TextClassifier, config: ModelConfig) -> str | None:
    """Which language was found and what that means for the words, where nobody said it."""
    from ..representations.languages import SEGMENTED

    words = model.representation_
    if config.features != "words" or config.tokens in ("letters", "characters") or config.language is not None:
        return None
    language = getattr(words, "language_", None)
    if language in SEGMENTED:
        pieces = "sequences of three characters" if language == "thai" else "characters and pairs of characters"
        return f"{language.capitalize()}, which has no blanks: {pieces} are its words; --language {language} finds words"
    if config.stop_words is not None:
        return None
    if words.get_stop_words():
        return f"{str(language).capitalize()}: its function words are left out; --stop-words none keeps them"
    return "No language that is known was found, so that all words count; --stop-words leaves some out: a language, or a file"
