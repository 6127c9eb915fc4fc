"""Decisions as lines on standard output, CSV or JSON, by the thousand."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .._typing import Bools, Floats
    from ..classifier import TextClassifier
    from ..labels import Decisions

Write = Callable[[list[int], "Decisions"], None]

_PARTS = 10_000  # spelled once, for to format a number is slow
_SPELLED = np.array(
    [f"{part / _PARTS:.4f}" for part in range(_PARTS + 1)], dtype=object
)  # to format each takes as long as to decide


def decision_writer(model: TextClassifier, scores: bool, as_json: bool) -> Write:
    """Writes a line per text; the first call, of no texts, the names of the columns.

    Parameters
    ----------
    model : TextClassifier
    scores : bool
        Whether the score of every class is written too; in JSON its probability as well.
    as_json : bool
    """
    lines = csv.writer(sys.stdout, lineterminator="\n")
    one_label = not model.labels_.multilabel
    started = False

    def write_csv(numbers: list[int], decisions: Decisions) -> None:
        nonlocal started
        if not started:
            confidence = ["confidence"] if model.has_held_out else []
            own = [f"score of {name}" for name in decisions.names] if scores else []
            lines.writerow(["line", "label", "guess", *confidence, *own])
            started = True
        names = np.array([*decisions.names, ""], dtype=object)
        columns: list[Any] = [numbers, *(_joined(which, names, one_label) for which in (decisions.accepted, decisions.unsure))]
        if decisions.probabilities is not None:
            columns.append(_spelled(decisions.confidence))
        columns += [[f"{value:.6g}" for value in own] for own in decisions.scores.T.tolist()] if scores else []
        lines.writerows(zip(*columns, strict=True))
        sys.stdout.flush()

    def write_json(numbers: list[int], decisions: Decisions) -> None:
        rows = zip(numbers, decisions.labels, decisions.guesses, strict=True)
        known = decisions.probabilities
        confidence = None if known is None else decisions.confidence.tolist()
        for row, (number, labels, guesses) in enumerate(rows):
            data: dict[str, Any] = {"line": number, "labels": list(labels), "unsure": list(guesses)}
            if confidence is not None:
                data["confidence"] = round(confidence[row], 6)
            if scores:
                data["scores"] = dict(zip(decisions.names, decisions.scores[row].tolist(), strict=True))
                if known is not None:
                    data["probabilities"] = dict(zip(decisions.names, known[row].tolist(), strict=True))
            sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    return write_json if as_json else write_csv


def _joined(which: Bools, names: Any, one_label: bool) -> list[str]:
    """The names of each text; the last of the names is that of nothing."""
    if one_label:
        return list(names[np.where(which.any(axis=1), which.argmax(axis=1), len(names) - 1)])
    rows, columns = np.nonzero(which)
    ends = np.searchsorted(rows, np.arange(len(which) + 1))
    given = names[columns].tolist()
    return [";".join(given[start:end]) for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def _spelled(confidence: Floats) -> list[str]:
    return list(_SPELLED[np.rint(confidence * _PARTS).astype(np.intp)])
