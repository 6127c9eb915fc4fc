"""A desk at work: acts go in, the state and the next question come out. All that the page asks is asked here.

For any number of threads: one lock is held while an act is recorded and taken in; slow work is done beside it
(`engine.py`).
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

import numpy as np

from .._typing import Bools
from ..errors import DeskError
from .acts import FILE, Act
from .corpus import TextColumns
from .engine import Engine
from .export import export
from .project import Project
from .queue import source_of
from .state import State
from .state_view import view_state
from .text_view import view_text

_WORD_EVERY = 8  # questions
_BOTH_EVERY = 10  # questions, one of which somebody else has answered
_N_EXAMPLES = 3


class Desk:
    """A project, its model and its queue.

    Parameters
    ----------
    project : Project
    n_jobs : int, default=None
        Threads of slow work; None: all cores.
    seed : int, default=0
        Of the order in which texts come up.
    in_background : bool, default=True
        Whether slow work is done in a thread beside; else when `wait` is called.

    Examples
    --------
    >>> import tempfile
    >>> from textmargin.desk.project import Project
    >>> from textmargin.desk.session import Desk
    >>> folder = tempfile.TemporaryDirectory()
    >>> texts = ["paper jam in the printer", "printer has no toner", "wifi is slow", "no wifi in the hall"]
    >>> project = Project.create(f"{folder.name}/work.desk", texts, classes=["network", "printing"])
    >>> with project, Desk(project) as desk:
    ...     keyword = {"label": "printing", "word": "printer", "weight": 1, "source": "text"}
    ...     done = desk.act({"id": "1", "annotator": "anna", "kind": "keyword", "content": keyword})
    ...     desk.text(1, "anna")["predicted"]
    ['printing']
    >>> folder.cleanup()
    """

    def __init__(
        self, project: Project, *, n_jobs: int | None = None, seed: int = 0, in_background: bool = True
    ) -> None:
        self.project = project
        self._lock = threading.RLock()
        texts = TextColumns(project.texts, n_jobs=n_jobs)
        texts = self._with_named_words(texts)
        self.engine = Engine(
            texts, project.state, self._lock, n_jobs=n_jobs, seed=seed, in_background=in_background
        )
        self._offers: dict[str, tuple[int, str]] = {}
        self._words_asked: dict[str, int] = {}
        self.engine.work.start()

    @property
    def _state(self) -> State:
        return self.project.state

    # acts

    def act(self, content: dict[str, Any]) -> dict[str, Any]:
        """Record an act and take it in: the act, the state, and what comes next, None where that stays."""
        with self._lock:
            act = self._record(Act(**content))
            following = self._following(act)
            return {"act": act.to_dict(), "state": self.state(act.annotator), "next": following}

    def _following(self, act: Act) -> dict[str, Any] | None:
        """The next question after a label, a skip, or a word judged; the text that an undo is about."""
        if act.kind in ("label", "skip") or act.content.get("source") == "queue":
            return self.next(act.annotator)
        undone = self._state.act(act.content["act"]) if act.kind == "undo" else None
        if undone is None or "text" not in undone.content:
            return None
        number, source = undone.content["text"], undone.content.get("source", "list")
        if undone.kind in ("label", "skip"):
            self._offers[act.annotator] = (number, source)
        return self.text(number, act.annotator, source=source)

    def _record(self, act: Act) -> Act:
        known = self._state.act(act.id) is not None
        act = self.project.record(act)
        if known:
            return act
        target = act
        while target.kind == "undo":
            target = self._state.act(target.content["act"]) or act
        if target.kind == "costs":
            self.engine.update_costs()
        elif target.kind in ("keyword", "rename", "class"):
            texts = self._with_named_words(self.engine.texts)
            if texts is not self.engine.texts:
                self.engine.replace_texts(texts)
            else:
                self.engine.update()
        else:
            self.engine.update()
        return act

    def _with_named_words(self, texts: TextColumns) -> TextColumns:
        """With a column for each stop word or number that somebody named as a keyword, and none that nobody
        names any more.
        """
        needed = texts.needed_terms(word for words in self._state.keywords.values() for word in words)
        return texts if needed == texts.extra_terms else texts.with_terms(needed)

    # questions

    def state(self, annotator: str) -> dict[str, Any]:
        """All that stands beside the text."""
        with self._lock:
            return view_state(self.engine, self.project, annotator)

    def next(self, annotator: str) -> dict[str, Any]:
        """The next question: the same until it is answered."""
        with self._lock:
            shown = self._state.shown(annotator)
            offer = self._offers.get(annotator)
            if offer is not None and offer[0] not in shown:
                return self.text(offer[0], annotator, source=offer[1])
            word = self._word(annotator, len(shown))
            if word is not None:
                return word
            offer = self._choose(annotator, shown)
            if offer is None:
                self._offers.pop(annotator, None)
                return {"kind": "done", "why": "There is no text left that you have not read."}
            self._offers[annotator] = offer
            return self.text(offer[0], annotator, source=offer[1])

    def text(
        self, number: int, annotator: str, label: str | None = None, source: str = "list"
    ) -> dict[str, Any]:
        """One text, tinted for a class, by default the best guess."""
        with self._lock:
            return view_text(self.engine, self._state, number, annotator, label, source)

    def search(self, query: str, n: int = 20) -> dict[str, Any]:
        """Texts that have some characters."""
        found = self.engine.texts.search(query, n)
        return {"texts": [self._row(one["text"], one["snippet"]) for one in found["texts"]], "n": found["n"]}

    def similar(self, number: int, n: int = 10) -> dict[str, Any]:
        """Texts like one, by the string kernel."""
        texts = self.engine.texts
        if not 0 <= number < len(texts):
            raise DeskError(f"There is no text {number}; they are numbered 0 to {len(texts) - 1}.")
        found = texts.similar(number, n)
        rows = [{**self._row(row, ("", "", texts.opening(row))), "similarity": value} for row, value in found]
        return {"texts": rows, "n": len(rows)}

    def export(self, kind: str) -> tuple[str, bytes]:
        """The name of a file, and what it holds."""
        with self._lock:
            return export(self.project, kind)

    def wait(self) -> None:
        """Until slow work is done."""
        self.engine.work.wait()

    def close(self) -> None:
        """End the thread; the project stays open."""
        self.engine.work.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # the queue

    def _choose(self, annotator: str, shown: frozenset[int]) -> tuple[int, str] | None:
        """A text and why it comes up; None where none is left."""
        engine, queue, n = self.engine, self.engine.queue, len(shown)
        if n % _BOTH_EVERY == _BOTH_EVERY // 2:
            again = self._read_by_another(annotator, shown)
            if again is not None:
                return again
        free = self._free(annotator, shown)
        if not free.any():
            return self._read_by_another(annotator, shown)
        source, model = source_of(n), engine.model
        ties = engine.all_texts.ties if engine.all_texts is not None else None
        pool = queue.pool(free, ties) if engine.texts.X.shape[1] else np.empty(0, dtype=np.intp)
        scores = model.scores(engine.texts.X[pool])
        rule = engine.deciding.rule
        moved = rule.thresholds is not None and rule.thresholds.size == scores.shape[1]
        offsets = rule.labels.sign * rule.thresholds if moved and rule.thresholds is not None else None
        return queue.choose(source, free, pool, scores, model, engine.answers, offsets)

    def _free(self, annotator: str, shown: frozenset[int]) -> Bools:
        """The texts that may come up: they and their copies have no label, and nobody reads them or, of the
        annotator, did.
        """
        texts = self.engine.texts
        free: Bools = texts.representatives()
        others = (text for name, (text, _) in self._offers.items() if name != annotator)
        for taken in (self.engine.answers.rows, [*self._state.conflicts(), *shown, *others]):
            free[texts.copies[np.asarray(taken, dtype=np.intp)]] = False
        return free

    def _read_by_another(self, annotator: str, shown: frozenset[int]) -> tuple[int, str] | None:
        """A text that exactly one other person labelled, for agreement; the first in the order of chance."""
        found = {
            text: next(iter(own.values())).source
            for text in self._state.labelled_by_people()
            if text not in shown
            and len(own := {name: one for name, one in self._state.labels[text].items() if name != FILE}) == 1
        }
        if not found:
            return None
        order = self.engine.queue.order
        chosen = next(int(text) for text in order if int(text) in found)
        return chosen, found[chosen]

    def _word(self, annotator: str, n: int) -> dict[str, Any] | None:
        """Every so often a word to judge."""
        if n == 0 or n % _WORD_EVERY or self._words_asked.get(annotator) == n:
            return None
        known = {name: self._state.keywords.get(name, {}) for name in self._state.classes}
        candidates = [
            (len([word for word in known[name].values() if word > 0]), k, one)
            for k, name in enumerate(self._state.classes)
            for one in self.engine.suggestions.get(name, [])
            if one.word not in known[name]
        ]
        if not candidates:
            return None
        self._words_asked[annotator] = n
        _, k, one = min(candidates, key=lambda own: own[:2])  # a class with few words first, its surest word
        name = self._state.classes[k]
        rows = self.engine.texts.rows_with(one.word)[:_N_EXAMPLES].tolist()
        return {
            "kind": "word",
            "word": one.word,
            "label": name,
            "why": one.why,
            "n_texts": one.n_texts,
            "examples": [
                {"text": row, "snippet": list(self.engine.texts.snippet(row, one.word))} for row in rows
            ],
        }

    def _row(self, number: int, snippet: tuple[str, str, str]) -> dict[str, Any]:
        answer = self._state.answer(number)
        return {"text": number, "snippet": list(snippet), "labels": None if answer is None else list(answer)}
