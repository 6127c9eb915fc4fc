"""Models in files, without pickle: what is loaded is data, and only classes that are listed are ever built
from it.

    save    model ── _encoding ──▶ values, arrays ── _arrays, _archive ──▶ one sealed file
    load    file ── _archive, _arrays ──▶ values, arrays ── _building ──▶ model, each step checked before

A file that is damaged, hostile or somebody else's raises `ModelFileError`. The digest finds damage; it does
not prove who wrote a file, which a signature does to who has its key (`save(key=)`, `load(key=)`, `sign`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._system.writing import write_whole
from ..errors import FULL, ModelFileError, OutputError, TooLargeError
from ._archive import MAX_BYTES, MAX_MANIFEST_BYTES, MAX_VALUES, opened, pack, skeleton
from ._building import Builder
from ._encoding import CannotSave, Encoder
from ._keys import check_key, read_key
from ._making import check_part
from ._manifest import read_manifest, write_manifest
from ._seal import MANIFEST, Refused, seal, without_seal
from ._stand_ins import stand_in_of

if TYPE_CHECKING:
    from ..classifier import TextClassifier

__all__ = ["load", "read_key", "save", "sign"]


def save(model: Any, path: str | os.PathLike[str], *, key: bytes | None = None) -> None:
    """Write a model, fitted or not, to a file; whole or not at all.

    The same model gives the same bytes. The training data of `PriorSVC` stay behind; support vectors,
    landmarks and knowledge are part of the model.

    Parameters
    ----------
    model : TextClassifier, any other estimator, kernel, prior or utility of textmargin, or a listed class of
        scikit-learn
    path : str or path
        By custom it ends in `.tmm`; its folder must be there.
    key : bytes, default=None
        At least 32, to sign the file with (`read_key` reads them from a file).

    Examples
    --------
    >>> import tempfile
    >>> from textmargin import TextClassifier, load, save
    >>> texts = ["wheat and corn harvest", "corn exports fell", "bank raises rates", "rates and the dollar"]
    >>> model = TextClassifier().fit(texts, ["grain", "grain", "money", "money"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/topics.tmm")
    ...     load(f"{folder}/topics.tmm").predict(["corn prices", "dollar falls"])
    array(['grain', 'money'], dtype='<U5')
    """
    if key is not None:
        check_key(key)
    folder = Path(path).parent
    if not folder.is_dir():
        raise ModelFileError(
            f"{path} cannot be written: there is no folder {folder}; choose another place, or make it."
        )
    encoder = Encoder()
    try:
        encoder.model(model)
    except CannotSave as error:
        raise ModelFileError(f"{path} is not written: {error}") from None
    try:
        for part in encoder.parts():
            check_part(part)
    except Refused as refused:
        raise ModelFileError(
            f"{path} is not written: the model {refused.wrong}, and would not be loaded again."
        ) from refused
    entries = write_manifest(encoder.values, encoder.arrays)
    if len(entries[MANIFEST]) > MAX_MANIFEST_BYTES or sum(map(len, entries.values())) > MAX_BYTES:
        raise TooLargeError(
            f"{path} is not written: the model takes {sum(map(len, entries.values())) / 1e9:.2f} GB, of "
            "which "
            f"{len(entries[MANIFEST]) / 1e9:.2f} GB are words and texts, and a file holds "
            f"{MAX_BYTES / 1e9:.2f} GB and "
            f"{MAX_MANIFEST_BYTES / 1e9:.2f} GB; use fewer terms (min_df, max_features) or fewer classes."
        )
    if skeleton(entries[MANIFEST], len(entries[MANIFEST])) is None:
        raise TooLargeError(
            f"{path} is not written: the model has more than {MAX_VALUES:,} terms and other values "
            "outside of arrays; use fewer "
            f"terms (min_df, max_features)."
        )
    _write(path, pack(entries, key))


def sign(path: str | os.PathLike[str], key: bytes) -> None:
    """Sign the file of a model, in its place; another signature that it has goes.

    The model is loaded first: what could not be loaded is not signed.

    Parameters
    ----------
    path : str or path
    key : bytes
        At least 32.
    """
    check_key(key)
    load(path)
    try:
        content = Path(path).read_bytes()
        with without_seal(content) as stream:
            seal(stream, key)
            _write(path, stream.getvalue())
    except Refused as refused:  # replaced since it was loaded
        raise ModelFileError(f"{path} {refused}") from refused
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    try:
        write_whole({Path(path): content})
    except OutputError as error:
        if error.errno in FULL:
            raise ModelFileError(str(error)) from error
        raise ModelFileError(
            f"{path} cannot be written: {error.strerror or error}; choose another place."
        ) from error
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be written: {error.strerror or error}; choose another place."
        ) from error


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, key: bytes | None = None) -> Any:
    """Read a model from a file that `save` wrote.

    Nothing in the file is executed, and it is checked throughout before anything is built. The model decides
    as it did, bit for bit. Where it comes from another version of textmargin or scikit-learn whose parameters
    differ, a warning tells.

    Parameters
    ----------
    path : str or path
    max_bytes : int, default=4_000_000_000
        How large the file may be, packed and unpacked.
    key : bytes, default=None
        A file that is not signed with it is refused. Without a key nobody asks whether a file is signed.
    """
    return _read(path, max_bytes, key, lambda *content: Builder(*content).model())


def load_stand_in(
    path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, key: bytes | None = None
) -> Any | None:
    """The parts of a model as their attributes alone, without scikit-learn, SciPy and the classes of the
    parts.

    Each part is an object that is called like its class (`type(part).__name__`) and has its attributes. None
    where only classes can tell what the model is, or what is wrong with it, so that it has to be loaded.

    Parameters
    ----------
    path, max_bytes, key : as in `load`, which makes the same checks of the file
    """
    return _read(path, max_bytes, key, stand_in_of)


def _read(
    path: str | os.PathLike[str], max_bytes: int, key: bytes | None, build: Callable[[Any, Any, Any], Any]
) -> Any:
    path = Path(path)
    if key is not None:
        check_key(key)
    try:
        with opened(path, max_bytes, key) as archive:
            content = read_manifest(archive, max_bytes)
        return build(*content)
    except Refused as refused:
        raise ModelFileError(f"{path} {refused}") from refused
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except Warning:
        raise  # as the caller asked for
    except Exception as error:  # whatever classes say to attributes that were made up
        why = f"{type(error).__name__}: {error!s:.120}"
        raise ModelFileError(f"{path} {Refused(f'cannot be built into a model ({why})')}") from error


def load_classifier(path: str | os.PathLike[str], *, key: bytes | None = None) -> TextClassifier:
    """`load`, for a file that must hold a fitted TextClassifier: what `textmargin train` and `model.save`
    write.
    """
    found = load(path, key=key)
    if not hasattr(found, "labels_") or not hasattr(found, "metadata_"):
        fitted = "" if type(found).__name__ != "TextClassifier" else " that is not fitted"
        raise ModelFileError(
            f"{path} holds a {type(found).__name__}{fitted}, not a fitted TextClassifier; save one of these."
        )
    model: TextClassifier = found
    return model
