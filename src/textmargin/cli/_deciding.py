"""Decisions on batches of texts as they arrive, and what there is to say of these when all have come."""

from __future__ import annotations

import gc
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from .._system.wording import quantity
from ._console import OptionError, remark, with_options

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .._system.progress import RowCounter
    from ..classifier import TextClassifier
    from ..labels import Decisions
    from ..tables.record_stream import RecordBatch
    from ..tables.row_reader import TextBatch
    from ._decision_lines import Write


def decide_batches(
    model: TextClassifier,
    batches: Iterable[TextBatch | RecordBatch],
    source: str,
    strict: bool,
    write: Write,
    counter: RowCounter,
    narrow: bool | None,
    ahead: bool,
) -> None:
    """Decide on each batch as it arrives.

    Parameters
    ----------
    model : TextClassifier
    batches : of texts
    source : what to call them
    strict : bool
        Whether the first line that cannot be read is an error.
    write : gets rows and the decisions on them
    counter : of the texts
    narrow : bool, or None
        Whether it is known that the columns are those of decisions alone.
    ahead : bool
        Whether to decide on the next batch while one is written: nobody waits for the last line that came.
    """
    # Lines come and go by the thousand; to look for cycles among them takes a quarter of the time.
    gc.set_threshold(200_000, 20, 20)
    known = model.has_held_out
    nothing = model.decide([], probabilities=known)
    if narrow:  # the columns are known, and who waits at the end of a pipe may see them
        write([], nothing)
    unknown = _UnknownTexts(model)
    n_invalid = n_blank = n_empty = 0
    names: Sequence[str] = ()
    if strict:
        batches = (batch.until_invalid() for batch in batches)
    decide = partial(_decide, model, known, nothing)
    for batch, decisions in (
        _one_ahead(decide, batches) if ahead else ((batch, decide(batch)) for batch in batches)
    ):
        texts = batch.texts
        if len(texts) or batch.n_empty:
            write(batch.table_rows, decisions)
        if len(texts):
            counter.add(len(texts))
            unknown.add(decisions)
        names = names or batch.header
        n_blank += batch.n_blank
        n_empty += batch.n_empty
        for line in batch.invalid:
            n_invalid += 1
            if strict:
                raise OptionError(f"line {line.number:,}: {line.reason}")
            remark(with_options(f"line {line.number:,} skipped: {line.reason}"))
    n_decided = counter.n_rows
    if not n_decided and not n_empty and not narrow:
        write([], nothing, names)
    if 0 < unknown.n_texts < n_decided:  # where none has any, that was said already
        remark(
            f"the model knows no word of {unknown.n_texts:,} of the {n_decided:,} texts, which says "
            "nothing of them"
        )
    if n_blank:
        remark(f"{quantity(n_blank, 'blank line')} skipped")
    if n_empty:
        remark(f"{quantity(n_empty, 'row')} {'has' if n_empty == 1 else 'have'} no text, and no decision")
    if n_invalid + n_empty and not n_decided:
        raise OptionError(
            f"{source} has {quantity(n_invalid + n_empty, 'line')}, and none could be decided on."
        )
    if n_invalid:
        remark(f"{quantity(n_invalid, 'line')} skipped")
    elif not n_decided:
        remark(f"{source} has no rows; there was nothing to decide on")


def _decide(
    model: TextClassifier, probabilities: bool, nothing: Decisions, batch: TextBatch | RecordBatch
) -> Decisions:
    return model.decide(batch.texts, probabilities=probabilities) if len(batch.texts) else nothing


def _one_ahead(
    decide: Callable[[TextBatch | RecordBatch], Decisions], batches: Iterable[TextBatch | RecordBatch]
) -> Iterator[tuple[TextBatch | RecordBatch, Decisions]]:
    """Each batch with its decisions, in order, which a thread of its own makes: compiled code lets the others
    go on.
    """
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[tuple[TextBatch | RecordBatch, Future[Decisions]]] = deque()
    source, trouble = iter(batches), None
    with ThreadPoolExecutor(1) as thread:
        while trouble is None:
            try:
                batch = next(source)
            except Exception as error:  # what came before is not lost
                trouble = error
            else:
                waiting.append((batch, thread.submit(decide, batch)))
            while len(waiting) > (trouble is None):
                first, decisions = waiting.popleft()
                yield first, decisions.result()
    if not isinstance(trouble, StopIteration):
        raise trouble


class _UnknownTexts:
    """Counts texts of which a model knows nothing: they have the scores of an empty one."""

    def __init__(self, model: TextClassifier) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty text has no word that is known
            self.scores = model.decide([""]).scores
        self.n_texts = 0

    def add(self, decisions: Decisions) -> None:
        """Further texts."""
        from .._ties import ROUNDING

        first, *others = decisions.scores.T
        alike = abs(first - self.scores[0, 0]) <= ROUNDING
        if others and alike.any():  # seldom, so that the other columns need not be looked at
            alike = (abs(decisions.scores[alike] - self.scores) <= ROUNDING).all(axis=1)
        self.n_texts += int(alike.sum())
