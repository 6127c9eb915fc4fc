"""Texts whose language or script differs from that of most: found by the functions of
`representations/languages.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..representations.languages import guess_language, script_of
from .findings import Finding

# share of the texts that makes a language or script that of the data; of less there is no odd one
_BULK = 0.8
_ENOUGH = 20  # texts of which something can be told, to speak of a bulk


def odd_tongues(texts: Sequence[str]) -> tuple[list[Finding], list[str]]:
    """Texts in another script, or in the same script in another language; and what can be said of all, where
    they are mixed.
    """
    findings, notes = [], []
    scripts = [script_of(text) for text in texts]
    bulk = _bulk(scripts)
    if bulk is not None:
        odd = [row for row, own in enumerate(scripts) if own not in (None, bulk)]
        findings += [
            Finding("script", (row,), reason=f"{scripts[row]}; most texts are {bulk}") for row in odd
        ]
    else:
        notes += _mix("scripts", scripts)
    languages = [
        None if script != bulk else guess_language(text) for text, script in zip(texts, scripts, strict=True)
    ]
    language = _bulk(languages)
    if language is not None:
        odd = [row for row, own in enumerate(languages) if own not in (None, language)]
        findings += [
            Finding("language", (row,), reason=f"{languages[row]}; most texts are {language}") for row in odd
        ]
    else:
        notes += _mix("languages", languages)
    return findings, notes


def _bulk(values: Sequence[str | None]) -> str | None:
    counts = Counter(own for own in values if own is not None)
    if counts.total() < _ENOUGH:
        return None
    value, n = counts.most_common(1)[0]
    return value if n >= _BULK * counts.total() else None


def _mix(what: str, values: Sequence[str | None]) -> list[str]:
    counts = Counter(own for own in values if own is not None)
    if counts.total() < _ENOUGH or len(counts) < 2:
        return []
    return [
        f"texts are in several {what}: " + ", ".join(f"{name}: {n:,}" for name, n in counts.most_common(5))
    ]
