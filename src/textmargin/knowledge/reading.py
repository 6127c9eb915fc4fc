"""Reading measures of words, from the fixations of one reader on one text.

The names are those of the PASCAL challenge of 2005 (Salojärvi et al.). The *first encounter* of a word is its
first run of successive fixations; a *regression* goes from a word to an earlier one.

    fixcount, firstPassCnt         fixations in all; in the first encounter
    P1stFixation, P2stFixation     whether it was fixated when its sentence was met first, the second time
    prevFixDur, nextFixDur         duration of the fixation before arriving first; of the first after leaving
    firstfixDur, firstPassFixDur   of the first fixation; of all of the first encounter
    totalFixDur, meanFixDur        sum and mean of all durations
    firstSaccLen, lastSaccLen      length of the saccade that arrived first; that left the first encounter
    prevFixPos                     distance of the fixation before to the word's start
    landingPos, leavingPos         the same of the first and the last fixation of the first encounter
    nRegressFrom, nextWordRegress  regressions from the word; whether one starts from the next word
    regressLen                     time in regressions from it, until it or a later word is reached again
    regressDur                     time on the word while in a regression
    pupilDiamMax, pupilDiamLag     largest pupil on it; 0.5 to 1.5 s after its first fixation, if recorded
    timePrtctg                     firstfixDur / fixcount

A word that was not fixated has zeros and `skipped` = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import PriorError

SHORTEST = 80.0  # milliseconds; shorter fixations are usually dropped


def reading_measures(
    fixations: Mapping[str, ArrayLike],
    word_starts: ArrayLike,
    sentences: ArrayLike | None = None,
    *,
    shortest: float = SHORTEST,
) -> dict[str, NDArray[np.float64]]:
    """Measures of every word of a text, from the fixations of one reader in their order.

    Parameters
    ----------
    fixations : mapping of columns, or table
        `word`: the number of the word that was fixated, −1 for none; `duration` in milliseconds; `x` in
        pixels; if known `onset` in milliseconds, and `pupil`.
    word_starts : array (n_words,)
        Where each word starts, in pixels.
    sentences : array (n_words,), default=None
        The number of each word's sentence; by default all are of one.
    shortest : float, default=80.0
        Fixations under so many milliseconds are dropped first.

    Returns
    -------
    dict, measure → array (n_words,)

    Examples
    --------
    >>> from textmargin import reading_measures
    >>> path = {"word": [0, 1, 1, 0, 2], "duration": [200, 150, 100, 120, 300], "x": [10, 60, 70, 15, 130]}
    >>> measures = reading_measures(path, word_starts=[0, 50, 120])
    >>> measures["firstPassFixDur"].tolist(), measures["nRegressFrom"].tolist()
    ([200.0, 250.0, 300.0], [0.0, 1.0, 0.0])
    """
    starts = np.asarray(word_starts, dtype=np.float64)
    sentence = np.zeros(starts.size, dtype=np.intp) if sentences is None else np.asarray(sentences)
    if not np.isfinite(starts).all() or sentence.shape != starts.shape:
        raise PriorError(
            f"{starts.size} word_starts and {sentence.size} sentences: give a finite number of each for "
            "every word."
        )
    path = _Path(fixations, starts.size, shortest)
    found = {name: np.zeros(starts.size) for name in _NAMES}
    found["skipped"][:] = 1.0
    # a glance off the text ends neither a sentence nor a regression
    on_words = np.flatnonzero(path.word >= 0)
    meeting = np.zeros(path.word.size, dtype=np.intp)
    meeting[on_words] = _meetings(sentence[path.word[on_words]])
    regressions = _regressions(path.word, on_words)
    for w in np.unique(path.word[path.word >= 0]).tolist():
        on = np.flatnonzero(path.word == w)
        run = 1 + int(np.argmax(np.append(np.diff(on) != 1, True)))  # fixations of the first encounter
        first, last = int(on[0]), int(on[run - 1])
        row = {
            "skipped": 0.0,
            "fixcount": on.size,
            "firstPassCnt": run,
            "P1stFixation": float((meeting[on] == 1).any()),
            "P2stFixation": float((meeting[on] == 2).any()),
            "firstfixDur": path.duration[first],
            "firstPassFixDur": path.duration[on[:run]].sum(),
            "landingPos": path.x[first] - starts[w],
            "leavingPos": path.x[last] - starts[w],
            "totalFixDur": path.duration[on].sum(),
            "meanFixDur": path.duration[on].mean(),
            "timePrtctg": path.duration[first] / on.size,
            "nRegressFrom": sum(start in on for start, _ in regressions),
            "regressLen": sum(
                path.duration[start + 1 : end].sum() for start, end in regressions if start in on
            ),
            "nextWordRegress": float(any(path.word[start] == w + 1 for start, _ in regressions)),
            "regressDur": sum(
                path.duration[i] for i in on if any(start < i < end for start, end in regressions)
            ),
        }
        if first > 0:
            row["prevFixDur"] = path.duration[first - 1]
            row["firstSaccLen"] = abs(path.x[first] - path.x[first - 1])
            row["prevFixPos"] = abs(path.x[first - 1] - starts[w])
        if last + 1 < path.word.size:
            row["nextFixDur"] = path.duration[last + 1]
            row["lastSaccLen"] = abs(path.x[last + 1] - path.x[last])
        if path.pupil is not None:
            row["pupilDiamMax"] = path.pupil[on].max()
            after = (path.onset >= path.onset[first] + 500) & (path.onset <= path.onset[first] + 1500)
            row["pupilDiamLag"] = path.pupil[after].max(initial=0.0)
        for name, value in row.items():
            found[name][w] = value
    return found


def fixations_from_events(events: Any, word: str = "word_idx") -> dict[str, NDArray[np.float64]]:
    """The fixations among the events that pymovements found, as `reading_measures` takes them.

    Parameters
    ----------
    events : pymovements' Events, or their frame
        With locations in pixels, `gaze.compute_event_properties(("location", {"position_column": "pixel"}))`,
        and mapped to words, `gaze.events.map_to_aois(stimulus)`.
    word : str, default="word_idx"
        The column of the stimulus that numbers the words from 0.
    """
    frame = getattr(events, "frame", events)
    for name in ("name", "onset", "duration", "location_x", word):
        if name not in frame.columns:
            raise PriorError(
                f"The events have no column {name!r}; they have {list(frame.columns)}. Compute locations "
                "in pixels, and map the "
                f"events to a stimulus whose words are numbered."
            )
    rows = [row for row in frame.iter_rows(named=True) if str(row["name"]).startswith("fixation")]
    return {
        "word": np.array([-1 if row[word] is None else row[word] for row in rows], dtype=np.float64),
        "duration": np.array([row["duration"] for row in rows], dtype=np.float64),
        "x": np.array([row["location_x"] for row in rows], dtype=np.float64),
        "onset": np.array([row["onset"] for row in rows], dtype=np.float64),
    }


_NAMES = [
    "skipped",
    "fixcount",
    "firstPassCnt",
    "P1stFixation",
    "P2stFixation",
    "prevFixDur",
    "firstfixDur",
    "firstPassFixDur",
    "nextFixDur",
    "firstSaccLen",
    "lastSaccLen",
    "prevFixPos",
    "landingPos",
    "leavingPos",
    "totalFixDur",
    "meanFixDur",
    "nRegressFrom",
    "regressLen",
    "nextWordRegress",
    "regressDur",
    "pupilDiamMax",
    "pupilDiamLag",
    "timePrtctg",
]


class _Path:
    """Fixations in their order, the short ones dropped."""

    def __init__(self, fixations: Mapping[str, ArrayLike], n_words: int, shortest: float) -> None:
        names = list(getattr(fixations, "columns", fixations))
        for name in ("word", "duration", "x"):
            if name not in names:
                raise PriorError(f"fixations has no column {name!r}; it has {names[:10]}.")
        columns = {name: np.asarray(fixations[name], dtype=np.float64) for name in names if name in _COLUMNS}
        sizes = {values.size for values in columns.values()}
        if len(sizes) != 1:
            raise PriorError(f"The columns of fixations have different lengths: {sorted(sizes)}.")
        if not all(np.isfinite(values).all() for values in columns.values()):
            raise PriorError("fixations has values that are not finite; drop those rows first.")
        words = columns["word"]
        wrong = words[(words >= n_words) | (words < -1) | (words != np.round(words))]
        if wrong.size:
            raise PriorError(
                f"A fixation is on word {wrong[0]:g}, but the text has {n_words} words, counted from 0 "
                "(−1: none)."
            )
        kept = columns["duration"] >= shortest
        self.word = words[kept].astype(np.intp)
        self.duration, self.x = columns["duration"][kept], columns["x"][kept]
        self.onset = (
            columns["onset"][kept]
            if "onset" in columns
            else np.concatenate([[0.0], np.cumsum(self.duration)[:-1]])
        )
        self.pupil = columns["pupil"][kept] if "pupil" in columns else None


_COLUMNS = ("word", "duration", "x", "onset", "pupil")


def _meetings(sentence: NDArray[Any]) -> NDArray[np.intp]:
    """For each fixation, the how-manieth time its sentence is being met."""
    times: dict[Any, int] = {}
    found = np.zeros(sentence.size, dtype=np.intp)
    for i, name in enumerate(sentence.tolist()):
        if i == 0 or name != sentence[i - 1]:
            times[name] = times.get(name, 0) + 1
        found[i] = times[name]
    return found


def _regressions(word: NDArray[np.intp], on_words: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Regressions as (fixation it starts from, first fixation that is at that word or later again)."""
    found = []
    for k in range(on_words.size - 1):
        here, there = int(on_words[k]), int(on_words[k + 1])
        if word[there] < word[here]:
            end = next((int(j) for j in on_words[k + 2 :] if word[j] >= word[here]), word.size)
            found.append((here, end))
    return found
