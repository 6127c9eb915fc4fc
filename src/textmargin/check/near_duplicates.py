"""Texts that are nearly the same: Jaccard similarity of their character 5-grams of at least `similarity`.

Candidates are pairs whose signatures (`_sketch.py`) agree in all minima of one of 18 bands of 5
(locality-sensitive hashing): of pairs with similarity s the share 1 − (1 − s⁵)¹⁸ is found, 99.9 % at s = 0.8
and more above. Every candidate is then compared exactly, so that what is given is right. Time grows with the
number of characters: in a band with many texts of one kind each is compared with the next ten, which are
enough to join them all to one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import delayed
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._system.parallel import run_jobs
from .._typing import Floats, Indices
from ..errors import SettingError
from ..representations.digests import text_digests
from ..representations.texts import as_texts
from ._sketch import Numbers32, blocks, jaccard, plain_form, signatures

N_BANDS, N_ROWS = 18, 5
_N_NEIGHBOURS = 10  # of a text in its band
_PAIRS_AT_ONCE = 2_000
_SLACK = 4.0  # standard errors by which signatures may understate a similarity


@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """Which texts are the same, or nearly.

    Attributes
    ----------
    same : array (n_texts,)
        Per text the first one that is the same, white space aside: itself, unless it is a repetition.
    group : array (n_texts,)
        Per text the first one of the group that same and near-same texts join it to: itself, where it is
        alone or the first.
    pairs : array (n_pairs, 2)
        Pairs of near-same texts, the first of each smaller, in order; of repeated texts the first.
    similarity : array (n_pairs,)
        Their Jaccard similarity.
    """

    same: Indices
    group: Indices
    pairs: Indices
    similarity: Floats

    def groups(self) -> list[Indices]:
        """The texts of each group of several, in order of the first."""
        order = np.argsort(self.group, kind="stable")
        cuts = np.flatnonzero(np.diff(self.group[order])) + 1
        return [rows for rows in np.split(order, cuts) if rows.size > 1]


def near_duplicates(
    texts: Sequence[str], *, similarity: float = 0.8, n_jobs: int | None = None
) -> NearDuplicates:
    """Find texts that are the same, or nearly.

    Parameters
    ----------
    texts : list of str
    similarity : float, default=0.8
        Of which texts are nearly the same, more than 0.5 and at most 1.
    n_jobs : int, default=None
        Threads; None: one, or what `joblib.parallel_config` says.

    Examples
    --------
    >>> from textmargin.check.near_duplicates import near_duplicates
    >>> first = "the screen of my laptop stays dark after the update of this morning"
    >>> near_duplicates([first, "no paper", first.replace("laptop", "laptops"), "no  paper"]).group
    array([0, 1, 0, 1])
    """
    if not 0.5 < similarity <= 1:
        raise SettingError(
            "similarity", f"must be more than 0.5 and at most 1, such as 0.8; got {similarity:g}."
        )
    texts = as_texts(texts)
    _, first, place = np.unique(text_digests(texts), return_index=True, return_inverse=True)
    same = first[place] if texts else np.empty(0, dtype=np.intp)
    rows = np.unique(same)
    plain = [plain_form(texts[row]) for row in rows.tolist()]
    held = np.array([bool(text) for text in plain], dtype=bool)  # empty texts are nothing's copies
    rows, plain = rows[held], [text for text in plain if text]
    jobs = (delayed(signatures)(plain[start:end], N_BANDS * N_ROWS) for start, end in blocks(plain))
    minima = [np.empty((0, N_BANDS * N_ROWS), dtype=np.uint32), *run_jobs(jobs, n_jobs)]
    candidates = _candidates(np.concatenate(minima), similarity)
    parts = np.array_split(candidates, len(candidates) // _PAIRS_AT_ONCE + 1)
    jobs = (delayed(jaccard)(plain, part[:, 0], part[:, 1]) for part in parts if len(part))
    values = np.concatenate([np.empty(0), *run_jobs(jobs, n_jobs)])
    near = values >= similarity - 1e-9  # a quotient of whole numbers
    pairs, values = rows[candidates[near]].reshape(-1, 2), values[near]
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(texts), len(texts)))
    _, component = connected_components(links, directed=False)
    component = component[same] if texts else component
    _, start, of = np.unique(component, return_index=True, return_inverse=True)
    return NearDuplicates(same, start[of] if texts else same, pairs, values)


def _candidates(minima: Numbers32, similarity: float) -> Indices:
    """Pairs (n_pairs, 2) that agree in a band, and not in too few minima over all bands."""
    found = [np.empty((0, 2), dtype=np.intp)]
    least = similarity - _SLACK * np.sqrt(similarity * (1 - similarity) / minima.shape[1])
    for band in range(N_BANDS):
        key = np.zeros(len(minima), dtype=np.uint64)
        for column in range(band * N_ROWS, (band + 1) * N_ROWS):
            key = (key ^ minima[:, column]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        for step in range(1, _N_NEIGHBOURS + 1):
            equal = np.flatnonzero(ordered[step:] == ordered[:-step])
            pairs = np.column_stack([order[equal], order[equal + step]])
            for part in np.array_split(pairs, len(pairs) // 100_000 + 1):
                agreement = (minima[part[:, 0]] == minima[part[:, 1]]).mean(axis=1)
                found.append(part[agreement >= least])
    return np.unique(np.concatenate(found), axis=0)
