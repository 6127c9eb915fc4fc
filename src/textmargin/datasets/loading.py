"""Datasets by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from ..errors import DatasetError, TextmarginError, nearest
from . import readers, reuters
from .corpus import Corpus
from .files import catalogue, digest_of, right_path

# Each takes the paths of its files, in the order of the catalogue.
_READERS: dict[str, Callable[..., Corpus]] = {
    "desk": readers.read_desk,
    "reuters21578": reuters.read,
    "medline": readers.read_medline,
    "webqamgaze": readers.read_webqamgaze,
    "zuco": readers.read_zuco,
    "eye_movements": readers.read_eye_movements,
    "wikipedia25": readers.read_wikipedia,
    "sms_spam": readers.read_sms,
}


def dataset_digest(name: str) -> str:
    """Of all files of a dataset together, as they are found here; "" for the one inside the package."""
    entry = catalogue()[name]
    digests = [digest_of(right_path(entry, file)) for file in entry.files]
    return sha256("".join(digests).encode()).hexdigest() if digests else ""


def dataset_names() -> list[str]:
    """The names that `load_dataset` knows."""
    return sorted(_READERS)


def load_dataset(name: str) -> Corpus:
    """A corpus by name: "desk" comes with the package, the others are read from files.

    Files are looked for in the folder that the environment variable `TEXTMARGIN_DATA` names, then in the
    user's cache (`~/.cache/textmargin`). `DatasetError` says which file is missing or wrong, and where to get
    it.

    Parameters
    ----------
    name : str
        "desk", "eye_movements", "medline", "reuters21578", "sms_spam", "webqamgaze", "wikipedia25" or "zuco".

    Returns
    -------
    Corpus

    Examples
    --------
    >>> from textmargin import load_dataset
    >>> corpus = load_dataset("reuters21578")  # doctest: +SKIP
    >>> train, test = corpus.part("train"), corpus.part("test")  # doctest: +SKIP
    >>> len(train), len(test)  # doctest: +SKIP
    (9603, 3299)
    """
    if name not in _READERS:
        near = nearest(name, _READERS)
        hint = "" if near is None else f" Nearest: {near!r}."
        raise TextmarginError(
            f"There is no dataset {name!r}.{hint} Names: {', '.join(map(repr, dataset_names()))}."
        )
    entry = catalogue()[name]
    paths = [right_path(entry, file) for file in entry.files]
    try:
        corpus = _READERS[name](*paths)
    except (KeyError, AttributeError, TypeError) as error:  # right by its side file, but not in shape
        files = " and ".join(map(str, paths))
        raise DatasetError(
            f"{files} should have the columns that docs/datasets.md describes for {name}: {error!r}."
        ) from error
    return replace(corpus, name=name, source=entry.source, licence=entry.licence, about=entry.about)
