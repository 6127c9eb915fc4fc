"""Training on files in parts: which texts are held out, and what is learnt from the others.

In memory there is a label, a digest and a few numbers for each text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ._console import OptionError, remark
from ._options import ReadingOptions, tell
from ._talk import remark_on_corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._typing import Bools
    from ..classifier import TextClassifier
    from ..config import ModelConfig
    from ..datasets.corpus import Corpus
    from ..scale import TextFiles
    from ..tables.parts import LabelCodes, PartedTable
    from ..tuning import Tuning
    from ._model_options import HoldoutOptions
    from ._unlabelled import UnlabelledOptions

MOST_EVALUATED = 5_000  # held-out texts that a summary or a report is about, of more a sample
_MOST_TUNED = 20_000  # texts that settings are chosen on, of more a sample


@dataclass(frozen=True)
class TrainedParts:
    """The model, its settings, texts that were held out, and how these were chosen."""

    model: TextClassifier
    settings: ModelConfig
    held_out: Corpus | None = None
    start: str | None = None
    tuning: Tuning | None = None


def train_parts(
    texts: TextFiles,
    settings: ModelConfig,
    reading: ReadingOptions,
    unlabelled: UnlabelledOptions,
    holdout: HoldoutOptions,
    choose: Callable[[ModelConfig, Corpus], Tuning] | None,
) -> TrainedParts:
    """Split and learn.

    Parameters
    ----------
    texts : those with a label
    settings, reading, unlabelled, holdout : as given
    choose : what tunes settings on a corpus, where that is wanted
    """
    import numpy as np

    table = texts.table
    tell(table.columns.notes, table.invalid, table.n_invalid)
    labelled, n_texts = table.is_labelled, texts.n_texts
    labels = table.labels[labelled]
    _check_table(table, labels)
    others = _unlabelled_texts(texts, reading, unlabelled)
    if not n_texts and (holdout.holdout is not None or choose is not None):
        option = "--holdout" if choose is None else "--tune"
        raise OptionError(f"{option} needs texts with labels, and none has one; leave it out.")
    if not n_texts:
        settings = replace(settings, multilabel=unlabelled.multilabel or reading.label_separator is not None)
    keys = None
    if holdout.split_by is not None and n_texts:
        from ..tables.holdout import sort_keys

        by = table.corpus(labelled, [holdout.split_by], with_texts=False)
        keys = np.array(sort_keys(by, holdout.split_by)[0])
    held_out = hold_out(texts, labels, keys, holdout)
    training = np.ones(n_texts, dtype=bool) if held_out is None else ~held_out

    def rows(chosen: Bools) -> Bools:
        """Of the table, from those of the texts with a label."""
        found = labelled.copy()
        found[labelled] = chosen
        return found

    own = [labels.names[code] for code in np.unique(labels.codes[training])]
    remark_on_corpus(int(training.sum()), own, _count(others), settings.known_labels())
    if n_texts and others is None and not settings.known_labels():
        _check_classes(labels[np.flatnonzero(training)], settings)
    tuning = None
    if choose is not None:
        sample = read_sample(table, rows(training), _MOST_TUNED)
        if len(sample) < training.sum():
            remark(f"settings are chosen on {len(sample):,} of the texts, drawn at random, and used for all")
        tuning = choose(settings, sample)
        settings = tuning.choice.config
    marked = None
    if settings.rationales is not None:
        spans = table.corpus(labelled, [settings.rationales], with_texts=False).fields[settings.rationales]
        marked = table.corpus(rows(training & np.array([bool(own) for own in spans])), [settings.rationales])
    model = settings.fit_parts(texts.select(rows(training)), others, marked)
    if held_out is None:
        return TrainedParts(model, settings, tuning=tuning)
    sample = read_sample(table, rows(held_out), MOST_EVALUATED)
    if len(sample) < held_out.sum():
        remark(
            f"{held_out.sum():,} texts are held out; what is said of them is of {len(sample):,}, drawn at "
            "random"
        )
    start = None
    if holdout.split_by is not None and keys is not None:
        first = np.zeros(n_texts, dtype=bool)
        first[np.flatnonzero(held_out)[np.argmin(keys[held_out])]] = True
        start = str(table.corpus(rows(first), [holdout.split_by]).fields[holdout.split_by][0])
    return TrainedParts(model, settings, sample, start, tuning)


def check_parts(settings: ModelConfig) -> None:
    """What cannot be had in parts: before anything is read."""
    if settings.features != "words":
        raise OptionError(
            f"--features {settings.features} compares all pairs of texts, which needs them in one memory; "
            "in parts use "
            f"--features words, or in Python SubsequenceFeatures or KernelLandmarks."
        )


def _check_classes(labels: LabelCodes, settings: ModelConfig) -> None:
    """That there are two classes, and costs of each: before anything is written."""
    from .._fitting import EncodedLabels
    from ..decisions.class_utilities import measures_of

    classes = EncodedLabels.read(labels, None, settings.positive).labels
    if settings.utility is not None:
        measures_of(settings.utility, classes)


def _check_table(table: PartedTable, labels: LabelCodes) -> None:
    """That there are texts, and labels that can be such."""
    import numpy as np

    from ..tables.columns import check_labels

    if not table.digests.size:
        first = table.invalid[:1]
        why = (
            f"no line could be read; line {first[0].number:,}: {first[0].reason}"
            if first
            else "it has no rows"
        )
        raise OptionError(f"{table.name} cannot be learnt from: {why}.")
    if table.columns.label is None or not len(labels):
        return
    counts = np.bincount(labels.codes, minlength=len(labels.names)).tolist()
    by_label: dict[str, int] = {}
    for name, n in zip(labels.names, counts, strict=True):
        for one in name if isinstance(name, tuple) else [name]:
            by_label[one] = by_label.get(one, 0) + n
    check_labels(by_label, len(labels), table.columns.label, table.name, is_guess=table.label_is_guess)


def hold_out(
    texts: TextFiles, labels: LabelCodes, keys: NDArray[np.float64] | None, holdout: HoldoutOptions
) -> Bools | None:
    """Which texts are held out, those that memory would; None for none."""
    import numpy as np

    from ..tables.holdout import hold_out_at_random, hold_out_last, require_labels

    if holdout.holdout is None or not len(labels):
        return None
    if keys is None or holdout.split_by is None:
        return hold_out_at_random(texts.digests, labels.codes.astype(np.intp), labels.names, holdout.holdout)
    held_out = hold_out_last(keys, texts.name, holdout.split_by, holdout.holdout)

    def names_of(rows: Bools) -> list[str]:
        own = [labels.names[code] for code in np.unique(labels.codes[rows])]
        return sorted({one for name in own for one in (name if isinstance(name, tuple) else [name])})

    require_labels(names_of(~held_out), names_of(held_out), holdout.split_by, holdout.holdout)
    return held_out


def read_sample(table: PartedTable, rows: Bools, most: int) -> Corpus:
    """Some of the texts, at most so many, drawn at random; the same for the same rows."""
    import numpy as np

    numbers = np.flatnonzero(rows)
    if numbers.size > most:
        numbers = np.random.default_rng(0).choice(numbers, most, replace=False)
    chosen = np.zeros(rows.size, dtype=bool)
    chosen[numbers] = True
    return table.corpus(chosen)


def _unlabelled_texts(texts: TextFiles, reading: ReadingOptions, options: UnlabelledOptions) -> Any:
    """The rows without a label, and the texts of further files; None where there are none."""
    from ..datasets.corpus import Corpus
    from ..tables.label_values import describe_missing
    from ..tables.row_reader import LabelledTable

    table, rows = texts.table, texts.unlabelled
    if table.missing:
        tell([describe_missing(table.missing, texts.n_texts, left_out=False)], [], 0)
    if not options.unlabelled:
        if not rows.n_texts and options.options:
            raise OptionError(
                f"{options.options[0]} is about texts without a label, and all of {table.name} have one."
            )
        return rows if rows.n_texts else None
    more = [text for number in range(len(rows)) for text in rows.read(number)] if rows.n_texts else []
    like = LabelledTable(
        Corpus(table.name, [], []), text_column=table.columns.text, label_column=table.columns.label
    )
    for path in options.unlabelled:
        more += reading.read_unlabelled(path, like).unlabelled.texts
    return more


def _count(others: Any) -> int:
    if others is None:
        return 0
    return int(others.n_texts if hasattr(others, "n_texts") else len(others))
