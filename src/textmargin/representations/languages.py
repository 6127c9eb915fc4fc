"""Which language texts are in, by their function words, and which script, by their letters: enough to leave
stop words out.

Both are counts, so that they are the same on every machine. Where nothing stands out they say so: None. Texts
are looked at as arrays of code points: a regular expression per script and text would take as long as making
a matrix of all texts.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ._function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from .linear_scores import LinearScorer

LANGUAGES = tuple(FUNCTION_WORDS)

N_SAMPLE = 1000  # texts that the language of many is guessed from
_MOST_CHARACTERS = 2000  # of each
# of all words that must be function words: in running text a third or more are, in headlines a tenth
_MIN_SHARE = 0.1
_MIN_WORDS = 3  # function words that a single text must have
_LEAD = 1.5  # and how many times as many as in the next language
_LETTER = re.compile(r"[^\W\d_]")  # one or more make a word

# Blocks of Unicode, by the script that most of their letters belong to.
_SCRIPTS = {
    "latin": r"\u0041-\u005a\u0061-\u007a\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff",
    "greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "cyrillic": r"\u0400-\u052f\u1c80-\u1c8f",
    "armenian": r"\u0530-\u058f",
    "hebrew": r"\u0590-\u05ff",
    "arabic": r"\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefe",
    "devanagari": r"\u0900-\u097f",
    "bengali": r"\u0980-\u09ff",
    "tamil": r"\u0b80-\u0bff",
    "telugu": r"\u0c00-\u0c7f",
    "thai": r"\u0e01-\u0e3a\u0e40-\u0e5b",
    "lao": r"\u0e80-\u0eff",
    "myanmar": r"\u1000-\u109f",
    "georgian": r"\u10a0-\u10ff",
    "hangul": r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3",
    "khmer": r"\u1780-\u17da\u17dc-\u17ff",
    "kana": r"\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "han": r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
}
_NAMES = tuple(_SCRIPTS)
_KANA = _NAMES.index("kana")
WITHOUT_BLANKS = ("han", "kana", "thai", "lao", "khmer", "myanmar")


def function_words(language: str) -> frozenset[str]:
    """The words of a language that carry grammar and hardly any topic."""
    return FUNCTION_WORDS[language]


def guess_language(text: str) -> str | None:
    """The language of one text; None where its function words do not tell.

    Examples
    --------
    >>> from textmargin.representations.languages import guess_language
    >>> guess_language("Die Rechnung ist nicht bei mir angekommen"), guess_language("x11 3d")
    ('german', None)
    """
    script = script_of(text)
    if script in ("han", "kana", "thai"):
        return {"han": "chinese", "kana": "japanese", "thai": "thai"}[script]
    counts, n_words = _function_words([text])
    (language, most), (_, next_most) = counts.most_common(2)
    return language if most >= max(_MIN_WORDS, _MIN_SHARE * n_words, _LEAD * next_most) else None


def main_language(texts: Sequence[str]) -> str | None:
    """The language of many texts, from a sample of them; None where their words are of none that is known.

    Examples
    --------
    >>> from textmargin.representations.languages import main_language
    >>> main_language(["The invoice is wrong", "I cannot log in", "where is the toner"])
    'english'
    """
    sample = sample_texts(texts)
    scripts = Counter(map(script_of, sample))
    script, n_texts = max(scripts.items(), key=lambda item: (item[1], str(item[0])))
    if script in WITHOUT_BLANKS and 2 * n_texts > len(sample):
        # Chinese never has its syllables
        japanese = sum(bool(_script_counts(text)[_KANA]) for text in sample)
        if script in ("han", "kana"):
            return "japanese" if 2 * japanese > len(sample) else "chinese"
        return "thai" if script == "thai" else None
    counts, n_words = _function_words(sample)
    language, most = counts.most_common(1)[0]
    return language if most and most >= _MIN_SHARE * n_words else None


def sample_texts(texts: Sequence[str]) -> list[str]:
    """The beginnings of so many texts, from all over; of texts in parts the same."""
    return (
        [text[:_MOST_CHARACTERS] for text in texts]
        if len(texts) <= N_SAMPLE
        else TextSample.draw(texts).texts
    )


@dataclass(frozen=True)
class TextSample:
    """Beginnings of texts, those with the smallest checksums: numbers as good as random that hang on the
    beginning alone.

    So what is drawn does not depend on how texts are cut into parts.

    Examples
    --------
    >>> from textmargin.representations.languages import TextSample
    >>> parts = ["corn"] * 800, ["wheat"] * 900
    >>> TextSample.join(map(TextSample.draw, parts)).texts == TextSample.draw([*parts[0], *parts[1]]).texts
    True
    """

    keys: NDArray[np.uint64]
    texts: list[str]

    @classmethod
    def draw(cls, texts: Sequence[str]) -> TextSample:
        """From a list."""
        starts = [text[:_MOST_CHARACTERS] for text in texts]
        checksums = (zlib.crc32(start.encode(errors="surrogatepass")) for start in starts)
        keys = np.fromiter(checksums, np.uint64, len(starts))
        first = np.argsort(keys, kind="stable")[:N_SAMPLE]
        return cls(keys[first], [starts[i] for i in first])

    @classmethod
    def join(cls, parts: Iterable[TextSample]) -> TextSample:
        """From all parts, in their order."""
        keys, texts = np.zeros(0, np.uint64), list[str]()
        for part in parts:
            keys, texts = np.concatenate([keys, part.keys]), [*texts, *part.texts]
            first = np.argsort(keys, kind="stable")[:N_SAMPLE]
            keys, texts = keys[first], [texts[i] for i in first]
        return cls(keys, texts)


def script_of(text: str) -> str | None:
    """The script of most letters of a text, such as "latin", "han" or "arabic"; None where it has no letters
    that are known.

    Examples
    --------
    >>> from textmargin.representations.languages import script_of
    >>> script_of("账单不对"), script_of("bill № 3"), script_of("12 €")
    ('han', 'latin', None)
    """
    if text.isascii():
        return "latin" if any(map(str.isalpha, text)) else None
    counts = _script_counts(text)
    script = int(counts.argmax())
    return _NAMES[script] if counts[script] else None


def script_ranges(scripts: Iterable[str]) -> str:
    """The characters of some scripts, as they stand between the brackets of a regular expression."""
    return "".join(_SCRIPTS[script] for script in scripts)


def _script_counts(text: str) -> NDArray[np.intp]:
    """How many letters of a text are of each script (n_scripts,)."""
    return np.bincount(_script_table()[_code_points(text)], minlength=len(_NAMES) + 1)[:-1]


@cache
def _script_table() -> NDArray[np.uint8]:
    """For each code point the number of its script, or the number after the last."""
    table = np.full(sys.maxunicode + 1, len(_NAMES), dtype=np.uint8)
    for number, ranges in enumerate(_SCRIPTS.values()):
        for first, last in re.findall(r"(\\u\w{4}|\\U\w{8})(?:-(\\u\w{4}|\\U\w{8}))?", ranges):
            table[int(first[2:], 16) : int((last or first)[2:], 16) + 1] = number
    return table


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _function_words(texts: list[str]) -> tuple[Counter[str], int]:
    """How many words of the texts are function words of each language, in the order of languages; and of how
    many.
    """
    counts = _function_word_counter()(texts)[0].sum(axis=0)
    letters = _are_letters(_code_points("\n".join(texts)))
    n_words = int(letters[:1].sum() + np.count_nonzero(letters[1:] > letters[:-1]))
    return Counter(dict(zip(LANGUAGES, counts.astype(int).tolist(), strict=True))), n_words


@cache
def _function_word_counter() -> LinearScorer:
    """A learner whose scores are counts: of function words of each language."""
    from ._analysis import LETTER_RUNS, Analysis  # which ask this module for scripts
    from ._vocabulary import Vocabulary
    from .linear_scores import LinearScorer

    words = sorted(set().union(*FUNCTION_WORDS.values()))
    coef = np.array([[word in own for word in words] for own in FUNCTION_WORDS.values()], dtype=np.float64)
    analysis = Analysis("pattern", True, (1, 1), LETTER_RUNS)
    idf, none = np.ones(len(words)), np.zeros(len(coef))
    return LinearScorer(analysis, Vocabulary.of(words), "count", False, idf, coef.T, none, n_jobs=1)


def _are_letters(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each code point is a letter; those of the whole of Unicode would take longer to find than most
    texts.
    """
    table = _letter_table()
    kinds = table[codes]
    if not kinds.all():
        new = np.unique(codes[kinds == 0])
        table[new] = [2 if _LETTER.match(chr(code)) else 1 for code in new]
        kinds = table[codes]
    return kinds == 2


@cache
def _letter_table() -> NDArray[np.uint8]:
    """For each code point 2 where it is a letter, 1 where it is none, and 0 as long as nobody asked."""
    return np.zeros(sys.maxunicode + 1, dtype=np.uint8)
