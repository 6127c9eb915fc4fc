"""What `train` says: of the texts and words it learns from, of what is known, and of decisions."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._system.wording import quantity
from ._console import remark

if TYPE_CHECKING:
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..datasets.corpus import Corpus
    from ..learners.evidence import Verdict

_FEW = 5  # texts: with fewer, one of five folds has none of the label
_MOST_LABELS = 20  # named in a line
_MOST_WORDS = 5  # of those that keywords spread to, shown of a label
_MOST_SPREADS = 10  # labels that they are shown of


def trained_line(n_texts: int, counts: Mapping[str, int], n_unlabelled: int) -> str:
    """What was learnt from; where no text has a label, which labels there are."""
    if n_texts:
        return f"Trained on {quantity(n_texts, 'text')} ({describe_counts(counts)})"
    return (
        f"Trained on {quantity(n_unlabelled, 'text')} without a label, and what is known of "
        f"{_listed(list(counts))}"
    )


def _listed(labels: Sequence[str]) -> str:
    more = f", and {len(labels) - _MOST_LABELS:,} more" if len(labels) > _MOST_LABELS else ""
    return f"{', '.join(labels[:_MOST_LABELS])}{more}"


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


def remark_on_corpus(
    n_texts: int, labels: Iterable[Any], n_unlabelled: int, known_labels: Sequence[Any]
) -> None:
    """Before training: what is learnt from; `labels` are those of each text, or what occurs as such."""
    without = f"{quantity(n_unlabelled, 'text')} without a label"
    if not n_texts:
        remark(f"learning from {without}, and what is known of {quantity(len(known_labels), 'label')}")
        return
    different = {*labels}
    single = all(isinstance(own, str) for own in different)
    names = different if single else {name for own in different for name in own}
    texts, n_labels = quantity(n_texts, "text"), quantity(len(names), "label")
    more = f", and {without}" if n_unlabelled else ""
    remark(f"learning from {texts}, {n_labels}, {'one' if single else 'any number'} a text{more}")


def remark_on_labels(corpus: Corpus | None, counts: Mapping[str, int], check_command: str) -> None:
    """After training: what speaks against it at a glance.

    Parameters
    ----------
    corpus : Corpus, or None for texts in parts
    counts : texts of each label
    check_command : what shows more of it
    """
    few = {name: n for name, n in counts.items() if 0 < n < _FEW}
    none = [name for name, n in counts.items() if not n]
    if none:
        remark(
            f"no text is labelled {_listed(none)}: learnt from what is known alone, so that no label says "
            "how good that is"
        )
    if few:
        remark(
            f"few texts to learn from, fewer than {_FEW}: {describe_counts(few)}. What is said of how "
            "good these are decided is "
            f"little more than chance; label more, or join labels"
        )
    n_contradictions = 0 if corpus is None else _count_contradictions(corpus)
    if n_contradictions:
        texts = "text occurs" if n_contradictions == 1 else "texts occur"
        remark(
            f"{n_contradictions:,} {texts} more than once, with different labels; to see which: "
            f"{check_command}"
        )


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


def remark_on_decisions(model: TextClassifier, config: ModelConfig) -> None:
    """What a user might take for granted of costs and floors."""
    floors = config.min_recall is not None or config.min_precision is not None
    if not floors and config.utility is None:
        return
    if config.utility is None:
        remark(
            "floors without costs: a hit counts 2 and a false alarm -1; --hit and --false-alarm say otherwise"
        )
    if model.labels_.kind == "binary":
        positive = model.labels_.text_names[model.labels_.positive]
        remark(_whose_costs(model, config, positive))
    if model.can_be_unsure:
        remark(
            "a text better left to a person gets no label but a best guess (unsure); --always-answer "
            "gives every text a label"
        )


def _whose_costs(model: TextClassifier, config: ModelConfig, positive: str) -> str:
    """Which of two labels costs and floors are about, and why."""
    if isinstance(config.utility, Mapping):
        named = [name for name in model.labels_.text_names if name in config.utility]
        if len(named) == 1 and len(config.utility) == 1:
            return (
                f"costs are those of {named[0]!r}, the only label that they name; floors speak of "
                f"{positive!r}"
            )
        return f"costs of both labels are added up; the threshold and floors are those of {positive!r}"
    if config.positive:
        return f"costs and floors speak of {positive!r}"
    return (
        f"costs and floors speak of {positive!r}{', the rarer label' if _is_rarer(model) else ''}; "
        "--positive chooses"
    )


def _is_rarer(model: TextClassifier) -> bool:
    counts = list(model.metadata_["label_counts"].values())
    return bool(counts[model.labels_.positive] <= counts[1 - model.labels_.positive])


def verdict_line(one: Verdict, several: bool) -> str:
    """Whether a prior is used, and what held-out texts say of it; of several kinds of knowledge, which it
    comes from.
    """
    prior = f"prior for {one.target}{f' from {one.knowledge}' if several else ''}"
    used = one.status in ("supported", "adopted")
    if not abs(one.evidence) > 0:  # none, or not a number: no text has its words, or they move no score
        how = "used, though no training text can say whether it helps" if used else f"not used, {one.status}"
        return f"{prior}: {how}"
    loss = f"{-one.gain:+.0%}"
    change = "changes by less than 1%" if loss in ("-0%", "+0%") else loss
    # of the two the evidence is the less favourable
    ranks = ", ranks no better" if one.gain > 0 > one.evidence else ""
    return f"{prior}: {'used' if used else 'not used'}, {one.status} (held-out loss {change}{ranks})"


def unlabelled_facts(model: TextClassifier, config: ModelConfig) -> dict[str, Any] | None:
    """What became of texts without a label, as plain data; None where there were none."""
    n_texts = model.metadata_.get("n_unlabelled", 0)
    if not n_texts:
        return None
    verdict = next((one for one in model.verdict_ if one.target is None), None)
    shares = {str(name): share for name, share in model.shares_.items()}
    return {
        "n_texts": n_texts,
        "used": bool(shares),
        "status": None if verdict is None else verdict.status,
        "gain": None if verdict is None else verdict.gain,
        "multilabel": model.labels_.multilabel,
        "shares": shares,
        "shares_given": config.shares is not None,
        "spread": {str(name): words for name, words in model.spread_.items() if words},
    }


def unlabelled_lines(facts: dict[str, Any] | None) -> list[str]:
    """The same in words."""
    if facts is None:
        return []
    if not facts["used"]:
        return [f"unlabelled texts: left aside{_merit(facts)}"]
    lines = [f"unlabelled texts: used{_merit(facts)}", _shares_line(facts)]
    spread = list(facts["spread"].items())
    lines += [
        f"words near those of {name}: {', '.join(list(words)[:_MOST_WORDS])}"
        for name, words in spread[:_MOST_SPREADS]
    ]
    if len(spread) > _MOST_SPREADS:
        lines.append(f"and for {len(spread) - _MOST_SPREADS:,} more labels")
    return lines


def next_step(facts: dict[str, Any] | None, model: Path, data: str) -> str | None:
    """What to do with a model that learnt from keywords and texts without a label."""
    if facts is None:
        return None
    texts = [] if data == "-" else [data]
    suggest, predict = (
        shlex.join(["textmargin", name, str(model), *texts]) for name in ("suggest", "predict")
    )
    return f"{suggest} (words to add or to strike), {predict}"


def _merit(facts: dict[str, Any]) -> str:
    """Whether held-out texts speak for the unlabelled ones, which is weighed by decisions, not by losses."""
    if facts["status"] is None:
        return ", though no label says whether they help"
    gain = round(facts["gain"], 3)
    if not gain:
        return f", {facts['status']}"
    change = f"{abs(gain):.1%} {'more' if gain > 0 else 'fewer'} of the held-out texts decided rightly"
    if facts["multilabel"]:
        change = f"F1 of the held-out texts {gain:+.3f}"
    doubt = ", not clearly for their sake" if gain > 0 and not facts["used"] else ""
    return f", {facts['status']} ({change}{doubt})"


def _shares_line(facts: dict[str, Any]) -> str:
    """How frequent labels were taken to be."""
    from .._ties import descending_order

    shares = list(facts["shares"].items())
    frequent = [shares[row] for row in descending_order([share for _, share in shares])]
    shown = ", ".join(f"{name} {share:.0%}" for name, share in frequent[:_MOST_LABELS])
    more = f", and {len(frequent) - _MOST_LABELS:,} more" if len(frequent) > _MOST_LABELS else ""
    if facts["shares_given"]:
        return f"shares: {shown}{more}"
    name, share = frequent[-1]
    option = shlex.join(["--share", f"{name}={max(share, 0.01):.2f}"])
    return f"shares guessed: {shown}{more}; if you know better: {option}"


def words_line(model: TextClassifier, config: ModelConfig) -> str | None:
    """Which language was found and what that means for the words, where nobody said it."""
    words = model.representation_
    if config.features != "words" or config.tokens in ("letters", "characters"):
        return None
    language = getattr(words, "language_", None)
    if language in ("chinese", "japanese", "thai"):
        pieces = (
            "sequences of three characters" if language == "thai" else "characters and pairs of characters"
        )
        return f"{language.capitalize()}, which has no blanks: {pieces} are its words"
    if config.stop_words is not None:
        return None
    if words.get_stop_words():
        return f"{str(language).capitalize()}: its function words are left out; --stop-words none keeps them"
    return (
        "No language that is known was found, so that all words count; --stop-words leaves some out: a "
        "language, or a file"
    )
