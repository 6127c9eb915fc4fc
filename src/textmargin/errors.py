"""What can go wrong, as a tree.

    TextmarginError
    ├── ActError               (ValueError)   an act of a reader that does not fit the project
    ├── ClusterError           (OSError)      a cluster cannot be reached or has no workers, or none is in use
    ├── DatasetError           (OSError)      a corpus cannot be read or imported: missing, wrong or damaged
    ├── DeskError              (OSError)      a project of the reading desk cannot be read or written
    ├── DeviceError            (RuntimeError) a GPU cannot be used: none, no CuPy or driver, memory full, lost
    ├── EmptyVocabularyError   (ValueError)   no word is left to build columns from
    ├── FeedbackError          (OSError)      feedback cannot be stored or read: wrong file, database away
    ├── LabelError             (ValueError)   labels cannot be learnt: none, one class only, no examples
    ├── ModelFileError         (ValueError)   a model cannot be saved, or a file is no model to be loaded
    ├── NotTextError           (TypeError, ValueError) something that is not a text stands among the texts
    ├── DuplicateFeedbackIdError (ValueError)   other feedback under an id that some has already
    ├── PriorError             (ValueError)   prior knowledge that does not fit the columns or classes
    ├── OutputError            (OSError)      a file cannot be written: a full disk, a folder that is missing
    ├── ScoreError             (ValueError)   scores on which no threshold, or not that asked for, can be set
    ├── SettingError           (ValueError)   a setting out of range, or that does not apply to the others
    ├── StoreError             (OSError)      kernel values, or texts in parts, cannot be kept: disk, damage
    ├── TableError             (ValueError)   a user's file that cannot be read as texts: no column, no rows
    └── TooLargeError          (ValueError)   the exact way needs more memory than is sensible

    TextmarginWarning          (UserWarning)
    ├── EmptyTextWarning                      texts without a single known word: their score is the intercept
    └── UnknownTermWarning                    prior knowledge about words that do not occur

Parameters of the wrong type or range raise scikit-learn's `InvalidParameterError` (a ValueError); a learner
that stops early warns with scikit-learn's `ConvergenceWarning`.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from typing import TypeVar

__all__ = [
    "ActError",
    "ClusterError",
    "DatasetError",
    "DeskError",
    "DeviceError",
    "DuplicateFeedbackIdError",
    "EmptyTextWarning",
    "EmptyVocabularyError",
    "FeedbackError",
    "LabelError",
    "ModelFileError",
    "NotTextError",
    "OutputError",
    "PriorError",
    "ScoreError",
    "SettingError",
    "StoreError",
    "TableError",
    "TextmarginError",
    "TextmarginWarning",
    "TooLargeError",
    "UnknownTermWarning",
]

Name = TypeVar("Name")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a system says that has no room for a file


def nearest(name: object, known: Iterable[Name]) -> Name | None:
    """Of the names there are the one that is spelled most like a name that is not among them; None where none
    is alike.

    Examples
    --------
    >>> from textmargin.errors import nearest
    >>> nearest("sci.spce", ["sci.med", "sci.space"]), nearest("wheat", ["sci.med"])
    ('sci.space', None)
    """
    spelled = {str(one).strip().casefold(): one for one in known}
    near = difflib.get_close_matches(str(name).strip().casefold(), spelled, n=1)
    return spelled[near[0]] if near else None


def install_hint(extra: str) -> str:
    """How an optional part of this package is installed, from an index or from its own folder.

    Examples
    --------
    >>> from textmargin.errors import install_hint
    >>> install_hint("excel")
    "pip install 'textmargin[excel]' (or '.[excel]' in its folder)"
    """
    return f"pip install 'textmargin[{extra}]' (or '.[{extra}]' in its folder)"


class TextmarginError(Exception):
    """Every error that textmargin raises by itself."""


class ActError(TextmarginError, ValueError):
    """An act of a reader that does not fit the project."""


class ClusterError(TextmarginError, OSError):
    """A cluster cannot be reached, or none is in use."""


class DatasetError(TextmarginError, OSError):
    """A corpus cannot be read or imported."""


class DeskError(TextmarginError, OSError):
    """A project of the reading desk cannot be read or written."""


class DeviceError(TextmarginError, RuntimeError):
    """A GPU cannot be used."""


class EmptyVocabularyError(TextmarginError, ValueError):
    """No word is left to build columns from."""


class FeedbackError(TextmarginError, OSError):
    """Feedback cannot be stored or read."""


class LabelError(TextmarginError, ValueError):
    """The labels cannot be learnt."""


class ModelFileError(TextmarginError, ValueError):
    """A model cannot be saved, or a file is not a model that can be loaded."""


class NotTextError(TextmarginError, TypeError, ValueError):
    """Something that is not a text stands among the texts."""


class DuplicateFeedbackIdError(TextmarginError, ValueError):
    """Other feedback under an id that some has already."""


class PriorError(TextmarginError, ValueError):
    """Prior knowledge that does not fit the columns or classes."""


class OutputError(TextmarginError, OSError):
    """A file cannot be written."""

    def __str__(self) -> str:
        if not self.filename:
            return super().__str__()
        if self.errno in FULL:
            return (
                f"{self.filename} cannot be written: {self.strerror}. What was there before is as it was, "
                "and nothing is half "
                f"written; free some space, or choose another place."
            )
        return f"{self.filename} cannot be written: {self.strerror}; choose another place."


class ScoreError(TextmarginError, ValueError):
    """Scores on which no threshold, or not the one asked for, can be set."""


class SettingError(TextmarginError, ValueError):
    """A setting that is out of range, or does not apply to the others; `setting` is its name, as the caller
    typed it.
    """

    def __init__(self, setting: str, why: str) -> None:
        super().__init__(f"{setting} {why}")
        self.setting = setting
        self.why = why


class StoreError(TextmarginError, OSError):
    """Kernel values, or texts in parts, cannot be kept."""


class TableError(TextmarginError, ValueError):
    """A user's file that cannot be read as texts."""


class TooLargeError(TextmarginError, ValueError):
    """The exact way needs more memory than is sensible."""


class TextmarginWarning(UserWarning):
    """Every warning that textmargin issues by itself."""


class EmptyTextWarning(TextmarginWarning):
    """Texts without a single known word."""


class UnknownTermWarning(TextmarginWarning):
    """Prior knowledge about words that do not occur."""
