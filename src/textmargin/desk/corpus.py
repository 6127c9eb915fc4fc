"""The texts of a desk in columns, once: words, which of them are copies, what stands where, and which are
alike.

All that is learnt at the desk is learnt from these columns (log-tf-idf, rows of unit length). Words of one
text alone are left out of large corpora: they tell nothing of any other text, and are most of a vocabulary.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._ties import descending_order
from .._typing import Bools, Floats, Indices
from ..check.near_duplicates import near_duplicates
from ..errors import EmptyVocabularyError, TextmarginWarning
from ..knowledge.spread import WordVectors
from ..knowledge.vocabulary import TermFinder, is_pattern
from ..representations.bow import BagOfWords
from ..representations.digests import text_digests
from ..representations.strings import SubsequenceKernel

_LARGE = 20_000  # texts from which on words of one text are left out
_MOST_COMPARED = 60  # texts that the string kernel compares with one, those that share most words with it
_MOST_CHARACTERS = 600  # of a text that it compares: its time grows with the square of them
_SIDE = 60  # characters of a snippet on either side


class TextColumns:
    """Texts as a matrix of words, and what can be asked of it.

    Parameters
    ----------
    texts : list of str
    extra_terms : sequence of str, default=()
        Words to have as columns whatever the texts say of them: stop words and numbers that somebody named.
    n_jobs : int, default=None
        Threads; None: all cores.

    Attributes
    ----------
    X : sparse matrix (n_texts, n_terms), rows of unit length
    terms : array (n_terms,) of str
    words : BagOfWords, fitted

    Examples
    --------
    >>> from textmargin.desk.corpus import TextColumns
    >>> texts = TextColumns(["wheat and corn", "bank rates", "corn prices"])
    >>> texts.count("corn"), texts.search("corn", 1)["n"]
    (2, 2)
    """

    def __init__(
        self, texts: Sequence[str], *, extra_terms: Sequence[str] = (), n_jobs: int | None = None
    ) -> None:
        self.texts = texts if isinstance(texts, list) else list(texts)
        self.n_jobs = n_jobs
        self.extra_terms = tuple(sorted({*extra_terms}))
        min_df = 2 if len(self.texts) >= _LARGE else 1
        self.words = BagOfWords(min_df=min_df, extra_terms=self.extra_terms, n_jobs=n_jobs)
        try:
            self.X = sp.csr_array(self.words.fit_transform(self.texts))
        except EmptyVocabularyError:  # texts without a word can be read and labelled all the same
            self.words = BagOfWords(extra_terms=("",), n_jobs=n_jobs)
            self.X = sp.csr_array((len(self.texts), 0))
        self.terms: NDArray[Any] = (
            self.words.get_feature_names_out() if self.X.shape[1] else np.empty(0, dtype=object)
        )
        self.place: dict[str, int] = {term: j for j, term in enumerate(self.terms.tolist())}

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def n_with_term(self) -> Indices:
        """In how many texts each term is."""
        return np.bincount(self.X.indices, minlength=self.X.shape[1])

    @cached_property
    def finder(self) -> TermFinder:
        """From a keyword to its terms."""
        analyze = self.words.build_keyword_analyzer() if self.terms.size else str.split
        return TermFinder(self.terms.tolist(), patterns=True, analyze=analyze)

    @cached_property
    def vectors(self) -> WordVectors:
        """The company that words keep in these texts."""
        return WordVectors.of(self.X)

    @cached_property
    def copy_of(self) -> Indices:
        """Per text the first one that is the same, white space aside."""
        _, first, place = np.unique(text_digests(self.texts), return_index=True, return_inverse=True)
        return np.asarray(first[place], dtype=np.intp)

    @cached_property
    def group(self) -> Indices:
        """Per text the first one of those that are nearly the same."""
        return near_duplicates(self.texts, n_jobs=1).group

    @property
    def copies(self) -> Indices:
        """`group` once it is there, `copy_of` before: finding what is nearly the same takes seconds."""
        return self.__dict__.get("group", self.copy_of)

    def needed_terms(self, entries: Iterable[str]) -> tuple[str, ...]:
        """The words of keywords that stand in texts but are columns only where they are asked for: stop words
        and numbers.
        """
        analyze = self.finder.analyze
        words = {word for entry in entries if not is_pattern(entry) for word in analyze(entry)}
        asked = {word for word in words if word in self.extra_terms}
        return tuple(
            sorted(asked | {word for word in words if word not in self.place and self._stands_in_texts(word)})
        )

    def _stands_in_texts(self, word: str) -> bool:
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        return any(pattern.search(text) for text in self.texts)

    def with_terms(self, extra_terms: Sequence[str]) -> TextColumns:
        """The same texts with other words as columns whatever these say; what does not hang on words is taken
        over.
        """
        other = TextColumns(self.texts, extra_terms=extra_terms, n_jobs=self.n_jobs)
        vars(other).update(
            {name: value for name, value in vars(self).items() if name in ("copy_of", "group")}
        )
        return other

    def rows_with(self, entry: str) -> Indices:
        """The texts that a keyword stands in; of a phrase those with all of its words."""
        found = self.finder.find(entry)
        if not found:
            return np.empty(0, dtype=np.intp)
        columns = [self.place[term] for term in found]
        has = [self._rows_of_column(j) for j in columns]
        if is_pattern(entry) or len(has) == 1:
            return np.unique(np.concatenate(has))
        together = has[0]
        for rows in has[1:]:
            together = np.intersect1d(together, rows)
        return together

    def count(self, entry: str) -> int:
        """How many texts a keyword stands in."""
        found = self.finder.find(entry)
        if len(found) == 1:
            return int(self.n_with_term[self.place[next(iter(found))]])
        return int(self.rows_with(entry).size)

    def _rows_of_column(self, column: int) -> Indices:
        places = np.flatnonzero(self.X.indices == column)
        return np.searchsorted(self.X.indptr, places, side="right") - 1

    def search(self, query: str, n: int = 20) -> dict[str, Any]:
        """The texts that have some characters, upper and lower case alike, in order; the first n with what
        stands around.
        """
        query = " ".join(query.split())
        if not query:
            return {"texts": [], "n": 0}
        pattern = re.compile(r"\s+".join(map(re.escape, query.split())), re.IGNORECASE)
        folded = query.casefold()
        plain = " " not in query
        found = []
        for row, text in enumerate(self.texts):
            if plain and folded not in text.casefold():
                continue
            match = pattern.search(text)
            if match is not None or plain:
                found.append(row)
        shown = [{"text": row, "snippet": self.snippet(row, pattern)} for row in found[:n]]
        return {"texts": shown, "n": len(found)}

    def snippet(self, row: int, pattern: re.Pattern[str] | str) -> tuple[str, str, str]:
        """What stands before a hit, the hit, and what comes behind it."""
        if isinstance(pattern, str):
            spelled = r"\W+".join(map(re.escape, pattern.split()))
            pattern = re.compile(rf"(?<!\w){spelled}(?!\w)|{spelled}", re.IGNORECASE)
        text = self.texts[row]
        match = pattern.search(text)
        if match is None:
            return _line(text[: 2 * _SIDE]), "", "…" if len(text) > 2 * _SIDE else ""
        start, end = match.span()
        before, behind = text[max(start - _SIDE, 0) : start], text[end : end + _SIDE]
        return (
            ("…" if start > _SIDE else "") + _line(before),
            _line(match[0]),
            _line(behind) + ("…" if end + _SIDE < len(text) else ""),
        )

    def opening(self, row: int) -> str:
        """The beginning of a text on one line."""
        text = self.texts[row]
        return _line(text[: 2 * _SIDE]).strip() + ("…" if len(text) > 2 * _SIDE else "")

    def similarities(self, rows: Any, others: Any) -> Floats:
        """Cosines of texts by their words, (n_rows, n_others)."""
        return np.asarray((self.X[rows] @ self.X[others].T).toarray())

    def similar(self, row: int, n: int = 10) -> list[tuple[int, float]]:
        """The texts most like one by the string kernel: of those that share most words with it; copies of it
        are left out.
        """
        own = self.copies == self.copies[row]
        cosines = np.asarray(self.X @ self.X[[row]].toarray()[0])
        cosines[own] = -1.0
        order = descending_order(cosines)[:_MOST_COMPARED]
        order = order[cosines[order] > 0]
        if not order.size:
            return []
        kernel = SubsequenceKernel(length=4, n_jobs=self.n_jobs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TextmarginWarning)
            texts = [_line(self.texts[k])[:_MOST_CHARACTERS].lower() for k in order.tolist()]
            values = kernel(texts, [_line(self.texts[row])[:_MOST_CHARACTERS].lower()])[:, 0]
        best = descending_order(values)[:n]
        return [(int(order[k]), float(values[k])) for k in best.tolist()]

    def representatives(self) -> Bools:
        """Which texts (n_texts,) are the first of their copies."""
        return self.copies == np.arange(len(self))


def _line(text: str) -> str:
    """White space as single blanks; one at an end stays, so that snippets can be joined."""
    return re.sub(r"\s+", " ", text)
