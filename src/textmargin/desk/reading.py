"""How a text was read with a pointer: from samples of the word under it to fixations, as
`knowledge/reading.py` takes them.

Only the words around the pointer are sharp, so that where it is says what is being read (Mouse Tracking for
Reading, Wilcox et al. 2024). Sample i says that from tᵢ on the pointer was on word wᵢ (−1: on none) at xᵢ,
for as long as the next sample follows within GAP. A *fixation* is a run of successive samples on one word:

    onset = t of its first sample      x = mean of its samples      duration = end − onset

where the end is the time of the sample after the run, or of its own last one where a gap follows, or nothing
does. Durations thus add up to no more than the time that was sampled. Fixations shorter than SHORTEST or
longer than LONGEST are dropped, and so are those on no word before the first and after the last one on a
word: the way to the text and from it is not reading.

A word is what stands between blanks, punctuation included, as areas of interest of eye trackers mostly are;
in scripts without blanks it is one character. Offsets are code points of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from ..errors import ActError
from ..representations.languages import WITHOUT_BLANKS, script_ranges

# Milliseconds. The page samples every 25: ten samples in a row are missing only where it was hidden or the
# machine slept, and nobody knows what was read meanwhile.
GAP = 250.0
# What Wilcox et al. (2024) drop in their corpus. A hand is slower than an eye: one on its way to a button is
# on a word of 60 pixels for some 100 ms, twice as long as the eye's passing glances, for which 80 ms is
# usual.
SHORTEST = 160.0
# A word takes a quarter of a second; after twenty times as long the reader thinks about something else, or is
# not there.
LONGEST = 5000.0

MOST_SAMPLES = 24_000  # ten minutes of samples
MOST_WORDS = 5_000  # that a page can blur one by one
_MOST_PIXELS = 1e6
_MOST_TIME = 24 * 3600 * 1000.0
_MOST = 1e12  # for any number: what is not finite is beyond it
_SAMPLES = ("time", "word", "x")

_SENTENCE_END = re.compile(r"[.!?…。！？｡؟۔।][\"'”’»)\]」』】）]*$")


def split_words(text: str) -> list[tuple[int, int]]:
    """Where the words of a text start and end, in code points.

    Examples
    --------
    >>> from textmargin.desk.reading import split_words
    >>> text = "Bill 😡 账单。"
    >>> [text[start:end] for start, end in split_words(text)]
    ['Bill', '😡', '账', '单。']
    """
    return [match.span() for match in _word_pattern().finditer(text)]


@cache
def _word_pattern() -> re.Pattern[str]:
    """A letter of a script without blanks with the marks and punctuation behind it; else all up to a blank or
    such a letter.
    """
    letter = rf"(?=\w)[{script_ranges(WITHOUT_BLANKS)}]"
    return re.compile(rf"{letter}[^\w\s]*|(?:(?!{letter})\S)+")


def sentence_numbers(text: str, words: Sequence[tuple[int, int]]) -> list[int]:
    """The number of each word's sentence: one ends at a full stop that no small letter follows, and at an
    empty line.

    Examples
    --------
    >>> from textmargin.desk.reading import sentence_numbers, split_words
    >>> text = "Ask Dr. no one. It broke!"
    >>> sentence_numbers(text, split_words(text))
    [0, 0, 0, 0, 1, 1]
    """
    numbers = [0] if words else []
    for (start, end), (following, _) in pairwise(words):
        stops = _SENTENCE_END.search(text[start:end]) is not None and not text[following].islower()
        empty_line = text.count("\n", end, following) > 1
        numbers.append(numbers[-1] + (stops or empty_line))
    return numbers


def fixations_from_samples(samples: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Fixations of samples in their order.

    Parameters
    ----------
    samples : mapping with lists of equal length
        `time` in milliseconds, never falling; `word` under the pointer, −1 for none; `x` in pixels.

    Returns
    -------
    dict with lists `word`, `duration`, `x`, `onset`

    Examples
    --------
    >>> from textmargin.desk.reading import fixations_from_samples
    >>> samples = {"time": [0, 100, 200, 300, 400, 500],
    ...            "word": [0, 0, 1, 0, 0, 0], "x": [5, 15, 40, 10, 10, 13]}
    >>> fixations_from_samples(samples)
    {'word': [0, 0], 'duration': [200.0, 200.0], 'x': [10.0, 11.0], 'onset': [0.0, 300.0]}
    """
    time, word, x = (np.asarray(samples[name], dtype=np.float64) for name in _SAMPLES)
    found: dict[str, list[float]] = {"word": [], "duration": [], "x": [], "onset": []}
    run_of = (
        np.cumsum(np.concatenate([[0], (np.diff(word) != 0) | (np.diff(time) > GAP)]))
        if time.size
        else np.empty(0)
    )
    for _, rows in groupby(range(time.size), key=lambda row: run_of[row]):
        run = list(rows)
        first, last, after = run[0], run[-1], run[-1] + 1
        end = time[after] if after < time.size and time[after] - time[last] <= GAP else time[last]
        if SHORTEST <= end - time[first] <= LONGEST:
            found["word"].append(int(word[first]))
            found["duration"].append(float(end - time[first]))
            found["x"].append(float(x[run].mean()))
            found["onset"].append(float(time[first]))
    on_words = [place for place, one in enumerate(found["word"]) if one >= 0]
    whole = slice(on_words[0], on_words[-1] + 1) if on_words else slice(0)
    return {name: values[whole] for name, values in found.items()}


def pointer_reading(sent: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """What a page sends of the reading of one text, as the content of a `reading` act.

    Parameters
    ----------
    sent : mapping
        `text`, its number; lists `time`, `word` and `x` of samples; `word_starts`, pixels of each word of
        `split_words`.
    texts : list of str, those of the project

    Raises
    ------
    ActError where anything is not what a page would send.
    """
    fields = ("text", *_SAMPLES, "word_starts")
    if not isinstance(sent, Mapping) or set(sent) != set(fields):
        got = ", ".join(map(str, sent))[:100] if isinstance(sent, Mapping) else f"{sent!r:.60}"
        raise ActError(f"a reading should have the fields {', '.join(fields)}; it has {got or 'none'}.")
    number = sent["text"]
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(texts):
        raise ActError(
            f"text of a reading should be a number from 0 to {len(texts) - 1}; it is {number!r:.60}."
        )
    words = split_words(texts[number])
    if len(words) > MOST_WORDS:
        raise ActError(
            f"text {number} has {len(words)} words; reading mode is for texts of up to {MOST_WORDS}."
        )
    time, word, x, starts = (_numbers(sent[name], name) for name in (*_SAMPLES, "word_starts"))
    if not len(time) == len(word) == len(x) or len(time) > MOST_SAMPLES:
        raise ActError(
            f"time, word and x of a reading should be equally long, {MOST_SAMPLES} samples at most; they "
            "have "
            f"{len(time)}, {len(word)} and {len(x)}."
        )
    if any(later < earlier for earlier, later in pairwise(time)) or (
        time and not 0 <= time[0] <= time[-1] <= _MOST_TIME
    ):
        raise ActError(
            "time of a reading should be milliseconds from 0 on that never fall, a day at most; send it "
            "in order."
        )
    far = next((one for one in (*x, *starts) if abs(one) > _MOST_PIXELS), None)
    if far is not None:
        raise ActError(
            f"a place in a reading should be in pixels, {_MOST_PIXELS:.0f} at most; one is {far:g}."
        )
    content = {
        "text": number,
        "fixations": fixations_from_samples({"time": time, "word": word, "x": x}),
        "word_starts": starts,
        "words": [list(span) for span in words],
        "sentences": sentence_numbers(texts[number], words),
        "source": "pointer",
    }
    if len(starts) != len(words):
        raise ActError(
            f"text {number} has {len(words)} words; word_starts of its reading has {len(starts)} numbers."
        )
    _check_words(word, len(words))
    check_reading(content)
    return content


def check_reading(content: Mapping[str, Any]) -> None:
    """ActError unless the fixations of a `reading` act are on words that it has, and its lists agree in
    length.
    """
    n_words, fixations = len(content["words"]), content["fixations"]
    _check_words(fixations["word"], n_words)
    for name in ("word_starts", "sentences"):
        if len(content[name]) not in (0, n_words):
            raise ActError(
                f"{name} of a reading should be one for each of {n_words} words, or none; it has "
                f"{len(content[name])}."
            )
    if any(one < 0 for one in fixations["duration"]):
        raise ActError(
            "durations in a reading should be milliseconds, 0 or more; one is "
            f"{min(fixations['duration']):g}."
        )


def _check_words(word: Sequence[float], n_words: int) -> None:
    wrong = next((one for one in word if one != int(one) or not -1 <= one < n_words), None)
    if wrong is not None:
        raise ActError(
            f"a reading has word {wrong:g}, but the text has {n_words} words, counted from 0 (-1: none)."
        )


def _numbers(value: Any, name: str) -> list[float]:
    """A list of numbers of a sensible size."""
    if not isinstance(value, list | tuple):
        raise ActError(f"{name} of a reading should be a list of numbers; it is {value!r:.60}.")
    for one in value:
        if not isinstance(one, int | float) or isinstance(one, bool) or not -_MOST <= one <= _MOST:
            raise ActError(
                f"{name} of a reading should hold numbers only, of a sensible size; it holds {one!r:.60}."
            )
    return [float(one) for one in value]
