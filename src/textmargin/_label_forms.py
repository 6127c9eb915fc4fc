"""Labels in every form people have them: names, numbers, a list, set or tuple of names a text, an indicator
matrix.

`describe` says what classes there are, `encode` turns labels into what estimators take (an array of names, or
an `Indicator`), `decode` turns decisions back into the form that was given.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from ._typing import Bools
from .errors import LabelError, TextmarginWarning
from .labels import ClassLabels, Indicator, as_sets, column_names, listed, positive_of

_SETS = (list, tuple, set, frozenset)


def labelled_rows(
    y: Any, n_texts: int, *, expects_gaps: bool = False, classes: Sequence[Any] | None = None
) -> Bools:
    """Which texts have a label: not None, NaN or NA, nor −1 as scikit-learn writes it; for an indicator, a
    row of these.

    Parameters
    ----------
    y, n_texts : labels, and how many there should be
    expects_gaps : bool, default=False
        Whether something else speaks for texts without labels. Without, and where no label is missing
        otherwise, −1 is a label; so it is where there is only one other.
    classes : sequence, default=None
        The labels there may be: −1 among them is one.
    """
    if y is None:
        return np.zeros(n_texts, dtype=bool)
    if sp.issparse(y):
        return np.ones(y.shape[0], dtype=bool)
    if getattr(y, "ndim", 1) == 2 and np.shape(y)[1] > 1:
        matrix = np.asarray(y, dtype=object)
        return np.asarray(
            [not all(_is_missing(value) or value == -1 for value in row) for row in matrix.tolist()],
            dtype=bool,
        )
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "US":
        return np.ones(len(y), dtype=bool)
    rows = _rows(y)
    if _kinds(rows) <= {str, tuple}:
        return np.ones(len(rows), dtype=bool)
    labelled = np.array([not _is_missing(row) for row in rows], dtype=bool)
    minus = np.array(
        [isinstance(row, Real) and not isinstance(row, bool) and row == -1 for row in rows], dtype=bool
    )
    is_class = classes is not None and any(name == -1 for name in classes)
    if minus.any() and (expects_gaps or not labelled.all()) and not is_class:
        others = {
            row for row, own, is_minus in zip(rows, labelled, minus, strict=True) if own and not is_minus
        }
        if len(others) != 1:
            labelled &= ~minus
    return labelled


def take_labels(y: Any, rows: NDArray[np.intp]) -> Any:
    """The labels of some texts, in their form; whole numbers that are floats, as in a column with gaps, as
    whole numbers.
    """
    if hasattr(y, "iloc"):
        some = y.iloc[rows]
    else:
        some = y[rows] if isinstance(y, np.ndarray) or sp.issparse(y) else [y[row] for row in rows.tolist()]
    if getattr(some, "ndim", 1) == 2:
        return some
    names = _rows(some)
    whole = all(isinstance(name, float) and name.is_integer() for name in names)
    return [int(name) for name in names] if names and whole else some


def label_names(y: Any) -> list[str]:
    """The names that occur in labels, as texts have them; none of an indicator, whose columns are named
    elsewhere.
    """
    if sp.issparse(y) or getattr(y, "ndim", 1) == 2 or _looks_like_a_matrix(y):
        return []
    return [str(name) for row in _rows(y) for name in (row if isinstance(row, _SETS) else [row])]


def describe_partly(
    y: Any,
    names: Sequence[Any],
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    multilabel: bool | None = None,
) -> ClassLabels:
    """What classes there are where only some texts have labels, perhaps none.

    Parameters
    ----------
    y : the labels of those that have any, as `describe` takes them; None where none has
    names : the classes that knowledge speaks of
    classes, positive : as in `describe`
    multilabel : bool, default=None
        Whether a text may have any number of labels, where y does not tell.
    """
    if y is not None and _indicator(y, classes) is not None:
        return describe(y, classes, positive)
    rows = [] if y is None else _rows(y)
    sets = _have_sets(rows) if rows else bool(multilabel)
    if rows and multilabel is not None and multilabel != sets:
        raise LabelError(
            f"multilabel={multilabel}, but texts have {'any number of labels' if sets else 'one label each'}."
        )
    counts = Counter(name for own in _as_sets(rows) for name in own) if sets else Counter(_plain_names(rows))
    spelled = {str(name) for name in counts}
    for name in [*(classes if classes is not None else []), *names]:
        if str(name) not in spelled:
            spelled.add(str(name))
            counts.setdefault(name, 0)  # 1 is 1.0
    if not sets and len(counts) < 2:
        only = f"only one class, {next(iter(counts))!r}, is" if counts else "no class is"
        raise LabelError(
            f"Of these texts {only} known; name two at least: by labels, by knowledge of both, or by "
            "classes=[...]."
        )
    if not sets and positive is None and len(counts) == 2 and len(names) == 1 and not any(counts.values()):
        positive = names[0]  # the one that somebody could say something of
    return describe_counts(counts, len(rows), sets, classes, positive)


def describe(y: Any, classes: Sequence[Any] | None = None, positive: Any = None) -> ClassLabels:
    """What classes there are.

    Parameters
    ----------
    y : names or numbers (n_texts,); lists, sets or tuples of these; or a 0/1 indicator matrix, perhaps a data
        frame
    classes : sequence, default=None
        The names of an indicator's columns, in order. For other forms, the labels there may be: others are an
        error.
    positive : class, default=None
        Of two classes the one that is looked for. By default 1 of 0 and 1 or of −1 and 1, else the rarer, and
        of two equally frequent ones the second in order.
    """
    matrix = _indicator(y, classes)
    if matrix is None:
        rows = _rows(y)
        sets = _have_sets(rows)
        names = [name for own in _as_sets(rows) for name in own] if sets else _plain_names(rows)
        return describe_counts(Counter(names), len(rows), sets, classes, positive)
    labels = ClassLabels(
        _checked_names(column_names(y) if classes is None else classes, matrix.shape[1]),
        "multilabel",
        form="indicator",
    )
    return _without_positive(labels, positive)


def describe_counts(
    counts: Mapping[Any, int],
    n_texts: int,
    sets: bool,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
) -> ClassLabels:
    """The same from how many texts have each label; `sets` tells whether a text may have any number of
    them.
    """
    if sets:
        if not counts:
            raise LabelError(
                f"None of {n_texts} texts has a label; a classifier needs texts with and without one."
            )
        return _without_positive(ClassLabels(_ordered(counts, classes), "multilabel", form="sets"), positive)
    names = _ordered(counts, classes)
    if names.size < 2:
        only = (
            f"All {n_texts} texts are of only one class: {names[0]}" if names.size else "There are no texts"
        )
        raise LabelError(f"{only}; a classifier needs texts of two classes at least.")
    kind = type_of_target(names)
    if kind not in ("binary", "multiclass"):
        raise LabelError(
            f"Unknown label type: {kind}; labels are names or whole numbers, which {names[0]} is not."
        )
    labels = ClassLabels.of(names, multilabel=False)
    if labels.kind != "binary":
        return _without_positive(labels, positive)
    return replace(
        labels, positive=positive_of(names.tolist(), [counts[name] for name in names.tolist()], positive)
    )


def _without_positive(labels: ClassLabels, positive: Any) -> ClassLabels:
    if positive is not None:
        raise LabelError(
            f"positive={positive!r} is for texts of two classes; here are {labels.names.size} labels."
        )
    return labels


def encode(labels: ClassLabels, y: Any) -> NDArray[Any]:
    """Labels as estimators take them: an array of names, or a named 0/1 matrix."""
    if labels.form == "indicator":
        matrix = _indicator(y, labels.names)
        if matrix is None or matrix.shape[1] != labels.names.size:
            raise LabelError(
                f"The labels should be an indicator matrix with {labels.names.size} columns; got {_shape(y)}."
            )
        return Indicator(matrix, labels.names)
    rows, names = _rows(y), labels.names.tolist()
    place = {name: column for column, name in enumerate(names)}
    if labels.form == "names":
        plain = _plain_names(rows)
        _require_known(dict.fromkeys(plain), place)
        return np.array(plain, dtype=labels.names.dtype)
    matrix = np.zeros((len(rows), len(names)), dtype=np.int8)  # a learner may put −1 for 0
    for row, own in enumerate(_as_sets(rows)):
        _require_known(own, place)
        matrix[row, [place[name] for name in own]] = 1
    return Indicator(matrix, labels.names)


def decode(labels: ClassLabels, decided: Any) -> NDArray[Any]:
    """What estimators decided, in the form that labels were given in."""
    if labels.form == "names":
        return np.asarray(decided)
    matrix = labels.membership(decided)
    return matrix.astype(int) if labels.form == "indicator" else as_sets(labels.names, matrix)


def _indicator(y: Any, classes: Any) -> NDArray[Any] | None:
    """The matrix, where y is one."""
    if y is None:
        raise LabelError("There are no labels: y is None.")
    if sp.issparse(y):
        matrix = y.toarray()
    elif getattr(y, "ndim", 1) == 2 or _looks_like_a_matrix(y):
        matrix = np.asarray(y)
    else:
        return None
    if matrix.shape[1] == 1 and (classes is None or len(classes) != 1):
        return None  # a column of names
    try:
        wrong = ~np.isin(matrix, (0, 1))
    except TypeError:
        wrong = np.ones(matrix.shape, dtype=bool)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise LabelError(
            f"Labels in a table of {matrix.shape[1]} columns must be 0 or 1; row {row}, column {column} has "
            f"{matrix[row].tolist()[column]!r:.40}. For names, give a list or tuple of them per text."
        )
    return np.asarray(matrix != 0).astype(np.int8)


def _looks_like_a_matrix(y: Any) -> bool:
    """Whether a list of lists is meant as rows of 0 and 1, as in scikit-learn; tuples and sets hold names."""
    if (
        not isinstance(y, list)
        or not y
        or not all(isinstance(row, list) and len(row) == len(y[0]) for row in y)
    ):
        return False
    return len(y[0]) > 1 and all(
        isinstance(value, int | np.integer) and value in (0, 1) for row in y for value in row
    )


def _rows(y: Any) -> list[Any]:
    """The labels of each text, as Python has them."""
    if getattr(y, "ndim", 1) == 2:
        y = y.toarray() if sp.issparse(y) else np.asarray(y)
        y = column_or_1d(y, warn=True)
    if isinstance(y, str | bytes) or not isinstance(y, Iterable):
        raise LabelError(f"Labels must be a list or column with the labels of each text; got {y!r:.60}.")
    rows = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if any(issubclass(kind, np.ndarray | np.generic) for kind in _kinds(rows)):
        return [row.tolist() if isinstance(row, np.ndarray | np.generic) else row for row in rows]
    return rows


def _have_sets(rows: list[Any]) -> bool:
    return any(issubclass(kind, _SETS) for kind in _kinds(rows))


def _as_sets(rows: list[Any]) -> list[list[Any]]:
    found = []
    for row, own in enumerate(rows):
        if not isinstance(own, _SETS):
            raise LabelError(
                f"Text number {row} has {own!r:.40}, others a list of labels; give every text a list or "
                "tuple, () for none."
            )
        found.append(list(dict.fromkeys(_plain(name, row) for name in own)))
    return found


def _is_missing(name: Any) -> bool:
    return name is None or type(name).__name__ == "NAType" or (isinstance(name, float) and name != name)


def _kinds(rows: list[Any]) -> set[type]:
    """The types that occur, which tell most of what asking each label would."""
    return {*map(type, rows)}


def _plain_names(rows: list[Any]) -> list[Any]:
    """Names as Python writes them, one a text, if they are such."""
    if _kinds(rows) <= {str} and all(map(str.strip, {*rows})):
        return rows
    return [_plain(name, row) for row, name in enumerate(rows)]


def _plain(name: Any, row: int) -> Any:
    """A name as Python writes it, if it is one."""
    name = name.item() if isinstance(name, np.generic) else name
    if _is_missing(name):
        raise LabelError(
            f"Text number {row} has no label ({name!r}); leave it out, or give every text a tuple of "
            "labels, () for none."
        )
    if isinstance(name, float) and name in (float("inf"), -float("inf")):
        raise LabelError(f"Text number {row} has the label {name!r}; labels are names or whole numbers.")
    if isinstance(name, str):
        if not name.strip():
            raise LabelError(
                f"Text number {row} has the label {name!r}, which is blank; name it, or leave the text out."
            )
        return str(name)
    if not isinstance(name, Real):
        raise LabelError(
            f"Text number {row} has a label of type {type(name).__name__}, {name!r:.40}; use names or "
            "whole numbers."
        )
    return name


def _ordered(counts: Mapping[Any, int], classes: Sequence[Any] | None) -> NDArray[Any]:
    """The names in order, if they are of one kind and all known."""
    strings = [name for name in counts if isinstance(name, str)]
    if strings and len(strings) < len(counts):
        number = next(name for name in counts if not isinstance(name, str))
        raise LabelError(
            f"Labels mix names and numbers, {strings[0]!r} and {number!r}; make them all of one type."
        )
    _warn_of_variants(strings)
    if classes is None:
        return np.array(sorted(counts))
    known = _checked_names(classes, len(classes)).tolist()
    _require_known(list(counts), dict.fromkeys(known, 0))
    missing = [name for name in known if name not in counts]
    if missing:
        raise LabelError(f"No text has the label {missing[0]!r} of classes; leave it out.")
    return np.array(sorted(counts))


def _checked_names(names: Any, n_columns: int) -> NDArray[Any]:
    if names is None:
        return np.arange(n_columns)
    if isinstance(names, str) or len(names) != n_columns:
        raise LabelError(f"classes must name the {n_columns} columns of the labels; got {names!r:.80}.")
    plain = [_plain(name, column) for column, name in enumerate(names)]
    if len(set(plain)) < len(plain):
        raise LabelError(f"classes names {Counter(plain).most_common(1)[0][0]!r} twice.")
    _warn_of_variants([name for name in plain if isinstance(name, str)])
    return np.array(plain)


def _require_known(names: Iterable[Any], place: dict[Any, int]) -> None:
    for name in names:
        if name not in place:
            raise LabelError(f"There is no label {name!r}; there are {listed(name, list(place))}")


def _warn_of_variants(names: list[str]) -> None:
    """Names that a person would take for one."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(" ".join(name.casefold().split()), []).append(name)
    variants = [own for own in alike.values() if len(own) > 1]
    if variants:
        more = f" (and {len(variants) - 1} more)" if len(variants) > 1 else ""
        warnings.warn(
            f"Labels {' and '.join(map(repr, sorted(variants[0])))} differ only by blanks or case{more}; "
            "they are learnt as "
            "different classes. If they are one, spell it alike in all rows: check_data(texts, labels) "
            "lists them.",
            TextmarginWarning,
            stacklevel=5,
        )


def _shape(y: Any) -> str:
    return f"shape {y.shape}" if hasattr(y, "shape") else f"{y!r:.60}"
