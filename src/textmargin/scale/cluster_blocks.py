"""A sparse matrix whose rows lie with the workers of a Dask cluster, each with its share of neighbouring
parts.

All workers are asked at once, one message each; what they answer is put together, or added up, in the order
of the rows, so that results do not depend on who answers first. Vectors go to a worker of this machine
through memory that both have (`_shared_memory.py`). A share whose worker is lost is made anew on another one,
from what Dask can compute again, and asked again: it has the same rows, so that sums are the same to the bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import iadd
from threading import RLock
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed

from .._system.memory import machine_memory
from .._system.stages import log
from .._typing import Floats, Indices
from ..errors import ClusterError, TextmarginError
from ..learners.matrix import BlockMatrix
from ..learners.solver_texts import ActiveRows, Singles, Sums, rows_between
from ._client import client, worker_threads
from ._holding import Holding, HoldingFacts, PackedRows, pack_rows
from ._shared_memory import Inbox, Message, make_outbox
from ._tasks import compute_parts, split_evenly

_POLL = 0.5  # seconds between two looks whether a worker that has not answered is still there
_SLOW = 30.0  # seconds after which it is named
_MOST_LOSSES = 5  # of one share in a row: more are not by chance

# questions that go through memory: many, one at a time
_SOLVER = frozenset({"scores", "gradients", "activate", "products"})
_GREETING = np.arange(1 << 13, dtype=np.float64)  # large enough to go through memory
_UNKNOWN = HoldingFacts("?", 1, -1, -1, None)  # until it was asked


@dataclass
class _Share:
    """Parts `first` to before `last`, and where their rows are."""

    first: int
    last: int
    holding: Any  # the actor
    facts: HoldingFacts = _UNKNOWN
    inbox: Inbox | None = None  # of its answers, where it is on this machine


class ClusterBlocks(BlockMatrix):
    """The rows of a matrix (n_texts, n_columns) on the workers of the cluster in use.

    Parameters
    ----------
    pieces : iterable of Dask delayed objects
        What each part is made of, in order: CSR or dense matrices (perhaps without rows), or what `finish`
        makes such of. A share that is lost is computed again from them.
    n_columns : int
    finish : future of a function of a piece, default=None
        Gives its rows, on the worker that will have them.
    computed : futures of the pieces, default=None
        Where they were computed before; let go of when the rows are made.

    Examples
    --------
    >>> import numpy as np
    >>> from distributed import Client
    >>> from textmargin import PriorSVC, scale
    >>> X, y = np.array([[1.0, 0], [0, 1], [1, 1], [0, 2]]), [1, 0, 1, 0]
    >>> with Client(n_workers=1, processes=False, dashboard_address=None):
    ...     blocks = scale.ClusterBlocks.split(X, 2)
    ...     print(blocks.shape, PriorSVC().fit(blocks, y).predict(blocks))
    (4, 2) [1 0 1 0]
    """

    def __init__(
        self,
        pieces: Iterable[Delayed],
        n_columns: int,
        *,
        finish: Any = None,
        computed: Sequence[Any] | None = None,
    ) -> None:
        self.pieces = tuple(pieces)
        if not self.pieces:
            raise TextmarginError("ClusterBlocks needs at least one part; got none.")
        self._finish = finish
        self._active: Sequence[ActiveRows] = ()
        self._client = client()
        self._n_columns = n_columns
        self._outbox, self._lock = make_outbox(), RLock()
        self.memory = machine_memory() / 2  # here: workers see to theirs
        parts = compute_parts(self.pieces) if computed is None else list(computed)
        homes = split_evenly(len(self.pieces), worker_threads(self._client))
        holdings = [self._submit(parts[first:last], first, address) for address, (first, last) in homes]
        self._shares = [
            _Share(*ends, holding.result()) for (_, ends), holding in zip(homes, holdings, strict=True)
        ]
        for share, facts in zip(self._shares, self._ask("facts"), strict=True):
            share.facts = facts
            share.inbox = self._common_memory(share)
        self._starts = np.cumsum([0, *(share.facts.n_rows for share in self._shares)])
        self.shape = int(self._starts[-1]), n_columns

    @classmethod
    def split(cls, X: Any, n_parts: int) -> Self:
        """A matrix in memory, cut in parts of about as many rows each."""
        X = sp.csr_matrix(X)
        cuts = np.linspace(0, X.shape[0], n_parts + 1).astype(int).tolist()
        return cls([delayed(X[start:end], pure=False) for start, end in pairwise(cuts)], X.shape[1])

    def times(self, W: Floats, *, sizes: bool = False) -> Floats:
        """XW' (n_texts, k)."""
        return np.concatenate(self._ask("times", [(self._down(share, W), sizes) for share in self._shares]))

    def transposed_times(self, A: Floats) -> Floats:
        """A'X (k, n_columns)."""
        answers = self._ask("transposed_times", [(np.ascontiguousarray(A[rows]),) for rows in self._rows()])
        return np.ascontiguousarray(self._sum([answer.T for answer in answers]))

    def squared_lengths(self) -> Floats:
        """Of each row, (n_texts,)."""
        return np.concatenate(self._ask("squared_lengths"))

    def row_counts(self) -> Indices:
        """How many values each row has, (n_texts,)."""
        return np.concatenate(self._ask("row_counts"))

    def column_sizes(self) -> tuple[Indices, Floats]:
        """Of each column, how many rows have it, and the sum of the sizes of its values."""
        counts, sizes = zip(*self._ask("column_sizes"), strict=True)
        return self._sum(counts), self._sum(sizes)

    def take(self, rows: Indices) -> sp.csr_matrix:
        """Some rows, in memory and in double precision."""
        rows = np.asarray(rows, np.int64)
        place = np.searchsorted(self._starts, rows, side="right") - 1
        wanted = [np.flatnonzero(place == i) for i in range(len(self._shares))]
        answers = self._ask(
            "take", [(rows[own] - start,) for own, start in zip(wanted, self._starts[:-1], strict=True)]
        )
        matrices = [
            sp.csr_matrix((data, indices, indptr), shape=(own.size, self.shape[1]))
            for (indptr, indices, data), own in zip(answers, wanted, strict=True)
        ]
        order = np.empty(rows.size, np.intp)
        order[np.concatenate(wanted)] = np.arange(rows.size)
        return sp.csr_matrix(sp.vstack(matrices, format="csr")[order])

    def compute(self) -> sp.csr_matrix:
        """The whole matrix in memory."""
        return self.take(np.arange(self.shape[0]))

    # What the solver asks (`remote_texts.hpp`)

    def solver_texts(self) -> Self:
        """Itself."""
        return self

    def scores(self, D: Singles) -> Singles:
        """DX' (k, n_texts) for directions D (k, n_columns)."""
        with self._lock:  # until the answers are copied
            return np.concatenate(
                self._ask("scores", [(self._down(share, D),) for share in self._shares]), axis=1
            )

    def gradients(self, A: Singles) -> Singles:
        """AX (k, n_columns) for A (k, n_texts)."""
        with self._lock:
            return self._sum(
                self._ask("gradients", [(np.ascontiguousarray(A[:, rows]),) for rows in self._rows()])
            )

    def activate(self, classes: Sequence[ActiveRows]) -> list[Sums]:
        """Have the workers copy the active rows of some classes, in ascending order, in place of those they
        had; their sums.

        These, and products, may be views of memory that is written to when the same is asked again.
        """
        self._active = classes
        return self._ask("activate", [(self._active_in(rows),) for rows in self._rows()])

    def products(self, classes: Sequence[int], directions: Sequence[Singles]) -> list[Singles]:
        """Per worker X_S'CX_S p for its directions p of some classes, on the columns of its active rows S."""
        return self._ask("products", [(list(classes), own) for own in directions])

    # Putting together

    def _rows(self) -> list[slice]:
        return [slice(start, end) for start, end in pairwise(self._starts.tolist())]

    def _active_in(self, share: slice) -> list[PackedRows]:
        """The active rows of each class that are of one share, by their numbers in it."""
        return [pack_rows(own) for own in rows_between(list(self._active), share.start, share.stop)]

    def _down(self, share: _Share, W: Any) -> Any:
        """What a worker needs of vectors over all columns."""
        columns = share.facts.columns
        return np.ascontiguousarray(W if columns is None else W[:, columns])

    def _sum(self, answers: Sequence[Any]) -> Any:
        """Vectors over the workers' own columns, added up over all columns in the order of the rows."""
        return reduce(
            iadd, (self._spread(share, answer) for share, answer in zip(self._shares, answers, strict=True))
        )

    def _spread(self, share: _Share, answer: Any) -> Any:
        if share.facts.columns is None:
            return answer if answer.flags.writeable else answer.copy()
        whole = np.zeros((*answer.shape[:-1], self._n_columns), answer.dtype)
        whole[..., share.facts.columns] = answer
        return whole

    # Asking, and making anew what is lost

    def _ask(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """What each share answers; those that are lost meanwhile are made anew and asked again."""
        waiting = dict(enumerate(arguments or [()] * len(self._shares)))
        answers: list[Any] = [None] * len(waiting)
        for _ in range(_MOST_LOSSES):
            calls = self._call_each(waiting, method)
            for i, call in calls.items():
                try:
                    answers[i] = call()
                    del waiting[i]
                except _LostError:
                    continue
            if not waiting:
                return answers
            self._replace(list(waiting))
        raise ClusterError(
            f"Workers died again and again while {method} was computed, most often of too little memory; "
            "give them more, or use "
            f"more of them."
        )

    def _call_each(
        self, arguments: Mapping[int, tuple[Any, ...]], method: str
    ) -> dict[int, Callable[[], Any]]:
        """Ask shares, by number, and give what waits for the answer of each; what they have in common is
        written once.
        """
        here = [i for i in arguments if method in _SOLVER and self._shares[i].inbox is not None]
        messages: dict[int, Message] = {}
        if here and self._outbox is not None:
            message = self._outbox.write([arguments[i] for i in here])
            messages = {i: replace(message, value=own) for i, own in zip(here, message.value, strict=True)}
        return {
            i: self._call(self._shares[i], method, given, messages.get(i)) for i, given in arguments.items()
        }

    def _call(
        self, share: _Share, method: str, arguments: tuple[Any, ...], message: Message | None = None
    ) -> Callable[[], Any]:
        """Ask, by a message where its memory is this one's too, and give what waits for the answer."""
        try:
            holding = share.holding
            future = (
                getattr(holding, method)(*arguments) if message is None else holding.answer(method, message)
            )
        except (
            RuntimeError,
            ValueError,
        ):  # the first is what Dask raises where it knows that the worker is lost, the second was
            return _lost
        return lambda: self._read(share, self._wait(share, future))

    def _read(self, share: _Share, answer: Any) -> Any:
        if not isinstance(answer, Message) or share.inbox is None:
            return answer
        try:
            return share.inbox.read(answer)
        except (FileNotFoundError, ProcessLookupError) as error:  # it has died since
            raise _LostError from error

    def _common_memory(self, share: _Share) -> Inbox | None:
        """What reads the answers of a worker that is on this machine; None where it is not."""
        if self._outbox is None:
            return None
        try:
            answer = self._call(share, "greet", (self._outbox.write(_GREETING),))()
        except _LostError:  # found out again when it is asked
            return None
        inbox = Inbox()
        try:
            return inbox if answer is not None and np.array_equal(inbox.read(answer), _GREETING) else None
        except OSError:
            return None

    def _wait(self, share: _Share, future: Any) -> Any:
        begin, noted = time.monotonic(), False
        while True:
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:  # Dask waits for an actor to come back
                if self._is_gone(share):
                    raise _LostError from None
                if not noted and time.monotonic() - begin > _SLOW:
                    log.warning(f"Worker {share.facts.address} is slow; waiting for it.")
                    noted = True
            except TextmarginError:
                raise
            except Exception as error:  # of the work, or that no worker, or another, is at its address
                if self._answers(share):
                    raise
                raise _LostError from error

    def _is_gone(self, share: _Share) -> bool:
        if share.facts is _UNKNOWN:  # asked for the first time
            return not self._client.who_has().get(share.holding.key)
        return share.facts.address not in self._client.nthreads()

    def _answers(self, share: _Share) -> bool:
        try:
            share.holding.facts().result(timeout=_POLL)
        except Exception:  # whatever it is: the next one is asked
            return False
        return True

    def _replace(self, lost: Sequence[int]) -> None:
        """Make shares anew, each on the worker that has least, and tell them what they were told."""
        for i in lost:
            share = self._shares[i]
            log.warning(f"Worker {share.facts.address} is gone; its rows are made anew on another one.")
            address = self._least_loaded(
                [other.facts for other in self._shares if other is not share], share.facts.address
            )
            parts = self._client.compute(
                list(self.pieces[share.first : share.last]), workers=[address], allow_other_workers=True
            )
            share.holding = None  # or Dask makes it anew as well
            made = _Share(share.first, share.last, self._submit(parts, share.first, address).result())
            self._shares[i] = made
            try:
                made.facts = self._call(made, "facts", ())()
                made.inbox = self._common_memory(made)
                if self._active:
                    self._call(made, "activate", (self._active_in(self._rows()[i]),))()
            except _LostError:
                continue  # found out again when it is asked
            if share.facts is not _UNKNOWN and made.facts[2:4] != share.facts[2:4]:
                raise ClusterError(
                    f"Parts {share.first} to {share.last - 1} were read again because worker "
                    f"{share.facts.address} was lost, and "
                    f"are not what they were; did files change meanwhile?"
                )

    def _least_loaded(self, others: Sequence[HoldingFacts], gone: str) -> str:
        threads = worker_threads(self._client)
        load = {
            one: sum(own.n_rows for own in others if own.address == one) / threads.count(one)
            for one in threads
        }
        # a scheduler may not know yet that one is gone
        return min(load, key=lambda one: (one == gone, load[one], one))

    def _submit(self, parts: Sequence[Any], first: int, address: str) -> Any:
        return self._client.submit(
            Holding, list(parts), self._finish, self._n_columns, first, actor=True, workers=[address],
            allow_other_workers=True, pure=False,
        )  # fmt: skip


class _LostError(Exception):
    """A worker is gone, and what it had with it."""


def _lost() -> Any:
    raise _LostError
