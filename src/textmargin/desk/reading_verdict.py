"""Readings as knowledge: a table for `GazePrior`, and whether it helps.

How words were read goes with their length and rarity, which nobody has to read for: a prior from readings can
help and yet owe nothing to the reader. So the readings are weighed twice. First as any knowledge that was
learnt from the training texts is: by cross-fitting, class by class (`TextClassifier` with `trust="auto"`).
Then against themselves: the measures are dealt out anew among words of like length and rarity, N_DEALS times,
and weighed in the same way. Only readings that save more of the held-out loss than each of these are said to
help; by chance alone that happens once in N_DEALS + 1 times.

The regression is ridge instead of the paper's SVR, which takes twenty times as long and is weighed alike.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from ..classifier import TextClassifier
from ..errors import LabelError, PriorError, TextmarginWarning
from ..knowledge.gaze import GazePrior
from ..knowledge.reading import reading_measures
from .acts import Act
from .reading import SHORTEST

if TYPE_CHECKING:
    from .state import State

__all__ = ["gaze_prior", "reading_verdict", "readings"]

Readings = dict[str, NDArray[Any]]

MIN_CLASSES = 3  # a class is learnt from at least two others
MIN_TEXTS = 5  # read and labelled, of each of these: one for every fold
N_DEALS = 19  # so that one in twenty would do it by chance
MOST_TEXTS = 1_000  # that are weighed: of more, those that were read come first
_POSITIONS = ("prevFixPos", "landingPos", "leavingPos")  # need to know where words start
_PUPILS = ("pupilDiamMax", "pupilDiamLag")  # nothing at the desk records them
_LENGTHS = (2, 4, 6, 8, 11)  # words of up to so many letters are alike
_COUNTS = (1, 3, 9)  # and those that up to so many texts have
_TIE = 1e-9
_NAMES = {"pointer": "the pointer", "tracker": "an eye tracker"}


def readings(state: State, texts: Sequence[str], source: str = "pointer") -> Readings:
    """How the texts of a project were read, as `GazePrior` takes it: a row for each word, text and reader.

    Only readers whose consent holds now are in it; times of a hand and of an eye do not compare, so that it
    is one of them. A word that was skipped has a row of zeros, with `skipped` = 1; a reading without any
    fixation on a word has none.

    Parameters
    ----------
    state : State
    texts : list of str, those of the project
    source : {"pointer", "tracker"}, default="pointer"

    Returns
    -------
    dict, column → array
        `doc_id`, the number of the text; `word`; `word_index`; `reader`; and the measures of
        `reading_measures`, without those of pupils, and without places in the word where a recording does not
        say where words start.
    """
    acts = [
        act for act in state.readings if act.content["source"] == source and state.consent.get(act.annotator)
    ]
    acts = [act for act in acts if any(word >= 0 for word in act.content["fixations"]["word"])]
    unknown = _PUPILS if all(act.content["word_starts"] for act in acts) else (*_PUPILS, *_POSITIONS)
    columns: dict[str, list[Any]] = {name: [] for name in ("doc_id", "word", "word_index", "reader")}
    for act in acts:
        measures = {name: values for name, values in _measures(act).items() if name not in unknown}
        for w, (start, end) in enumerate(act.content["words"]):
            # "well-known" was read as two terms at once
            for word in re.findall(r"\w+", texts[act.content["text"]][start:end]):
                row = {"doc_id": act.content["text"], "word": word, "word_index": w, "reader": act.annotator}
                for name, value in (row | {name: values[w] for name, values in measures.items()}).items():
                    columns.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in columns.items()}


def gaze_prior(state: State, texts: Sequence[str], source: str = "pointer") -> GazePrior | None:
    """Knowledge from the readings of labelled texts, for a `TextClassifier`; None where too few were read to
    weigh it.
    """
    answers = _labelled(state, texts)
    table = readings(state, texts, source)
    return None if _lack(table, answers) else _prior(table, texts, answers)


def reading_verdict(
    state: State, texts: Sequence[str], *, n_deals: int = N_DEALS, random_state: int = 0
) -> str | None:
    """Whether readings help to tell the classes of these texts apart, in a sentence for each source; None
    without readings.

    Parameters
    ----------
    state : State
    texts : list of str, those of the project
    n_deals : int, default=19
        How often they are dealt out anew, to see what readings that say nothing do.
    random_state : int, default=0
    """
    sentences = [_verdict(state, texts, source, n_deals, random_state) for source in _NAMES]
    return " ".join(sentence for sentence in sentences if sentence) or None


def _verdict(state: State, texts: Sequence[str], source: str, n_deals: int, random_state: int) -> str | None:
    table, answers = readings(state, texts, source), _labelled(state, texts)
    n_read = len(set(table["doc_id"].tolist()))
    if not n_read:
        return None
    lack = _lack(table, answers)
    if lack:
        return f"Too few readings with {_NAMES[source]} to tell whether they help: {lack}."
    n_read = len(set(table["doc_id"].tolist()) & set(answers))
    how = f"How {n_read} labelled texts were read with {_NAMES[source]}"
    terms = {term for text in answers for term in re.findall(r"\w+", texts[text].lower())}
    if not terms & {str(word).lower() for word in table["word"]}:
        return (
            f"{how} cannot be weighed: what was read is single characters of a script without blanks, "
            "not words."
        )
    try:
        gains = _gains(table, texts, answers)
    except (PriorError, LabelError) as error:
        return f"{how} cannot be weighed: {error}"
    if not gains:
        return f"{how} does not help so far: held-out texts speak for it in none of the classes."
    names = ", ".join(str(name) for name in gains)
    saved = f"it saves {np.mean(list(gains.values())):.1%} of the held-out loss of {names}"
    rng = np.random.default_rng(random_state)
    for _ in range(n_deals):
        dealt = _gains(_dealt(table, rng), texts, answers)
        if sum(dealt.values()) >= sum(gains.values()) - _TIE:
            return (
                f"{how} is not shown to help: {saved}, but readings dealt out anew among like words "
                "save as much."
            )
    return (
        f"{how} helps so far: {saved}, more than in {n_deals} times that it was dealt out anew among "
        "like words."
    )


def _measures(act: Act) -> dict[str, NDArray[np.float64]]:
    content = act.content
    starts, sentences = content["word_starts"] or [0.0] * len(content["words"]), content["sentences"] or None
    shortest = {"shortest": SHORTEST} if content["source"] == "pointer" else {}
    return reading_measures(content["fixations"], starts, sentences, **shortest)


def _labelled(state: State, texts: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Texts in use for learning, those that were read first, as many as are weighed."""
    answers = state.answers()
    read = {act.content["text"] for act in state.readings}
    order = sorted(
        (text for text in answers if texts[text].strip()), key=lambda text: (text not in read, text)
    )
    return {text: answers[text] for text in order[:MOST_TEXTS]}


def _one_label(answers: dict[int, tuple[str, ...]]) -> dict[int, str]:
    """The rarest label of each text that has any: `GazePrior` takes one."""
    sizes = Counter(label for labels in answers.values() for label in labels)
    return {
        text: min(labels, key=lambda label: (sizes[label], label))
        for text, labels in answers.items()
        if labels
    }


def _lack(table: Readings, answers: dict[int, tuple[str, ...]]) -> str:
    """What is missing for a verdict; empty where nothing is."""
    labels = _one_label(answers)
    read = Counter(labels[text] for text in set(table["doc_id"].tolist()) if text in labels)
    enough = sum(n >= MIN_TEXTS for n in read.values())
    if enough >= MIN_CLASSES:
        return ""
    return (
        f"{read.total()} labelled texts were read, {MIN_TEXTS} or more in {enough} classes; it takes "
        f"{MIN_TEXTS} in each of "
        f"{MIN_CLASSES}"
    )


def _prior(table: Readings, texts: Sequence[str], answers: dict[int, tuple[str, ...]]) -> GazePrior:
    rows = np.isin(table["doc_id"], list(answers))
    known = {name: values[rows] for name, values in table.items()}
    contents = {text: texts[text] for text in answers}
    return GazePrior(known, contents, _one_label(answers), regressor=Ridge(), progress=False)


def _gains(table: Readings, texts: Sequence[str], answers: dict[int, tuple[str, ...]]) -> dict[Any, float]:
    """The share of the held-out loss that a prior from readings saves, of the classes where it is used."""
    single = all(len(labels) == 1 for labels in answers.values())
    y = [labels[0] for labels in answers.values()] if single else list(answers.values())
    with warnings.catch_warnings():
        # constant measures, words beyond the vocabulary: nothing to act on
        warnings.simplefilter("ignore", TextmarginWarning)
        model = TextClassifier(knowledge=_prior(table, texts, answers)).fit(
            [texts[text] for text in answers], y
        )
    return {
        one.target: one.gain
        for one in model.verdict_
        if one.status in ("supported", "adopted") and one.gain > 0
    }


def _dealt(table: Readings, rng: np.random.Generator) -> Readings:
    """The measures of each word given to another of like length and rarity; which words stand where stays."""
    words = [str(word).lower() for word in table["word"]]
    rows_of: dict[tuple[int, int], list[int]] = {}
    documents: dict[str, set[int]] = {}
    for word, text in zip(words, table["doc_id"].tolist(), strict=True):
        documents.setdefault(word, set()).add(text)
    for row, word in enumerate(words):
        like = int(np.searchsorted(_LENGTHS, len(word))), int(np.searchsorted(_COUNTS, len(documents[word])))
        rows_of.setdefault(like, []).append(row)
    order = np.arange(len(words))
    for rows in rows_of.values():
        order[rows] = rng.permutation(rows)
    places = ("doc_id", "word", "word_index", "reader")
    return {name: values if name in places else values[order] for name, values in table.items()}
