"""Models in files, without pickle: loading builds textmargin's own classes from data, and runs nothing else.

    save    model ── write_record ──▶ document, arrays ── write_file ──▶ one safetensors file
    load    file ── read_file ──▶ document, arrays ── read_record ──▶ model

A damaged file raises `ModelFileError`. One that was made up may decide anything, or raise when it is used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import ModelFileError
from ..records import RecordError, read_record, write_record
from .file import read_file, refusal, write_file

if TYPE_CHECKING:
    from ..classifier import TextClassifier

__all__ = ["load", "save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model, fitted or not, to a file; whole or not at all.

    The same model gives the same bytes. The training data of `PriorSVC` are not part of the file; support
    vectors, landmarks and knowledge are.

    Parameters
    ----------
    model : TextClassifier, or any other estimator, kernel, prior or utility of textmargin
    path : str or path
        By convention it ends in `.tmm`; its folder must exist.

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
    try:
        document, arrays = write_record(model)
    except RecordError as error:
        raise ModelFileError(
            f"{path} is not written: {error}. Leave that part out, or save the model with skops or pickle."
        ) from None
    write_file(path, document, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file that `save` wrote.

    Nothing in the file is executed. The model decides as it did when it was saved, to the bit.

    Parameters
    ----------
    path : str or path
    """
    document, arrays = read_file(path)
    with refusal(path):
        if document["$"] != "record":
            raise RecordError("it holds no model")
        return read_record(document, arrays)


def load_classifier(path: str | os.PathLike[str]) -> TextClassifier:
    """`load`, for a file that must hold a fitted TextClassifier: what `textmargin train` and `model.save`
    write.
    """
    found = load(path)
    if not hasattr(found, "labels_") or not hasattr(found, "metadata_"):
        fitted = "" if type(found).__name__ != "TextClassifier" else " that is not fitted"
        raise ModelFileError(
            f"{path} holds a {type(found).__name__}{fitted}, not a fitted TextClassifier; save one of these."
        )
    model: TextClassifier = found
    return model
