"""Texts that are odd by themselves: empty, very long or short, their own label, with HTML, wrong encodings,
or shared lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .findings import Finding

_TAGS = "a|b|blockquote|body|br|code|div|em|font|form|h[1-6]|head|hr|html|i|img|input|li|link|meta|ol|p|pre"
_TAGS += "|script|span|strong|style|sub|sup|table|tbody|td|th|thead|title|tr|u|ul"
# In capitals, and alone, a tag may be something else, as the <PRE> of a stock exchange: it must close, or
# have attributes.
_ATTRIBUTES = r"\s+[\w:-]+\s*=[^<>]*"
_MARKUP = re.compile(
    rf"<(?:{_TAGS})(?:{_ATTRIBUTES})?\s*/?>|</(?i:{_TAGS})>|<(?i:{_TAGS}){_ATTRIBUTES}>|"
    r"&(?:nbsp|amp|lt|gt|quot|apos|#\d{2,5}|#x[0-9a-fA-F]{2,4});"
)
# UTF-8 read as Windows-1252 or Latin-1: a first byte (Â Ã â ð ï) with the ones that can follow it; or lost
# for good.
_WRONG = re.compile(
    r"[ÃÂ][\x80-\xbf‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â(?:€[\x80-\xbf™œ“”˜¦¢\x9d]|\x80[\x80-\xbf])|ðŸ|ï»¿|\ufffd"
)
_SPREADS = 8.0  # robust standard deviations of log length beyond which a text is very long
_LEAST_LONG = 1_000  # characters that a very long text has at least
_LEAST_LINE = 15  # characters of a line that counts as shared
_SHARE_OF_LINE = 0.2  # of the texts that have it


def odd_contents(texts: Sequence[str], labels: Sequence[Any]) -> Iterator[Finding]:
    """Findings of texts one by one, and of lines that many share.

    Parameters
    ----------
    texts : list of str
    labels : names, "" for none; or tuples of names
    """
    lengths = np.array([len(text) for text in texts])
    longest = _longest(lengths)
    # where texts are a few words anyway, a short one is no surprise
    wordy = bool(texts) and float(np.median(lengths)) >= 40
    for row, (text, own) in enumerate(zip(texts, labels, strict=True)):
        bare = text.strip()
        if not bare:
            yield Finding("empty", (row,), reason="no characters" if not text else "white space only")
            continue
        if lengths[row] > longest:
            yield Finding(
                "long",
                (row,),
                reason=f"{lengths[row]:,} characters; half of the texts have {np.median(lengths):,.0f}",
            )
        # A sign of a script without blanks says as much as two letters.
        if wordy and sum(char.isalnum() + (char >= "\u2e80") for char in bare[:20]) < 4:
            yield Finding("short", (row,), reason=f"{bare[:20]!r}")
        names = own if isinstance(own, tuple) else (own,)
        if any(name and bare.casefold() == name.casefold() for name in names):
            yield Finding("text-is-label", (row,), bare)
        if markup := _MARKUP.findall(text):
            most = Counter(markup).most_common(3)
            yield Finding(
                "markup", (row,), reason=" ".join(f"{tag[:30]}×{n}" if n > 1 else tag[:30] for tag, n in most)
            )
        if wrong := _WRONG.search(text):
            yield _mojibake(row, text, wrong)
    yield from _shared_lines(texts)


def _longest(lengths: Any) -> float:
    """The length beyond which a text is very long, by the median and the spread of log lengths."""
    logs = np.log(np.maximum(lengths, 1))
    if not logs.size:
        return 0.0
    middle = float(np.median(logs))
    spread = 1.4826 * float(np.median(np.abs(logs - middle)))
    return max(_LEAST_LONG, float(np.exp(middle + _SPREADS * max(spread, 0.3))))


def _mojibake(row: int, text: str, wrong: re.Match[str]) -> Finding:
    start, end = text.rfind(" ", 0, wrong.start()) + 1, text.find(" ", wrong.end())
    word = text[start : end if end > 0 else len(text)].split("\n")[0][:40]
    right = ""
    for encoding in ("cp1252", "latin-1"):
        try:
            right = word.encode(encoding).decode("utf-8")
            break
        except UnicodeError:
            continue
    return Finding("mojibake", (row,), reason=f"{word!r}" + (f" for {right!r}" if right else ""))


def _shared_lines(texts: Sequence[str]) -> Iterator[Finding]:
    """First and last lines, of texts of several, that many have."""
    for place, name in ((0, "begin"), (-1, "end")):
        rows: dict[str, list[int]] = {}
        for row, text in enumerate(texts):
            lines = text.strip().splitlines()
            if len(lines) > 1 and len(line := lines[place].strip()) >= _LEAST_LINE:
                rows.setdefault(line, []).append(row)
        for line, own in rows.items():
            if len(own) >= max(5, _SHARE_OF_LINE * len(texts)):
                share = len(own) / len(texts)
                yield Finding(
                    "boilerplate",
                    tuple(own),
                    score=share,
                    reason=f"{len(own):,} texts {name} with {line[:80]!r}",
                )
