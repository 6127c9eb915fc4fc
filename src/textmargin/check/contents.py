"""Texts that are odd by themselves: empty, with HTML, or read in a wrong encoding."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

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


def odd_contents(texts: Sequence[str]) -> Iterator[Finding]:
    """Findings of texts one by one."""
    for row, text in enumerate(texts):
        if not text.strip():
            yield Finding("empty", (row,), reason="white space only" if text else "no characters")
        if markup := _MARKUP.findall(text):
            counts = Counter(tag[:30] for tag in markup).most_common(3)
            yield Finding("markup", (row,), reason=" ".join(f"{tag}×{n}" for tag, n in counts))
        if wrong := _WRONG.search(text):
            start, end = max(0, wrong.start() - 15), wrong.end() + 15
            yield Finding("mojibake", (row,), reason=repr(text[start:end]))
