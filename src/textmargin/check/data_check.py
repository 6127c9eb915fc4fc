"""`check_data`: all checks of labelled texts in one go."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._system.stages import stage
from .._system.wording import quantity
from ..datasets.corpus import Corpus, field_values
from ..errors import LabelError, SettingError
from ..representations.digests import text_digests
from ..representations.texts import as_items, as_texts
from .agreement import Agreement, agreement
from .contents import odd_contents
from .copies import copies, label_text, leaks
from .doubts import doubtful_labels
from .findings import DataCheck, Finding, in_order
from .giveaways import giveaway_columns, giveaway_words
from .label_names import label_rows, odd_label_names
from .near_duplicates import near_duplicates

_STANDARD_ERRORS = 3.0  # by which an annotator differs more often than all do, to be named


def check_data(
    data: Any,
    labels: Any = None,
    *,
    test: Any = None,
    fields: Mapping[str, Sequence[Any]] | None = None,
    annotators: Any = None,
    items: Any = None,
    row_ids: Any = None,
    similarity: float = 0.8,
    doubts: bool = True,
    n_jobs: int | None = None,
) -> DataCheck:
    """Look for what is wrong with labelled texts; nothing is changed.

    Parameters
    ----------
    data : Corpus, or texts
    labels : labels of the texts, default=None
        A name or number each, "" or None for none; or a list, set or tuple of names each. A Corpus has its
        own.
    test : Corpus, or pair of texts and labels, default=None
        Texts that a model is to be tested on: those that are in training as well are listed.
    fields : mapping column → values, default=None
        What else is known of each text, to see whether it gives the label away; by default what a Corpus has.
    annotators : sequence, or name of a field, default=None
        Who labelled each row. Rows of one item are then one text, with the label that most gave it.
    items : sequence, or name of a field, default=None
        Which rows are labels of one text, where annotators are given; by default those with the same text.
    row_ids : sequence, or name of a field, default=None
        What findings call the rows, beside their numbers.
    similarity : float, default=0.8
        From which texts are nearly the same: Jaccard similarity of character 5-grams, more than 0.5.
    doubts : bool, default=True
        Whether to train a model to see which labels its held-out scores doubt; takes most of the time.
    n_jobs : int, default=None
        Threads that compare texts; None: one, or what `joblib.parallel_config` says.

    Returns
    -------
    check : DataCheck

    Examples
    --------
    >>> from textmargin import check_data
    >>> texts = ["the screen stays dark", "no paper in tray two", "the screen stays  dark", ""]
    >>> check_data(texts, ["screen", "printer", "printer", "Printer"])
    DataCheck('texts': 4 texts; 1 contradiction, 1 label-spelling, 2 few-texts, 1 empty, 1 repeated)
    """
    corpus = _corpus(data, labels, fields)
    rated = None if annotators is None else _column(corpus, annotators, "annotators")
    if rated is None and items is not None:
        raise SettingError(
            "items", "says which rows are labels of one text; say who gave them with annotators=."
        )
    used = [values for values in (annotators, items) if isinstance(values, str)]
    others = {name: values for name, values in corpus.fields.items() if name not in used}
    rows, labels = list(range(len(corpus))), corpus.labels
    findings: list[Finding] = []
    found: Agreement | None = None
    if rated is not None:
        same = text_digests(corpus.texts).tolist() if items is None else _column(corpus, items, "items")
        rows, labels, found, findings = _judgements(same, rated, labels)
    texts = [corpus.texts[row] for row in rows]
    tests = (
        None
        if test is None
        else _corpus(test[0], test[1], {})
        if isinstance(test, tuple)
        else _corpus(test, None, {})
    )
    columns = {name: [values[row] for row in rows] for name, values in others.items()}
    with stage(f"checking {len(texts):,} texts"):
        own, noise, notes = _check(texts, labels, tests, columns, similarity, doubts, n_jobs)
    if found is not None and not found.n_items:
        notes = [*notes, "no text has labels of two annotators; say with items= which rows are of one text"]
    findings += [replace(one, rows=tuple(rows[row] for row in one.rows)) for one in own]
    return DataCheck(
        corpus.name,
        len(texts),
        {name: len(some) for name, some in label_rows(labels).items()},
        in_order(findings),
        noise,
        found,
        notes,
        corpus.ids,
        [] if tests is None else tests.ids,
        [] if row_ids is None else [str(value) for value in _column(corpus, row_ids, "row_ids")],
        corpus.texts,
        [] if tests is None else tests.texts,
    )


def _check(
    texts: list[str],
    labels: list[Any],
    test: Corpus | None,
    fields: Mapping[str, Sequence[Any]],
    similarity: float,
    doubts: bool,
    n_jobs: int | None,
) -> tuple[list[Finding], float | None, list[str]]:
    """What is found of texts of which each stands once, the estimated share of wrong labels, and notes."""
    duplicates = near_duplicates(texts, similarity=similarity, n_jobs=n_jobs)
    findings = list(copies(duplicates, labels))
    if test is not None:
        both = near_duplicates([*texts, *test.texts], similarity=similarity, n_jobs=n_jobs)
        findings += leaks(both, labels, test.labels)
    findings += odd_contents(texts)
    findings += odd_label_names(label_rows(labels))
    findings += [Finding("unlabelled", (row,)) for row, own in enumerate(labels) if own == ""]
    findings += giveaway_columns(labels, fields)
    findings += giveaway_words(texts, labels)
    if not doubts:
        return findings, None, []
    judged = doubtful_labels(texts, labels, duplicates.group)
    return [*findings, *judged.findings], judged.noise, judged.notes


def _corpus(data: Any, labels: Any, fields: Mapping[str, Sequence[Any]] | None) -> Corpus:
    """Texts and labels in one form: labels as text, "" for none, or tuples of these."""
    if isinstance(data, Corpus):
        if labels is not None:
            raise LabelError("A Corpus has labels of its own; give either it, or texts and labels.")
        return replace(
            data, labels=_names(data.labels), fields=data.fields if fields is None else _lists(fields)
        )
    if labels is None:
        raise LabelError("There are texts but no labels; check_data(texts, labels) takes both, or a Corpus.")
    texts, names = as_texts(data), _names(labels)
    if len(texts) != len(names):
        raise LabelError(
            f"Texts and labels differ in number: {quantity(len(texts), 'text')}, "
            f"{quantity(len(names), 'label')}."
        )
    return Corpus("texts", texts, names, fields=_lists(fields or {}))


def _lists(fields: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: as_items(values) for name, values in fields.items()}


def _names(labels: Any) -> list[Any]:
    if getattr(labels, "ndim", 1) > 1:
        raise LabelError(
            "Labels are an indicator matrix, whose columns have no names; give a list of names for each text."
        )
    own = as_items(labels)
    if any(isinstance(one, list | tuple | set | frozenset) for one in own):
        sets = [
            one if isinstance(one, list | tuple | set | frozenset) else () if _missing(one) else (one,)
            for one in own
        ]
        return [tuple(sorted(map(str, one))) for one in sets]
    return ["" if _missing(one) else str(one) for one in own]


def _missing(label: Any) -> bool:
    return (
        label is None
        or (isinstance(label, float) and math.isnan(label))
        or (isinstance(label, str) and not label.strip())
    )


def _column(corpus: Corpus, given: Any, setting: str) -> list[Any]:
    """Values of a setting: a field of the corpus by its name, or as they are."""
    if isinstance(given, str):
        return list(field_values(corpus, given, setting))
    values = as_items(given)
    if len(values) != len(corpus):
        raise SettingError(
            setting,
            f"has {quantity(len(values), 'value')} for {quantity(len(corpus), 'text')}; give one for each.",
        )
    return values


def _judgements(
    items: Sequence[Any], annotators: Sequence[Any], labels: Sequence[Any]
) -> tuple[list[int], list[Any], Agreement, list[Finding]]:
    """The first row of each item and the label that most gave it, how far annotators agree, and where they do
    not.
    """
    given = [row for row, own in enumerate(labels) if own != ""]
    found = agreement(
        [items[row] for row in given], [annotators[row] for row in given], [labels[row] for row in given]
    )
    members: dict[Any, list[int]] = {}
    for row, item in enumerate(items):
        members.setdefault(item, []).append(row)
    findings, common = [], []
    for rows in members.values():
        counts = Counter(labels[row] for row in rows if labels[row] != "")
        common.append(counts.most_common(1)[0][0] if counts else labels[rows[0]])
        if len(counts) > 1:
            (first, n), (_, second) = counts.most_common(2)
            who = "; ".join(f"{annotators[row]}: {label_text(labels[row]) or 'none'}" for row in rows)
            share = 1 - n / counts.total()
            suggestion = label_text(first) if n > second else ""
            findings.append(Finding("disagreement", tuple(rows), _joined(counts), suggestion, share, who))
    findings.sort(key=lambda one: -(one.score or 0.0))
    return [rows[0] for rows in members.values()], common, found, [*findings, *_outliers(found)]


def _outliers(found: Agreement) -> list[Finding]:
    """Annotators who differ from the others more often than the others differ among themselves, beyond
    chance.
    """
    findings = []
    for one in found.annotators:
        rest = [other for other in found.annotators if other is not one]
        # comparisons among the others, from both sides
        n_rest = sum(other.n_compared for other in rest) - one.n_compared
        differing = sum(other.n_compared * other.different for other in rest) - one.n_compared * one.different
        if n_rest <= 0 or one.n_compared == 0:
            continue
        usual = (differing + 1) / (n_rest + 2)
        error = math.sqrt(usual * (1 - usual) / one.n_compared)
        if one.different > usual + _STANDARD_ERRORS * error:
            reason = (
                f"differs in {one.different:.0%} of {one.n_compared:,} comparisons, the others in {usual:.0%}"
            )
            findings.append(Finding("annotator", label=one.annotator, score=one.different, reason=reason))
    return findings


def _joined(labels: Iterable[Any]) -> str:
    return " | ".join(dict.fromkeys(label_text(own) or "none" for own in labels))
