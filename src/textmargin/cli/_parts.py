"""Training on files in parts: what is read of them first, which texts are held out, and what is learnt from
the others.

Texts are read anew for each thing that is needed of them; in memory there is a label, a digest and a few
numbers for each.
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
    from ..representations.text_parts import TextParts
    from ..scale.facts import LabelCodes, TextFacts
    from ..tables.parts import PartedTable
    from ..tuning import Tuning
    from ._model_options import HoldoutOptions
    from ._unlabelled import UnlabelledOptions

MOST_EVALUATED = 5_000  # held-out texts that a summary or a report is about, of more a sample
_MOST_TUNED = 20_000  # texts that settings are chosen on, of more a sample

# From the table, and which texts of each part are learnt from (None: all), the texts in parts.
MakeTexts = Callable[["PartedTable", "list[Bools] | None"], "TextParts"]


@dataclass(frozen=True)
class TrainedParts:
    """The model, its settings, texts that were held out, and how these were chosen."""

    model: TextClassifier
    settings: ModelConfig
    held_out: Corpus | None = None
    start: str | None = None
    tuning: Tuning | None = None


@dataclass(frozen=True)
class PartsFacts:
    """What is known of all rows of a table.

    Attributes
    ----------
    sizes : list of int, texts with a label in each part
    facts : TextFacts, of these
    n_unlabelled : int
    keys : array (n_texts,) or None, what they are sorted by
    marked : Corpus or None, those that have passages
    """

    sizes: list[int]
    facts: TextFacts
    n_unlabelled: int
    keys: NDArray[np.float64] | None
    marked: Corpus | None

    def split(self, rows: Bools) -> list[Bools]:
        """Rows part by part."""
        import numpy as np

        return np.split(rows, np.cumsum(self.sizes)[:-1])


def train_parts(
    table: PartedTable,
    make_texts: MakeTexts,
    settings: ModelConfig,
    reading: ReadingOptions,
    unlabelled: UnlabelledOptions,
    holdout: HoldoutOptions,
    choose: Callable[[ModelConfig, Corpus], Tuning] | None,
) -> TrainedParts:
    """Read, split and learn.

    Parameters
    ----------
    table : what `open_parts` gives
    make_texts : where the texts are worked on
    settings, reading, unlabelled, holdout : as given
    choose : what tunes settings on a corpus, where that is wanted
    """
    import numpy as np

    known = read_facts(table, settings.rationales, holdout.split_by)
    tell(table.columns.notes, known.facts.invalid, known.facts.n_invalid)
    labels, n_texts = known.facts.labels, known.facts.n_texts
    others = _unlabelled_texts(table, known, reading, unlabelled)
    if not n_texts and (holdout.holdout is not None or choose is not None):
        option = "--holdout" if choose is None else "--tune"
        raise OptionError(f"{option} needs texts with labels, and none has one; leave it out.")
    if not n_texts:
        settings = replace(settings, multilabel=unlabelled.multilabel or reading.label_separator is not None)
    held_out = hold_out(known, table.name, holdout)
    training = np.ones(n_texts, dtype=bool) if held_out is None else ~held_out
    own = [] if labels is None else [labels.names[code] for code in np.unique(labels.codes[training])]
    remark_on_corpus(int(training.sum()), own, _count(others), settings.known_labels())
    if labels is not None and others is None and not settings.known_labels():
        _check_classes(labels[np.flatnonzero(training)], settings)
    tuning = None
    if choose is not None:
        sample = read_sample(table, known, training, _MOST_TUNED)
        if len(sample) < training.sum():
            remark(f"settings are chosen on {len(sample):,} of the texts, drawn at random, and used for all")
        tuning = choose(settings, sample)
        settings = tuning.choice.config
    texts = make_texts(table, None if held_out is None else known.split(training))
    marked = known.marked
    if marked is not None and held_out is not None:
        rows = [k for k, row in enumerate(marked.fields["row"]) if training[row]]
        marked = marked.take(rows)
    model = settings.fit_parts(texts, others, marked)
    if held_out is None:
        return TrainedParts(model, settings, tuning=tuning)
    sample = read_sample(table, known, held_out, MOST_EVALUATED)
    if len(sample) < held_out.sum():
        remark(
            f"{held_out.sum():,} texts are held out; what is said of them is of {len(sample):,}, drawn at "
            "random"
        )
    start = None
    if holdout.split_by is not None and known.keys is not None:
        first = np.zeros(n_texts, dtype=bool)
        first[np.flatnonzero(held_out)[np.argmin(known.keys[held_out])]] = True
        start = str(read_sample(table, known, first, 1, [holdout.split_by]).fields[holdout.split_by][0])
    return TrainedParts(model, settings, sample, start, tuning)


def check_parts(
    table: PartedTable, settings: ModelConfig, unlabelled: UnlabelledOptions, holdout: HoldoutOptions
) -> None:
    """What cannot be had in parts, and columns that are not there: before a cluster is started, or anything
    read.
    """
    if settings.features != "words":
        raise OptionError(
            f"--features {settings.features} compares all pairs of texts, which needs them in one memory; "
            "in parts use "
            f"--features words, or in Python SubsequenceFeatures or KernelLandmarks."
        )
    for part in table.parts:
        part.require([name for name in (settings.rationales, holdout.split_by) if name is not None], "fields")


def _check_classes(labels: LabelCodes, settings: ModelConfig) -> None:
    """That there are two classes, and costs of each: before anything is written."""
    from .._fitting import EncodedLabels
    from ..decisions.class_utilities import measures_of

    classes = EncodedLabels.read(labels, None, settings.positive).labels
    if settings.utility is not None:
        measures_of(settings.utility, classes)


def read_facts(table: PartedTable, rationales: str | None, split_by: str | None) -> PartsFacts:
    """All rows read once."""
    import numpy as np

    from .._system.progress import progress_of
    from ..scale.facts import TextFacts
    from ..tables.columns import check_labels
    from ..tables.holdout import sort_keys

    fields = [name for name in (rationales, split_by) if name is not None]
    facts: list[TextFacts] = []
    marked: list[Corpus] = []
    keys: list[float] = []
    kinds: set[str] = set()
    n_texts = n_unlabelled = 0
    with progress_of(f"reading {table.name}", True) as report:
        for number, part in enumerate(table.parts, start=1):
            read = table.read(part, fields)
            corpus = read.corpus
            facts.append(TextFacts.of(corpus.texts, corpus.labels, read.invalid, read.missing))
            n_unlabelled += len(read.unlabelled)
            if rationales is not None:
                rows = [row for row, spans in enumerate(corpus.fields[rationales]) if spans]
                own = corpus.take(rows)
                marked.append(replace(own, fields={**own.fields, "row": [n_texts + row for row in rows]}))
            if split_by is not None and len(corpus):
                own_keys, kind = sort_keys(corpus, split_by)
                keys += own_keys
                kinds.add(kind)
            n_texts += len(corpus)
            if report is not None:
                report(number / len(table.parts))
    if len(kinds) > 1:
        raise OptionError(f"--split-by {split_by}: the column has both numbers and dates; choose another.")
    joint = TextFacts.join(facts)
    if not joint.n_texts and not n_unlabelled:
        first = joint.invalid[:1]
        why = (
            f"no line could be read; line {first[0].number:,}: {first[0].reason}"
            if first
            else "it has no rows"
        )
        raise OptionError(f"{table.name} cannot be learnt from: {why}.")
    if joint.labels is not None and joint.n_texts:
        counts = np.bincount(joint.labels.codes, minlength=len(joint.labels.names)).tolist()
        by_label: dict[str, int] = {}
        for name, n in zip(joint.labels.names, counts, strict=True):
            for one in name if isinstance(name, tuple) else [name]:
                by_label[one] = by_label.get(one, 0) + n
        check_labels(
            by_label, joint.n_texts, str(table.columns.label), table.name, is_guess=table.label_is_guess
        )
    passages = None if rationales is None else _join(table.name, marked, [rationales, "row"])
    return PartsFacts(
        [one.n_texts for one in facts], joint, n_unlabelled, np.array(keys) if split_by else None, passages
    )


def hold_out(known: PartsFacts, name: str, holdout: HoldoutOptions) -> Bools | None:
    """Which texts are held out, those that memory would; None for none."""
    import numpy as np

    from ..tables.holdout import hold_out_at_random, hold_out_last, require_labels

    labels = known.facts.labels
    if holdout.holdout is None or labels is None:
        return None
    if known.keys is None or holdout.split_by is None:
        return hold_out_at_random(
            known.facts.digests, labels.codes.astype(np.intp), labels.names, holdout.holdout
        )
    held_out = hold_out_last(known.keys, name, holdout.split_by, holdout.holdout)

    def names_of(rows: Bools) -> list[str]:
        own = [labels.names[code] for code in np.unique(labels.codes[rows])]
        return sorted({one for name in own for one in (name if isinstance(name, tuple) else [name])})

    require_labels(names_of(~held_out), names_of(held_out), holdout.split_by, holdout.holdout)
    return held_out


def read_sample(
    table: PartedTable, known: PartsFacts, rows: Bools, most: int, fields: list[str] | None = None
) -> Corpus:
    """Some of the texts, at most so many, drawn at random; the same for the same rows."""
    import numpy as np

    numbers = np.flatnonzero(rows)
    if numbers.size > most:
        numbers = np.sort(np.random.default_rng(0).choice(numbers, most, replace=False))
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[numbers] = True
    found = []
    for part, own in zip(table.parts, known.split(chosen), strict=True):
        if own.any():
            found.append(table.read(part, fields or []).corpus.take(np.flatnonzero(own).tolist()))
    return _join(table.name, found, fields or [])


def _join(name: str, parts: list[Corpus], fields: list[str]) -> Corpus:
    """Texts of parts in one corpus; where one has several labels, all have tuples."""
    from ..datasets.corpus import Corpus

    labels: list[Any] = [label for one in parts for label in one.labels]
    if any(isinstance(label, tuple) for label in labels):
        labels = [label if isinstance(label, tuple) else (label,) for label in labels]
    return Corpus(
        name,
        [text for one in parts for text in one.texts],
        labels,
        ids=[line for one in parts for line in one.ids],
        fields={field: [value for one in parts for value in one.fields[field]] for field in fields},
    )


def _unlabelled_texts(
    table: PartedTable, known: PartsFacts, reading: ReadingOptions, options: UnlabelledOptions
) -> Any:
    """The rows without a label, and the texts of further files; None where there are none."""
    from ..datasets.corpus import Corpus
    from ..scale.texts import TextFiles
    from ..tables.label_values import describe_missing
    from ..tables.row_reader import LabelledTable

    if known.facts.missing:
        tell([describe_missing(known.facts.missing, known.facts.n_texts, left_out=False)], [], 0)
    rows = TextFiles(table, unlabelled=True)
    if not options.unlabelled:
        if not known.n_unlabelled and options.options:
            raise OptionError(
                f"{options.options[0]} is about texts without a label, and all of {table.name} have one."
            )
        return rows if known.n_unlabelled else None
    texts = [text for number in range(len(rows)) for text in rows.read(number)] if known.n_unlabelled else []
    like = LabelledTable(
        Corpus(table.name, [], []), text_column=table.columns.text, label_column=table.columns.label
    )
    for path in options.unlabelled:
        texts += reading.read_unlabelled(path, like).unlabelled.texts
    return texts


def _count(others: Any) -> int:
    if others is None:
        return 0
    return int(others.n_texts if hasattr(others, "n_texts") else len(others))
