"""The side of the page: classes, keywords and their verdicts, quality, curve, worth, people, as plain data
for JSON.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..decisions.estimate import Figure
from ..learners.evidence import Verdict
from ..suggestions.company import excess
from .engine import Engine
from .people import agreement, pace
from .project import Project
from .state import State
from .worth import next_worth

_MOST_LISTED = 20
# of a keyword's weight that labelled texts take away: a weight may also just be larger than it needs to be
_OPPOSED = 0.25
_HARDLY = 1.0  # standard deviations, as in `suggestions/suggest.py`
_RECOMPUTED = "How much the next labels would gain is being computed for the new costs."
_STATUS = {
    "supported": "Used: with the words of this class, held-out texts are clearly decided better",
    "adopted": "Used; held-out texts neither clearly speak for the words of this class nor against them",
    "dropped": "Not used: with the words of this class, held-out texts are not clearly decided better",
    "contradicted": "Held-out texts speak against the words of this class, so that they are not used",
}


def view_state(engine: Engine, project: Project, annotator: str) -> dict[str, Any]:
    """All that stands beside the text."""
    state = project.state
    people = pace(state)
    shown, costs = engine.all_texts, state.costs
    fits = shown is not None and shown.n_predicted.size == len(state.classes)
    money = engine.deciding.utilities is not None
    own = next((one["seconds_median"] for one in people if one["name"] == annotator), None)
    n_left = state.n_texts - len(engine.answers)
    n_sample = int(np.count_nonzero(engine.answers.sample))
    outdated = _outdated(engine, state)
    worth = next_worth(
        None if outdated["curve"] else engine.curve,
        n_sample=n_sample,
        n_left=n_left,
        money=money,
        currency=state.currency,
        seconds=own,
        minute=state.minute,
    )
    last = state.last(annotator)
    return {
        "version": state.version,
        "annotator": annotator,
        "project": {
            "name": project.path.stem,
            "n_texts": state.n_texts,
            "n_labelled": len(engine.answers),
            "n_random": n_sample,
            "multilabel": state.multilabel,
            "source": project.header.get("source", ""),
        },
        "classes": [_class(engine, state, k, name) for k, name in enumerate(state.classes)],
        "quality": _quality(engine),
        "decisions": _decisions(engine, state)
        if fits
        else {"decided": 0, "unsure": 0, "none": 0, "over_budget": None},
        "curve": _curve(engine),
        "curve_of": "utility" if engine.curve is not None and engine.curve.costs else "accuracy",
        "worth": {**vars(worth), "text": _RECOMPUTED} if outdated["curve"] else vars(worth),
        "outdated": outdated,
        "disagreements": [
            {
                "text": one.text,
                "snippet": engine.texts.opening(one.text),
                "label": _names(state, one.label),
                "predicted": _names(state, one.predicted),
            }
            for one in engine.disputed(_MOST_LISTED)
        ],
        "conflicts": [
            {
                "text": text,
                "snippet": engine.texts.opening(text),
                "labels": {who: list(label.labels) for who, label in state.labels[text].items()},
            }
            for text in state.conflicts()[:_MOST_LISTED]
        ],
        "people": people,
        "agreement": agreement(state) if len(state.annotators()) > 1 else [],
        "costs": {"costs": costs, "minute": state.minute, "currency": state.currency, "budget": state.budget},
        "undo": None if last is None else {"act": last.id, "summary": last.summary},
        "busy": engine.work.busy,
        "fresh": engine.work.fresh,
    }


def _class(engine: Engine, state: State, k: int, name: str) -> dict[str, Any]:
    shown = engine.all_texts
    n_predicted = None
    if shown is not None and shown.model.decides and shown.n_predicted.size == len(state.classes):
        n_predicted = int(shown.n_predicted[k])
    thresholds = engine.deciding.thresholds
    f1 = engine.round.f1 if engine.round is not None else []
    member = engine.answers.member
    return {
        "name": name,
        "key": k + 1 if k < 9 else None,
        "n_labels": int(member[:, k].sum()) if member.shape[1] > k else 0,
        "n_predicted": n_predicted,
        "share": None if n_predicted is None else n_predicted / max(state.n_texts, 1),
        "keywords": [
            _keyword(engine, name, word, weight) for word, weight in state.keywords.get(name, {}).items()
        ],
        "suggestions": [
            {"word": one.word, "why": one.why, "n_texts": one.n_texts}
            for one in engine.suggestions.get(name, [])
            if one.word not in state.keywords.get(name, {})
        ],
        "threshold": thresholds[k] if len(thresholds) == len(state.classes) else None,
        "quality": f1[k] if len(f1) == len(state.classes) else None,
    }


def _keyword(engine: Engine, name: str, word: str, weight: float) -> dict[str, Any]:
    n_texts = engine.texts.count(word)
    status, why = keyword_status(engine, name, word, weight, n_texts)
    return {"word": word, "weight": weight, "n_texts": n_texts, "status": status, "why": why}


def keyword_status(engine: Engine, name: str, word: str, weight: float, n_texts: int) -> tuple[str, str]:
    """What became of a keyword, and why."""
    if not n_texts:
        return "absent", "No text has it."
    if weight == 0:
        return "struck", "It is no keyword, and nothing spreads to it."
    opposed = _opposed(engine, name, word)
    if opposed is not None:
        return (
            "contradicted",
            f"Labelled texts say the opposite: it was given {opposed[0]:+.2f}, they add {opposed[1]:+.2f}.",
        )
    one: Verdict | None = engine.keyword_verdict(name)
    if one is None:
        return "unknown", "Used; no labelled text could speak for it or against it yet."
    gain = (
        f" (held-out loss {-100 * one.gain:+.0f} %; how they are ranked counts as well)"
        if np.isfinite(one.gain)
        else ""
    )
    return one.status, f"{_STATUS.get(one.status, one.status)}{gain}."


def _opposed(engine: Engine, name: str, word: str) -> tuple[float, float] | None:
    """What knowledge gives a word and the data take from it, where that is much."""
    model, labels = engine.model, engine.answers.labels
    columns = engine.knowledge.columns.get(name, {}).get(word, [])
    if model.labels.names.size != labels.names.size or not columns or not len(engine.answers):
        return None
    problem, sign, _ = labels.problem(name, np.empty(0))
    prior = sign * float(np.asarray(model.prior[[problem]][:, columns].todense()).sum())
    data = sign * float(model.coef[problem, columns].sum()) - prior
    if prior * data >= 0 or abs(data) <= _OPPOSED * abs(prior) or _speak_for(engine, name, word, prior > 0):
        return None
    return prior, data


def _speak_for(engine: Engine, name: str, word: str, is_for: bool) -> bool:
    """Whether labelled texts with a word have its class more often than by chance (against it: less often),
    or there is none.
    """
    labelled = engine.answers
    own = labelled.member[:, labelled.labels.index(name)] == is_for
    has = np.isin(labelled.rows, engine.texts.rows_with(word))
    return not has.any() or bool(excess(own[has].sum(), has.sum(), own.mean()) >= _HARDLY)


def _quality(engine: Engine) -> dict[str, Any]:
    deciding = engine.deciding
    found = deciding.quality
    note, accuracy = deciding.note, None
    if found is not None:
        asks = deciding.rule.can_be_unsure and found.accuracy_answered is not None
        accuracy = _figure(
            found.accuracy_answered if asks and found.accuracy_answered is not None else found.accuracy
        )
        note += (
            f" About {found.answered.value:.0%} of texts like these get an answer, and figures are of those."
            if asks
            else ""
        )
    if engine.work.error is not None:
        note += f" The last round of learning failed ({engine.work.error}); what is shown is older."
    return {
        "accuracy": accuracy,
        "utility_per_1000": None if found is None or found.utility is None else _figure(found.utility),
        "n": int(deciding.places.size) if deciding.unbiased else int(np.count_nonzero(engine.answers.sample)),
        "note": note,
    }


def _figure(one: Figure) -> dict[str, float]:
    return {"value": one.value, "low": one.low, "high": one.high}


def _decisions(engine: Engine, state: State) -> dict[str, Any]:
    shown = engine.all_texts
    assert shown is not None
    over = None
    if state.budget is not None and shown.deciding.rule.can_be_unsure:
        over = max(shown.n_unsure - state.budget, 0)
    return {"decided": shown.n_decided, "unsure": shown.n_unsure, "none": shown.n_none, "over_budget": over}


def _outdated(engine: Engine, state: State) -> dict[str, bool]:
    """Which numbers are of other costs, or thresholds, than those that hold, and being computed anew."""
    curve, shown, last = engine.curve, engine.all_texts, engine.round
    return {
        "curve": curve is not None and curve.costs != state.costs,
        "decisions": shown is not None and shown.deciding is not engine.deciding,
        "classes": last is not None and last.costs != state.costs,
    }


def _curve(engine: Engine) -> list[dict[str, Any]]:
    if engine.curve is None:
        return []
    scale = 1000.0 if engine.curve.costs else 1.0
    return [
        {"n_labels": one.n_labels} | {name: scale * getattr(one, name) for name in ("value", "low", "high")}
        for one in engine.curve.points
    ]


def _names(state: State, member: Any) -> list[str]:
    return [name for name, yes in zip(state.classes, member.tolist(), strict=False) if yes]
