"""Keywords: what a person would say of a class in a handful of words."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np

from .._system.json import read_json
from .._system.toml import TomlError, quotes_hint, read_toml
from ..errors import PriorError, TextmarginWarning
from ..records import record
from .vocabulary import Analyze, KnowledgeBase, compiled, is_pattern


@record()
class KeywordPrior(KnowledgeBase):
    """Words that speak for classes.

    An entry is a word (`corn`); a phrase (`interest rate`), which is a term of its own if the representation
    has word n-grams and otherwise speaks through its words, which share its weight; a `prefix*`, for all
    terms that start so; or a regular expression between slashes (`/whe?at/`), for all terms that match it as
    a whole.

    Parameters
    ----------
    keywords : mapping class → words
        Words as a list, or as a mapping word → weight; a negative weight speaks against the class. An empty
        list names a class of which nothing is known.
    lowercase : bool, default=True
        Whether words are put into lower case, as representations do with texts.
    file_name : str, default=None
        Where they come from, for messages.
    word_vectors : path, default=None
        A file of word vectors (GloVe or word2vec, as text), by which keywords spread to words near them where
        there are texts without labels; by default vectors of the words in the texts at hand
        (`knowledge/spread.py`).

    Examples
    --------
    >>> from textmargin import KeywordPrior
    >>> prior = KeywordPrior({"grain": ["wheat", "corn*"], "money": {"bank": 2.0}})
    >>> prior.coef(["bank", "corn", "cornfield", "oil", "wheat"], ["grain", "money"])
    {'grain': array([0., 1., 1., 0., 1.]), 'money': array([2., 0., 0., 0., 0.])}
    """

    _patterns = True

    def __init__(
        self,
        keywords: Mapping[Any, Any],
        *,
        lowercase: bool = True,
        file_name: str | None = None,
        word_vectors: str | Path | None = None,
    ) -> None:
        self.keywords = keywords
        self.lowercase = lowercase
        self.file_name = file_name
        self.word_vectors = word_vectors

    @classmethod
    def from_file(cls, path: str | Path, **kwargs: Any) -> Self:
        """Keywords from a file, by its ending.

        Parameters
        ----------
        path : str or Path
            `.toml`: a table `[keywords]` (or the whole file) of class = [words] or class = {word = weight};
            `.json`: the same as an object; `.csv`: columns `class` or `label`, `word` or `keyword` and, if
            weights differ, `weight`, with commas or semicolons between them.
        """
        path = Path(path)
        try:
            read = {".toml": _from_toml, ".json": _from_json, ".csv": _from_csv}.get(path.suffix.lower())
            if read is None:
                raise PriorError(f"The keyword file {path} should end in .toml, .json or .csv.")
            return cls(read(path), **{"file_name": path.name, **kwargs})
        except OSError as error:
            raise PriorError(f"The keyword file {path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise PriorError(f"The keyword file {path} is not UTF-8 text: {error}.") from error

    def classes(self) -> list[Any]:
        """Those that are named, be it without words."""
        self._entries()  # checks them
        return list(self.keywords)

    def words(self, analyze: Analyze = str.split) -> list[str]:
        """The words of all classes, patterns aside."""
        entries = {entry for own in self._entries().values() for entry in own if not is_pattern(entry)}
        return sorted({word for entry in entries for word in analyze(entry)})

    def entries(self) -> dict[Any, dict[str, float]]:
        """Per class its entries with their weights, as they are read: in lower case, unless that is not
        wanted.
        """
        return self._entries()

    @property
    def title(self) -> str:
        """With the file, where they come from one."""
        return "keywords" if self.file_name is None else f"keywords in {self.file_name}"

    def _entries(self) -> dict[Any, dict[str, float]]:
        if not isinstance(self.keywords, Mapping) or not self.keywords:
            raise PriorError(
                f"keywords must map classes to words, and name at least one class; got {self.keywords!r:.80}."
            )
        entries = {name: self._read(name, words) for name, words in self.keywords.items()}
        empty = [name for name, words in entries.items() if not words]
        if len(empty) == len(entries):
            raise PriorError(f"{self.title}: there are no words for any class.")
        if empty:
            warnings.warn(
                f"{self.title}: no words for "
                f"{', '.join(map(repr, empty[:5]))}{' …' if len(empty) > 5 else ''}; nothing is "
                f"known of them.",
                TextmarginWarning,
                stacklevel=4,
            )
        return {name: words for name, words in entries.items() if words}

    def _read(self, name: Any, words: Any) -> dict[str, float]:
        if isinstance(words, str):
            raise PriorError(
                f"The keywords of {name!r} are a single string, {words!r}; put them in a list: [{words!r}]."
            )
        pairs = words.items() if isinstance(words, Mapping) else _with_weight_one(name, words)
        found: dict[str, float] = {}
        for word, weight in pairs:
            if not isinstance(word, str) or not word.strip():
                raise PriorError(f"Among the keywords of {name!r} there is {word!r}, which is not a word.")
            if not isinstance(weight, Real) or isinstance(weight, bool) or not -1e6 < float(weight) < 1e6:
                raise PriorError(f"The weight of {word!r} for {name!r} must be a number; got {weight!r}.")
            word = word.strip()
            if word.startswith("/") and word.endswith("/") and len(word) > 2:
                compiled(word)
            elif self.lowercase:
                word = word.lower()
            if found.get(word, weight) != weight:
                raise PriorError(
                    f"{word!r} has two weights for {name!r}: {found[word]:g} and {weight:g}; keep one."
                )
            found[word] = float(weight)
        return found


def _with_weight_one(name: Any, words: Any) -> Iterable[tuple[Any, float]]:
    if not isinstance(words, Iterable):
        raise PriorError(
            f"The keywords of {name!r} must be a list of words, or a mapping word → weight; got "
            f"{words!r:.60}."
        )
    return ((word, 1.0) for word in words)


def _from_toml(path: Path) -> dict[str, Any]:
    try:
        table = read_toml(path)
    except TomlError as error:
        raise PriorError(f"The keyword file {path} is not TOML: {error}.") from error
    found: Any = table.get("keywords", table)
    if not isinstance(found, dict):
        raise PriorError(
            f'The keyword file {path} should have a line label = ["word", …] per label; keywords is '
            f"{found!r:.60}."
        )
    for name, words in found.items():
        nested = (
            [key for key, own in words.items() if isinstance(own, list | dict)]
            if isinstance(words, dict)
            else []
        )
        if nested:  # what a point in a name means in TOML
            raise PriorError(f"The keyword file {path}: {quotes_hint(f'{name}.{nested[0]}')}.")
    return found


def _from_json(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise PriorError(f"The keyword file {path} is not JSON that can be read: {error}.") from error
    if not isinstance(found, dict):
        raise PriorError(
            f'The keyword file {path} should be an object, {{"label": ["word", …]}}; it is {found!r:.60}.'
        )
    return found


def _from_csv(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with path.open(newline="", encoding="utf-8-sig") as lines:
        head = lines.readline()
        lines.seek(0)
        rows = csv.DictReader(lines, delimiter=";" if head.count(";") > head.count(",") else ",")
        name, entry = (
            _column(rows.fieldnames or [], names, path) for names in (("class", "label"), ("word", "keyword"))
        )
        for number, row in enumerate(rows, start=2):
            try:
                weight = float(row.get("weight") or 1.0)
            except ValueError as error:
                raise PriorError(
                    f"Line {number} of {path}: the weight {row['weight']!r} is not a number."
                ) from error
            if not np.isfinite(weight):
                raise PriorError(f"Line {number} of {path}: the weight {row['weight']!r} is not a number.")
            words = found.setdefault(row[name], {})
            if words.get(row[entry], weight) != weight:
                raise PriorError(
                    f"Line {number} of {path}: {row[entry]!r} has two weights for {row[name]!r}; keep one."
                )
            words[row[entry]] = weight
    return found


def _column(columns: Sequence[str], names: tuple[str, str], path: Path) -> str:
    """The one of two names that a file has."""
    found = next((name for name in names if name in columns), None)
    if found is None:
        raise PriorError(
            f"The keyword file {path} has no column {names[0]!r} or {names[1]!r}; it has {list(columns)}."
        )
    return found
