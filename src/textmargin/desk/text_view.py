"""One text as the page shows it: what the model says of it now, and which of its words say so.

A term's contribution is shared by the places where it stands. Chinese and Japanese terms are characters and
pairs of them: there every character has its own share and half of each pair that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from .._ties import descending_order
from ..errors import DeskError
from ..labels import Decisions
from ..representations.languages import guess_language, script_of
from ..representations.words import WordTokenizer
from .acts import FILE
from .engine import Engine
from .queue import WHY
from .state import State

_CODES = {  # of languages, and of scripts that tell the language
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "swedish": "sv", "danish": "da", "norwegian": "no", "polish": "pl", "russian": "ru",
    "turkish": "tr", "arabic": "ar", "han": "zh", "kana": "ja", "hangul": "ko", "thai": "th",
    "hebrew": "he", "greek": "el",
}  # fmt: skip
_RIGHT_TO_LEFT = ("hebrew", "arabic")
_LOOKED_AT = 2_000  # characters by which language and script are found
_LEAST = 1e-6  # of a contribution, beside the largest
_CHUNK = re.compile(r"\S+")
_MOST_CHARACTERS = 50_000  # of a text that are tinted: nobody reads more on a page

Contribution = tuple[float, float]  # by the data, by knowledge

_REASONS = {
    **WHY,
    "search": "Found by its words.",
    "similar": "Like a text that was read.",
    "disagreement": "The model contradicts its label.",
    "conflict": "People disagree on it.",
    "list": "Chosen from a list.",
}


def view_text(
    engine: Engine, state: State, number: int, annotator: str, label: str | None, source: str
) -> dict[str, Any]:
    """A text with scores, tints, marks and labels."""
    if not 0 <= number < len(engine.texts):
        raise DeskError(f"There is no text {number}; they are numbered 0 to {len(engine.texts) - 1}.")
    if label is not None and label not in state.classes:
        raise DeskError(f"There is no class {label!r:.60}; there are {', '.join(state.classes[:10])}.")
    content = engine.texts.texts[number]
    decided = decide_one(engine, number)
    tokens: list[list[Any]] = []
    scores: list[dict[str, Any]] = []
    tint, predicted, unsure = label, [], False
    if decided is not None:
        order = descending_order(decided.scores[0])
        names, probabilities = decided.names, decided.probabilities
        scores = [
            {
                "name": names[k],
                "score": float(decided.scores[0, k]),
                "probability": None if probabilities is None else float(probabilities[0, k]),
            }
            for k in order.tolist()
        ]
        tint = names[int(order[0])] if tint is None else tint
        predicted, unsure = list(decided.labels[0]), bool(decided.unsure[0].any())
        tokens = [list(one) for one in tints(engine, number, tint)]
    script = script_of(content[:_LOOKED_AT]) if content else None
    language = guess_language(content[:_LOOKED_AT])
    own = state.labels.get(number, {})
    return {
        "kind": "text",
        "text": number,
        "source": source,
        "why": _REASONS.get(source, ""),
        "content": content,
        "direction": "rtl" if script in _RIGHT_TO_LEFT else "ltr",
        "language": _CODES.get(language or "", _CODES.get(script or "")),
        "tokens": tokens,
        "label": tint,
        "scores": scores,
        "predicted": predicted,
        "unsure": unsure,
        "marks": [
            {"start": one.start, "end": one.end, "label": one.label} for one in state.marks.get(number, [])
        ],
        "labels": list(own[annotator].labels) if annotator in own else None,
        "given": list(own[FILE].labels) if FILE in own else None,
        "n_similar": int(np.count_nonzero(engine.texts.copies == engine.texts.copies[number])) - 1,
    }


def decide_one(engine: Engine, number: int) -> Decisions | None:
    """What the newest model says of a text; None before it knows anything."""
    model, deciding = engine.model, engine.deciding
    if not model.decides or deciding.labels.names.size != model.labels.names.size:
        return None
    found = deciding.decide(model.scores(engine.texts.X[[number]]), probabilities=True)
    return Decisions(model.labels.text_names, found.scores, found.accepted, found.unsure, found.probabilities)


def tints(engine: Engine, number: int, name: str) -> list[tuple[int, int, float, float]]:
    """The places of a text that move the score of a class: (start, end, by the data, by knowledge)."""
    model, texts = engine.model, engine.texts
    problem, sign, _ = model.labels.problem(name, np.empty(0))
    row = texts.X[[number]]
    values = sign * row.data
    total = model.coef[problem, row.indices] * values
    prior = np.asarray(model.prior[[problem]][:, row.indices].todense()).ravel() * values
    if not total.size or not np.abs(total).max():
        return []
    counts = np.flatnonzero(np.maximum(np.abs(total), np.abs(prior)) > _LEAST * np.abs(total).max())
    terms = texts.terms[row.indices[counts]].tolist()
    known = {
        term: (float(total[j] - prior[j]), float(prior[j]))
        for term, j in zip(terms, counts.tolist(), strict=True)
    }
    return contributions_in(texts.texts[number], WordTokenizer("exact"), known)


def term_places(
    text: str, tokenize: Callable[[str], list[str]], known: Mapping[str, object]
) -> list[tuple[int, int, str]]:
    """The places (start, end, term) of known terms, in order of their start.

    Parameters
    ----------
    text : str
    tokenize : function from a text to its words as they stand there
    known : the terms that are looked for, in lower case; numbers as `#` for each digit, or as they are
    """
    found: list[tuple[int, int, str]] = []
    for chunk in _CHUNK.finditer(text, 0, _MOST_CHARACTERS):
        position, own = chunk.start(), chunk[0]
        words = tokenize(own)
        overlap = sum(map(len, words)) > len(own)  # pairs of characters beside the characters themselves
        for word in dict.fromkeys(words) if overlap else words:
            term = word.lower()
            if term not in known and word.isdecimal():
                term = "#" * len(word)
            if overlap:
                starts = [match.start() for match in re.finditer(re.escape(word), own)]
                found += [
                    (chunk.start() + at, chunk.start() + at + len(word), term)
                    for at in starts
                    if term in known
                ]
                continue
            at = text.find(word, position, chunk.end())
            if at < 0:
                continue
            position = at + len(word)
            if term in known:
                found.append((at, position, term))
    return sorted(found)


def contributions_in(
    text: str, tokenize: Callable[[str], list[str]], contributions: Mapping[str, Contribution]
) -> list[tuple[int, int, float, float]]:
    """The places of a text that contribute: (start, end, by the data, by knowledge), in order, none within
    another.
    """
    places = term_places(text, tokenize, contributions)
    n_places: dict[str, int] = {}
    for _, _, term in places:
        n_places[term] = n_places.get(term, 0) + 1
    disjoint = all(left[1] <= right[0] for left, right in pairwise(places))
    if disjoint:
        shares = [(start, end, term, 1) for start, end, term in places]
    else:
        shares = [(at, at + 1, term, end - start) for start, end, term in places for at in range(start, end)]
    found: dict[tuple[int, int], list[float]] = {}
    for start, end, term, parts in shares:
        own = found.setdefault((start, end), [0.0, 0.0])
        for k in (0, 1):
            own[k] += contributions[term][k] / n_places[term] / parts
    return [(start, end, data, prior) for (start, end), (data, prior) in sorted(found.items())]
